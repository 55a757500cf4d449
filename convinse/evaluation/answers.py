"""The measures of answers and evidences by their names in CONVINSE's code; the rules are those of `scoring.convqa`.

An answer is an entry of `pred_answers`, a gold answer `{"id", "label"}`. Where several answers share a rank, each of them counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..records.conversation import RankedAnswer
from ..records.evidence import Entity, Evidence
from ..scoring.convqa import has_answer as evidence_has_answer
from ..scoring.convqa import is_answer as candidate_in_answers

__all__ = ["answer_presence", "candidate_in_answers", "evidence_has_answer", "hit_at_5", "mrr_score", "precision_at_1"]


def answer_presence(evidences: Iterable[Evidence], answers: Sequence[Entity]) -> tuple[bool, list[Evidence]]:
    """Whether a gold answer is among the entities of evidences, and the evidences that have one."""
    answering = [evidence for evidence in evidences if evidence_has_answer(evidence, answers)]
    return bool(answering), answering


def precision_at_1(answers: Iterable[RankedAnswer], gold_answers: Sequence[Entity]) -> float:
    """1 where an answer of rank 1 is right."""
    return float(_best_rank(answers, gold_answers) == 1)


def mrr_score(answers: Iterable[RankedAnswer], gold_answers: Sequence[Entity]) -> float:
    """1 divided by the rank of the first right answer, 0 without one."""
    rank = _best_rank(answers, gold_answers)
    return 1.0 / rank if rank else 0.0


def hit_at_5(answers: Iterable[RankedAnswer], gold_answers: Sequence[Entity]) -> float:
    """1 where an answer of rank 5 or better is right."""
    return float(0 < _best_rank(answers, gold_answers) <= 5)


def _best_rank(answers: Iterable[RankedAnswer], gold_answers: Sequence[Entity]) -> int:
    ranks = [answer["rank"] for answer in answers if candidate_in_answers(answer["answer"], gold_answers)]
    return min(ranks, default=0)
