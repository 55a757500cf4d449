"""Finds the tables of a page whose cells are ruled."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ..model import TableBlock
from .pdf_aligned import NUMBER
from .pdf_lines import PageWord, lines_of, text_of

_BULLET = re.compile(r"^[•●▪‣] (?!.* [•●▪‣] )")
_LONGEST_RULED = 250  # characters of a cell of a ruled table, in the mean
_NEAR = 3.0  # points between ruled lines that meet, and between the two of a double line
_MOST_CELLS = 5_000  # of a ruled table


class Rule(NamedTuple):
    """A ruled line: where it is, and from where to where it goes, in points from the left or from the bottom."""

    place: float
    start: float
    end: float
    is_upright: bool


def with_ruled_tables(words: Sequence[PageWord], rules: Sequence[Rule]) -> list[PageWord]:
    """Return words with ruled tables in place of the words within these; of tables in cells the inner ones first."""
    rest = list(words)
    for level, upright in _grids(rules):
        xs = _steps([*(rule.place for rule in upright), *_ends(level)])
        ys = _steps([*(rule.place for rule in level), *_ends(upright)])[::-1]
        if len(xs) < 3 or len(ys) < 3 or len(xs) * len(ys) > _MOST_CELLS:
            continue
        inside = [
            word for word in rest if xs[0] < (word.left + word.right) / 2 < xs[-1] and ys[-1] < word.middle < ys[0]
        ]
        level = [*level, *_between_rows(inside, xs, ys)]
        ys = _steps([*(rule.place for rule in level), *_ends(upright)])[::-1]
        table = _ruled(inside, level, upright, xs, ys)
        if table is not None:
            within = {id(word) for word in inside}
            rest = [word for word in rest if id(word) not in within]
            rest.append(PageWord("", xs[0], xs[-1], ys[-1], ys[0], False, table))
            rest += [word for word in inside if word.table]
    return rest


def _grids(rules: Sequence[Rule]) -> list[tuple[list[Rule], list[Rule]]]:
    """Return the level and the upright ones of ruled lines that meet, the smallest grids first."""
    joined_rules: list[Rule] = []
    for rule in sorted(rules, key=lambda rule: (rule.is_upright, round(rule.place), rule.start)):
        last = joined_rules[-1] if joined_rules else None
        if last and last[3] == rule[3] and abs(last.place - rule.place) < _NEAR / 2 and rule.start <= last.end + _NEAR:
            joined_rules[-1] = last._replace(end=max(last.end, rule.end))
        else:
            joined_rules.append(rule)
    level = [rule for rule in joined_rules if not rule.is_upright]
    grids: list[tuple[list[Rule], list[Rule]]] = []
    for upright in (rule for rule in joined_rules if rule.is_upright):
        met = {place for place, rule in enumerate(level) if rule.start - _NEAR <= upright.place <= rule.end + _NEAR
               and upright.start - _NEAR <= rule.place <= upright.end + _NEAR}  # fmt: skip
        touched = [grid for grid in grids if any(level[place] in grid[0] for place in met)]
        grids = [grid for grid in grids if grid not in touched]
        levels = dict.fromkeys(
            [*(level[place] for place in sorted(met)), *(rule for grid in touched for rule in grid[0])]
        )
        grids.append(([*levels], [*(rule for grid in touched for rule in grid[1]), upright]))
    return sorted((grid for grid in grids if grid[0]), key=lambda grid: max(_ends(grid[0])) - min(_ends(grid[0])))


def _ends(rules: Sequence[Rule]) -> list[float]:
    return [min(rule.start for rule in rules), max(rule.end for rule in rules)]


def _steps(places: Sequence[float]) -> list[float]:
    """Return places in order, of those that are near to one another the first."""
    steps: list[float] = []
    for place in sorted(places):
        if not steps or place - steps[-1] > _NEAR:
            steps.append(place)
    return steps


def _between_rows(words: Sequence[PageWord], xs: Sequence[float], ys: Sequence[float]) -> Iterator[Rule]:
    """Yield lines between rows of numbers, where none are drawn."""
    for top, bottom in pairwise(ys):
        band = [word for word in words if bottom < word.middle < top and not word.table]
        cells = [
            lines_of([word for word in band if low < (word.left + word.right) / 2 < high]) for low, high in pairwise(xs)
        ]
        most = max(map(len, cells), default=0)
        whole = [column for column, lines in enumerate(cells) if len(lines) == most]
        numbers = sum(all(NUMBER.fullmatch(line.text) for line in cells[column]) for column in whole)
        if most < 2 or numbers < 2:
            continue
        for above, below in zip(cells[whole[0]], cells[whole[0]][1:], strict=False):
            for column in whole:
                yield Rule((above.middle + below.middle) / 2, xs[column] + 1, xs[column + 1] - 1, False)


def _ruled(
    words: Sequence[PageWord], level: Sequence[Rule], upright: Sequence[Rule], xs: Sequence[float], ys: Sequence[float]
) -> TableBlock | None:
    """Return the table of a grid; cells without a ruled line between them are one."""
    origin: dict[tuple[int, int], tuple[int, int]] = {}
    for row, (top, bottom) in enumerate(pairwise(ys)):
        for column, (left, right) in enumerate(pairwise(xs)):
            place = origin[(row, column)] = (row, column)
            if row and not _has_rule(level, top, (left + right) / 2):
                place = origin[(row, column)] = origin[(row - 1, column)]
            if column and not _has_rule(upright, left, (top + bottom) / 2):
                before = origin[(row, column - 1)]
                first, second = min(before, place), max(before, place)
                for other in [other for other, start in origin.items() if start == second] if first != second else ():
                    origin[other] = first
    cells: dict[tuple[int, int], list[PageWord]] = defaultdict(list)
    for word in words:
        row = sum(step > word.middle for step in ys) - 1
        column = sum(step < (word.left + word.right) / 2 for step in xs) - 1
        if not word.table:
            cells[origin[(row, column)]].append(word)
    texts = {place: _BULLET.sub("", text_of(cell)) for place, cell in cells.items()}
    if sum(map(len, texts.values())) > _LONGEST_RULED * len(texts):
        return None  # boxes around text
    # a row or a column of which every cell goes on from the one before it is part of that
    shown_rows = [
        row
        for row in range(len(ys) - 1)
        if any(origin[(row, column)][0] == row and origin[(row, column)] in texts for column in range(len(xs) - 1))
    ]
    shown_columns = [
        column
        for column in range(len(xs) - 1)
        if any(origin[(row, column)][1] == column and origin[(row, column)] in texts for row in range(len(ys) - 1))
    ]
    if len(shown_rows) < 2 or len(shown_columns) < 2:
        return None
    parts: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)  # the places of each cell in the table
    for number, row in enumerate(shown_rows):
        for position, column in enumerate(shown_columns):
            parts[origin[(row, column)]].append((number, position))
    rows = [[""] * len(shown_columns) for _ in shown_rows]
    merged: dict[tuple[int, int], tuple[int, int]] = {}
    for start, places in parts.items():
        across = [column for _, column in places]
        if len(places) != (places[-1][0] - places[0][0] + 1) * (max(across) - min(across) + 1):
            places = places[:1]  # no rectangle
        merged.update((place, places[0]) for place in places[1:])
        for row, column in places:
            rows[row][column] = texts.get(start, "")
    return TableBlock(rows, merged)


def _has_rule(rules: Sequence[Rule], place: float, along: float) -> bool:
    return any(abs(rule.place - place) <= _NEAR and rule.start <= along <= rule.end for rule in rules)
