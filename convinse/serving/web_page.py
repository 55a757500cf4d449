"""The web page: its files, with the headers that keep a browser to them alone, its examples and its tables."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

PAGE_PATH = "/page/"
MOST_ROWS = 500  # of a whole table on the page
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


class WebPage(StaticFiles):
    """The files of the page, with their headers."""

    def __init__(self) -> None:
        super().__init__(directory=Path(__file__).with_name("page"))

    def file_response(self, *args: Any, **options: Any) -> Response:
        """Return a file, or 304 if the browser has it."""
        response = super().file_response(*args, **options)
        response.headers.update(_HEADERS)
        return response


class ExampleConversation(BaseModel):
    """The questions of an example."""

    domain: str
    questions: list[str]


def shown_examples(examples: Iterable[tuple[str, list[str]]]) -> list[ExampleConversation]:
    """Return examples as the page gets them."""
    return [ExampleConversation(domain=title, questions=questions) for title, questions in examples]
