"""The prediction server of the MRQA 2019 shared task: a context and its questions by POST, their answers back.

`POST /` takes one JSON object in the MRQA format and answers `{qid: answer, ...}`; keys that reading does not need are
not looked at. The task's own client waits for the port, then posts one context after the other. Requests that arrive
while the model computes are read together, as one batch, as soon as it is free.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from ..support.http_server import BadRequestError, answer, json_endpoint, parse, refusing, run

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

    from ..encoder.extractive_reader import ExtractiveReader

MAX_BODY = 10_000_000  # bytes
# Characters that are read together: those of each question's context and its own. A context of MRQA has some 5,000.
_MOST_READ = 20_000_000
_PATIENCE = 300.0  # seconds that requests in flight get when the server is stopped


class _PostedQuestion(msgspec.Struct, frozen=True):
    qid: str
    question: str


class _PostedContext(msgspec.Struct, frozen=True):
    context: str
    qas: list[_PostedQuestion]

    @property
    def size(self) -> int:
        """Characters to read."""
        return len(self.qas) * len(self.context) + sum(len(question.question) for question in self.qas)


class _PostedHeader(msgspec.Struct):
    header: dict[str, Any]
    context: msgspec.UnsetType = msgspec.UNSET


class ReaderService:
    """Answers contexts; belongs to one event loop, the reader runs in a thread, one batch at a time.

    Args:
        reader: it is used by this service only.
    """

    def __init__(self, reader: ExtractiveReader) -> None:
        self._reader = reader
        self._waiting: deque[tuple[_PostedContext, asyncio.Future[dict[str, str]]]] = deque()
        self._task: asyncio.Task[None] | None = None

    async def answers(self, body: bytes) -> dict[str, str]:
        """The best answer of each question, "" where the context has no words.

        A header, the first line of a file, has no questions and so no answers.

        Raises:
            BadRequestError: the body is no context in the MRQA format, or too much for one request.
        """
        context = _decode(body)
        if context is None:
            return {}
        future: asyncio.Future[dict[str, str]] = asyncio.get_running_loop().create_future()
        self._waiting.append((context, future))
        if self._task is None:
            self._task = asyncio.create_task(self._work())
        return await future

    async def _work(self) -> None:
        try:
            while self._waiting:
                batch = [self._waiting.popleft()]
                size = batch[0][0].size
                while self._waiting and size + self._waiting[0][0].size <= _MOST_READ:
                    batch.append(self._waiting.popleft())
                    size += batch[-1][0].size
                outcomes = await self._read([context for context, _ in batch])
                for (_, future), answers in zip(batch, outcomes, strict=True):
                    if future.done():  # its client is gone
                        continue
                    if isinstance(answers, Exception):
                        future.set_exception(answers)
                    else:
                        future.set_result(answers)
        finally:
            self._task = None

    async def _read(self, contexts: list[_PostedContext]) -> list[dict[str, str] | Exception]:
        """The answers of each context, or what went wrong with it: one that fails does not fail the others."""
        try:
            return [*await asyncio.to_thread(read_contexts, self._reader, contexts)]
        except Exception as error:  # whatever it is: whoever waits must hear of it
            if len(contexts) == 1:
                return [error]
        return [outcome for context in contexts for outcome in await self._read([context])]


def read_contexts(reader: ExtractiveReader, contexts: Sequence[_PostedContext]) -> list[dict[str, str]]:
    """The best answer of each question of each context, all read together."""
    pairs = [(context, question) for context in contexts for question in context.qas]
    spans = reader.read_all(
        [question.question for _, question in pairs], [[context.context] for context, _ in pairs], top_k=1
    )
    texts = iter(best[0].text if best else "" for best in spans)
    return [{question.qid: next(texts) for question in context.qas} for context in contexts]


def _decode(body: bytes) -> _PostedContext | None:
    """The context of a body, None for a header."""
    try:
        context: _PostedContext = parse(body, _PostedContext)
    except BadRequestError:
        try:
            msgspec.json.decode(body, type=_PostedHeader)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            pass
        else:
            return None
        raise
    for qid, times in Counter(question.qid for question in context.qas).items():
        if times > 1:
            raise BadRequestError(f"qas: qid {qid[:100]!r} appears {times} times; a qid must be unique")
    if context.size > _MOST_READ:
        raise BadRequestError(
            f"{len(context.qas)} questions on a context of {len(context.context)} characters are too much for one request; "
            "send them in several",
            413,
        )
    return context


def create_app(reader: ExtractiveReader, most: int = MAX_BODY) -> Starlette:
    """The ASGI application; run it in any ASGI server, or see `serve`. `most` is the bytes of a body."""
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.routing import Route

    service = ReaderService(reader)

    async def about(_: Request) -> Response:
        return answer(
            {
                "server": "convinse: extractive question answering",
                "model": reader.model_id,
                "use": "POST one JSON object in the MRQA 2019 format to /: {context, qas: [{qid, question}, ...]}; "
                "the answer is {qid: answer, ...}",
            }
        )

    wrong = {404: "unknown path; POST one JSON object to /", 405: "wrong method; use POST (GET tells what this is)"}
    routes = [Route("/", about), Route("/", json_endpoint(service.answers, most), methods=["POST"])]
    return Starlette(routes=routes, exception_handlers={HTTPException: refusing(wrong)})


def serve(
    reader: ExtractiveReader,
    host: str = "127.0.0.1",
    port: int = 8888,
    ready: Callable[[str], None] | None = None,
    *,
    most: int = MAX_BODY,
) -> None:
    """Serve until Ctrl-C or SIGTERM, which answers what has arrived.

    Args:
        reader: answers.
        host: the address to listen on; others than loopback are warned of.
        port: the port; 0 takes a free one.
        ready: called with the server's URL once it answers, and a signal ends it in order.
        most: bytes of a body.

    Raises:
        NetworkError: `host` is no address of this machine, or the port is taken.
    """
    run(create_app(reader, most), host, port, ready, patience=_PATIENCE)
