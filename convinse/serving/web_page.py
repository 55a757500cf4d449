"""The web page: its files, with the headers that keep a browser to them alone, its examples and its tables."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from importlib import resources
from pathlib import PurePath
from typing import NamedTuple

import msgspec
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import Response

from ..documents.suggestions import Suggestion
from ..records.evidence import Row

PAGE_PATH = "/page/"
_START = "index.html"
MOST_ROWS = 500
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


def shown_examples(suggestions: Iterable[Suggestion]) -> list[ExampleConversation]:
    """Return examples as the page gets them."""
    return [ExampleConversation(domain=suggestion.title, questions=suggestion.questions) for suggestion in suggestions]
