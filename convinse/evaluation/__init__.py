"""Metrics with the interface of the Hugging Face `evaluate` library, one folder each: `compute(predictions, references)`.

Each works without that library (`from convinse.evaluation import klue_mrc; klue_mrc.compute(...)`) and is a folder that
`evaluate.load` can be given. Beside them the measures of answers by the names that they have in CONVINSE's code.
"""

from __future__ import annotations

from . import klue_mrc
from .answers import answer_presence, candidate_in_answers, evidence_has_answer, hit_at_5, mrr_score, precision_at_1

__all__ = [
    "answer_presence",
    "candidate_in_answers",
    "evidence_has_answer",
    "hit_at_5",
    "klue_mrc",
    "mrr_score",
    "precision_at_1",
]
