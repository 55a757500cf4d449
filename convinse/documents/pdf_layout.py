"""Finds the columns and the tables of a page of a PDF file from the places of its words and of its ruled lines."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import median
from typing import NamedTuple, TypeVar

from .model import TableBlock

# chosen on tests/cases/pdf.yml and half of the real files; sizes are in heights of the letters, lengths in points
_GUTTER = 0.8  # between columns, at least: the blanks of justified prose are narrower over three lines
_FAR = 1.4  # times the usual distance of lines, from which on a line without a gutter does not belong to the table
_PROSE_WORDS = 3  # of a usual line of prose
_LONGEST_CELL = 60  # characters of a usual cell of an unruled table; longer ones are lines of columns of prose
_NEARER = 1.2  # times the smallest distance of lines, which those of a cell have from one another
_WRAPPED = 15  # characters of the longest line of a column whose lines are cut because they have no room
_LONGEST_RULED = 250  # characters of a cell of a ruled table, in the mean
_NEAR = 3.0  # points between ruled lines that meet, and between the two of a double line
_MOST_CELLS = 5_000  # of a ruled table
_MOST_TOGETHER = 2_000  # words at one height; a page with more is not read
_DEEPEST = 8  # columns within columns
MARKER = re.compile(r"[•◦▪■○●‣∙·□*–—-]|\(?(?:\d{1,3}|[a-zA-Z])[.)]")  # of an item of a list
_NUMBER = re.compile(r"[-+−±(<>~]*[$€£¥]?\d[\d.,:/ '%°–-]*\)?[%€$£]?|[-–—]")
_BULLET = re.compile(r"^[•●▪‣] (?!.* [•●▪‣] )")
LEADER = re.compile(r" ?(?:\.[ .]*){4,}")  # points from a title to the number of its page
_CUT = re.compile(r"[^\W\d_]{2,}-$")


_T = TypeVar("_T")


class Rule(NamedTuple):
    """A ruled line: where it is, and from where to where it goes, in points from the left or from the bottom."""

    place: float
    start: float
    end: float
    is_upright: bool


class PageWord(NamedTuple):
    """A word with its box, or a table, which has its place among the words."""

    text: str
    left: float
    right: float
    bottom: float
    top: float
    is_bold: bool = False
    table: TableBlock | None = None

    @property
    def size(self) -> float:
        """The height of its letters."""
        return self.top - self.bottom

    @property
    def middle(self) -> float:
        """Where it is between the bottom and the top of the page."""
        return (self.top + self.bottom) / 2


PageLine = PageWord  # a line has the words of all of it as its text


def reading_order(words: Sequence[PageWord], rules: Sequence[Rule]) -> list[list[PageLine]]:
    """Return the columns of a page in reading order, with the lines of each; a table is a line of its own."""
    columns: list[list[PageLine]] = []
    _cut([*_with_tables(words, rules)], columns, 0)
    return columns


def joined(first: str, second: str) -> str:
    """Return two lines as one; a word that is cut at the end of the first is whole again."""
    if _CUT.search(first) and second[:1].islower():
        return first[:-1] + second
    return f"{first} {second}".strip()


def is_leftward(text: str) -> bool:
    """Return True for Hebrew, Arabic and the scripts like these."""
    return "\u0590" <= text[:1] <= "\u08ff"


def starts_item(line: PageLine) -> bool:
    """Return True if a line begins with the sign or the number of an item of a list."""
    marker, _, text = line.text.partition(" ")
    return text != "" and MARKER.fullmatch(marker) is not None


def lines_of(words: Sequence[PageWord]) -> list[PageLine]:
    """Return the lines of words of one column, from the top."""
    return [line for band in _bands(words) for line in _lines_within(band)]


def _lines_within(band: Sequence[PageWord]) -> Iterator[PageLine]:
    """Yield the lines of words at one height: one, if none of them is a table and none stands below another."""
    rest = list(band)
    while rest:
        if len(rest) > _MOST_TOGETHER:
            yield from rest
            return
        anchor = max(rest, key=lambda word: (word.table is None, len(word.text)))
        chosen = [anchor] if anchor.table else [word for word in rest if not word.table and (
            abs(word.middle - anchor.middle) < 0.6 * max(word.size, anchor.size))]  # fmt: skip
        taken = {id(word) for word in chosen}
        rest = [word for word in rest if id(word) not in taken]
        is_leftwards = 2 * sum(is_leftward(word.text) for word in chosen) > len(chosen)
        chosen.sort(key=lambda word: -word.right if is_leftwards else word.left)
        yield PageLine(
            LEADER.sub(" … ", " ".join(word.text for word in chosen)), min(word.left for word in chosen), max(word.right for word in chosen),
            anchor.bottom, anchor.top, all(word.is_bold for word in chosen), anchor.table,
        )  # fmt: skip


def _text_of(words: Sequence[PageWord]) -> str:
    text = ""
    for line in lines_of(words):
        text = joined(text, line.text)
    return text


def _bands(words: Sequence[PageWord]) -> list[list[PageWord]]:
    """Return words by height: those of a band overlap, and no word is in two of them."""
    bands: list[list[PageWord]] = []
    floor = 0.0
    for word in sorted(words, key=lambda word: -word.middle):
        half = (0.5 if word.table else 0.3) * word.size  # letters of close lines overlap, their middles do not
        if bands and word.middle + half > floor:
            bands[-1].append(word)
            floor = min(floor, word.middle - half)
        else:
            bands.append([word])
            floor = word.middle - half
    return bands


def _gaps(bands: Sequence[Sequence[PageWord]]) -> list[tuple[float, float]]:
    """Return the free stripes between the words of all bands, from the left."""
    words = sorted((word for band in bands for word in band), key=lambda word: word.left)
    least = _GUTTER * median([word.size for word in words if not word.table] or [10.0])
    gaps, end = [], words[0].right
    for word in words:
        if word.left - end >= least:
            gaps.append((end, word.left))
        end = max(end, word.right)
    return gaps


def _cut(words: Sequence[PageWord], columns: list[list[PageLine]], depth: int) -> None:
    """Add the columns of a part of a page."""
    bands = _bands(words)
    if depth < _DEEPEST and (found := _columns(bands, depth, with_tables=False)):
        columns += found  # no line goes over all of them
        return
    place, is_open = 0, False
    while place < len(bands):
        end = _end_of_run(bands, place) if depth < _DEEPEST else place + 1
        is_run = end > place + 1 or len(list(_lines_within(bands[place]))) > 1
        found = _columns(bands[place:end], depth) if is_run else None
        if end == place + 1 and found is None and (names := list(_phrases(bands[place])))[1:] and end < len(bands):
            last = _end_of_run(bands, end)
            if last > end + 1 and (below := _columns(bands[end:last], depth)) and _is_head(names, below[0][0]):
                found, end = [[_with_head(names, below[0][0])], *below[1:]], last
        if found is not None:
            columns += found
            is_open = False
        else:
            end = place + 1
            if not is_open:
                columns.append([])
            is_open = True
            columns[-1] += _lines_within(bands[place])
        place = end


def _end_of_run(bands: Sequence[Sequence[PageWord]], first: int) -> int:
    """Return the end of the bands from one on that have free stripes in common."""
    gaps = _gaps(bands[first : first + 1])
    end = first + 1
    if not gaps:
        return end
    steps: list[float] = []
    while end < len(bands):
        inner, both = _gaps(bands[end : end + 1]), _gaps(bands[first : end + 1])
        step = bands[end - 1][-1].middle - bands[end][0].middle
        is_within = any(start < free[1] and free[0] < stop for start, stop in inner for free in both)
        size = max(word.size for word in bands[end])
        width = max(word.right for word in bands[end]) - min(word.left for word in bands[end])
        is_line_of_prose = width > 15 * size and step < 4 * size
        usual = median(steps) if steps else 2.5 * size
        is_part = not inner and step < _FAR * usual and len(both) >= len(gaps)
        if not both or not (is_within or is_part or is_line_of_prose):
            break
        if is_within and step > 2.2 * usual and not is_line_of_prose:
            break
        steps.append(step)
        gaps, end = both, end + 1
    return end


def _columns(bands: Sequence[Sequence[PageWord]], depth: int, with_tables: bool = True) -> list[list[PageLine]] | None:
    """Return the columns, or the table, of bands with free stripes in common; None: they are lines of one column."""
    gaps = _gaps(bands) if bands else []
    if not gaps and not with_tables:
        return None
    spanning = 0
    for heads in (1, 2):  # rows whose names are over several columns
        if len(bands) - heads >= 2 and len(finer := _gaps(bands[heads:])) > len(gaps):
            gaps, spanning = finer, heads
    words = [word for band in bands for word in band]
    body = [word for band in bands[spanning:] for word in band]
    cuts = [(start + end) / 2 for start, end in gaps]
    cuts = [cut for cut, (low, high) in zip(cuts, zip([-1e9, *cuts], cuts, strict=False), strict=True)
            if not _are_markers([word for word in words if low < word.left < high])]  # fmt: skip
    if not cuts:
        return None
    parts = [[word for word in body if low < word.left < high] for low, high in _pairs([-1e9, *cuts, 1e9])]
    lines = [lines_of(part) for part in parts]
    is_prose = [_is_prose(part) for part in lines]
    starts = [line.middle for part, prose in zip(lines, is_prose, strict=True) if not prose for line in part]
    short = [word for part, prose in zip(parts, is_prose, strict=True) if not prose for word in part]
    whole_rows = next((rows for rows in (bands, _near(bands)) if _has_rows_in_bands(rows[spanning:], short)), None)
    bands = whole_rows or bands
    is_apart = [
        prose and not whole_rows and not _follows_rows(part, starts)
        for part, prose in zip(lines, is_prose, strict=True)
    ]
    if not with_tables:  # the widest stripe between two columns of prose
        prose = [place for place, part in enumerate(lines)
                 if is_apart[place] or (is_prose[place] and len(part) > 3 * len(starts))]  # fmt: skip
        widths = {cut: stop - start for start, stop in gaps for cut in cuts if start < cut < stop}
        borders = [max(cuts[low:high], key=lambda cut: widths[cut]) for low, high in _pairs(prose)]
        if not borders:
            return None
    elif any(is_apart):  # columns that are no prose stay together: they are a table beside it
        borders = [cut for place, cut in enumerate(cuts) if is_apart[place] or is_apart[place + 1]]
    elif (table := _table(bands, cuts)) is not None:
        return [[table]]
    else:
        cells = [line.text for part in lines for line in part]
        if median(map(len, cells)) <= _LONGEST_CELL / 2 or len(bands) < 3:
            return None
        borders = cuts
    columns: list[list[PageLine]] = []
    for low, high in _pairs([-1e9, *borders, 1e9]):
        _cut([word for word in words if low < word.left < high], columns, depth + 1)
    return columns


def _are_markers(words: Sequence[PageWord]) -> bool:
    """Return True for the signs before items; fonts of signs have letters for them."""
    texts = {word.text for word in words}
    return all(map(MARKER.fullmatch, texts)) or (
        len(texts) == 1 < len(words) - 1 and len(word := texts.pop()) == 1 and word.isalpha()
    )


def _pairs(borders: Sequence[_T]) -> Iterator[tuple[_T, _T]]:
    return zip(borders, borders[1:], strict=False)


def _goes_on(before: PageLine, line: PageLine, right: float) -> bool:
    """Return True if a line begins within a sentence, and its first word has no room in the line before."""
    if line.table:
        return False
    word = line.text.split(" ")[0]
    room = right - before.right - (line.right - line.left) * len(word) / len(line.text)
    return room < 0.3 * line.size and word[0].isalpha() and word[0] == word[0].lower()


def _is_prose(lines: Sequence[PageLine]) -> bool:
    """Return True for a column of prose or of a list."""
    if any(line.table for line in lines):
        return True
    right = max(line.right for line in lines)
    items = sum(map(starts_item, lines))
    going = sum(_goes_on(before, line, right) for before, line in zip(lines, lines[1:], strict=False))
    is_wordy = median(len(line.text.split()) for line in lines) >= _PROSE_WORDS
    return 2 * items > len(lines) > 1 or (is_wordy and going + items >= 0.4 * (len(lines) - 1) > 0)


def _follows_rows(lines: Sequence[PageLine], starts: Sequence[float]) -> bool:
    """Return True if sentences of a column begin where rows of other columns do: it is a column of descriptions."""
    right = max(line.right for line in lines)
    beside = [(before, line) for before, line in zip(lines, lines[1:], strict=False)
              if any(abs(start - line.middle) < 0.3 * line.size for start in starts)]  # fmt: skip
    return bool(beside) and sum(_goes_on(before, line, right) for before, line in beside) < 0.34 * len(beside)


def _near(bands: Sequence[Sequence[PageWord]]) -> list[list[PageWord]]:
    """Return bands with those together that are nearer to one another than others: the lines of a row."""
    steps = [above[-1].middle - below[0].middle for above, below in _pairs(bands)]
    rows = [[*bands[0]]]
    for band, step in zip(bands[1:], steps, strict=True):
        if step <= _NEARER * min(steps):
            rows[-1] += band
        else:
            rows.append([*band])
    return rows


def _has_rows_in_bands(bands: Sequence[Sequence[PageWord]], short: Sequence[PageWord]) -> bool:
    """Return True if short cells stand beside the middle of others with several lines."""
    places = {id(word) for word in short}
    is_high = False
    for band in bands:
        beside = [word for word in band if id(word) in places]
        middles = [word.middle for word in beside]
        if not beside or max(middles) - min(middles) > 0.5 * beside[0].size:
            return False
        is_high |= max(word.top for word in band) - min(word.bottom for word in band) > 1.5 * beside[0].size
    return len(bands) > 2 and is_high


def _table(bands: Sequence[Sequence[PageWord]], cuts: Sequence[float]) -> PageLine | None:
    """Return the rows of words in aligned columns; None if they are no table."""
    rows: list[list[str]] = []
    merged: dict[tuple[int, int], tuple[int, int]] = {}
    borders = [-1e9, *cuts, 1e9]
    longest = [max((len(line.text) for line in lines_of([word for band in bands for word in band if low < word.left < high])), default=0)
               for low, high in _pairs(borders)]  # fmt: skip
    above: list[str] = []
    for band in bands:
        cells = [[word for word in band if low < word.left < high] for low, high in _pairs(borders)]
        spans: dict[int, int] = {}
        for part in _phrases(band):  # a name over several columns is in each of them
            first = sum(cut < part[0].left for cut in cuts)
            last = sum(cut < part[-1].right - 1 for cut in cuts)
            for column in range(first + 1, last + 1):
                cells[column], spans[column] = [], first
            if last > first:
                cells[first] = [*part]
        texts = [_text_of(cell) for cell in cells]
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
    least = 2 if len(cuts) > 1 or any(_NUMBER.fullmatch(row[-1]) for row in rows) else 3
    cells_of_text = [text for row in rows for text in row if text]
    if several < max(least, 0.5 * len(rows)) or sum(filled) < 0.4 * len(rows) * len(borders[1:]):
        return None
    if median(map(len, cells_of_text)) > _LONGEST_CELL or (len(bands) < 3 and len(cuts) < 2):
        return None
    return _placed(TableBlock(rows, merged), [word for band in bands for word in band])


def _phrases(band: Sequence[PageWord]) -> Iterator[list[PageWord]]:
    """Yield the words of a line that stand together."""
    phrase: list[PageWord] = []
    for word in sorted(band, key=lambda word: word.left):
        if phrase and word.left - phrase[-1].right >= _GUTTER * word.size:
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
        if not above[column] or _NUMBER.fullmatch(texts[column]) or (has_room and not word[0].islower()):
            return False
    return True


def _is_head(names: Sequence[Sequence[PageWord]], line: PageLine) -> bool:
    """Return True if words above a table are the names of its columns, though they do not stand above their own."""
    if line.table is None or len(names) != len(line.table.rows[0]):
        return False
    word = names[0][0]
    return word.middle - line.top < 2 * word.size and word.left < line.right and names[-1][-1].right > line.left


def _with_head(names: Sequence[Sequence[PageWord]], line: PageLine) -> PageLine:
    table = line.table
    if table is None:
        return line
    moved = {(row + 1, column): (place[0] + 1, place[1]) for (row, column), place in table.merged.items()}
    head = [_text_of(words) for words in names]
    return line._replace(top=names[0][0].top, table=table._replace(rows=[head, *table.rows], merged=moved))


def _placed(table: TableBlock, words: Sequence[PageWord]) -> PageLine:
    return PageLine(
        "", min(word.left for word in words), max(word.right for word in words),
        min(word.bottom for word in words), max(word.top for word in words), False, table,
    )  # fmt: skip


def _with_tables(words: Sequence[PageWord], rules: Sequence[Rule]) -> list[PageWord]:
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
    for top, bottom in _pairs(ys):
        band = [word for word in words if bottom < word.middle < top and not word.table]
        cells = [
            lines_of([word for word in band if low < (word.left + word.right) / 2 < high]) for low, high in _pairs(xs)
        ]
        most = max(map(len, cells), default=0)
        whole = [column for column, lines in enumerate(cells) if len(lines) == most]
        numbers = sum(all(_NUMBER.fullmatch(line.text) for line in cells[column]) for column in whole)
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
    for row, (top, bottom) in enumerate(_pairs(ys)):
        for column, (left, right) in enumerate(_pairs(xs)):
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
    texts = {place: _BULLET.sub("", _text_of(cell)) for place, cell in cells.items()}
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
