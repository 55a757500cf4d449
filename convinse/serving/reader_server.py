"""The prediction server of the MRQA 2019 shared task: a context and its questions by POST, their answers back.

`POST /` takes one JSON object in the MRQA format and answers `{qid: answer, ...}`; keys that reading does not need are
not looked at. The task's own client waits for the port, then posts one context after the other. Requests that arrive
while the model computes are read together, as one batch; what is long is read in turns with what came after it.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ..support.http_limits import Limits
from ..support.http_server import JsonEndpoint, answer, parse, refusing, run
from ..support.http_work import RefusedError, too_much

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

    from ..encoder.extractive_reader import ExtractiveReader

# The work of a request may last as long as a book, so fewer requests wait.
LIMITS = Limits(body=10_000_000, bodies=200_000_000, work_seconds=300.0, queue=256)
# Characters of a request: those of each question's context and its own. A context of MRQA has some 5,000.
_MOST_READ = 20_000_000
_LONGEST_CONTEXT = 1_000_000  # characters: what is tokenised at once, in a second
_READ_TOGETHER = 100_000  # characters of requests that share a reading: twenty contexts of MRQA
_LONG_AT_ONCE = 4  # requests of more characters that are read in turns; others of them wait
_TURN = 0.2  # seconds of a reading before the next has its turn
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


class _Waiting(NamedTuple):
    context: _PostedContext
    answers: asyncio.Future[dict[str, str]]


class _Reading(NamedTuple):
    """Requests that are read together, and the steps of that."""

    requests: list[_Waiting]
    steps: Generator[None, None, list[dict[str, str]]]

    @property
    def is_long(self) -> bool:
        """Whether it is of a request that is read by itself."""
        return self.requests[0].context.size > _READ_TOGETHER

    @property
    def is_wanted(self) -> bool:
        """Whether somebody waits for it; clients may be gone."""
        return not all(request.answers.done() for request in self.requests)


class ReaderService:
    """Answers contexts; belongs to one event loop, the reader runs in a thread, one batch at a time.

    Requests that wait together are read together, as far as they are short. Readings have the model in turns, so that a short
    one waits for a turn of each long one, not for its end. What nobody waits for any more is read no further.

    Args:
        reader: it is used by this service only.
        limits: `queue` is how many requests may wait.
    """

    def __init__(self, reader: ExtractiveReader, limits: Limits = LIMITS) -> None:
        self._reader = reader
        self._limits = limits
        self._waiting: deque[_Waiting] = deque()
        self._long: deque[_Waiting] = deque()  # of those the ones that are read by themselves
        self._readings: deque[_Reading] = deque()
        self._task: asyncio.Task[None] | None = None

    async def answers(self, body: bytes) -> dict[str, str]:
        """The best answer of each question, "" where the context has no words.

        A header, the first line of a file, has no questions and so no answers.

        Raises:
            RefusedError: the body is no context in the MRQA format, or too much for one request; or too many wait.
        """
        context = _decode(body)
        if context is None:
            return {}
        if len(self._waiting) + len(self._long) >= self._limits.queue:
            raise too_much(self._limits)
        future: asyncio.Future[dict[str, str]] = asyncio.get_running_loop().create_future()
        waiting = self._waiting if context.size <= _READ_TOGETHER else self._long
        waiting.append(_Waiting(context, future))
        if self._task is None:
            self._task = asyncio.create_task(self._work())
        return await future

    async def _work(self) -> None:
        try:
            while self._waiting or self._long or self._readings:
                self._begin()
                if self._readings:
                    await self._go_on(self._readings.popleft())
        finally:
            self._task = None

    def _begin(self) -> None:
        """Begin to read what waits and may begin; requests whose clients are gone may not."""
        while self._waiting:
            together: list[_Waiting] = []
            size = 0
            while self._waiting and size + self._waiting[0].context.size <= _READ_TOGETHER:
                request = self._waiting.popleft()
                if not request.answers.done():
                    together.append(request)
                    size += request.context.size
            if together:
                self._readings.append(self._reading(together))
        under_way = sum(reading.is_long for reading in self._readings)
        while self._long and under_way < _LONG_AT_ONCE:
            request = self._long.popleft()
            if not request.answers.done():
                self._readings.append(self._reading([request]))
                under_way += 1

    def _reading(self, requests: list[_Waiting]) -> _Reading:
        return _Reading(requests, read_contexts(self._reader, [request.context for request in requests]))

    async def _go_on(self, reading: _Reading) -> None:
        """Give a reading its turn; it comes last then, or its requests get their answers."""
        if not reading.is_wanted:
            await asyncio.to_thread(reading.steps.close)
            return
        try:
            answers = await asyncio.to_thread(_a_turn, reading.steps)
        except Exception as error:  # whatever it is: whoever waits must hear of it
            self._failed(reading.requests, error)
            return
        if answers is None:
            self._readings.append(reading)
            return
        for request, own in zip(reading.requests, answers, strict=True):
            if not request.answers.done():
                request.answers.set_result(own)

    def _failed(self, requests: list[_Waiting], error: Exception) -> None:
        """Requests that were read together are read again by themselves: one that fails does not fail the others."""
        if len(requests) > 1:
            self._readings.extend(self._reading([request]) for request in requests)
        elif not requests[0].answers.done():
            requests[0].answers.set_exception(error)


def _a_turn(steps: Generator[None, None, list[dict[str, str]]]) -> list[dict[str, str]] | None:
    """Read on for the time of a turn; what the reading gives, None where it has not ended."""
    end = time.monotonic() + _TURN
    try:
        while True:
            next(steps)
            if time.monotonic() > end:
                return None
    except StopIteration as stop:
        answers: list[dict[str, str]] = stop.value
        return answers


def read_contexts(
    reader: ExtractiveReader, contexts: Sequence[_PostedContext]
) -> Generator[None, None, list[dict[str, str]]]:
    """The best answer of each question of each context, all read together, in steps."""
    pairs = [(context, question) for context in contexts for question in context.qas]
    spans = yield from reader.reading(
        [question.question for _, question in pairs], [[context.context] for context, _ in pairs], top_k=1
    )
    texts = iter(best[0].text if best else "" for best in spans)
    return [{question.qid: next(texts) for question in context.qas} for context in contexts]


def _decode(body: bytes) -> _PostedContext | None:
    """The context of a body, None for a header."""
    try:
        context: _PostedContext = parse(body, _PostedContext)
    except RefusedError:
        try:
            msgspec.json.decode(body, type=_PostedHeader)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            pass
        else:
            return None
        raise
    for qid, times in Counter(question.qid for question in context.qas).items():
        if times > 1:
            raise RefusedError(f"qas: qid {qid[:100]!r} appears {times} times; a qid must be unique")
    if len(context.context) > _LONGEST_CONTEXT:
        raise RefusedError(
            f"context: {len(context.context)} characters; at most {_LONGEST_CONTEXT} are read at once", 413
        )
    if context.size > _MOST_READ:
        raise RefusedError(
            f"{len(context.qas)} questions on a context of {len(context.context)} characters are too much for one request; "
            "send them in several",
            413,
        )
    return context


def create_app(reader: ExtractiveReader, limits: Limits = LIMITS) -> Starlette:
    """The ASGI application; run it in any ASGI server, or see `serve`."""
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.routing import Route

    service = ReaderService(reader, limits)

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
    routes = [Route("/", about), Route("/", JsonEndpoint(limits)(service.answers), methods=["POST"])]
    return Starlette(routes=routes, exception_handlers={HTTPException: refusing(wrong)})


def serve(
    reader: ExtractiveReader,
    host: str = "127.0.0.1",
    port: int = 8888,
    ready: Callable[[str], None] | None = None,
    *,
    most: int = LIMITS.body,
    names: Sequence[str] = (),
) -> None:
    """Serve until Ctrl-C or SIGTERM, which answers what has arrived.

    Args:
        reader: answers.
        host: the address to listen on; others than loopback are warned of.
        port: the port; 0 takes a free one.
        ready: called with the server's URL once it answers, and a signal ends it in order.
        most: bytes of a body.
        names: by which the server may be asked, besides `host` and the names of this machine alone.

    Raises:
        NetworkError: `host` is no address of this machine, or the port is taken.
    """
    limits = replace(LIMITS, body=most, bodies=max(LIMITS.bodies, 2 * most))
    run(create_app(reader, limits), host, port, ready, limits=limits, names=names, patience=_PATIENCE)
