"""CONVINSE's measures under its names, and metrics with the interface of the Hugging Face `evaluate` library."""

from __future__ import annotations

from collections.abc import Sequence

from ..records.conversation import RankedAnswer, new_turn
from ..records.evidence import Entity, Evidence
from ..scoring.convqa import first_rank, has_answer


def answer_presence(evidences: Sequence[Evidence], answers: Sequence[Entity]) -> tuple[bool, list[Evidence]]:
    """Return whether evidences have a gold answer, and the evidences that have it."""
    answering = [evidence for evidence in evidences if has_answer(evidence, answers)]
    return bool(answering), answering


def mrr_score(answers: list[RankedAnswer], gold_answers: list[Entity]) -> float:
    """Return 1 by the rank of the first right answer; 0 if none is right."""
    rank = first_rank(new_turn(pred_answers=answers, answers=gold_answers))
    return 1.0 / rank if rank else 0.0


def precision_at_1(answers: list[RankedAnswer], gold_answers: list[Entity]) -> float:
    """Return 1 if the first answer is right, else 0."""
    return float(mrr_score(answers, gold_answers) == 1)


def hit_at_5(answers: list[RankedAnswer], gold_answers: list[Entity]) -> float:
    """Return 1 if one of the first five answers is right, else 0."""
    return float(mrr_score(answers, gold_answers) >= 1 / 5)
