"""Answers of a fixed form: what a server is asked for, and the strict reading of what a model wrote."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from ..support.errors import one_line
from ..support.jsonlines import JSON_ERRORS

T = TypeVar("T")

_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_BLOCK = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n?```\s*\Z", re.DOTALL)


def response_format(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The field `response_format` that asks for a JSON schema."""
    return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}


def read_strictly(text: str, form: type[T]) -> T:
    """The one JSON object that a text is, in a form; around it may be a code block, before it what the model thought.

    Nothing is guessed: prose, two objects, other or missing fields are refused. So whatever a page has talked a model into,
    it is no answer unless it has the form of one.

    Raises:
        ValueError: the text is something else.
    """
    text = _THOUGHT.sub("", text)
    block = _BLOCK.match(text)
    try:
        return msgspec.json.decode(block[1] if block else text, type=form)
    except JSON_ERRORS as error:
        raise ValueError(f"it has not the form that was asked for ({one_line(error)})") from None
