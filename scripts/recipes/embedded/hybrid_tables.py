"""Tables with questions whose cells are marked, and passages linked from cells."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import msgspec

from convinse.support.errors import DataError
from convinse.support.jsonlines import read_lines
from recipes.embedded.examples import Candidate, Example
from recipes.embedded.negatives import parts_with_texts
from recipes.embedded.reading_files import keys_with_reading, long_lines
from recipes.embedded.sample_sets import cut
from recipes.embedded.tables import (
    PLAIN,
    Rows,
    TableEvidence,
    TableTexts,
    against_others,
    bare_title,
    query_of,
    table_titles,
)
from recipes.embedded.untokenise import untokenised
from recipes.sources import needed

_MOST_RELEVANT = 5  # rows of one question
_MOST_CHARACTERS = 1000  # of a passage
_REPORT = "Annual report"  # stands for the title of tables that have none
_HEADER_ROWS = 4  # of a table of a report, at most
_YEAR = re.compile(r"\b(?:19|20)[0-9]{2}\b")
_NUMBER = re.compile(r"[0-9][0-9,]*(?:\.[0-9]+)?")

Place = tuple[int, int]  # row and column of a cell, from 0


class _Node(msgspec.Struct):
    row: int
    col: int
    where: str
    link: str | None = None


class _Question(msgspec.Struct):
    question: str
    answer: str
    table_id: str
    answer_nodes: list[_Node]


class _HybridTable(msgspec.Struct):
    table_id: str
    title: str
    section: str
    header: list[str]
    rows: list[list[str]]


class _Passage(msgspec.Struct):
    link: str
    text: str


# -- HybridQA and OTT-QA -----------------------------------------------------------------------------------------------


def hybrid_rows(data: Path, seed: int, form: Rows = PLAIN) -> Iterator[Example]:
    """HybridQA and OTT-QA: the row that holds the answer, or the cell that the answer's passage is linked from.

    The key is the table's page. Where answers were found by string match in several rows, nobody knows which is right:
    such questions are left out. The span is learned where one cell of the table is the only match. Against the row
    stand others of the table. Pages of WikiTableQuestions are left out.
    """
    chance = random.Random(f"hybrid_rows {seed}")
    questions = list(_read_questions(data))
    wanted = {question.table_id for question in questions}
    known = table_titles(data)
    tables: dict[str, _HybridTable] = {}
    for _, table in read_lines(needed(data, "hybrid", "hybrid-tables.jsonl.gz"), _HybridTable):
        if table.table_id in wanted and table.title not in known:
            tables[table.table_id] = table
    rows = {name: _texts(table, form) for name, table in tables.items()}
    pairs = ((table.title, row.text) for name, table in tables.items() for row in rows[name].plain)
    keys = keys_with_reading(data, pairs)
    for question in questions:
        nodes = question.answer_nodes
        table = tables.get(question.table_id)
        if table is None or table.title not in keys or len({node.row for node in nodes}) != 1:
            continue
        places = {(node.row, node.col) for node in nodes}
        answer = _joined(question.answer) if len(nodes) == 1 and nodes[0].where == "table" else None
        key = keys[table.title]
        yield from row_examples(
            TableQuestion("hybrid_rows", question.question, places, answer, key, bare_title(table.title)),
            rows[question.table_id], chance, form.others,
        )  # fmt: skip


def hybrid_passages(data: Path, seed: int) -> Iterator[Example]:
    """HybridQA and OTT-QA: the passage that answers, against passages without the answer, the best by BM25.

    Only questions whose one match is in a passage; the key is its page. A passage is cut to 1,000 characters around
    its answer. It is ranked, not read: `reading/hybridqa-ottqa-passages` has the same questions with their spans.
    """
    chance = random.Random(f"hybrid_passages {seed}")
    given = [passage for _, passage in read_lines(needed(data, "hybrid", "hybrid-passages.jsonl.gz"), _Passage)]
    keys = keys_with_reading(data, ((_page(passage.link), passage.text) for passage in given))
    passages = {passage.link: _joined(passage.text) for passage in given if _page(passage.link) in keys}
    asked = []
    for question in _read_questions(data):
        links = [node.link for node in question.answer_nodes]
        if len(links) == 1 and links[0] in passages:
            asked.append((question.question, links[0], _joined(question.answer)))

    def key(row: tuple[str, str, str]) -> str:
        return keys[_page(row[1])]

    for own, find in parts_with_texts("hybrid_passages", asked, key, lambda row: [passages[row[1]]], seed):
        for text, link, answer in own:
            whole = passages[link]
            start = max(0, whole.casefold().find(answer.casefold()))
            right, _ = cut(whole, start, min(len(whole), start + len(answer)), chance, _MOST_CHARACTERS)
            wrong = [cut(bad.text, 0, 1, chance, _MOST_CHARACTERS)[0] for bad in find(text, 3, {whole}, [answer])]
            page = keys[_page(link)]
            candidates = (Candidate(right, True, readable=False), *map(Candidate, dict.fromkeys(wrong)))
            yield Example(text, candidates, "hybrid_passages", page, f"hybrid_passages:{page}")


def _read_questions(data: Path) -> Iterator[_Question]:
    return (question for _, question in read_lines(needed(data, "hybrid", "hybrid-questions.jsonl.gz"), _Question))


def _texts(table: _HybridTable, form: Rows) -> TableTexts:
    rows = [[_joined(cell) for cell in row] for row in table.rows]
    return TableTexts.of(form, table.title, [_joined(name) for name in table.header], rows, table.section)


def _page(link: str) -> str:
    """The title of the page that a link leads to."""
    return unquote(link.removeprefix("/wiki/")).replace("_", " ")


def _joined(text: str) -> str:
    """A text whose tokens were joined by blanks, as it is usually written."""
    return untokenised(text)[0]


# -- FeTaQA ------------------------------------------------------------------------------------------------------------


class _Highlighted(msgspec.Struct):
    question: str
    title: str
    section: str
    table: list[list[str]]  # the first row is the header
    highlighted_cells: list[Place]  # counted with the header


def fetaqa(data: Path, seed: int, form: Rows = PLAIN) -> Iterator[Example]:
    """FeTaQA: the rows whose cells an annotator highlighted for the answer, of five at most; they are ranked, not read.

    The key is the page. Questions that need more rows have no row that answers them.
    """
    path = needed(data, "hybrid", "fetaqa.jsonl.gz")
    chance = random.Random(f"fetaqa {seed}")
    known = table_titles(data)
    asked = [line for _, line in read_lines(path, _Highlighted) if line.title not in known and line.table]
    rows = [TableTexts.of(form, line.title, line.table[0], line.table[1:], line.section) for line in asked]
    pairs = ((line.title, row.text) for line, own in zip(asked, rows, strict=True) for row in own.plain)
    keys = keys_with_reading(data, pairs)
    for line, own in zip(asked, rows, strict=True):
        places = {(row - 1, column) for row, column in line.highlighted_cells if row > 0}
        if line.title in keys and len({row for row, _ in places}) <= _MOST_RELEVANT:
            question = TableQuestion("fetaqa", line.question, places, None, keys[line.title], bare_title(line.title))
            yield from row_examples(question, own, chance, form.others)


# -- reports of companies ----------------------------------------------------------------------------------------------


class Report(NamedTuple):
    """A table of a report in the form of the others: joined names of columns, and rows of which each has a name."""

    header: list[str]
    rows: list[list[str]]


class _Computed(msgspec.Struct):
    question: str
    answer: str | float | list[str]
    answer_type: str
    answer_from: str
    derivation: str


class _Financial(msgspec.Struct):
    table: list[list[str]]
    questions: list[_Computed]
    paragraphs: list[str] = []


def tatqa(data: Path, seed: int, form: Rows = PLAIN) -> Iterator[Example]:
    """TAT-QA: rows of tables of financial reports.

    A question is used where its answers, or else the numbers that its answer is computed from, are cells of one row,
    each found in no other row. Only an answer that is one cell is read. Reports with an equal row or paragraph have one
    key, that of their paragraphs in `reading/tatqa-text`.
    """
    lines = [line for _, line in read_lines(needed(data, "hybrid", "tatqa.jsonl.gz"), _Financial)]
    reports = {f"tatqa {number}": financial(line.table) for number, line in enumerate(lines)}
    told = [
        (name, text)
        for name, line in zip(reports, lines, strict=True)
        for paragraph in line.paragraphs
        for text in long_lines(paragraph)
    ]
    asked = []
    for (name, report), line in zip(reports.items(), lines, strict=True):
        for question in line.questions:
            if question.answer_from != "text":
                spans = question.answer if isinstance(question.answer, list) else []
                sought = spans if "span" in question.answer_type else _NUMBER.findall(question.derivation)
                answer = spans[0] if question.answer_type == "span" and len(spans) == 1 else None
                asked.append((name, question.question, _row_of(report, sought), answer))
    yield from _on_reports("tatqa", data, reports, told, asked, form)


class _AirlineTable(msgspec.Struct, tag_field="kind", tag="table"):
    id: str
    column_header: list[list[str]]
    row_header: list[list[str]]
    data: list[list[str]]


class _AirlineQuestion(msgspec.Struct, tag_field="kind", tag="question"):
    table_id: str
    question: str
    answers: list[str]


def aitqa(data: Path, seed: int, form: Rows = PLAIN) -> Iterator[Example]:
    """AIT-QA: rows of tables of airlines' reports, whose columns and rows have several headers each.

    A question is used where its answer is a cell of one row. Tables with an equal row have one key.
    """
    path = needed(data, "hybrid", "aitqa.jsonl.gz")
    reports: dict[str, Report] = {}
    asked = []
    for number, line in read_lines(path, _AirlineTable | _AirlineQuestion):
        if isinstance(line, _AirlineTable):
            names = [[" ".join(_different(name))] for name in line.row_header]
            header = [*([""] if names else []), *(" ".join(_different(name)) for name in line.column_header)]
            # a table may have the names of more rows than it has rows: the last stand for nothing
            rows = [[*name, *row] for name, row in zip(names, line.data, strict=False)] if names else line.data
            reports[f"aitqa {line.id}"] = Report(header, rows)
        elif (name := f"aitqa {line.table_id}") not in reports:
            raise DataError(f"{path}:{number}: no table '{line.table_id}' stands before its question")
        elif len(line.answers) == 1:
            asked.append((name, line.question, _row_of(reports[name], line.answers), line.answers[0]))
    yield from _on_reports("aitqa", data, reports, (), asked, form)


def financial(table: Sequence[Sequence[str]]) -> Report:
    """The joined names of the columns, and the rows that have a value.

    The rows above the first one with a name and a number that is no year are the header, of four at most.
    """
    above = list(takewhile(lambda row: not _has_value(row), table[:_HEADER_ROWS]))
    while above and _is_banner(above[-1]):  # the title of a part stands below the header
        above.pop()
    header = [" ".join(_different(names)) for names in zip(*above, strict=True)] if above else []
    rows = [[" ".join(cell.split()) for cell in row] for row in table[len(above) :] if not _is_banner(row)]
    return Report(header, rows)


def _has_value(row: Sequence[str]) -> bool:
    """Whether a row has a name, and a number that is no year."""
    return bool(row and row[0].strip()) and any(_NUMBER.search(cell) and not _YEAR.search(cell) for cell in row[1:])


def _is_banner(row: Sequence[str]) -> bool:
    return not any(cell.strip() for cell in row[1:])


def _different(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(" ".join(name.split()) for name in names if name.strip()))


def _row_of(report: Report, sought: Collection[str]) -> set[Place]:
    """The cells of the one row that hold all that is sought; nothing where some of it is nowhere, or in several rows."""
    places: set[Place] = set()
    for text in sought:
        wanted = _bare(text)
        held = {(y, x) for y, row in enumerate(report.rows) for x, cell in enumerate(row) if _bare(cell) == wanted}
        if not wanted or not held:
            return set()
        places |= held
    return places if len({row for row, _ in places}) == 1 else set()


def _bare(text: str) -> str:
    """A cell as it is compared: a number without its currency, its percent sign and the brackets of a loss."""
    return " ".join(text.casefold().split()).strip("$€£%() ").strip()


def _on_reports(
    source: str,
    data: Path,
    reports: Mapping[str, Report],
    told: Iterable[tuple[str, str]],
    asked: Iterable[tuple[str, str, set[Place], str | None]],
    form: Rows,
) -> Iterator[Example]:
    """Examples of (table, question, places of the answers, answer to read); `told` is what else the reports say."""
    rows = {name: TableTexts.of(form, _REPORT, report.header, report.rows) for name, report in reports.items()}
    pairs = ((name, row.text) for name, own in rows.items() for row in own.plain)
    keys = keys_with_reading(data, (*pairs, *told))
    for name, question, places, answer in asked:
        if name in keys:
            about = TableQuestion(source, question, places, answer, keys[name])
            yield from row_examples(about, rows[name], None, form.others)


# -- rows --------------------------------------------------------------------------------------------------------------


class TableQuestion(NamedTuple):
    """A question about a table.

    Attributes:
        places: the cells that make a row relevant.
        answer: is read where it stands once in these cells; None: nothing is read.
        name: of the page, which some queries name; empty where there is none.
    """

    source: str
    question: str
    places: Collection[Place]
    answer: str | None
    key: str
    name: str = ""


def row_examples(asked: TableQuestion, rows: TableTexts, chance: random.Random | None, most: int) -> Iterator[Example]:
    """The example of a question, if it has rows that answer and others.

    Args:
        asked: the question.
        rows: of its table.
        chance: draws how the page is named in the query; None: not at all.
        most: rows that do not answer.
    """
    plain, shown = (row_candidates(asked, own, most) for own in rows)
    if plain:
        query = asked.question if chance is None else query_of(asked.question, asked.name, chance)  # in all forms
        if shown:
            yield Example(query, shown, asked.source, asked.key, f"{asked.source}:{asked.key}")


def row_candidates(asked: TableQuestion, rows: Sequence[TableEvidence], most: int) -> tuple[Candidate, ...]:
    """The rows that have one of the cells, then others; nothing where one of both is missing."""
    answer = asked.answer
    columns: dict[int, set[int]] = defaultdict(set)
    for number, column in asked.places:
        columns[number].add(column)
    relevant: dict[str, Candidate] = {}
    for row in rows:
        cells = [row.cells[column] for column in sorted(columns.get(row.number, ())) if column in row.cells]
        if cells:
            spans = [span for cell in cells for span in standing(answer, row.text, *cell)] if answer else []
            read = tuple(spans) if len(spans) == 1 else ()
            relevant.setdefault(row.text, Candidate(row.text, True, read, readable=bool(read)))
    return against_others(asked.question, relevant, rows, columns, most)


def standing(answer: str, text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where an answer stands in a part of a text, in any case, as whole words."""
    if not answer:
        return
    for match in re.finditer(rf"(?<!\w){re.escape(answer)}(?!\w)", text[start:end], re.IGNORECASE):
        yield start + match.start(), start + match.end()
