"""What a server answers to `/chat/completions`, taken apart."""

from __future__ import annotations

import math
from typing import Any, Literal

import msgspec

from ..support.errors import one_line

_LONGEST = 200_000  # characters of a text


class Token(msgspec.Struct, frozen=True):
    """A token that was written, and the natural logarithm of its probability."""

    token: str
    logprob: float


class Completion(msgspec.Struct, frozen=True):
    """A text that a language model wrote.

    Attributes:
        text: without what it thought.
        prompt_tokens, completion_tokens: as the server counts them; 0 where it does not.
        tokens: of the text, where the server tells how probable each was.
    """

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    tokens: list[Token] | None = None

    def probability_of(self, part: str, start: int = 0) -> float | None:
        """How probable a part of the text was, given all before it; None where it is not in the text, or nothing is known.

        Args:
            part: as it stands in the text.
            start: from where on it is looked for.
        """
        place = self.text.find(part, start)
        if place < 0 or not part or self.tokens is None or "".join(token.token for token in self.tokens) != self.text:
            return None
        total, begin = 0.0, 0
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
    function_call: Any = None
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


def read_completion(value: Any, logprobs: Literal["wanted", "left"] = "wanted") -> Completion:
    """The completion in the JSON value that a server answers.

    Raises:
        ValueError: it has another shape, asks for a tool, or was cut (`max_tokens`).
    """
    try:
        answer = msgspec.convert(value, _Answer)
    except msgspec.ValidationError as error:
        raise ValueError(f"it is no chat completion ({one_line(error)})") from None
    if not answer.choices:
        raise ValueError("it is no chat completion (no choices)")
    choice = answer.choices[0]
    message = choice.message
    if message.tool_calls or message.function_call:
        raise ValueError("the model asks for a tool, and none is ever called; name a model that answers without tools")
    if choice.finish_reason == "length":
        raise ValueError("it was cut before its end; raise max_tokens, or have the model think less")
    if message.content is None and message.refusal is None:
        raise ValueError("it has no content")
    text = message.content if message.content is not None else message.refusal or ""
    if len(text) > _LONGEST:
        raise ValueError(f"it has {len(text)} characters; {_LONGEST} are the most")
    usage = answer.usage or _Usage()
    tokens = choice.logprobs.content if choice.logprobs is not None and logprobs == "wanted" else None
    return Completion(text, usage.prompt_tokens or 0, usage.completion_tokens or 0, tokens or None)
