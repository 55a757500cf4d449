"""Reads the rows of tables without rules, whose cells stand in aligned columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median

from ..model import TableBlock
from .pdf_lines import GUTTER, PageLine, PageWord, joined, lines_of, text_of

LONGEST_CELL = 60  # characters of a usual cell of an unruled table; longer ones are lines of columns of prose
_WRAPPED = 15  # characters of the longest line of a column whose lines are cut because they have no room
NUMBER = re.compile(r"[-+−±(<>~]*[$€£¥]?\d[\d.,:/ '%°–-]*\)?[%€$£]?|[-–—]")


def aligned_table(bands: Sequence[Sequence[PageWord]], cuts: Sequence[float]) -> PageLine | None:
    """Return the rows of words in aligned columns; None if they are no table."""
    rows: list[list[str]] = []
    merged: dict[tuple[int, int], tuple[int, int]] = {}
    borders = [-1e9, *cuts, 1e9]
    longest = [max((len(line.text) for line in lines_of([word for band in bands for word in band if low < word.left < high])), default=0)
               for low, high in pairwise(borders)]  # fmt: skip
    above: list[str] = []
    for band in bands:
        cells = [[word for word in band if low < word.left < high] for low, high in pairwise(borders)]
        spans: dict[int, int] = {}
        for part in phrases_of(band):  # a name over several columns is in each of them
            first = sum(cut < part[0].left for cut in cuts)
            last = sum(cut < part[-1].right - 1 for cut in cuts)
            for column in range(first + 1, last + 1):
                cells[column], spans[column] = [], first
            if last > first:
                cells[first] = [*part]
        texts = [text_of(cell) for cell in cells]
        for column, first in spans.items():
            texts[column] = texts[first]
            merged[(len(rows), column)] = (len(rows), first)
        is_more = bool(rows) and not spans and _continues(above, texts, longest)
        above = [text or (last if is_more else "") for text, last in zip(texts, above or texts, strict=True)]
        if is_more:
            rows[-1] = [joined(first, text) for first, text in zip(rows[-1], texts, strict=True)]
        else:
            rows.append(texts)
    filled = [sum(map(bool, row)) for row in rows]
    several = sum(count > 1 for count in filled)
    least = 2 if len(cuts) > 1 or any(NUMBER.fullmatch(row[-1]) for row in rows) else 3
    cells_of_text = [text for row in rows for text in row if text]
    if several < max(least, 0.5 * len(rows)) or sum(filled) < 0.4 * len(rows) * len(borders[1:]):
        return None
    if median(map(len, cells_of_text)) > LONGEST_CELL or (len(bands) < 3 and len(cuts) < 2):
        return None
    return _placed(TableBlock(rows, merged), [word for band in bands for word in band])


def phrases_of(band: Sequence[PageWord]) -> Iterator[list[PageWord]]:
    """Yield the words of a line that stand together."""
    phrase: list[PageWord] = []
    for word in sorted(band, key=lambda word: word.left):
        if phrase and word.left - phrase[-1].right >= GUTTER * word.size:
            yield phrase
            phrase = []
        phrase.append(word)
    yield phrase


def _continues(above: Sequence[str], texts: Sequence[str], longest: Sequence[int]) -> bool:
    """Return True if a line has more of the cells above it, no row of its own."""
    filled = [column for column, text in enumerate(texts) if text]
    if not filled or (texts[0] and 2 * len(filled) > len(texts)):
        return False
    for column in filled:
        word = texts[column].split(" ")[0]
        has_room = longest[column] < _WRAPPED or len(above[column]) + 1 + len(word) <= longest[column]
        if not above[column] or NUMBER.fullmatch(texts[column]) or (has_room and not word[0].islower()):
            return False
    return True


def is_head(names: Sequence[Sequence[PageWord]], line: PageLine) -> bool:
    """Return True if words above a table are the names of its columns, though they do not stand above their own."""
    if line.table is None or len(names) != len(line.table.rows[0]):
        return False
    word = names[0][0]
    return word.middle - line.top < 2 * word.size and word.left < line.right and names[-1][-1].right > line.left


def with_head(names: Sequence[Sequence[PageWord]], line: PageLine) -> PageLine:
    """Return a table with the names of its columns as its first row."""
    table = line.table
    if table is None:
        return line
    moved = {(row + 1, column): (place[0] + 1, place[1]) for (row, column), place in table.merged.items()}
    head = [text_of(words) for words in names]
    return line._replace(top=names[0][0].top, table=table._replace(rows=[head, *table.rows], merged=moved))


def _placed(table: TableBlock, words: Sequence[PageWord]) -> PageLine:
    return PageLine(
        "", min(word.left for word in words), max(word.right for word in words),
        min(word.bottom for word in words), max(word.top for word in words), False, table,
    )  # fmt: skip
