"""Prompts: what is said to a model, apart from what it is shown, and how long that may be."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

_BYTES_OF_TOKEN = 3  # as estimated: evidences of the dev part have 4.2 (tables) to 4.6 of the embedded model's tokens, a prompt 3.7 at least
_OF_MESSAGE = 8  # tokens around each message, as estimated
_FENCE = 16  # hexadecimal digits


class Prompt(NamedTuple):
    """A request to a language model.

    Attributes:
        instructions: what it is to do; the same in all prompts of a stage, so that a server can keep what it computed of them.
        content: what it is to do it with.
        name: of the form of the answer.
        schema: of the form, as JSON schema.
        sample: the number of the answer among several to one prompt.
    """

    instructions: str
    content: str
    name: str
    schema: Mapping[str, Any]
    sample: int = 0

    @property
    def messages(self) -> list[dict[str, str]]:
        """As the interface takes it."""
        return [{"role": "system", "content": self.instructions}, {"role": "user", "content": self.content}]

    @property
    def tokens(self) -> int:
        """Its length, as estimated."""
        return estimated_tokens(self.instructions) + estimated_tokens(self.content) + 2 * _OF_MESSAGE


def estimated_tokens(text: str) -> int:
    """How many tokens a text has at most, as a rule: no tokenizer of the server is known, so a token counts three bytes of UTF-8."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // _BYTES_OF_TOKEN)


def closed_object(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON schema of an object with these properties, all of them, and no others."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def fenced(title: str, lines: Sequence[str]) -> str:
    """Lines of data between two marks, which none of them can hold: the mark is a checksum of all of them.

    Each line stays one: line breaks in it become blanks. So nothing in the data looks like its end, or like another line. The
    same data has the same mark, so that its prompt is the same prompt.
    """
    data = [" ".join(line.split()) for line in lines]
    mark = hashlib.sha256("\n".join(data).encode("utf-8", "surrogatepass")).hexdigest()[:_FENCE]
    return "\n".join((f"<{title} {mark}>", *data, f"</{title} {mark}>"))
