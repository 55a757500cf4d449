"""Rows of tables in reports of companies: TAT-QA and AIT-QA."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from recipes.embedded.examples import Example
from recipes.embedded.reading import keys_with_reading, long_lines
from recipes.embedded.tables import Place, TableQuestion, row_examples, verbalised
from recipes.sources import records

_YEAR = re.compile(r"\b(?:19|20)[0-9]{2}\b")
_NUMBER = re.compile(r"[0-9][0-9,]*(?:\.[0-9]+)?")
_TITLE = "Annual report"  # of every table: reports give theirs none
_HEADER_ROWS = 4  # at most


class Report(NamedTuple):
    """A table of a report in the form of the others: joined names of columns, and rows of which each has a name."""

    header: list[str]
    rows: list[list[str]]


class ReportQuestion(NamedTuple):
    """A question about the table of a report: the cells that answer it, and the answer to read, if there is one."""

    table: str
    text: str
    places: set[Place]
    answer: str | None


def tatqa(data: Path, seed: int) -> Iterator[Example]:
    """TAT-QA: rows of tables of financial reports."""
    lines = list(records(data, "hybrid", "tatqa.jsonl.gz"))
    reports = {f"tatqa {number}": read_financial_table(line["table"]) for number, line in enumerate(lines)}
    text_lines, questions = [], []
    for (name, report), line in zip(reports.items(), lines, strict=True):
        text_lines += [(name, text) for paragraph in line.get("paragraphs", ()) for text in long_lines(paragraph)]
        for question in line["questions"]:
            if question["answer_from"] != "text":
                spans = question["answer"] if isinstance(question["answer"], list) else []
                kind = question["answer_type"]
                sought = spans if "span" in kind else _NUMBER.findall(question["derivation"])
                answer = spans[0] if kind == "span" and len(spans) == 1 else None
                questions.append(ReportQuestion(name, question["question"], _cells_in_one_row(report, sought), answer))
    yield from _report_examples("tatqa", data, reports, text_lines, questions)


def aitqa(data: Path, seed: int) -> Iterator[Example]:
    """AIT-QA: rows of tables of airlines' reports, whose columns and rows have several headers each."""
    reports: dict[str, Report] = {}
    questions = []
    for line in records(data, "hybrid", "aitqa.jsonl.gz"):  # a table stands before its questions
        if line["kind"] == "table":
            names = [[_joined_name(name)] for name in line["row_header"]]
            header = [*([""] if names else []), *(_joined_name(name) for name in line["column_header"])]
            # a table may have the names of more rows than it has rows: the last stand for nothing
            rows = [[*name, *row] for name, row in zip(names, line["data"], strict=False)] if names else line["data"]
            reports[f"aitqa {line['id']}"] = Report(header, rows)
        elif len(line["answers"]) == 1:
            name, answers = f"aitqa {line['table_id']}", line["answers"]
            questions.append(
                ReportQuestion(name, line["question"], _cells_in_one_row(reports[name], answers), answers[0])
            )
    yield from _report_examples("aitqa", data, reports, (), questions)


def read_financial_table(table: Sequence[Sequence[str]]) -> Report:
    """Return the joined names of the columns, and the rows that have a value."""

    def has_value(row: Sequence[str]) -> bool:
        return row[0].strip() != "" and any(_NUMBER.search(cell) and not _YEAR.search(cell) for cell in row[1:])

    above = list(takewhile(lambda row: not (row and has_value(row)), table[:_HEADER_ROWS]))
    while above and _is_banner(above[-1]):  # the title of a part stands below the header
        above.pop()
    header = [_joined_name(names) for names in zip(*above, strict=True)] if above else []
    rows = [[" ".join(cell.split()) for cell in row] for row in table[len(above) :] if not _is_banner(row)]
    return Report(header, rows)


def _is_banner(row: Sequence[str]) -> bool:
    return not any(cell.strip() for cell in row[1:])


def _joined_name(names: Iterable[str]) -> str:
    return " ".join(dict.fromkeys(" ".join(name.split()) for name in names if name.strip()))


def _cells_in_one_row(report: Report, sought: Collection[str]) -> set[Place]:
    """Return the cells of the one row that hold all that is sought; none if some of it is nowhere, or in several rows."""
    places: set[Place] = set()
    for text in sought:
        bare = _bare(text)
        held = {(y, x) for y, row in enumerate(report.rows) for x, cell in enumerate(row) if _bare(cell) == bare}
        if not bare or not held:
            return set()
        places |= held
    return places if len({row for row, _ in places}) == 1 else set()


def _bare(text: str) -> str:
    """Return a cell as it is compared: a number without its currency, its percent sign and the brackets of a loss."""
    return " ".join(text.casefold().split()).strip("$€£%() ").strip()


def _report_examples(
    source: str,
    data: Path,
    reports: Mapping[str, Report],
    text_lines: Iterable[tuple[str, str]],  # (table, line of text beside it)
    questions: Iterable[ReportQuestion],
) -> Iterator[Example]:
    rows = {name: verbalised(_TITLE, report.header, report.rows) for name, report in reports.items()}
    pairs = ((name, row.text) for name, texts in rows.items() for row in texts.plain)
    keys = keys_with_reading(data, (*pairs, *text_lines))
    for question in questions:
        if question.table in keys:
            about = TableQuestion(source, question.text, question.places, question.answer, keys[question.table])
            yield from row_examples(about, rows[question.table], None)
