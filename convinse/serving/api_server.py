"""The pipeline as a service: conversations over HTTP, and chat completions in OpenAI's shape.

Conversations are kept in memory, by ids that nobody guesses; `docs/serve.md` has the requests, `docs/limits.md` the limits.
Turns of different conversations that wait at the same time are computed together; of one conversation one turn is under way,
and a second gets 409.
"""

from __future__ import annotations

import asyncio
import functools
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ..config import SNAPSHOT, resolve
from ..encoder.token_count import TokenCounter
from ..pipeline import Pipeline
from ..records.conversation import Turn
from ..records.evidence import DEFAULT_SOURCES, parse_sources
from ..session import Session
from ..support.http_access import AsgiApp
from ..support.http_limits import Limits
from ..support.http_server import JsonEndpoint, Refused, answer, parse, refusing, run
from .chat_completions import (
    ChatRequest,
    chat_question,
    completion,
    completion_chunks,
    error_shape,
    model,
    models,
    session_after,
    sources_of,
    usage,
)
from .conversation_store import ConversationStore, check_has_room, open_session
from .next_turn import asked_next, taken_back
from .openapi import ExampleConversation, ExampleConversations, NewConversation, NextTurn, description
from .page_data import examples, whole_table
from .questions import checked_sources
from .service_access import with_token
from .service_metrics import CONTENT_TYPE, ServiceMetrics, counting
from .turn_queue import StageTold, TurnQueue
from .turn_stream import TurnStream, named_events
from .web_page import PAGE_PATH, WebPage

LIMITS = Limits(body=10_000_000, bodies=200_000_000)  # a conversation to take up has 80 KB a turn
_PATIENCE = 60.0  # seconds that requests in flight get when the server is stopped: as long as a turn may take
# seconds after which the pipeline's thread lets the event loop have its turn; of the usual 0.005 a first event waits for several:
# with 50 clients 90 ms in place of 43 (95th percentile), and turns take as long
_SWITCH = 0.0005
_EVENTS = "text/event-stream"

Work = Callable[[Request, bytes], Awaitable[Any]]


@dataclass(frozen=True)
class ServiceOptions:
    """How the service is run.

    Attributes:
        sources: where a request names none.
        most_conversations: that are kept; a further one takes the place of the one that nobody asked for longest.
        token: that requests must give; None: they need none.
        origins: of other sites whose pages may ask.
        limits: of requests.
    """

    sources: str | Sequence[str] = DEFAULT_SOURCES
    most_conversations: int = 1000
    token: str | None = None
    origins: Sequence[str] = ()
    limits: Limits = LIMITS


class ConversationService:
    """What the requests ask for; belongs to one event loop.

    Args:
        pipeline: it is used by this service only.
        options: see there.
    """

    def __init__(self, pipeline: Pipeline, options: ServiceOptions) -> None:
        self._pipeline, self.options = pipeline, options
        self._sources = parse_sources(options.sources)
        self.metrics = ServiceMetrics()
        self._queue = TurnQueue(pipeline, options.limits, self.metrics)
        self._store = ConversationStore(options.most_conversations, self.metrics)
        self._examples: list[ExampleConversation] | None = None
        self._page = WebPage()
        self._tokens = TokenCounter(resolve(SNAPSHOT + "model"))

    def close(self) -> None:
        """Wait until nothing uses the pipeline; what has not begun is not done."""
        self._queue.close()

    async def begin(self, _: Request, body: bytes) -> Response:
        """A new conversation, or a stored one that is taken up."""
        wanted = parse(body, NewConversation) if body.strip() else NewConversation()
        sources = self._sources if wanted.sources is None else checked_sources(wanted.sources)
        session = await open_session(self._pipeline, sources, wanted.conversation)
        return answer({"id": self._store.add(session), **_about(session)}, 201)

    async def look(self, request: Request, _: bytes) -> Any:
        """A conversation, as it can be stored and taken up."""
        name = request.path_params["id"]
        session = self._store.get(name)
        conversation = await asyncio.to_thread(lambda: session.conversation)
        return {"id": name, **_about(session), "conversation": conversation}

    async def delete(self, request: Request, _: bytes) -> Response:
        """Forget a conversation."""
        self._store.delete(request.path_params["id"])
        return Response(status_code=204)

    async def ask(self, request: Request, body: bytes) -> Any:
        """The next turn of a conversation; with its stages where the client accepts events."""
        wanted: NextTurn = parse(body, NextTurn)
        name = request.path_params["id"]
        with ExitStack() as stack:
            session = stack.enter_context(self._store.asked(name)).copy()
            question = asked_next(wanted, session)
            check_has_room(session)

            async def answered(told: StageTold | None = None) -> Turn:
                turn = await self._queue.answer(session, question, told)
                self._store.replace(name, session)
                return turn

            if _EVENTS not in request.headers.get("accept", ""):
                return await answered()
            self._queue.admit()
            return TurnStream(answered, named_events, self.options.limits, stack.pop_all())

    async def back(self, request: Request, _: bytes) -> Any:
        """Take the last turn of a conversation back."""
        name = request.path_params["id"]
        with self._store.asked(name) as session:
            taken_back(session)
            return {"id": name, **_about(session)}

    async def examples(self, _: Request, __: bytes) -> Any:
        """Conversations to begin with."""
        if self._examples is None:
            self._examples = await asyncio.to_thread(examples, self._pipeline.config)
        return ExampleConversations("_".join(self._sources), self._examples)

    async def table(self, request: Request, _: bytes) -> Any:
        """The whole table that an evidence shows a row of."""
        page, number = request.path_params["page"], request.path_params["table"]
        return await self._queue.run(functools.partial(whole_table, self._pipeline.resources, page, number))

    async def chat(self, _: Request, body: bytes) -> Any:
        """The answer to the last of some messages."""
        request: ChatRequest = parse(body, ChatRequest)
        sources = sources_of(request.model, self._sources)
        asked = chat_question(request)
        tokens: dict[str, int] = {}
        self._queue.admit()

        async def answered(told: Any = None) -> Any:
            if asked.earlier:
                session = await self._queue.run(lambda: session_after(self._pipeline, sources, asked.earlier))
            else:
                session = self._pipeline.session(sources)
            turn = await self._queue.answer(session, asked.question, told)
            if request.wants_usage:
                tokens.update(await asyncio.to_thread(usage, asked, turn, self._tokens))
            return turn

        if request.stream:
            return TurnStream(answered, completion_chunks(request, tokens), self.options.limits, ExitStack())
        return completion(await answered(), request.model, tokens)

    async def models(self, _: Request, __: bytes) -> Any:
        """The models that chat programs offer."""
        return {"object": "list", "data": models()}

    async def model(self, request: Request, _: bytes) -> Any:
        """A model by its name."""
        return model(request.path_params["model"])

    async def health(self, _: Request, __: bytes) -> Any:
        """That the server answers."""
        return {"status": "ok"}

    async def figures(self, _: Request, __: bytes) -> Response:
        """The figures for Prometheus."""
        text = self.metrics.text(conversations=len(self._store), waiting=len(self._queue))
        return Response(text, media_type=CONTENT_TYPE)

    async def page(self, request: Request, _: bytes) -> Response:
        """A file of the web page."""
        return self._page.response(request)

    async def described(self, _: Request, __: bytes) -> Any:
        """The OpenAPI description."""
        return description(self.options.token is not None)


def _about(session: Session) -> dict[str, Any]:
    return {"sources": "_".join(session.sources), "turns": len(session)}


def create_app(pipeline: Pipeline, options: ServiceOptions | None = None) -> AsgiApp:
    """The ASGI application; run it in any ASGI server, or see `serve`."""
    return _app(ConversationService(pipeline, options or ServiceOptions()))[0]


def _app(service: ConversationService) -> tuple[AsgiApp, Refused]:
    """The application, which counts what it answers, and what counts requests that do not reach it."""
    options = service.options
    plain, openai = JsonEndpoint(options.limits), JsonEndpoint(options.limits, error_shape)

    def route(path: str, work: Work, method: str = "GET", shape: JsonEndpoint = plain) -> Route:
        return Route(path, shape.of_request(work), methods=[method])

    routes = [
        route("/v1/conversations", service.begin, "POST"),
        route("/v1/conversations/{id}", service.look),
        route("/v1/conversations/{id}", service.delete, "DELETE"),
        route("/v1/conversations/{id}/turns", service.ask, "POST"),
        route("/v1/conversations/{id}/turns/last", service.back, "DELETE"),
        route("/v1/examples", service.examples),
        route("/v1/tables/{page}/{table:int}", service.table),
        route("/v1/chat/completions", service.chat, "POST", openai),
        route("/v1/models", service.models, shape=openai),
        route("/v1/models/{model}", service.model, shape=openai),
        route("/healthz", service.health),
        route("/metrics", service.figures),
        route("/openapi.json", service.described),
        route("/", service.page),
        route(PAGE_PATH + "{file}", service.page),
    ]
    wrong = {404: "unknown path; /openapi.json lists those that there are", 405: "wrong method; see /openapi.json"}
    count = service.metrics.counter(routes)
    around = [Middleware(counting, count=count)]
    if options.origins:
        methods, more = ("GET", "POST", "DELETE"), ("Retry-After",)
        around.append(
            Middleware(CORSMiddleware, options.origins, methods, allow_headers=("*",), expose_headers=more)
        )  # around the token: a browser asks for leave without one
    if options.token is not None:
        around.append(Middleware(with_token, token=options.token))
    return Starlette(routes=routes, middleware=around, exception_handlers={HTTPException: refusing(wrong)}), count


def serve(
    pipeline: Pipeline,
    options: ServiceOptions,
    host: str = "127.0.0.1",
    port: int = 8080,
    ready: Callable[[str], None] | None = None,
    *,
    names: Sequence[str] = (),
) -> None:
    """Serve until Ctrl-C or SIGTERM, which answers what has arrived.

    Args:
        pipeline: answers.
        options: see there.
        host: the address to listen on; others than loopback are warned of where no token is asked for.
        port: the port; 0 takes a free one.
        ready: called with the server's URL once it answers, and a signal ends it in order.
        names: by which the server may be asked, besides `host` and the names of this machine alone.

    Raises:
        NetworkError: `host` is no address of this machine, or the port is taken.
    """
    usual = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH)
    service = ConversationService(pipeline, options)
    app, refused = _app(service)
    try:
        run(
            app,
            host,
            port,
            ready,
            limits=options.limits,
            names=names,
            origins=options.origins,
            patience=_PATIENCE,
            asks_for_token=options.token is not None,
            refused=refused,
        )
    finally:
        service.close()
        sys.setswitchinterval(usual)
