"""The pipeline as a service: conversations over HTTP, and chat completions in OpenAI's shape.

`docs/serve.md` has the requests, `docs/limits.md` the limits. Turns of different conversations that wait at the same time are
computed together; a conversation has one turn under way.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from typing import Any, get_args

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.security import HTTPBearer
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import JSONResponse, PlainTextResponse, Response

from ..dialogue.examples import data_counts, is_embedded
from ..dialogue.session import Session
from ..pipeline import Pipeline
from ..records.conversation import Turn
from ..records.evidence import SOURCES
from ..support.version import __version__
from . import file_requests
from .app import RequestGuard, error_handlers, error_response, json_response, while_connected
from .chat_completions import (
    MODEL,
    ChatRequest,
    chat_question,
    completion,
    completion_events,
    model_card,
    session_after,
    sources_of,
    usage,
)
from .conversations import check_has_room, checked_question, checked_sources, checking, open_session
from .invalid import fault_of
from .metrics import CONTENT_TYPE, RequestCounter
from .service import ConversationId, ConversationService, RequestError, Service
from .service import ServiceOptions as ServiceOptions
from .turns import StageListener, TurnStream, named_events
from .uploads import UploadRules
from .web_page import MOST_ROWS, PAGE_PATH, ExampleConversation, WebPage

# seconds after which the pipeline's thread lets the event loop run. With the usual 0.005, 50 clients wait 90 ms for their first
# event in place of 43 (95th percentile); turns take the same time
_SWITCH_INTERVAL = 0.0005
_EVENTS = "text/event-stream"
# besides the files of the page: a monitor need not know the token; the page asks for it
_OPEN_PATHS = ("/", "/healthz")


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class NewConversation(_Body):
    """The sources of a new conversation, a stored conversation to continue, and the conversation whose files it is about, too."""

    sources: str | list[str] | None = None
    conversation: dict[str, Any] | None = None
    files_of: str | None = None


class NextTurn(_Body):
    """A question; `sources` are the conversation's from here on, `again` replaces the last turn.

    With `again` and without a `question`, the question of the last turn is asked.
    """

    question: str | None = None
    sources: str | list[str] | None = None
    again: bool = False


class ConversationState(BaseModel):
    """The id of a conversation, its sources, and the number of its turns."""

    id: str
    sources: str
    turns: int


class StoredConversation(ConversationState):
    """A conversation with all its turns; `conversation`, in the ConvMix structure, can be stored and continued."""

    conversation: dict[str, Any]


class ExampleConversations(BaseModel):
    """Conversations to begin with, and the settings of the server.

    `sources`: the default of requests. `uploads`: the files that conversations take, if any. `counts`: the numbers of items, facts, pages and files. `is_embedded`: whether the data are those of the snapshot.
    `configuration`: its name. `abstain_below`: the probability below which an answer is a suggestion.
    """

    sources: str
    examples: list[ExampleConversation]
    uploads: UploadRules | None
    counts: dict[str, int]
    is_embedded: bool
    configuration: str
    abstain_below: float


_PAGE = WebPage()
router = APIRouter(responses={"default": {"model": RequestError}})


@router.post("/v1/conversations", status_code=201)
async def begin_conversation(service: Service, body: NewConversation | None = None) -> ConversationState:
    """Begin a conversation, or continue a stored one."""
    body = body or NewConversation()
    sources = service.sources if body.sources is None else checked_sources(body.sources)
    if body.files_of is not None and not service.files.has(body.files_of):
        service.store.get(body.files_of)
    session = await open_session(service.pipeline, sources, body.conversation)
    name = service.store.add(session)
    if body.files_of is not None:
        service.files.share(name, body.files_of)
    return _state(name, session)


@router.get("/v1/conversations/{id}", response_model=StoredConversation)
async def read_conversation(service: Service, name: ConversationId) -> Response:
    """Read a conversation with all its turns."""
    session = service.store.get(name)
    conversation = await asyncio.to_thread(lambda: session.conversation)
    return json_response({**_state(name, session).model_dump(), "conversation": conversation})


@router.delete("/v1/conversations/{id}", status_code=204)
async def delete_conversation(service: Service, name: ConversationId) -> None:
    """Delete a conversation and its files."""
    try:
        service.store.delete(name)
    except HTTPException:  # an earlier server had it
        if not service.files.has(name):
            raise
        service.files.forget(name)


@router.post("/v1/conversations/{id}/turns", response_class=JSONResponse)
async def ask(service: Service, name: ConversationId, body: NextTurn, request: Request) -> Response:
    """Ask the next question; `Accept: text/event-stream` makes the answer a stream, with an event for each stage."""
    with ExitStack() as stack:
        session = stack.enter_context(service.store.under_way(name))
        if body.sources is not None:
            session.sources = checked_sources(body.sources)
        text = body.question
        if body.again:
            with checking():
                last_turn = session.back()
            text = last_turn["question"] if text is None else text
        if text is None:
            raise HTTPException(400, "question: it is missing; only 'again' may go without")
        question = checked_question(text)
        check_has_room(session)

        async def answer(listener: StageListener | None = None) -> Turn:
            async with service.files.pipeline_of(name) as pipeline:
                copy = session.copy(pipeline.answer_turns)
                turn = await service.queue.ask(copy, question, listener)
            service.store.replace(name, copy)
            return turn

        if _EVENTS not in request.headers.get("accept", ""):
            return json_response(await while_connected(request, answer()))
        service.queue.check_room()
        return TurnStream(answer, named_events, stack.pop_all())


@router.delete("/v1/conversations/{id}/turns/last")
async def take_back(service: Service, name: ConversationId) -> ConversationState:
    """Take the last turn back."""
    with service.store.under_way(name) as session:
        with checking():
            session.back()
        service.store.replace(name, session)
        return _state(name, session)


@router.get("/v1/examples")
async def list_examples(service: Service) -> ExampleConversations:
    """List example conversations, and the settings of the server."""
    config = service.pipeline.config
    examples, counts = await asyncio.to_thread(lambda: (service.examples, data_counts(service.pipeline.resources)))
    return ExampleConversations(
        sources="_".join(service.sources),
        examples=examples,
        uploads=service.files.rules,
        counts=counts,
        is_embedded=is_embedded(config),
        configuration=config.name,
        abstain_below=config.ha_abstain_below,
    )


@router.get("/v1/tables/{page}/{table:int}", response_class=JSONResponse)
async def read_table(service: Service, page: str, table: int) -> Response:
    """Read the first rows of the table of an evidence's row, and how many there are."""
    rows = await service.queue.run(lambda: service.pipeline.resources.pages.table(page, table))
    if not rows:
        raise HTTPException(404, "no such table: the Wikipedia dump of this server does not have it")
    return json_response({"rows": rows[:MOST_ROWS], "total": len(rows)})


@router.post("/v1/chat/completions", response_class=JSONResponse)
async def complete_chat(service: Service, body: ChatRequest, request: Request) -> Response:
    """Answer the last message, in OpenAI's shape."""
    sources = sources_of(body.model, service.sources)
    question, earlier = chat_question(body)
    tokens: dict[str, int] = {}
    service.queue.check_room()

    async def answer(listener: StageListener | None = None) -> Turn:
        session = service.pipeline.session(sources)
        if earlier:
            session = await service.queue.run(lambda: session_after(service.pipeline, sources, earlier))
        turn = await service.queue.ask(session, question, listener)
        if body.wants_usage:
            tokens.update(await asyncio.to_thread(lambda: usage(question, earlier, turn, service.tokens)))
        return turn

    if body.stream:
        return TurnStream(answer, completion_events(body, tokens))
    return json_response(completion(await while_connected(request, answer()), body.model, tokens))


@router.get("/v1/models")
async def list_models() -> dict[str, Any]:
    """List the models of chat completions."""
    return {
        "object": "list",
        "data": [model_card(name) for name in (MODEL, *(f"{MODEL}:{source}" for source in SOURCES))],
    }


@router.get("/v1/models/{model}")
async def read_model(model: str) -> dict[str, Any]:
    """Describe a model."""
    return model_card(model)


@router.get("/healthz")
async def check_health() -> dict[str, str]:
    """Report that the server is up."""
    return {"status": "ok"}


@router.get("/metrics", response_class=PlainTextResponse)
async def read_metrics(service: Service) -> Response:
    """Return the metrics for Prometheus."""
    return Response(service.metrics.text(), media_type=CONTENT_TYPE)


@router.get("/", include_in_schema=False)
async def read_page(request: Request) -> Response:
    """Send the web page."""
    return await _PAGE.get_response("index.html", request.scope)


def _state(name: str, session: Session) -> ConversationState:
    return ConversationState(id=name, sources="_".join(session.sources), turns=len(session))


def create_app(pipeline: Pipeline, options: ServiceOptions | None = None) -> FastAPI:
    """Return the application, for `app.run` or any ASGI server.

    Nothing else may use the pipeline until the lifespan of the application has ended; the caller closes it after that.
    """
    service = ConversationService(pipeline, options or ServiceOptions())
    options = service.options

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        usual_interval = sys.getswitchinterval()
        sys.setswitchinterval(_SWITCH_INTERVAL)
        service.open()
        yield
        await asyncio.to_thread(service.close)
        sys.setswitchinterval(usual_interval)

    middleware = [Middleware(RequestCounter, metrics=service.metrics)]
    if options.origins:  # outside of the guard: preflight requests of browsers have no token
        methods, headers = ("GET", "POST", "DELETE"), ("Retry-After",)
        middleware.append(
            Middleware(CORSMiddleware, options.origins, methods, allow_headers=("*",), expose_headers=headers)
        )
    guard = Middleware(
        RequestGuard, options.hosts, options.origins, options.token, open_paths=_OPEN_PATHS, open_folder=PAGE_PATH
    )
    app = FastAPI(
        title="convinse",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        strict_content_type=False,  # a body without a type is read as JSON
        middleware=[*middleware, guard],
        exception_handlers={**error_handlers("/openapi.json lists the paths"), RequestValidationError: answer_invalid},
    )
    app.state.service = service
    security = [Depends(HTTPBearer(auto_error=False))] if options.token is not None else []
    app.include_router(router, dependencies=security)
    app.include_router(file_requests.router, dependencies=security)
    app.mount(PAGE_PATH, _PAGE)

    return app


async def answer_invalid(request: Request, error: Any) -> Response:
    """Answer a body of a wrong shape: 400, and the first wrong key."""
    route = request.scope.get("route")
    body = getattr(getattr(route, "body_field", None), "field_info", None)
    keys = [name for model in _models(body.annotation) for name in model.model_fields] if body is not None else []
    return error_response(request, HTTPException(400, fault_of(error.errors(), 1, keys)))


def _models(annotation: Any) -> list[type[BaseModel]]:
    members = get_args(annotation) or (annotation,)
    return [member for member in members if isinstance(member, type) and issubclass(member, BaseModel)]
