"""The web page: its files, with the headers that keep a browser to them alone, its examples and its tables."""

from __future__ import annotations

import hashlib
from importlib import resources
from pathlib import PurePath
from typing import NamedTuple

import msgspec
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import Response

from ..config import SNAPSHOT, Config
from ..documents.index import DocumentIndex
from ..documents.suggestions import suggested
from ..experiment import read_part
from ..pipeline import Pipeline
from ..records.evidence import Row
from .conversations import can_be_asked

PAGE_PATH = "/page/"
_START = "index.html"
_MOST_EXAMPLES = 6
_MOST_ROWS = 500
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
_HEADERS = {
    "Cache-Control": "no-cache",  # it may be kept; whether it still holds is asked, and answered by 304
    "Content-Security-Policy": _POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class _PageFile(NamedTuple):
    body: bytes
    tag: str
    kind: str


class WebPage:
    """Answers requests for the page at `/` and for its files below `PAGE_PATH`."""

    def __init__(self) -> None:
        self._files = {}
        for file in resources.files(__package__).joinpath("page").iterdir():
            kind = _TYPES.get(PurePath(file.name).suffix)
            if kind is not None:
                body = file.read_bytes()
                self._files[file.name] = _PageFile(body, f'"{hashlib.sha256(body).hexdigest()[:32]}"', kind)

    def response(self, tags: str, name: str | None) -> Response:
        """Return a file, or 304 if its tag is among those of the browser. Raises `HTTPException` (404)."""
        file = self._files.get(name or _START)
        if file is None:
            raise HTTPException(404, "the page has no such file")
        headers = {**_HEADERS, "ETag": file.tag}
        if file.tag in tags:
            return Response(status_code=304, headers=headers)
        return Response(file.body, headers=headers, media_type=file.kind)


class ExampleConversation(BaseModel):
    """The questions of an example."""

    domain: str
    questions: list[str]


class WholeTable(msgspec.Struct):
    """The first rows of a table, and how many it has."""

    rows: list[Row]
    total: int


def examples_of(pipeline: Pipeline) -> list[ExampleConversation]:
    """Return questions to begin with: of the documents that are asked about, or of the configured dev part if it is about the data."""
    config, dump = pipeline.config, pipeline.resources.wikipedia
    if isinstance(dump, DocumentIndex):
        return examples_in(dump)
    embedded, is_embedded = Config(), config.benchmark_path.startswith(SNAPSHOT)
    is_other = (config.kb_path, config.ers_wikipedia_dump) != (embedded.kb_path, embedded.ers_wikipedia_dump)
    return [] if is_embedded and is_other else read_examples(config)


def examples_in(index: DocumentIndex) -> list[ExampleConversation]:
    """Return the questions that documents suggest."""
    return [ExampleConversation(domain=own.title, questions=own.questions) for own in suggested(index, _MOST_EXAMPLES)]


def read_examples(config: Config) -> list[ExampleConversation]:
    """Return the first conversation of each domain of the configured dev part; none without such a part.

    Raises:
        DataError: the part is damaged.
    """
    if not config.input_path("dev").is_file():
        return []
    chosen: dict[str, ExampleConversation] = {}
    for conversation in read_part(config, "dev"):
        domain = str(conversation.get("domain") or "")
        questions = [turn["question"] for turn in conversation["questions"] if can_be_asked(turn["question"])]
        if questions and len(chosen) < _MOST_EXAMPLES:
            chosen.setdefault(domain, ExampleConversation(domain=domain, questions=questions))
    return list(chosen.values())


def find_table(pipeline: Pipeline, page: str, table: int) -> WholeTable:
    """Return a table of the Wikipedia dump, by its page (an item) and its number. Raises `HTTPException` (404)."""
    rows = pipeline.resources.rows(page, table)
    if not rows:
        raise HTTPException(404, "no such table: the Wikipedia dump of this server does not have it")
    return WholeTable(rows[:_MOST_ROWS], len(rows))
