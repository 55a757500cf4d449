"""What the page shows besides conversations: examples to begin with, and whole tables."""

from __future__ import annotations

from ..config import Config
from ..experiment import read_part
from ..resources import Resources
from ..support.http_work import RefusedError
from .openapi import ExampleConversation, WholeTable
from .questions import can_be_asked

_MOST_EXAMPLES = 6
_MOST_ROWS = 500


def examples(config: Config) -> list[ExampleConversation]:
    """The first conversation of each domain of the configured dev part; none where there is no such part.

    Raises:
        DataError: the part is damaged.
    """
    if not config.input_path("dev").is_file():
        return []
    chosen: dict[str, ExampleConversation] = {}
    for conversation in read_part(config, "dev"):
        domain = str(conversation.get("domain") or "")
        questions = [turn["question"] for turn in conversation["questions"] if can_be_asked(turn["question"])]
        if questions and len(chosen) < _MOST_EXAMPLES:
            chosen.setdefault(domain, ExampleConversation(domain, questions))
    return list(chosen.values())


def whole_table(resources: Resources, page: str, table: int) -> WholeTable:
    """A table of the Wikipedia dump, by its page (an item) and its number. Raises `RefusedError` where there is none."""
    rows = resources.wikipedia.table(page, table) if resources.wikipedia is not None else []
    if not rows:
        raise RefusedError("no such table: the Wikipedia dump of this server does not have it", 404)
    return WholeTable(rows[:_MOST_ROWS], len(rows))
