"""The files of the web page, held in memory, with the headers that keep a browser to them alone."""

from __future__ import annotations

import hashlib
from importlib import resources
from pathlib import PurePath
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from ..support.http_work import RefusedError

PAGE_PATH = "/page/"
_START = "index.html"
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

    def response(self, request: Request) -> Response:
        """A file, or 304 where the browser has it. Raises `RefusedError` where there is none."""
        file = self._files.get(request.path_params.get("file", _START))
        if file is None:
            raise RefusedError("the page has no such file", 404)
        headers = {**_HEADERS, "ETag": file.tag}
        if file.tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(file.body, headers=headers, media_type=file.kind)
