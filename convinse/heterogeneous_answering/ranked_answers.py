"""Answers with scores: ordered, merged, and as the answers of a turn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..records.conversation import RankedAnswer
from ..records.evidence import Entity, Evidence
from ..records.literals import is_date, is_number
from ..records.periods import stated_time
from ..records.written_values import value_at

_SUPPORT = 3  # evidences named per answer
_DIGITS = 6  # of a score: models that compute in other batches differ in those behind


class AnswerCandidate(NamedTuple):
    """An answer with a score, the places of the evidences that support it (the best first), and the reasons for it.

    `is_listed`: it is one of several that the question asks for.
    """

    entity: Entity
    score: float
    places: tuple[int, ...]
    reasons: tuple[str, ...]
    is_listed: bool = False


def ordered(candidates: Iterable[AnswerCandidate]) -> list[AnswerCandidate]:
    """Best first. Of equal scores the earlier date is first (of several the first release is meant), then the candidate of the
    better evidence, then the smaller id."""
    return sorted(candidates, key=_order)


def _order(candidate: AnswerCandidate) -> tuple[float, str, tuple[int, ...], str]:
    name = candidate.entity["id"]
    return -round(candidate.score, _DIGITS), name if is_date(name) else "", candidate.places[:1], name


def merged(candidates: Iterable[AnswerCandidate]) -> list[AnswerCandidate]:
    """Ordered candidates, each entity once, with the sum of its scores."""
    known: dict[str, AnswerCandidate] = {}
    for candidate in candidates:
        first = known.get(candidate.entity["id"], candidate._replace(score=0.0))
        reasons = tuple(dict.fromkeys(first.reasons + candidate.reasons))
        known[candidate.entity["id"]] = first._replace(score=first.score + candidate.score, reasons=reasons)
    return ordered(own for own in known.values() if round(own.score, _DIGITS) > 0)


def answers(
    candidates: Sequence[AnswerCandidate], most: int | None, evidences: Sequence[Evidence] = ()
) -> list[RankedAnswer]:
    """Ordered candidates as the answers of a turn, at most so many, with the time that their evidences say of them."""
    ranked = []
    for rank, candidate in enumerate(candidates[:most], 1):
        answer: RankedAnswer = {
            "answer": _as_written(candidate, evidences),
            "score": round(candidate.score, _DIGITS),
            "rank": rank,
            "evidences": list(candidate.places[:_SUPPORT]),
            "reasons": list(candidate.reasons),
        }
        if candidate.is_listed:
            answer["list"] = True
        if (
            evidences
            and candidate.places
            and (time := stated_time(evidences[candidate.places[0]], answer["answer"]["id"]))
        ):
            answer["time"] = time
        ranked.append(answer)
    return ranked


def _as_written(candidate: AnswerCandidate, evidences: Sequence[Evidence]) -> Entity:
    """An answer's entity; with the unit, currency or era that its first evidence writes."""
    entity = candidate.entity.copy()
    if (is_date(entity["id"]) or is_number(entity["id"])) and evidences and candidate.places:
        evidence = evidences[candidate.places[0]]
        for mention in evidence["mentions"]:
            if mention["id"] == entity["id"]:
                value = value_at(evidence["evidence_text"], mention["start"], mention["end"])
                return value.copy() if value is not None and value["id"] == entity["id"] else entity
    return entity
