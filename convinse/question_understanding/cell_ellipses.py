"""Ellipses over a table: "and green tea?" behind "large cappuccino" names another cell below the same header, "and a small one?" another header."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import groupby

from ..language.property_names import PropertyWords
from ..language.text import fold
from ..records.conversation import Turn
from ..records.evidence import Row
from ..wikipedia.pages import Pages

_WORD = re.compile(r"\w+(?:[.'’-]\w+)*")


def place_in_table(
    words: str, question: str, turn: Turn, pages: Pages, title_of: Callable[[str], str | None], language: PropertyWords
) -> tuple[int, int] | None:
    """Return the place in the last question of the cell, header or file that some words replace; None if they name none of its table.

    Args:
        words: of the ellipsis.
        question: the last question.
        turn: of the last question, with the row of its answer.
        pages: of the row.
        title_of: returns the title of a page.
        language: makes keywords.
    """
    cited = next(iter(turn.get("top_evidences") or ()), None)
    said = language.keywords(words)
    if cited is None or "row" not in cited or "page" not in cited["row"] or not said:
        return None
    row = cited["row"]
    table = pages.rows_alike(row["page"], row["table"])
    titles = {page: language.keywords(title_of(page) or "") for page in dict.fromkeys(row["page"] for row in table)}
    names = (
        *_rivals_of_cell(said, row, table, language),
        *_rivals_of_header(said, table, language),
        *(_rivals_of_title(said, titles) if len(titles) > 1 else ()),
    )
    runs = (_run_of(name, question, language) for name in names)
    return next((run for run in runs if run is not None), None)


def _rivals_of_cell(
    said: AbstractSet[str], cited: Row, table: Sequence[Row], language: PropertyWords
) -> Iterator[frozenset[str]]:
    """Yield the keywords of the other cells below the header of the cell that some words name, that of the cited row first."""
    columns = set[int]()
    for row in table:
        for cell in row["cells"]:
            text = language.keywords(cell["text"])
            if said & text and said <= text | language.keywords(cell["header"]):
                columns.add(cell["column"])
    for row in (cited, *table):
        for cell in row["cells"]:
            if cell["column"] in columns and not said & (text := language.keywords(cell["text"])):
                yield text


def _rivals_of_header(said: AbstractSet[str], table: Sequence[Row], language: PropertyWords) -> list[frozenset[str]]:
    """Return the keywords of the other headers, those of most words first, if some words are one of them.

    The header of the first column comes last: "cake" of "a slice of nut cake" is a part of a name.
    """
    headers = {cell["column"]: language.keywords(cell["header"]) for row in table for cell in row["cells"]}
    if not any(said <= header for header in headers.values()):
        return []
    first = min(headers)
    others = [column for column in sorted(headers) if headers[column] and not headers[column] & said]
    return [headers[column] for column in sorted(others, key=lambda column: (column == first, -len(headers[column])))]


def _rivals_of_title(said: AbstractSet[str], titles: Mapping[str, frozenset[str]]) -> list[frozenset[str]]:
    """Return the keywords of the titles of other files, if some words are of one of them."""
    named = [title for title in titles.values() if said <= title]
    return [title for title in titles.values() if title not in named] if named else []


def _run_of(name: AbstractSet[str], question: str, language: PropertyWords) -> tuple[int, int] | None:
    """Return the place of the longest run of words of a question that are all of a name; None without one."""
    spoken = [(match, language.keyword(fold(match[0]))) for match in _WORD.finditer(question)]
    runs = [[*run] for is_of_name, run in groupby(spoken, lambda pair: pair[1] in name) if is_of_name]
    if not runs:
        return None
    longest = max(runs, key=len)
    return longest[0][0].start(), longest[-1][0].end()
