"""The prediction server of the MRQA 2019 shared task: a context and its questions by POST, their answers back.

`POST /` takes one JSON object in the MRQA format and answers `{qid: answer, ...}`; other keys are passed over. The task's own
client waits for the port, then posts one context after the other. Requests that wait are read together, as one batch.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ..formats.mrqa import PlainExample
from .app import build_app, json_response, parse, while_connected
from .batch_queue import MOST_WAITING, BatchQueue

if TYPE_CHECKING:
    from ..encoder.extractive_reader import ExtractiveReader

MAX_BODY = 10_000_000  # bytes of a request
_MOST_READ = (
    20_000_000  # characters of a request: of each question, its context and its own; a context of MRQA has 5,000
)
_READ_TOGETHER = 100_000  # characters of a batch
SECONDS = 300  # for a request, its time in the queue counted


def _size(context: PlainExample) -> int:
    """Return the characters to read."""
    return len(context.qas) * len(context.context) + sum(len(question.question) for question in context.qas)


class ReaderService:
    """Answers contexts; belongs to one event loop."""

    def __init__(self, reader: ExtractiveReader) -> None:
        self._reader = reader
        self._queue = BatchQueue(self._read, _size, _READ_TOGETHER, MOST_WAITING, SECONDS)
        self.close = self._queue.close

    async def answer(self, request: Request) -> Response:
        """Answer each question with the best span, "" if the context has no words; a header has no questions. Raises `HTTPException`."""
        body = await request.body()
        try:
            context = parse(body, PlainExample)
        except HTTPException:
            with suppress(HTTPException):
                line = parse(body, dict[str, Any])
                if isinstance(line.get("header"), dict) and "context" not in line:
                    return json_response({})  # the first line of a file
            raise
        if len({question.qid for question in context.qas}) < len(context.qas):
            raise HTTPException(400, "qas: a qid appears twice; it must be unique")
        if _size(context) > _MOST_READ:
            raise HTTPException(
                413,
                f"{len(context.qas)} questions on {len(context.context)} characters are too much; send several requests",
            )
        return json_response(await while_connected(request, self._queue.answer(context)))

    def _read(self, contexts: list[PlainExample]) -> list[dict[str, str] | Exception]:
        pairs = [(context, question) for context in contexts for question in context.qas]
        spans = self._reader.read_all(
            [question.question for _, question in pairs], [[context.context] for context, _ in pairs], top_k=1
        )
        texts = iter(best[0].text if best else "" for best in spans)
        return [{question.qid: next(texts) for question in context.qas} for context in contexts]


def create_app(reader: ExtractiveReader, hosts: Sequence[str] = (), max_body: int = MAX_BODY) -> Starlette:
    """Return the application, which alone uses the reader; see `RequestGuard`."""
    service = ReaderService(reader)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(service.close)

    routes = [Route("/", service.answer, methods=["POST"])]
    return build_app(routes, "POST one JSON object to /", hosts, max_body, lifespan)
