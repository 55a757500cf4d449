"""Rows of Wikipedia tables with questions of WikiTableQuestions that one cell answers."""

from __future__ import annotations

import html
import random
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec

from convinse.config import Positive
from convinse.language.language import english
from convinse.records.ranked_rows import RowForm, ranked_rows
from convinse.support.jsonlines import read_lines
from convinse.wikipedia.page import page_evidences, parse_page, whole_rows
from convinse.wikipedia.snippets import Snippet
from recipes.embedded.examples import Candidate, Example
from recipes.embedded.negatives import joined_keys
from recipes.embedded.patterns import slots
from recipes.sources import needed, tab_lines

SOURCE = "tables"
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


class Rows(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the rows of tables are learned from.

    Attributes:
        form: `plain`, the text of an evidence; `ranked`: with ranks and neighbours (`convinse.records.ranked_rows`). The model keeps
            it in its configuration, and is given rows so.
        others: of the rows of a table that do not answer, so many stand in an example, the best by BM25 first.
    """

    form: RowForm = "plain"
    others: Positive = 5


PLAIN = Rows()


class TableEvidence(NamedTuple):
    """A row as a text: its number, and where its cells stand in it, by column; both count from 0, without the header."""

    number: int
    text: str
    cells: dict[int, tuple[int, int]]


def tables(data: Path, seed: int, form: Rows = PLAIN) -> Iterator[Example]:
    """WikiTableQuestions whose one answer is exactly one cell of the table; the key is the table.

    A row is verbalised by `convinse.wikipedia`. The row with the cell is relevant; against it stand other rows of the
    table. Tables with an equal row have one key. Questions for a count or a sum are left out, also where a cell has
    that number.
    """
    chance = random.Random(f"tables {seed}")
    named: dict[str, str] = {}
    rows: dict[str, TableTexts] = {}
    cells: dict[str, list[tuple[int, int, str]]] = {}
    for title, table in read_tables(data):
        named[table.context] = bare_title(title)
        rows[table.context] = TableTexts.of(form, title, table.header, table.rows)
        cells[table.context] = [
            (number, column, _plain(cell)) for number, row in enumerate(table.rows) for column, cell in enumerate(row)
        ]
    keys = joined_keys((context, row.text) for context, found in rows.items() for row in found.plain)
    for question, context, answer in read_questions(needed(data, "wikitablequestions", "training.tsv.gz")):
        wanted = _plain(answer)
        places = [(number, column) for number, column, cell in cells.get(context, ()) if cell == wanted]
        if len(places) != 1 or not wanted or (_COUNTED.search(question) and _NUMBER.fullmatch(wanted)):
            continue
        plain, shown = (_candidates(question, found, *places[0], form.others) for found in rows[context])
        if plain:
            query = query_of(question, named[context], chance)  # the same in all forms
            if shown:
                yield Example(query, shown, SOURCE, keys[context], f"tables:{context}")


class TableTexts(NamedTuple):
    """The rows of a table as the texts of evidences, by which keys are joined, and in the form that is learned from."""

    plain: list[TableEvidence]
    shown: list[TableEvidence]

    @classmethod
    def of(
        cls, form: Rows, title: str, header: Sequence[str], rows: Sequence[Sequence[str]], section: str = ""
    ) -> TableTexts:
        """See `verbalised`."""
        plain = verbalised(title, header, rows, section)
        return cls(plain, plain if form.form == "plain" else verbalised(title, header, rows, section, form.form))


def verbalised(
    title: str, header: Sequence[str], rows: Sequence[Sequence[str]], section: str = "", form: RowForm = "plain"
) -> list[TableEvidence]:
    """The rows of a table by the pipeline's own code; each cell is made a link, which tells where it stands.

    Cells and the names of columns may have line breaks; `section` is the heading that the table stands below. A plain row
    that is too long is several evidences of one number; of a ranked one the cells that do not fit are left out.
    """

    def inner(cell: str) -> str:
        return "<br>".join(html.escape(line) for line in cell.split("\n"))

    lines = ["<tr>" + "".join(f"<th>{inner(name)}</th>" for name in header) + "</tr>"]
    for number, row in enumerate(rows):
        filled = (
            f'<td><a href="/wiki/Cell_{number}_{column}">{inner(cell)}</a></td>' for column, cell in enumerate(row)
        )
        lines.append(f"<tr>{''.join(filled)}</tr>")
    heading = f"<h2>{html.escape(section)}</h2>" if section else ""
    page = parse_page(title, f'{heading}<table class="wikitable">{"".join(lines)}</table>')
    given = [(snippet, row) for snippet in page.snippets if (row := _row(snippet)) is not None]
    if form == "plain":
        return [row for _, row in given]
    number_of = {snippet.row.number: row.number for snippet, row in given if snippet.row is not None}
    whole = whole_rows(page_evidences(page, {"id": "", "label": title}, {}), 0)
    made = []
    for row in ranked_rows([row for row in whole if row["number"] in number_of], bare_title(title)):
        texts = {cell["column"]: cell["text"] for cell in row.row["cells"]}
        cells = {column: (a, b) for column, (a, b) in row.cells.items() if row.text[a:b] == texts[column]}
        made.append(TableEvidence(number_of[row.row["number"]], row.text, cells))
    return made


def _row(snippet: Snippet) -> TableEvidence | None:
    cells = {}
    number = -1
    for link in snippet.links:
        match = _CELL.fullmatch(link.target)
        if match:
            number = int(match[1])
            cells[int(match[2])] = (link.start, link.end)
    return TableEvidence(number, snippet.text, cells) if cells else None


def _candidates(
    question: str, rows: Sequence[TableEvidence], number: int, column: int, most: int
) -> tuple[Candidate, ...]:
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
    return against_others(question, relevant, rows, (number,), most)


def against_others(
    question: str, relevant: Mapping[str, Candidate], rows: Sequence[TableEvidence], right: Container[int], most: int
) -> tuple[Candidate, ...]:
    """Relevant candidates by their texts, then at most so many rows that are not of the numbers `right`, best by BM25.

    Nothing where one of both is missing.
    """
    others = list(dict.fromkeys(row.text for row in rows if row.number not in right and row.text not in relevant))
    if not relevant or not others:
        return ()
    best = [others[place] for place, _ in english().bm25.order(question, others)[:most]]
    return (*relevant.values(), *(Candidate(text) for text in best))


def bare_title(title: str) -> str:
    """The title of a page without what stands in brackets behind it."""
    return re.sub(r" \([^()]*\)$", "", title)


def query_of(question: str, name: str, chance: random.Random) -> str:
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


def table_titles(data: Path) -> set[str]:
    """The pages that the tables are from."""
    return {title for title, _ in read_tables(data)}


def read_tables(data: Path) -> Iterator[tuple[str, _Table]]:
    """The title of its page, and each table."""
    for _, table in read_lines(needed(data, "wikitablequestions", "tables.jsonl.gz"), _Table):
        yield html.unescape(table.title), table


def read_questions(path: Path) -> Iterator[tuple[str, str, str]]:
    """Question, context and the one answer of the questions that have no more."""
    for _, question, context, answer in islice(tab_lines(path, 4), 1, None):
        if "|" not in answer:
            yield _unescaped(question), context, _unescaped(answer)


def _unescaped(field: str) -> str:
    return re.sub(r"\\[np\\]", lambda match: _ESCAPES[match[0]], field)
