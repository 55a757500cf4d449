"""Conversations for training a stage: understood as the pipeline does, with the gold answers of earlier turns."""

from __future__ import annotations

from .benchmarks.convmix import read_conversations
from .config import Config
from .errors import DataError
from .evidence import Conversation
from .question_understanding.base import QuestionUnderstanding, history_turn
from .registry import find_module


def understood_conversations(config: Config, part: str) -> list[Conversation]:
    """The conversations of `train`, `dev` or `test`, each turn with its `structured_representation`.

    Raises:
        DataError: the part's file is missing, or a turn has no gold answers.
    """
    path = config.input_path(part)
    if not path.is_file():
        raise DataError(f"{path}: no such file; training needs it, check {part}_input_path and benchmark_path")
    conversations = read_conversations(path)
    module = find_module("qu", config.qu, QuestionUnderstanding)(config)
    for conversation in conversations:
        for number, turn in enumerate(conversation["questions"]):
            if not turn.get("answers"):
                raise DataError(
                    f"{path}: conversation {conversation['conv_id']}, turn {number} has no answers; training needs them"
                )
            history = [history_turn(earlier, True) for earlier in conversation["questions"][:number]]
            returned = module.inference_on_turn(turn, history)
            if not isinstance(turn.get("structured_representation"), str):
                turn["structured_representation"] = str(returned)
    module.store_cache()
    return conversations
