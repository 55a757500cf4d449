"""Candidates of all that answers, merged and ordered; the one place that does it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..records.conversation import RankedAnswer
from ..records.evidence import Entity, Evidence
from ..records.literals import is_date, is_number, year_of, years_of
from ..records.periods import stated_time
from ..records.written_values import value_at

_SUPPORT = 3  # evidences named per answer
_DIGITS = 6  # of a score: models that compute in other batches differ in those behind


class AnswerCandidate(NamedTuple):
    """An answer that something gives.

    Attributes:
        entity: an item, a date, a number, or words that are their own id.
        score: its share of all candidates that were given with it.
        places: of the evidences that support it, those that do most first.
        reasons: what gave it, as in `RankedAnswer`.
    """

    entity: Entity
    score: float
    places: tuple[int, ...]
    reasons: tuple[str, ...]


def in_shares(candidates: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    """Candidates whose scores are shares of all of them, best first; those of score 0 are left out."""
    total = sum(candidate.score for candidate in candidates) or 1.0
    return ordered(candidate._replace(score=candidate.score / total) for candidate in candidates if candidate.score > 0)


def ordered(candidates: Iterable[AnswerCandidate]) -> list[AnswerCandidate]:
    """Best first. Of equal scores the earlier date is first (of several the first release is meant), then what the better
    evidence supports, then the smaller id."""
    return sorted(candidates, key=_order)


def _order(candidate: AnswerCandidate) -> tuple[float, str, tuple[int, ...], str]:
    name = candidate.entity["id"]
    return -round(candidate.score, _DIGITS), name if is_date(name) else "", candidate.places[:1], name


def merged(*parts: tuple[float, Iterable[AnswerCandidate]]) -> list[AnswerCandidate]:
    """Candidates of several origins, each with the weight of its scores, as one ordered list.

    A candidate given twice has the scores and the reasons of both; its label and its places are those of the first. What
    has no score that could be seen is left out.
    """
    candidates: dict[str, AnswerCandidate] = {}
    for weight, given in parts:
        for candidate in given:
            name, score = candidate.entity["id"], weight * candidate.score
            if round(score, _DIGITS) > 0:
                first = candidates.get(name, candidate._replace(score=0.0))
                reasons = tuple(dict.fromkeys(first.reasons + candidate.reasons))
                candidates[name] = first._replace(score=first.score + score, reasons=reasons)
    return ordered(candidates.values())


def in_years(candidates: Iterable[AnswerCandidate]) -> list[AnswerCandidate]:
    """Candidates whose dates are years: dates of the same year are one, with the scores of all."""
    return merged((1.0, (candidate._replace(entity=in_year(candidate.entity)) for candidate in candidates)))


def in_year(entity: Entity) -> Entity:
    """The year of a date; another entity as it is."""
    return year_of(entity["id"]) if is_date(entity["id"]) and years_of(entity) == 1 else entity


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


def answers(
    candidates: Iterable[AnswerCandidate], most: int | None, evidences: Sequence[Evidence] = ()
) -> list[RankedAnswer]:
    """Ordered candidates as the answers of a turn, at most so many, with the time that their evidences say of them."""
    ranked: list[RankedAnswer] = [
        {
            "answer": _as_written(candidate, evidences),
            "score": round(candidate.score, _DIGITS),
            "rank": rank,
            "evidences": list(candidate.places[:_SUPPORT]),
            "reasons": list(candidate.reasons),
        }
        for rank, candidate in enumerate(list(candidates)[:most], 1)
    ]
    for answer in ranked if evidences else ():
        if answer["evidences"] and (time := stated_time(evidences[answer["evidences"][0]], answer["answer"]["id"])):
            answer["time"] = time
    return ranked
