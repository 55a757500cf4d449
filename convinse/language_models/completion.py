"""The answer of a server to `/chat/completions`, and the strict reading of the text in it."""

from __future__ import annotations

import math
import re
from typing import Any, TypeVar

import msgspec

from ..support.errors import one_line
from ..support.jsonlines import JSON_ERRORS

T = TypeVar("T")

_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_BLOCK = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n?```\s*\Z", re.DOTALL)


class Token(msgspec.Struct, frozen=True):
    """A token of a completion, and the natural logarithm of its probability."""

    token: str
    logprob: float


class Completion(msgspec.Struct, frozen=True):
    """A text that a language model wrote.

    Attributes:
        text: without thoughts.
        prompt_tokens, completion_tokens: counted by the server, else 0.
        tokens: of the text, if the server returns probabilities.
        is_cut: True if the server stopped at `max_tokens`, before the end of the text.
    """

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    tokens: list[Token] | None = None
    is_cut: bool = False

    @property
    def counted(self) -> dict[str, int]:
        """The tokens of the `prompt` and of the `completion`, as a turn keeps them."""
        return {"prompt": self.prompt_tokens, "completion": self.completion_tokens}

    def probability_of(self, part: str, start: int = 0) -> float | None:
        """Return the probability of a part of the text, searched from `start`, after all before it; None if unknown."""
        place = self.text.find(part, start)
        if place < 0 or not part or self.tokens is None:
            return None
        # servers return the tokens of thoughts, blanks and ends around the text, too
        before = "".join(token.token for token in self.tokens).rfind(self.text)
        if before < 0:
            return None
        total, begin = 0.0, -before
        for token in self.tokens:
            end = begin + len(token.token)
            if begin < place + len(part) and place < end:
                total += token.logprob
            begin = end
        return math.exp(min(total, 0.0))


class _Logprobs(msgspec.Struct):
    content: list[Token] | None = None


class _Message(msgspec.Struct):
    content: str | None = None
    tool_calls: list[Any] | None = None
    refusal: str | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None
    logprobs: _Logprobs | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Answer(msgspec.Struct):
    choices: list[_Choice]
    usage: _Usage | None = None


def read_completion(value: Any) -> Completion:
    """Return the completion in the JSON value of a server's answer; raise `ValueError` for another shape or a tool call."""
    try:
        answer = msgspec.convert(value, _Answer)
    except msgspec.ValidationError as error:
        raise ValueError(f"it is not a chat completion ({one_line(error)})") from None
    if not answer.choices:
        raise ValueError("it is not a chat completion (no choices)")
    choice, message = answer.choices[0], answer.choices[0].message
    if message.tool_calls:
        raise ValueError("the model asks for a tool, and none is ever called; name a model that answers without tools")
    is_cut = choice.finish_reason == "length"
    text = message.refusal if message.content is None else message.content
    if text is None and is_cut:  # while it was thinking
        text = ""
    if text is None:
        raise ValueError("it has no content")
    usage = answer.usage or _Usage()
    tokens = choice.logprobs.content if choice.logprobs is not None else None
    return Completion(text, usage.prompt_tokens or 0, usage.completion_tokens or 0, tokens or None, is_cut)


def read_strictly(text: str, form: type[T]) -> T:
    """Return the JSON object of a form in a text, perhaps in a code block and after the model's thoughts.

    Prose, several objects, further or missing fields raise `ValueError`, so that injected instructions of a page cannot become
    an answer of another form.
    """
    text = _THOUGHT.sub("", text)
    block = _BLOCK.match(text)
    try:
        return msgspec.json.decode(block[1] if block else text, type=form)
    except JSON_ERRORS as error:
        raise ValueError(f"it has not the form that was asked for ({one_line(error)})") from None
