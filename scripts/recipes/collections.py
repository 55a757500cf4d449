"""Collections of files with questions, made of the shared data: what the ranking of answers from documents learns from.

Three folders: articles of Wikipedia as Markdown, plots as plain text, and tables with the passages that they link to as HTML. Their
articles are in the dev part of the reading data: the reader has not learned from them, so that it is no surer here than on files of its
users. Some questions have no answer: they are asked about articles that are not in the folder, or SQuAD 2.0 has written them so.
"""

import html
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from bench.conversations import is_right
from convinse.heterogeneous_answering.candidates import number_in_words
from convinse.language.language import english
from convinse.language.text import fold
from convinse.records.conversation import Conversation
from convinse.records.evidence import Entity
from convinse.records.written_values import value_at
from convinse.scoring.extractive import normalize
from recipes.embedded.negatives import part_of
from recipes.embedded.reading import ARTICLES, titled_rows
from recipes.embedded.spans import untokenised
from recipes.sources import records

_PLOTS = ("quoref-dev", "quoref-contrast")
_OF_A_FILE = 30  # questions
_STRAY = 0.25  # of the questions that have an answer: as many have none
_SEED = 7


class FileQuestion(NamedTuple):
    """A question over a collection; `answers` are all accepted, none if no file has it; `title` names the file."""

    question: str
    answers: tuple[str, ...]
    title: str


class FileCollection(NamedTuple):
    """Texts by file name, and questions."""

    name: str
    files: dict[str, str]
    questions: list[FileQuestion]

    def write(self, folder: Path) -> None:
        """Write the files into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in self.files.items():
            (folder / name).write_text(text, encoding="utf-8")

    def conversations(self) -> list[Conversation]:
        """A conversation for each question, which has its title as group."""
        return [
            {
                "conv_id": f"{self.name}-{number}",
                "domain": own.title,
                "questions": [
                    {
                        "turn": 0,
                        "question_id": f"{self.name}-{number}-0",
                        "question": own.question,
                        "answers": [{"id": answer, "label": answer} for answer in own.answers],
                    }
                ],
            }
            for number, own in enumerate(self.questions)
        ]


def is_right_in_words(entity: Entity, gold: Iterable[Entity]) -> bool:
    """Whether an answer has the value or the words of an accepted one, as SQuAD compares them."""
    gold = list(gold)
    in_digits = [number_in_words(own, english()) for own in gold]
    values = [value for own in gold if (value := value_at(own["label"], 0, len(own["label"]))) is not None]
    words = {normalize(own["label"]) for own in gold} - {""}
    return is_right(entity, gold + values + in_digits) or not words.isdisjoint(
        map(normalize, (entity["id"], entity["label"]))
    )


def collections(data: Path) -> Iterator[FileCollection]:
    """All collections."""
    yield _texts("articles", data, ARTICLES, ".md", "# {title}\n\n{text}\n")
    yield _texts("plots", data, _PLOTS, ".txt", "{text}\n")
    yield _tables(data)


def _texts(name: str, data: Path, sets: Iterable[str], ending: str, form: str) -> FileCollection:
    chance = random.Random(_SEED)
    paragraphs: defaultdict[str, dict[str, None]] = defaultdict(dict)
    asked: defaultdict[str, list[FileQuestion]] = defaultdict(list)
    stray: list[FileQuestion] = []
    for own in sets:
        for title, row in titled_rows(own, data):
            if part_of(own, row.title) == "dev":
                paragraphs[title][row.text] = None
                asked[title].append(FileQuestion(row.question, tuple(row.answers), title))
            else:
                stray.append(FileQuestion(row.question, (), f"not {title}"))
    if name == "articles":
        stray += _unanswerable(data, paragraphs)
    questions = [own for rows in asked.values() for own in chance.sample(rows, min(len(rows), _OF_A_FILE))]
    questions += chance.sample(stray, round(len(questions) * _STRAY))
    files = {
        _file_name(title, ending): form.format(title=title, text="\n\n".join(texts))
        for title, texts in paragraphs.items()
    }
    return FileCollection(name, files, questions)


def _unanswerable(data: Path, paragraphs: dict[str, dict[str, None]]) -> Iterator[FileQuestion]:
    """The questions of SQuAD 2.0 without an answer, of articles of the dev part; their paragraphs join the articles."""
    for line in records(data, "hybrid", "squad2-unanswerable.jsonl.gz"):
        title = html.unescape(line["title"])
        if part_of("squad2", title) == "dev":
            paragraphs[title][line["context"]] = None
            yield FileQuestion(line["question"], (), title)


def _tables(data: Path) -> FileCollection:
    """HybridQA and OTT-QA: each table with the passages that answers are found in, a page; only questions with a single match."""
    chance = random.Random(_SEED)
    passages = {
        line["link"]: untokenised(line["text"])[0] for line in records(data, "hybrid", "hybrid-passages.jsonl.gz")
    }
    tables = {line["table_id"]: line for line in records(data, "hybrid", "hybrid-tables.jsonl.gz")}
    asked: defaultdict[str, list[FileQuestion]] = defaultdict(list)
    linked: defaultdict[str, dict[str, None]] = defaultdict(dict)
    stray: list[FileQuestion] = []
    for line in records(data, "hybrid", "hybrid-questions.jsonl.gz"):
        name, nodes = line["table_id"], line["answer_nodes"]
        title = tables[name]["title"]
        if part_of("hybrid_rows", title) != "dev":
            stray.append(FileQuestion(line["question"], (), f"not {title}"))
        elif len(nodes) == 1:
            asked[title].append(FileQuestion(line["question"], (untokenised(line["answer"])[0],), title))
        linked[name] |= dict.fromkeys(node["link"] for node in nodes if node.get("link") in passages)
    files: defaultdict[str, str] = defaultdict(str)
    for name, table in tables.items():
        if table["title"] in asked:
            files[_file_name(table["title"], ".html")] += _page(table, {link: passages[link] for link in linked[name]})
    questions = [own for rows in asked.values() for own in rows]
    questions += chance.sample(stray, round(len(questions) * _STRAY))
    return FileCollection("tables", dict(files), questions)


def _page(table: dict[str, object], passages: dict[str, str]) -> str:
    def row(cells: object, tag: str) -> str:
        assert isinstance(cells, list)
        return "<tr>" + "".join(f"<{tag}>{html.escape(untokenised(cell)[0])}</{tag}>" for cell in cells) + "</tr>"

    title, section = str(table["title"]), str(table["section"])
    assert isinstance(table["rows"], list)
    body = "".join(row(own, "td") for own in table["rows"])
    names = {link: unquote(link.removeprefix("/wiki/")).replace("_", " ") for link in passages}
    text = "".join(f"<h3>{html.escape(names[link])}</h3><p>{html.escape(own)}</p>" for link, own in passages.items())
    head = f"<h1>{html.escape(title)}</h1><h2>{html.escape(section)}</h2>"
    return f"{head}<table class='wikitable'>{row(table['header'], 'th')}{body}</table>{text}\n"


def _file_name(title: str, ending: str) -> str:
    return fold(title)[:80].replace(" ", "_") + ending
