"""Questions of conversations with the rewrite that a person made of them: CANARD, as records and not as examples."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from convinse.support.jsonlines import read_lines
from recipes.embedded.examples import Part
from recipes.embedded.negatives import part_of
from recipes.sources import needed


class Rewrite(msgspec.Struct, frozen=True):
    """A question, what was said before it, and the question as it stands alone.

    Attributes:
        history: questions and answers in turns, the first question first; empty before the first question.
    """

    dialog_id: str
    article: str  # the page of Wikipedia that the conversation is about
    section: str
    history: tuple[str, ...]
    question: str
    rewrite: str

    @property
    def part(self) -> Part:
        """By the article: all conversations about a page are in one part, which is that of the page in all data sets."""
        return part_of("canard", self.article)


def canard(data: Path) -> Iterator[Rewrite]:
    """The rewrites of CANARD (dev), in the order of the file."""
    return (line for _, line in read_lines(needed(data, "hybrid", "canard-dev.jsonl.gz"), Rewrite))
