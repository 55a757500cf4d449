"""Rankings of answers: from scores, and two of them as one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from ..records.conversation import RankedAnswer
from ..records.evidence import Entity, Evidence

_SUPPORT = 3  # evidences named per answer


def score_shares(evidences: Sequence[Evidence]) -> list[float]:
    """Each evidence's score as a share of the best score; all are 1 where no score is above 0."""
    scores = [evidence.get("score", 1.0) for evidence in evidences]
    best = max(scores, default=0.0)
    return [max(0.0, score) / best if best > 0 else 1.0 for score in scores]


def ranking(answers: Iterable[tuple[Entity, float, Iterable[int]]]) -> list[RankedAnswer]:
    """The ranked answers of (answer, score, places of its evidences), which are given best first."""
    return [
        {"answer": entity.copy(), "score": round(score, 6), "rank": rank, "evidences": list(places)[:_SUPPORT]}
        for rank, (entity, score, places) in enumerate(answers, 1)
    ]


def combined(
    first: Sequence[RankedAnswer], second: Sequence[RankedAnswer], share: float, most: int | None
) -> list[RankedAnswer]:
    """Two rankings of a turn's answers as one.

    Args:
        first, second: rankings whose scores are shares of all answers.
        share: the weight of the second's scores, from 0 to 1; the first's have the rest.
        most: answers wanted; None: all.

    Returns:
        Ranks 1, 2, 3, ...; label and evidences of an answer in both are the first's.
    """
    answers: dict[str, RankedAnswer] = {}
    scores: defaultdict[str, float] = defaultdict(float)
    for ranked, weight in ((first, 1 - share), (second, share)):
        for answer in ranked:
            answers.setdefault(answer["answer"]["id"], answer)
            scores[answer["answer"]["id"]] += weight * answer["score"]
    best = sorted((name for name in scores if scores[name] > 0), key=lambda name: (-round(scores[name], 9), name))
    return [
        {**answers[name], "score": round(scores[name], 6), "rank": rank} for rank, name in enumerate(best[:most], 1)
    ]
