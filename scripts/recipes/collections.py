"""Collections of files with questions, made of the shared data: what the ranking of answers from documents learns from.

The project's own articles with the embedded conversations, articles of Wikipedia as Markdown, tables with the passages that they link
to as HTML, and CSV files. What is made of the shared data is of the dev part of the model's recipe: the reader has not learned from it,
so that it is no surer here than on files of its users. Some questions have no answer: they are asked about articles that are not in the
folder, or SQuAD 2.0 has written them so.
"""

import csv
import html
import io
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from convinse.config import load_config, project_root
from convinse.experiment import read_part
from convinse.heterogeneous_answering.merging import number_in_words
from convinse.language.language import english
from convinse.language.text import fold
from convinse.records.conversation import Conversation, Turn
from convinse.records.evidence import Entity
from convinse.records.literals import is_item
from convinse.records.written_values import value_at
from convinse.scoring.extractive import normalize
from recipes.built_sources import is_right
from recipes.embedded.data_sets import ARTICLES
from recipes.embedded.examples import part_of_key
from recipes.embedded.reading import titled_rows
from recipes.embedded.spans import untokenised
from recipes.embedded.tables import read_tables
from recipes.sources import records, unescaped_field

_PAGES = project_root() / "scripts" / "recipes" / "snapshot" / "pages"
_OF_AN_ARTICLE = 8  # questions
_STRAY = 0.25  # of the questions that have an answer: as many have none
_SHEETS, _REPORTS, _OF_A_SHEET = 80, 50, 6
_SEED = 7


class FileQuestion(NamedTuple):
    """A question over a collection; `answers` are all accepted, none if no file has it; `title` names the file."""

    question: str
    answers: tuple[str, ...]
    title: str


class FileCollection(NamedTuple):
    """A folder of files with the conversations about them; several folders may belong to one set of questions (`part`)."""

    part: str
    folder: Path
    conversations: list[Conversation]


def _written(folder: Path, part: str, files: Mapping[str, str], questions: Iterable[FileQuestion]) -> FileCollection:
    """Write files into a folder; each question is a conversation of its own, those of a title are a group."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    conversations: list[Conversation] = []
    for number, row in enumerate(questions):
        name = f"{folder.name}-{number}"
        answers: list[Entity] = [{"id": answer, "label": answer} for answer in row.answers]
        turn: Turn = {"turn": 0, "question_id": f"{name}-0", "question": row.question, "answers": answers}
        conversations.append({"conv_id": name, "domain": part, "group": row.title, "questions": [turn]})
    return FileCollection(part, folder, conversations)


def is_right_in_words(entity: Entity, gold: Iterable[Entity]) -> bool:
    """Whether an answer has the value or the words of an accepted one, as SQuAD compares them."""
    gold = list(gold)
    in_digits = [number_in_words(answer, english()) for answer in gold]
    values = [value for answer in gold if (value := value_at(answer["label"], 0, len(answer["label"]))) is not None]
    words = {normalize(answer["label"]) for answer in gold} - {""}
    return is_right(entity, gold + values + in_digits) or not words.isdisjoint(
        map(normalize, (entity["id"], entity["label"]))
    )


def collections(data: Path, work: Path) -> Iterator[FileCollection]:
    """All collections; what is made of the shared data is written below the folder `work`."""
    yield from _own_pages()
    yield _articles(data, work / "articles")
    yield _tables(data, work / "tables")
    yield from _sheets(data, work / "sheets")
    yield from _reports(data, work / "reports")


def _own_pages() -> Iterator[FileCollection]:
    """The project's own articles with the embedded conversations to learn from; of items the answers are their labels."""
    for part in ("train", "dev", "natural-dev"):
        conversations = read_part(load_config("config.yml"), part)
        for turn in (turn for conversation in conversations for turn in conversation["questions"]):
            turn["answers"] = [
                {"id": answer["label"] if is_item(answer["id"]) else answer["id"], "label": answer["label"]}
                for answer in turn["answers"]
            ]
        yield FileCollection(f"pages, {part}", _PAGES, conversations)


def _articles(data: Path, folder: Path) -> FileCollection:
    """Articles that SQuAD and its like ask about, in Markdown."""
    paragraphs: defaultdict[str, dict[str, None]] = defaultdict(dict)
    by_article: defaultdict[str, list[FileQuestion]] = defaultdict(list)
    stray: list[FileQuestion] = []
    for title, row in chain.from_iterable(titled_rows(article, data) for article in ARTICLES):
        if part_of_key(row.title) == "dev":
            paragraphs[title][row.text] = None
            by_article[title].append(FileQuestion(row.question, tuple(row.answers), title))
        else:
            stray.append(FileQuestion(row.question, (), f"not {title}"))
    for line in records(data, "hybrid", "squad2-unanswerable.jsonl.gz"):  # their paragraphs join the articles
        title = html.unescape(line["title"])
        if part_of_key(title) == "dev":
            paragraphs[title][line["context"]] = None
            stray.append(FileQuestion(line["question"], (), title))
    chance = random.Random(_SEED)
    questions: list[FileQuestion] = []
    for rows in by_article.values():
        questions += chance.sample(rows, min(len(rows), _OF_AN_ARTICLE))
    questions += chance.sample(stray, round(len(questions) * _STRAY))
    files = {
        _file_name(title, ".md"): f"# {title}\n\n" + "\n\n".join(texts) + "\n" for title, texts in paragraphs.items()
    }
    return _written(folder, "articles", files, questions)


def _tables(data: Path, folder: Path) -> FileCollection:
    """HybridQA and OTT-QA: each table with the passages that answers are found in, a page; only questions with a single match."""
    passages = {line["link"]: _plain(line["text"]) for line in records(data, "hybrid", "hybrid-passages.jsonl.gz")}
    tables = {line["table_id"]: line for line in records(data, "hybrid", "hybrid-tables.jsonl.gz")}
    by_file: defaultdict[str, list[FileQuestion]] = defaultdict(list)
    linked: defaultdict[str, dict[str, None]] = defaultdict(dict)
    stray: list[FileQuestion] = []
    for line in records(data, "hybrid", "hybrid-questions.jsonl.gz"):
        name, nodes = line["table_id"], line["answer_nodes"]
        title = tables[name]["title"]
        if part_of_key(title) != "dev":
            stray.append(FileQuestion(line["question"], (), f"not {title}"))
        elif len(nodes) == 1:
            by_file[title].append(FileQuestion(line["question"], (_plain(line["answer"]),), title))
        linked[name] |= dict.fromkeys(node["link"] for node in nodes if node.get("link") in passages)
    files: defaultdict[str, str] = defaultdict(str)
    for name, table in tables.items():
        if table["title"] in by_file:
            files[_file_name(table["title"], ".html")] += _page(table, {link: passages[link] for link in linked[name]})
    questions = list(chain.from_iterable(by_file.values()))
    questions += random.Random(_SEED).sample(stray, round(len(questions) * _STRAY))
    return _written(folder, "tables", files, questions)


def _sheets(data: Path, folder: Path) -> Iterator[FileCollection]:
    """WikiTableQuestions: a CSV file each, with its questions that have a single answer, counts and sums among them."""
    by_file: defaultdict[str, list[FileQuestion]] = defaultdict(list)
    for _, question, context, answer in islice(records(data, "wikitablequestions", "training.tsv.gz"), 1, None):
        if "|" not in answer:
            by_file[context].append(FileQuestion(unescaped_field(question), (unescaped_field(answer),), context))
    tables = [table for table in read_tables(data) if part_of_key(table[1]["context"]) == "dev"]
    for number, (title, table) in enumerate(random.Random(_SEED).sample(tables, _SHEETS)):
        files = {_file_name(title, ".csv"): _csv([table["header"], *table["rows"]])}
        yield _written(folder / str(number), "sheets", files, by_file[table["context"]][:_OF_A_SHEET])


def _reports(data: Path, folder: Path) -> Iterator[FileCollection]:
    """AIT-QA: a CSV file for each table of an annual report; the questions ask for cells, in words of their own."""
    tables: dict[str, dict[str, Any]] = {}
    by_table: defaultdict[str, list[FileQuestion]] = defaultdict(list)
    for line in records(data, "hybrid", "aitqa.jsonl.gz"):
        if line["kind"] == "table":
            tables[line["id"]] = line
        elif len(line["answers"]) == 1:
            by_table[line["table_id"]].append(FileQuestion(line["question"], tuple(line["answers"]), line["table_id"]))
    with_questions = [table for name, table in tables.items() if name in by_table]
    for table in random.Random(_SEED).sample(with_questions, _REPORTS):
        rows = [[" - ".join(column) for column in table["column_header"]], *table["data"]]
        if table["row_header"]:
            rows = [[name, *row] for name, row in zip(["", *map(" - ".join, table["row_header"])], rows, strict=True)]
        files = {f"annual_report_{table['id']}.csv": _csv(rows)}
        yield _written(folder / table["id"], "reports", files, by_table[table["id"]][:_OF_A_SHEET])


def _csv(rows: Iterable[Sequence[str]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()


def _page(table: Mapping[str, Any], passages: Mapping[str, str]) -> str:
    def row(cells: Iterable[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(_plain(cell))}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(row(cells, "td") for cells in table["rows"])
    text = ""
    for link, passage in passages.items():
        name = unquote(link.removeprefix("/wiki/")).replace("_", " ")
        text += f"<h3>{html.escape(name)}</h3><p>{html.escape(passage)}</p>"
    head = f"<h1>{html.escape(table['title'])}</h1><h2>{html.escape(table['section'])}</h2>"
    return f"{head}<table class='wikitable'>{row(table['header'], 'th')}{body}</table>{text}\n"


def _plain(text: str) -> str:
    return untokenised(text)[0]


def _file_name(title: str, ending: str) -> str:
    return fold(title)[:80].replace(" ", "_") + ending
