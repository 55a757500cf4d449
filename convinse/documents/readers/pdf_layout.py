"""Finds the columns of a page and its tables, and puts them in reading order."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from .pdf_aligned import LONGEST_CELL, aligned_table, is_head, phrases_of, with_head
from .pdf_lines import GUTTER, MARKER, PageLine, PageWord, bands_of, lines_of, lines_within, starts_item
from .pdf_ruled import Rule, with_ruled_tables

_FAR = 1.4  # times the usual distance of lines, from which on a line without a gutter does not belong to the table
_PROSE_WORDS = 3  # of a usual line of prose
_NEARER = 1.2  # times the smallest distance of lines, which those of a cell have from one another
_DEEPEST = 8  # columns within columns


def reading_order(words: Sequence[PageWord], rules: Sequence[Rule]) -> list[list[PageLine]]:
    """Return the columns of a page in reading order, with the lines of each; a table is a line of its own."""
    columns: list[list[PageLine]] = []
    _cut([*with_ruled_tables(words, rules)], columns, 0)
    return columns


def _gaps(bands: Sequence[Sequence[PageWord]]) -> list[tuple[float, float]]:
    """Return the free stripes between the words of all bands, from the left."""
    words = sorted((word for band in bands for word in band), key=lambda word: word.left)
    least = GUTTER * median([word.size for word in words if not word.table] or [10.0])
    gaps, end = [], words[0].right
    for word in words:
        if word.left - end >= least:
            gaps.append((end, word.left))
        end = max(end, word.right)
    return gaps


def _cut(words: Sequence[PageWord], columns: list[list[PageLine]], depth: int) -> None:
    """Add the columns of a part of a page."""
    bands = bands_of(words)
    if depth < _DEEPEST and (found := _columns(bands, depth, with_tables=False)):
        columns += found  # no line goes over all of them
        return
    place, is_open = 0, False
    while place < len(bands):
        end = _end_of_run(bands, place) if depth < _DEEPEST else place + 1
        is_run = end > place + 1 or len(list(lines_within(bands[place]))) > 1
        found = _columns(bands[place:end], depth) if is_run else None
        if end == place + 1 and found is None and (names := list(phrases_of(bands[place])))[1:] and end < len(bands):
            last = _end_of_run(bands, end)
            if last > end + 1 and (below := _columns(bands[end:last], depth)) and is_head(names, below[0][0]):
                found, end = [[with_head(names, below[0][0])], *below[1:]], last
        if found is not None:
            columns += found
            is_open = False
        else:
            end = place + 1
            if not is_open:
                columns.append([])
            is_open = True
            columns[-1] += lines_within(bands[place])
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
    parts = [[word for word in body if low < word.left < high] for low, high in pairwise([-1e9, *cuts, 1e9])]
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
        borders = [max(cuts[low:high], key=lambda cut: widths[cut]) for low, high in pairwise(prose)]
        if not borders:
            return None
    elif any(is_apart):  # columns that are no prose stay together: they are a table beside it
        borders = [cut for place, cut in enumerate(cuts) if is_apart[place] or is_apart[place + 1]]
    elif (table := aligned_table(bands, cuts)) is not None:
        return [[table]]
    else:
        cells = [line.text for part in lines for line in part]
        if median(map(len, cells)) <= LONGEST_CELL / 2 or len(bands) < 3:
            return None
        borders = cuts
    columns: list[list[PageLine]] = []
    for low, high in pairwise([-1e9, *borders, 1e9]):
        _cut([word for word in words if low < word.left < high], columns, depth + 1)
    return columns


def _are_markers(words: Sequence[PageWord]) -> bool:
    """Return True for the signs before items; fonts of signs have letters for them."""
    texts = {word.text for word in words}
    return all(map(MARKER.fullmatch, texts)) or (
        len(texts) == 1 < len(words) - 1 and len(word := texts.pop()) == 1 and word.isalpha()
    )


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
    steps = [above[-1].middle - below[0].middle for above, below in pairwise(bands)]
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
