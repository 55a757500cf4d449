"""Rows of Wikipedia tables with questions, and passages linked from cells: WikiTableQuestions, HybridQA, OTT-QA, FeTaQA."""

import html
import random
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from convinse.records.ranked_rows import ranked_rows
from convinse.wikipedia.page import page_evidences, parse_page, whole_rows
from recipes.embedded.examples import Candidate, Example
from recipes.embedded.negatives import by_bm25, joined_keys, parts_with_texts
from recipes.embedded.patterns import slots
from recipes.embedded.reading import keys_with_reading
from recipes.embedded.spans import cut, standing, untokenised
from recipes.sources import records, unescaped_field

_CELL = re.compile(r"Cell (\d+) (\d+)")
# answers that are counted or computed, though a cell may happen to say the same
_COUNTED = re.compile(
    r"\b(?:how many|how much (?:more|less|longer)|number of|total|difference|average|combined|altogether|in all|sum|count)\b",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"[\d.,%+-]+")
_QUOTES = "\"'“” "
_MOST_RELEVANT = 5  # rows of one question
_OTHERS = 20  # rows of an example that do not answer, the best by BM25 first
_MOST_CHARACTERS = 1000  # of a passage

Place = tuple[int, int]  # row and column of a cell, from 0


class TableEvidence(NamedTuple):
    """A row as a text: its number, and where its cells stand in it, by column; both count from 0, without the header."""

    number: int
    text: str
    cells: dict[int, tuple[int, int]]


class TableTexts(NamedTuple):
    """The rows of a table as the texts of evidences, by which keys are joined, and in the form that is learned from."""

    plain: list[TableEvidence]
    shown: list[TableEvidence]


class TableQuestion(NamedTuple):
    """A question about a table."""

    source: str
    question: str
    places: Collection[Place]  # the cells that make a row relevant
    answer: str | None  # is read if it stands once in these cells; None: nothing is read
    key: str
    name: str = ""  # of the page, which some queries name; empty if there is none


def verbalised(title: str, header: Sequence[str], rows: Sequence[Sequence[str]], section: str = "") -> TableTexts:
    """The rows of a table by the pipeline's own code; each cell is made a link, which tells where it stands."""

    def inner(cell: str) -> str:
        return "<br>".join(html.escape(line) for line in cell.split("\n"))

    lines = ["".join(f"<th>{inner(name)}</th>" for name in header)]
    for number, row in enumerate(rows):
        links = (f'<a href="/wiki/Cell_{number}_{column}">{inner(cell)}</a>' for column, cell in enumerate(row))
        lines.append("".join(f"<td>{link}</td>" for link in links))
    table = "".join(f"<tr>{line}</tr>" for line in lines)
    heading = f"<h2>{html.escape(section)}</h2>" if section else ""
    page = parse_page(title, f'{heading}<table class="wikitable">{table}</table>')
    plain, number_of = [], {}
    for snippet in page.snippets:
        matches = [(match, link) for link in snippet.links if (match := _CELL.fullmatch(link.target))]
        if matches:
            cells = {int(match[2]): (link.start, link.end) for match, link in matches}
            plain.append(TableEvidence(int(matches[-1][0][1]), snippet.text, cells))
            if snippet.row is not None:
                number_of[snippet.row.number] = plain[-1].number
    whole = whole_rows(page_evidences(page, {"id": "", "label": title}, {}), 0)
    shown = []
    for row in ranked_rows([row for row in whole if row["number"] in number_of], bare_title(title)):
        texts = {cell["column"]: cell["text"] for cell in row.row["cells"]}
        cells = {column: (a, b) for column, (a, b) in row.cells.items() if row.text[a:b] == texts[column]}
        shown.append(TableEvidence(number_of[row.row["number"]], row.text, cells))
    return TableTexts(plain, shown)


def against_others(
    question: str, relevant: Mapping[str, Candidate], rows: Sequence[TableEvidence], right: Collection[int]
) -> tuple[Candidate, ...]:
    """Relevant candidates by their texts, then at most so many rows that are not of the numbers `right`, best by BM25."""
    others = list(dict.fromkeys(row.text for row in rows if row.number not in right and row.text not in relevant))
    if not relevant or not others:
        return ()
    return (*relevant.values(), *map(Candidate, by_bm25(question, others)[:_OTHERS]))


def bare_title(title: str) -> str:
    return re.sub(r" \([^()]*\)$", "", title)


def query_of(question: str, name: str, chance: random.Random) -> str:
    """The question; of some, after the page's name or as a representation, as a conversation about the page has it."""
    draw = chance.random()
    if draw < 0.6:
        return question
    if draw < 0.85:
        return f"{name}{chance.choice((' ', '. '))}{question}"
    return slots("", name, question)


def row_examples(table_question: TableQuestion, rows: TableTexts, chance: random.Random | None) -> Iterator[Example]:
    """The example of a question, if it has rows that answer and others."""
    plain, shown = (row_candidates(table_question, row) for row in rows)
    if plain:
        query = (
            table_question.question
            if chance is None
            else query_of(table_question.question, table_question.name, chance)
        )  # in all forms
        if shown:
            yield Example(
                query, shown, table_question.source, table_question.key, f"{table_question.source}:{table_question.key}"
            )


def row_candidates(table_question: TableQuestion, rows: Sequence[TableEvidence]) -> tuple[Candidate, ...]:
    """The rows that have one of the cells, then others; nothing if one of both is missing."""
    answer = table_question.answer
    columns: dict[int, set[int]] = defaultdict(set)
    for number, column in table_question.places:
        columns[number].add(column)
    relevant: dict[str, Candidate] = {}
    for row in rows:
        cells = [row.cells[column] for column in sorted(columns.get(row.number, ())) if column in row.cells]
        if cells:
            spans = [span for cell in cells for span in standing(answer, row.text, *cell)] if answer else []
            read = tuple(spans) if len(spans) == 1 else ()
            relevant.setdefault(row.text, Candidate(row.text, True, read, readable=bool(read)))
    return against_others(table_question.question, relevant, rows, columns)


# -- WikiTableQuestions ------------------------------------------------------------------------------------------------


def tables(data: Path, seed: int) -> Iterator[Example]:
    """WikiTableQuestions whose one answer is exactly one cell of the table; the key is the table."""
    chance = random.Random(f"tables {seed}")
    named: dict[str, str] = {}
    rows: dict[str, TableTexts] = {}
    places_of: dict[tuple[str, str], list[Place]] = defaultdict(list)  # of a table and the text of cells
    for title, table in read_tables(data):
        context = table["context"]
        named[context] = bare_title(title)
        rows[context] = verbalised(title, table["header"], table["rows"])
        for number, row in enumerate(table["rows"]):
            for column, cell in enumerate(row):
                places_of[context, _plain(cell)].append((number, column))
    keys = joined_keys((context, row.text) for context, found in rows.items() for row in found.plain)
    for _, written, context, answer in islice(records(data, "wikitablequestions", "training.tsv.gz"), 1, None):
        question, gold = unescaped_field(written), _plain(unescaped_field(answer))
        places = places_of.get((context, gold), ())
        is_computed = _COUNTED.search(question) and _FIGURE.fullmatch(gold)
        if len(places) != 1 or not gold or is_computed or "|" in answer:
            continue
        plain, shown = (_candidates(question, found, *places[0]) for found in rows[context])
        if plain:
            query = query_of(question, named[context], chance)  # the same in all forms
            if shown:
                yield Example(query, shown, "tables", keys[context], f"tables:{context}")


def _candidates(question: str, rows: Sequence[TableEvidence], number: int, column: int) -> tuple[Candidate, ...]:
    relevant: dict[str, Candidate] = {}
    for row in rows:
        if row.number == number and column in row.cells:
            start, end = row.cells[column]
            start = end - len(row.text[start:end].lstrip(_QUOTES))
            end = start + len(row.text[start:end].rstrip(_QUOTES))
            if start < end:
                relevant[row.text] = Candidate(row.text, True, ((start, end),))
    return against_others(question, relevant, rows, (number,))


def _plain(text: str) -> str:
    """A cell or an answer as it is compared."""
    return " ".join(text.casefold().split()).strip(_QUOTES)


def read_tables(data: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for table in records(data, "wikitablequestions", "tables.jsonl.gz"):
        yield html.unescape(table["title"]), table


# -- HybridQA and OTT-QA -----------------------------------------------------------------------------------------------


def hybrid_rows(data: Path, seed: int) -> Iterator[Example]:
    """HybridQA and OTT-QA: the row that holds the answer, or the cell that the answer's passage is linked from."""
    chance = random.Random(f"hybrid_rows {seed}")
    questions = list(records(data, "hybrid", "hybrid-questions.jsonl.gz"))
    table_ids = {question["table_id"] for question in questions}
    titles_seen = {title for title, _ in read_tables(data)}
    titles: dict[str, str] = {}
    rows: dict[str, TableTexts] = {}
    for table in records(data, "hybrid", "hybrid-tables.jsonl.gz"):
        name, title = table["table_id"], table["title"]
        if name in table_ids and title not in titles_seen:
            titles[name] = title
            cells = [[_joined(cell) for cell in row] for row in table["rows"]]
            rows[name] = verbalised(
                title, [_joined(table_rows) for table_rows in table["header"]], cells, table["section"]
            )
    keys = keys_with_reading(
        data, ((titles[name], row.text) for name, table_rows in rows.items() for row in table_rows.plain)
    )
    for question in questions:
        name, nodes = question["table_id"], question["answer_nodes"]
        title = titles.get(name)
        if title not in keys or len({node["row"] for node in nodes}) != 1:
            continue
        places = {(node["row"], node["col"]) for node in nodes}
        answer = _joined(question["answer"]) if len(nodes) == 1 and nodes[0]["where"] == "table" else None
        about = TableQuestion("hybrid_rows", question["question"], places, answer, keys[title], bare_title(title))
        yield from row_examples(about, rows[name], chance)


def hybrid_passages(data: Path, seed: int) -> Iterator[Example]:
    """HybridQA and OTT-QA: the passage that answers, against passages without the answer, the best by BM25."""
    chance = random.Random(f"hybrid_passages {seed}")
    text_of_link = {line["link"]: line["text"] for line in records(data, "hybrid", "hybrid-passages.jsonl.gz")}
    pages = {link: unquote(link.removeprefix("/wiki/")).replace("_", " ") for link in text_of_link}
    keys = keys_with_reading(data, ((pages[link], text) for link, text in text_of_link.items()))
    passages = {link: _joined(text) for link, text in text_of_link.items() if pages[link] in keys}
    pairs = []
    for question in records(data, "hybrid", "hybrid-questions.jsonl.gz"):
        links = [node.get("link") for node in question["answer_nodes"]]
        if len(links) == 1 and links[0] in passages:
            pairs.append((question["question"], links[0], _joined(question["answer"])))

    def key(row: tuple[str, str, str]) -> str:
        return keys[pages[row[1]]]

    for of_part, find in parts_with_texts("hybrid_passages", pairs, key, lambda row: [passages[row[1]]], seed):
        for text, link, answer in of_part:
            whole = passages[link]
            start = max(0, whole.casefold().find(answer.casefold()))
            right, _ = cut(whole, start, min(len(whole), start + len(answer)), chance, _MOST_CHARACTERS)
            wrong = [cut(bad.text, 0, 1, chance, _MOST_CHARACTERS)[0] for bad in find(text, 3, {whole}, [answer])]
            candidates = (Candidate(right, True, readable=False), *map(Candidate, dict.fromkeys(wrong)))
            page = keys[pages[link]]
            yield Example(text, candidates, "hybrid_passages", page, f"hybrid_passages:{page}")


def _joined(text: str) -> str:
    return untokenised(text)[0]


# -- FeTaQA ------------------------------------------------------------------------------------------------------------


def fetaqa(data: Path, seed: int) -> Iterator[Example]:
    """FeTaQA: the rows whose cells an annotator highlighted for the answer, of five at most; they are ranked, not read."""
    chance = random.Random(f"fetaqa {seed}")
    titles_seen = {title for title, _ in read_tables(data)}
    lines = records(data, "hybrid", "fetaqa.jsonl.gz")
    fresh_lines = [line for line in lines if line["title"] not in titles_seen and line["table"]]
    rows = [verbalised(line["title"], line["table"][0], line["table"][1:], line["section"]) for line in fresh_lines]
    pairs = ((line["title"], row.text) for line, texts in zip(fresh_lines, rows, strict=True) for row in texts.plain)
    keys = keys_with_reading(data, pairs)
    for line, texts in zip(fresh_lines, rows, strict=True):
        places = {(row - 1, column) for row, column in line["highlighted_cells"] if row > 0}  # the first is the header
        title = line["title"]
        if title in keys and len({row for row, _ in places}) <= _MOST_RELEVANT:
            question = TableQuestion("fetaqa", line["question"], places, None, keys[title], bare_title(title))
            yield from row_examples(question, texts, chance)
