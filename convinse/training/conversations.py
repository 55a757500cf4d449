"""Conversations for training a stage: understood as the pipeline does, with the gold answers of earlier turns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any, cast

from ..config import Config
from ..evidence_retrieval_scoring.base import EvidenceRetrievalScoring, retrieve
from ..formats.conversations.benchmark import read_benchmark
from ..question_understanding.base import QuestionUnderstanding, turns_in_step, understand
from ..records.conversation import Conversation, Turn
from ..resources import Resources
from ..stage import build, remove_results
from ..support.errors import DataError
from ..support.progress import progress
from ..support.registry import find_module
from .objective import batches


def understood_conversations(config: Config, part: str, resources: Resources | None = None) -> list[Conversation]:
    """Read the conversations of `train`, `dev` or `test` and understand each turn.

    Raises `DataError` if the part's file is missing, or a turn has no gold answers.
    """
    path = config.existing_input_path(part)
    conversations = read_benchmark(path, config.benchmark, part)
    for conversation in conversations:
        for number, turn in enumerate(conversation["questions"]):
            if turn.get("answers") is None:
                raise DataError(
                    f"{path}: conversation {conversation['conv_id']}, turn {number} has no answers; training needs them"
                )
            remove_results(turn)  # results of the pipeline may be trained on
    module = build(find_module("qu", config.qu, QuestionUnderstanding), config, resources or Resources(config))
    with progress("understanding", _size(conversations), "questions") as advance:
        for turns, histories in turns_in_step(conversations, use_gold_answers=True):
            understand(module, turns, histories, use_gold_answers=True)
            advance(len(turns))
    module.store_cache()
    return conversations


def turns_with_evidences(
    config: Config, part: str, sources: Sequence[str], resources: Resources | None = None
) -> Iterator[Turn]:
    """Yield the turns of a part, understood, with the `top_evidences` of the configured ERS; a few are in memory."""
    return (turn for _, turn in grouped_turns(config, part, sources, resources))


def grouped_turns(
    config: Config, part: str, sources: Sequence[str], resources: Resources | None = None
) -> Iterator[tuple[str, Turn]]:
    """Yield `turns_with_evidences`, each with its group.

    The group is that of the conversation (`group`, or its id); for a single question it is the first entity of the
    question, as questions about one entity have much in common.
    """
    resources = resources or Resources(config)
    conversations = understood_conversations(config, part, resources)
    module = build(find_module("ers", config.ers, EvidenceRetrievalScoring), config, resources)
    with ExitStack() as opened:
        opened.callback(module.store_cache)
        advance = opened.enter_context(progress("retrieving evidences", _size(conversations), "questions"))
        for batch in batches(conversations, module.conversations_at_once):
            turns = [turn for conversation in batch for turn in conversation["questions"]]
            retrieve(module, turns, sources, config.evs_max_evidences)
            for conversation in batch:
                group = str(conversation.get("group", conversation["conv_id"]))
                for turn in conversation["questions"]:
                    if len(conversation["questions"]) == 1:
                        about = turn.get("question_entities") or []
                        group = about[0]["item"]["id"] if about else turn["question"]
                    yield group, turn
            for turn in turns:
                cast("dict[str, Any]", turn).pop("top_evidences", None)  # those of a large part would fill the memory
            advance(len(turns))


def _size(conversations: Sequence[Conversation]) -> int:
    return sum(len(conversation["questions"]) for conversation in conversations)
