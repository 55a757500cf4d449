"""The base class of question understanding modules, and how conversations are put before it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence

from ..records.conversation import Conversation, Turn
from ..stage import Stage
from ..support.errors import ModuleError


class QuestionUnderstanding(Stage):
    """Question understanding (QU): from a question and its history to `turn["structured_representation"]`.

    A module of your own inherits this class, implements `inference_on_turn` and is named in the configuration as
    `qu: package.module:Class`. It may write the question in full into `turn["resolved_question"]`, which models read
    instead of the representation, and note in `turn["history_used"]` which parts of the history it took, for `ask` to
    show; see `convinse.records.conversation.HistoryPart`.
    """

    stage = "qu"

    @abstractmethod
    def inference_on_turn(self, turn: Turn, history_turns: Sequence[Turn]) -> str:
        """The intent-explicit representation of one question; also stored in `turn["structured_representation"]`.

        Args:
            turn: the current turn; its `answers` are not to be looked at.
            history_turns: the earlier turns, oldest first, with `question`, `structured_representation`, `answers` (the
                gold ones, or, with `--pred-answers`, the predicted one), and `turn` and `resolved_question` where they
                have them.
        """

    def inference_on_turns(self, turns: Sequence[Turn], histories: Sequence[Sequence[Turn]]) -> list[str]:
        """The representations of turns of different conversations, each with its history; by default one by one."""
        return [self.inference_on_turn(turn, history) for turn, history in zip(turns, histories, strict=True)]


def history_turn(turn: Turn, use_gold_answers: bool) -> Turn:
    """What a later turn may know of an earlier turn: its gold answers where wanted and known, else its best predicted answer."""
    answers = turn.get("answers") if use_gold_answers else None
    if not answers:
        answers = [ranked["answer"] for ranked in turn.get("pred_answers", [])[:1]]
    known: Turn = {
        "question": turn["question"],
        "structured_representation": turn.get("structured_representation", ""),
        "answers": answers,
    }
    for key in ("turn", "resolved_question"):
        if key in turn:
            known[key] = turn[key]
    return known


def understand(
    module: QuestionUnderstanding, conversations: Iterable[Conversation], number: int, use_gold_answers: bool
) -> list[Turn]:
    """Let a module represent one turn of every conversation.

    Args:
        module: the module.
        conversations: their turns before `number` are represented and, unless gold answers are taken, answered.
        number: the place of the turn, from 0; a shorter conversation is passed over.
        use_gold_answers: see `history_turn`.

    Returns:
        The turns, each with its `structured_representation`.

    Raises:
        ModuleError: the module did not return a representation for each turn.
    """
    turns: list[Turn] = []
    histories: list[list[Turn]] = []
    for conversation in conversations:
        if number < len(conversation["questions"]):
            turns.append(conversation["questions"][number])
            earlier = conversation["questions"][:number]
            histories.append([history_turn(before, use_gold_answers) for before in earlier])
    returned = module.inference_on_turns(turns, histories)
    if not isinstance(returned, list) or len(returned) != len(turns):
        fault = f"{len(returned)}" if isinstance(returned, list) else type(returned).__name__
        raise ModuleError(
            f"{type(module).__name__}: inference_on_turns must return a list of {len(turns)} representations, not {fault}"
        )
    for turn, representation in zip(turns, returned, strict=True):
        if not isinstance(turn.get("structured_representation"), str):
            turn["structured_representation"] = str(representation)
    return turns
