"""Finds the tables that plain texts draw with bars and rules, or by blanks and tabs between columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple

from ..model import TableBlock

_TAB = 4  # columns
_MOST_LINES, _WIDEST_LINE = 10_000, 1_000  # of a table whose columns are aligned
_FRAMED = re.compile(r"\|.*\|")
_BAR = re.compile(r"[|│┃║]")
_RULE_SIGNS = "-─━═=+|:┼╪╬├┤┌┐└┘┬┴╞╡╔╗╚╝╠╣╦╩╒╕╘╛ "
_ROW_COUNT = re.compile(r"\(?\d+ rows?\b.*")  # that a data base writes below a table
_ITEM = re.compile(r"[-*•‣◦]|\d{1,2}[.)]")
_SENTENCE_END = re.compile(r"[.!?:;…]$")


class TextLine(NamedTuple):
    """A line of a text, without the blanks around it."""

    number: int
    text: str
    indent: int


def drawn_table(lines: Sequence[TextLine]) -> TableBlock | None:
    """Return the table that lines draw with bars between columns and rules between rows; None for other lines."""
    if not any(_BAR.search(line.text) for line in lines[:3]):
        return None
    groups: list[list[tuple[int, list[str]]]] = [[]]
    lines = lines[:-1] if _ROW_COUNT.fullmatch(lines[-1].text) else lines
    for line in lines:
        if is_rule(line.text):
            groups.append([])
        else:
            cells = _BAR.split(line.text)
            is_framed = len(cells) > 2 and not cells[0] and not cells[-1]
            groups[-1].append((line.number, [cell.strip() for cell in (cells[1:-1] if is_framed else cells)]))
    is_ruled = len(groups) > 1
    groups = [group for group in groups if group]
    widths = {len(cells) for group in groups for _, cells in group}
    if len(widths) != 1 or widths == {1}:
        return None
    if len(groups) < 2:  # without a rule below its head
        is_framed = not is_ruled and all(_FRAMED.fullmatch(line.text) for line in lines)
        if not is_framed or len(lines) < 3:
            return None
        return TableBlock([cells for _, cells in groups[0]], lines=[line.number for line in lines])
    rows: list[tuple[int, list[str]]] = []
    for group in groups:
        for place, (number, cells) in enumerate(group):
            if place and len(groups) > 3 and not all(cells):  # a rule below each row, which may have several lines
                rows[-1] = rows[-1][0], [" ".join(filter(None, pair)) for pair in zip(rows[-1][1], cells, strict=True)]
            else:
                rows.append((number, cells))
    heads = 1 if len(groups) > 3 else len(groups[0])
    return TableBlock([cells for _, cells in rows], heads=heads, lines=[number for number, _ in rows])


def aligned_table(lines: Sequence[TextLine]) -> TableBlock | None:
    """Return the table whose columns tabs part or blanks align, each full but for the names of rows; None for other lines."""
    lines = [line for line in lines if not is_rule(line.text)]
    numbers, tabs = [line.number for line in lines], {line.text.count("\t") for line in lines}
    if len(lines) > 2 and len(tabs) == 1 and tabs != {0}:
        return TableBlock([[cell.strip() for cell in line.text.split("\t")] for line in lines], lines=numbers)
    wide = [(" " * line.indent + line.text).expandtabs(_TAB) for line in lines]
    if not 3 <= len(wide) <= _MOST_LINES or max(map(len, wide)) > _WIDEST_LINE:
        return None
    blank = "".join(" " if all(sign == " " for sign in signs) else "x" for signs in zip_longest(*wide, fillvalue=" "))
    starts = [match.end() for match in re.finditer(r"^ *| {2,}", blank)]
    ends = [*starts[1:], len(blank)]
    rows = [[line[start:end].strip() for start, end in zip(starts, ends, strict=True)] for line in wide]
    full = [row for row in rows if all(row[1:])]
    has_names = rows[0] in full and all(row[0] for row in rows[1:])
    # a total has no other cells
    if len(starts) < 2 or not has_names or len(full) + 1 < max(len(rows), 3):
        return None
    if any(_SENTENCE_END.search(cell) for cell in rows[0]) or _ITEM.fullmatch(rows[1][0]):
        return None
    return TableBlock(rows, lines=numbers)


def is_rule(text: str) -> bool:
    """Return True for a line that only parts others."""
    return not text.strip(_RULE_SIGNS) and any(sign * 3 in text for sign in "-─━═=")
