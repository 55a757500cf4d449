"""Prompts: instructions, content kept apart from them, and estimated lengths."""

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
        instructions: the same in all prompts of a stage, so that a server can cache its states of them.
        content: the data of this prompt.
        name, schema: of the form of the answer.
    """

    instructions: str
    content: str
    name: str
    schema: Mapping[str, Any]

    @property
    def messages(self) -> list[dict[str, str]]:
        """Return the messages of a request."""
        return [{"role": "system", "content": self.instructions}, {"role": "user", "content": self.content}]

    @property
    def tokens(self) -> int:
        """Return the estimated length in tokens."""
        return estimated_tokens(self.instructions) + estimated_tokens(self.content) + 2 * _OF_MESSAGE


def estimated_tokens(text: str) -> int:
    """Return an upper estimate of the tokens of a text: the server's tokenizer is unknown, so a token counts three bytes of UTF-8."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // _BYTES_OF_TOKEN)


def closed_object(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an object with exactly these properties."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def fenced(title: str, lines: Sequence[str]) -> str:
    """Put lines of data between two marks with a checksum of the lines, which no line can contain.

    Line breaks within a line become blanks. So nothing in the data looks like its end, or like another line. The same data
    has the same mark, so that prompts repeat.
    """
    data = [" ".join(line.split()) for line in lines]
    mark = hashlib.sha256("\n".join(data).encode("utf-8", "surrogatepass")).hexdigest()[:_FENCE]
    return "\n".join((f"<{title} {mark}>", *data, f"</{title} {mark}>"))
