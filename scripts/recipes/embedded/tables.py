"""Rows of Wikipedia tables with questions of WikiTableQuestions that one cell answers."""

from __future__ import annotations

import html
import random
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec

from convinse.language.language import english
from convinse.support.jsonlines import read_lines
from convinse.wikipedia.document import Snippet
from convinse.wikipedia.page import parse_page
from recipes.embedded.examples import Candidate, Example
from recipes.embedded.negatives import joined_keys
from recipes.embedded.patterns import slots
from recipes.sources import needed, tab_lines

SOURCE = "tables"
_NEGATIVES = 5
_ESCAPES = {"\\n": "\n", "\\p": "|", "\\\\": "\\"}
_CELL = re.compile(r"Cell (\d+) (\d+)")
# answers that are counted or computed, though a cell may happen to say the same
_COUNTED = re.compile(
    r"\b(?:how many|how much (?:more|less|longer)|number of|total|difference|average|combined|altogether|in all|sum|count)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[\d.,%+-]+")


class _Table(msgspec.Struct):
    context: str
    title: str
    header: list[str]
    rows: list[list[str]]


class _Row(NamedTuple):
    """An evidence: its row, and where its cells stand in it, by column."""

    number: int
    text: str
    cells: dict[int, tuple[int, int]]


def tables(data: Path, work: Path, seed: int) -> Iterator[Example]:
    """WikiTableQuestions whose one answer is exactly one cell of the table; the key is the table.

    A row is verbalised by `convinse.wikipedia`. The row with the cell is relevant; against it stand up to five other
    rows of the table, the best ones by BM25. Tables with an equal row have one key. Questions for a count or a sum are
    left out, also where a cell has that number.
    """
    chance = random.Random(f"tables {seed}")
    named: dict[str, str] = {}
    rows: dict[str, list[_Row]] = {}
    cells: dict[str, list[tuple[int, int, str]]] = {}
    for _, table in read_lines(needed(data, "wikitablequestions", "tables.jsonl.gz"), _Table):
        title = html.unescape(table.title)
        named[table.context] = re.sub(r" \([^()]*\)$", "", title)
        rows[table.context] = verbalised(title, table.header, table.rows)
        cells[table.context] = [
            (number, column, _plain(cell)) for number, row in enumerate(table.rows) for column, cell in enumerate(row)
        ]
    keys = joined_keys((context, row.text) for context, found in rows.items() for row in found)
    for question, context, answer in _read_questions(needed(data, "wikitablequestions", "training.tsv.gz")):
        wanted = _plain(answer)
        places = [(number, column) for number, column, cell in cells.get(context, ()) if cell == wanted]
        if len(places) != 1 or not wanted or (_COUNTED.search(question) and _NUMBER.fullmatch(wanted)):
            continue
        candidates = _candidates(question, rows[context], *places[0])
        if candidates:
            yield Example(
                _query(question, named[context], chance), candidates, SOURCE, keys[context], f"tables:{context}"
            )


def verbalised(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[_Row]:
    """The evidences of a table, by the pipeline's own code; each cell is made a link, which tells where it stands.

    Cells and the names of columns may have line breaks.
    """

    def inner(cell: str) -> str:
        return "<br>".join(html.escape(line) for line in cell.split("\n"))

    lines = ["<tr>" + "".join(f"<th>{inner(name)}</th>" for name in header) + "</tr>"]
    for number, row in enumerate(rows):
        filled = (
            f'<td><a href="/wiki/Cell_{number}_{column}">{inner(cell)}</a></td>' for column, cell in enumerate(row)
        )
        lines.append(f"<tr>{''.join(filled)}</tr>")
    page = parse_page(title, f'<table class="wikitable">{"".join(lines)}</table>')
    return [row for snippet in page.snippets if (row := _row(snippet)) is not None]


def _row(snippet: Snippet) -> _Row | None:
    cells = {}
    number = -1
    for link in snippet.links:
        match = _CELL.fullmatch(link.target)
        if match:
            number = int(match[1])
            cells[int(match[2])] = (link.start, link.end)
    return _Row(number, snippet.text, cells) if cells else None


def _candidates(question: str, rows: Sequence[_Row], number: int, column: int) -> tuple[Candidate, ...]:
    """The evidences of the row with the answer, then other rows; nothing where one of both is missing."""
    relevant: dict[str, Candidate] = {}
    for row in rows:
        if row.number == number and column in row.cells:
            start, end = row.cells[column]
            while start < end and row.text[start] in "\"'“” ":
                start += 1
            while start < end and row.text[end - 1] in "\"'“” ":
                end -= 1
            if start < end:
                relevant[row.text] = Candidate(row.text, True, ((start, end),))
    others = list(dict.fromkeys(row.text for row in rows if row.number != number and row.text not in relevant))
    if not relevant or not others:
        return ()
    best = [others[place] for place, _ in english().bm25.order(question, others)[:_NEGATIVES]]
    return (*relevant.values(), *(Candidate(text) for text in best))


def _query(question: str, name: str, chance: random.Random) -> str:
    """The question; of some, after the page's name or as a representation, as a conversation about the page has it."""
    draw = chance.random()
    if draw < 0.6:
        return question
    if draw < 0.85:
        return f"{name}{chance.choice((' ', '. '))}{question}"
    return slots("", name, question)


def _plain(text: str) -> str:
    """A cell or an answer as it is compared."""
    return " ".join(text.casefold().split()).strip("\"'“” ")


def _read_questions(path: Path) -> Iterator[tuple[str, str, str]]:
    """Question, context and the one answer of the questions that have no more."""
    for _, question, context, answer in islice(tab_lines(path, 4), 1, None):
        if "|" not in answer:
            yield _unescaped(question), context, _unescaped(answer)


def _unescaped(field: str) -> str:
    return re.sub(r"\\[np\\]", lambda match: _ESCAPES[match[0]], field)
