"""Example questions for the beginning of a conversation, and the size of the data."""

from __future__ import annotations

from ..config import SNAPSHOT, Config
from ..documents.suggestions import suggested
from ..formats.conversations.benchmark import read_benchmark
from ..records.conversation import check_question
from ..resources import Resources
from ..support.errors import DataError

MOST_EXAMPLES = 6  # titles with questions at the beginning of a conversation


def examples_of(resources: Resources) -> list[tuple[str, list[str]]]:
    """Return titles of documents with questions about them, or `read_examples` if the configured dev part is about the data."""
    config = resources.config
    if resources.documents is not None:
        return suggested(resources.documents, MOST_EXAMPLES)
    return [] if config.benchmark_path.startswith(SNAPSHOT) and not is_embedded(config) else read_examples(config)


def is_embedded(config: Config) -> bool:
    """Return True if the facts and pages of a configuration are those of the snapshot."""
    snapshot = Config()
    return (config.kb_path, config.ers_wikipedia_dump) == (snapshot.kb_path, snapshot.ers_wikipedia_dump)


def data_counts(resources: Resources) -> dict[str, int]:
    """Return the numbers of `items` and `facts`, and of `pages` or `files`, without remote sources."""
    return resources.facts.counts() | resources.pages.sizes()


def read_examples(config: Config) -> list[tuple[str, list[str]]]:
    """Return each domain of the configured dev part with the questions of its first conversation; empty without that part."""
    path = config.input_path("dev")
    examples: dict[str, list[str]] = {}
    for conversation in read_benchmark(path, config.benchmark) if path.is_file() else ():
        domain = str(conversation.get("domain") or "")
        questions = [turn["question"] for turn in conversation["questions"] if can_be_asked(turn["question"])]
        if questions and len(examples) < MOST_EXAMPLES:
            examples.setdefault(domain, questions)
    return list(examples.items())


def can_be_asked(text: str) -> bool:
    """Return True if `check_question` takes a text."""
    try:
        check_question(text)
    except DataError:
        return False
    return True
