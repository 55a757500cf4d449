"""The OpenAPI description of the service: the shapes are those that requests are checked against."""

from __future__ import annotations

from typing import Any

import msgspec

from ..records.conversation import Turn
from ..records.evidence import Row
from ..version import __version__
from .chat_completions import ChatRequest

_COMPONENTS = "#/components/schemas/"


class NewConversation(msgspec.Struct, forbid_unknown_fields=True):
    """What a conversation begins with."""

    sources: str | list[str] | None = None
    conversation: dict[str, Any] | None = None


class NextTurn(msgspec.Struct, forbid_unknown_fields=True):
    """What is asked next: from `sources`, which are the conversation's from here on; `again`: in place of the last turn.

    Without a `question`, the one of the last turn is asked `again`.
    """

    question: str | None = None
    sources: str | list[str] | None = None
    again: bool = False


class ConversationState(msgspec.Struct):
    """A conversation; `conversation`, in the ConvMix structure, can be stored and taken up."""

    id: str
    sources: str
    turns: int
    conversation: dict[str, Any] = {}


class ExampleConversation(msgspec.Struct):
    """The questions of a conversation that may be asked."""

    domain: str
    questions: list[str]


class ExampleConversations(msgspec.Struct):
    """Conversations to begin with, and the sources that are asked where a request names none."""

    sources: str
    examples: list[ExampleConversation]


class WholeTable(msgspec.Struct):
    """The first rows of a table, and how many it has."""

    rows: list[Row]
    total: int


class RefusedRequest(msgspec.Struct):
    """Why a request is not answered."""

    error: str


def description(asks_for_token: bool) -> dict[str, Any]:
    """The document, OpenAPI 3.1.

    Args:
        asks_for_token: whether requests must give one.
    """
    shapes = (
        NewConversation,
        NextTurn,
        ConversationState,
        ExampleConversations,
        WholeTable,
        RefusedRequest,
        ChatRequest,
        Turn,
    )
    _, schemas = msgspec.json.schema_components(shapes, ref_template=_COMPONENTS + "{name}")
    document: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "convinse", "version": __version__},
        "paths": _paths(),
        "components": {"schemas": schemas},
    }
    if asks_for_token:
        document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        document["security"] = [{"token": []}]
    return document


def _paths() -> dict[str, Any]:
    of_conversation = {"parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}]}
    of_table = {
        "parameters": [
            {"name": "page", "in": "path", "required": True, "schema": {"type": "string"}},
            {"name": "table", "in": "path", "required": True, "schema": {"type": "integer"}},
        ]
    }
    of_model = {"parameters": [{"name": "model", "in": "path", "required": True, "schema": {"type": "string"}}]}
    turn = {**_json("Turn"), "text/event-stream": {"schema": {"type": "string"}}}
    chat = {"application/json": {"schema": {"type": "object"}}, "text/event-stream": {"schema": {"type": "string"}}}
    state, anything = _json("ConversationState"), {"application/json": {"schema": {"type": "object"}}}
    return {
        "/v1/conversations": {
            "post": _operation("Begin a conversation, or take up a stored one", "201", state, "NewConversation", False)
        },
        "/v1/conversations/{id}": {
            **of_conversation,
            "get": _operation("A conversation with all its turns", "200", state),
            "delete": _operation("Forget a conversation", "204"),
        },
        "/v1/conversations/{id}/turns": {
            **of_conversation,
            "post": _operation("Ask the next question; as events with the stages", "200", turn, "NextTurn"),
        },
        "/v1/conversations/{id}/turns/last": {
            **of_conversation,
            "delete": _operation("Take the last turn back", "200", state),
        },
        "/v1/examples": {"get": _operation("Conversations to begin with", "200", _json("ExampleConversations"))},
        "/v1/tables/{page}/{table}": {
            **of_table,
            "get": _operation("A table that an evidence shows a row of", "200", _json("WholeTable")),
        },
        "/v1/chat/completions": {
            "post": _operation("Answer the last message, in OpenAI's shape", "200", chat, "ChatRequest")
        },
        "/v1/models": {"get": _operation("The models of chat completions", "200", anything)},
        "/v1/models/{model}": {**of_model, "get": _operation("A model", "200", anything)},
        "/healthz": {"get": {**_operation("Whether the server answers", "200", anything), "security": []}},
        "/metrics": {
            "get": _operation("Figures for Prometheus", "200", {"text/plain": {"schema": {"type": "string"}}})
        },
    }


def _operation(
    text: str, status: str, content: dict[str, Any] | None = None, body: str = "", required: bool = True
) -> dict[str, Any]:
    answered: dict[str, Any] = {"description": text, **({"content": content} if content else {})}
    refused = {"description": "Not answered; error says why", "content": _json("RefusedRequest")}
    operation: dict[str, Any] = {"summary": text, "responses": {status: answered, "default": refused}}
    if body:
        operation["requestBody"] = {"required": required, "content": _json(body)}
    return operation


def _json(name: str) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": _COMPONENTS + name}}}
