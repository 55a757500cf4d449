"""Questions about tables of Wikipedia with the rows that answer them, against other rows of the table."""

import html
import random
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from convinse.language.language import english
from convinse.language.text import fold
from convinse.records.ranked_rows import ranked_rows
from convinse.wikipedia.page import page_evidences, parse_page, whole_rows
from recipes.embedded.data_sets import DATA_SETS, Source
from recipes.embedded.examples import Candidate, Example
from recipes.embedded.negatives import by_bm25, joined_keys
from recipes.embedded.reading import keys_with_reading
from recipes.embedded.spans import standing, untokenised
from recipes.sources import records, unescaped_field

_CELL = re.compile(r"Cell (\d+) (\d+)")
# answers that are counted or computed, though a cell may happen to say the same
_COUNTED = re.compile(
    r"\b(?:how many|how much (?:more|less|longer)|number of|total|difference|average|combined|altogether|in all|sum|count)\b",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"[\d.,%+-]+")
_QUOTES = "\"'“” "
_OTHERS = 20  # rows of an example that do not answer, the best by BM25 first

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
    text: str
    table: str
    places: Collection[Place]  # the cells that make a row relevant
    answer: str | None  # is read if it stands once in these cells; None: nothing is read


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
                number_of[snippet.row["number"]] = plain[-1].number
    whole = whole_rows(page_evidences(page, {"id": "", "label": title}, {}), 0)
    shown = []
    for row in ranked_rows([row for row in whole if row["number"] in number_of], _bare_title(title)):
        texts = {cell["column"]: cell["text"] for cell in row.row["cells"]}
        cells = {column: (a, b) for column, (a, b) in row.cells.items() if row.text[a:b] == texts[column]}
        shown.append(TableEvidence(number_of[row.row["number"]], row.text, cells))
    return TableTexts(plain, shown)


def _bare_title(title: str) -> str:
    return re.sub(r" \([^()]*\)$", "", title)


def _query(question: str, name: str, chance: random.Random) -> str:
    """The question; of some, after the page's name or as a representation, as a conversation about the page has it."""
    draw = chance.random()
    if draw < 0.6:
        return question
    if draw < 0.85:
        return f"{name}{chance.choice((' ', '. '))}{question}"
    # as `question_understanding.slots` writes a question with a pronoun
    left_out = {*english().words.stop_words, *fold(name).split()}
    words = [word for word in re.findall(r"[\w]+(?:[-'’]\w+)*", question) if fold(word) and fold(word) not in left_out]
    return " || ".join(("", name, " ".join(words), english().answer_types.expected_type(question).label))


def _candidates(question: TableQuestion, rows: Sequence[TableEvidence]) -> tuple[Candidate, ...]:
    """The rows that have one of the cells, then others; nothing if one of both is missing."""
    columns: dict[int, set[int]] = defaultdict(set)
    for number, column in question.places:
        columns[number].add(column)
    relevant: dict[str, Candidate] = {}
    for row in rows:
        cells = [row.cells[column] for column in sorted(columns.get(row.number, ())) if column in row.cells]
        if cells:
            spans = [span for cell in cells for span in standing(question.answer or "", row.text, *cell)]
            read = tuple(spans) if len(spans) == 1 else ()
            relevant.setdefault(row.text, Candidate(row.text, True, read, readable=bool(read)))
    others = [row.text for row in rows if row.number not in columns and row.text not in relevant]
    if not relevant or not others:
        return ()
    return (*relevant.values(), *map(Candidate, by_bm25(question.text, list(dict.fromkeys(others)))[:_OTHERS]))


def _about_tables(
    source: Source, questions: Iterator[TableQuestion], tables: Mapping[str, TableTexts], titles: Mapping[str, str],
    keys: Mapping[str, str],
) -> Iterator[Example]:  # fmt: skip
    """Args: titles, keys: by the name of a table, as `tables`; a table without a key is left out."""
    name, chance = source.name, source.chance()
    for question in questions:
        if question.table in keys:
            plain, shown = (_candidates(question, rows) for rows in tables[question.table])
            query = _query(question.text, _bare_title(titles[question.table]), chance) if plain else ""
            if query and shown:
                yield Example(query, shown, name, keys[question.table], f"{name}:{question.table}")


def read_tables(data: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The tables of WikiTableQuestions with the titles of their pages."""
    for table in records(data, DATA_SETS["tables"].files[0]):
        yield html.unescape(table["title"]), table


def cells(source: Source) -> Iterator[Example]:
    """Questions whose one answer is exactly one cell of the table; the key is the table."""
    titles: dict[str, str] = {}
    rows: dict[str, TableTexts] = {}
    places_of: dict[tuple[str, str], list[Place]] = defaultdict(list)  # of a table and the text of cells
    for title, table in read_tables(source.data):
        context = table["context"]
        titles[context] = title
        rows[context] = verbalised(title, table["header"], table["rows"])
        for number, row in enumerate(table["rows"]):
            for column, cell in enumerate(row):
                places_of[context, _plain(cell).casefold()].append((number, column))
    keys = joined_keys((context, row.text) for context, texts in rows.items() for row in texts.plain)

    def questions() -> Iterator[TableQuestion]:
        for _, written, context, answer in islice(records(source.data, source.declared.files[1]), 1, None):
            question, gold = unescaped_field(written), _plain(unescaped_field(answer))
            places = places_of.get((context, gold.casefold()), ())
            is_computed = _COUNTED.search(question) and _FIGURE.fullmatch(gold)
            if len(places) == 1 and gold and not is_computed and "|" not in answer:
                yield TableQuestion(question, context, places, gold)

    yield from _about_tables(source, questions(), rows, titles, keys)


def _plain(text: str) -> str:
    return " ".join(text.split()).strip(_QUOTES)


def nodes(source: Source) -> Iterator[Example]:
    """Questions with the row that holds the answer, or the cell that the answer's passage is linked from; the key is the page."""
    lines = list(records(source.data, source.declared.files[1]))
    needed = {question["table_id"] for question in lines}
    titles_seen = {title for title, _ in read_tables(source.data)}
    titles: dict[str, str] = {}
    rows: dict[str, TableTexts] = {}
    for table in records(source.data, source.declared.files[0]):
        table_id, title = table["table_id"], table["title"]
        if table_id in needed and title not in titles_seen:
            titles[table_id] = title
            header, *body = ([untokenised(cell)[0] for cell in row] for row in (table["header"], *table["rows"]))
            rows[table_id] = verbalised(title, header, body, table["section"])
    texts = ((titles[table], row.text) for table, of_table in rows.items() for row in of_table.plain)
    of_pages = keys_with_reading(source.data, texts)
    keys = {table: of_pages[title] for table, title in titles.items() if title in of_pages}

    def questions() -> Iterator[TableQuestion]:
        for line in lines:
            found = line["answer_nodes"]
            if len({node["row"] for node in found}) == 1:
                is_cell = len(found) == 1 and found[0]["where"] == "table"
                places = {(node["row"], node["col"]) for node in found}
                answer = untokenised(line["answer"])[0] if is_cell else None
                yield TableQuestion(line["question"], line["table_id"], places, answer)

    yield from _about_tables(source, questions(), rows, titles, keys)
