"""Answers with scores: ordered, merged, and as the answers of a turn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..language.read_evidence import ReadEvidence
from ..records.conversation import RankedAnswer
from ..records.evidence import Entity
from ..records.literals import is_date, is_number, year_of
from ..records.written_values import value_at

_SUPPORT = 3  # evidences named per answer
_DIGITS = 6  # of a score; further digits depend on the batch


class AnswerCandidate(NamedTuple):
    """An answer with a score, the places of the evidences that support it (the best first), and the reasons for it.

    `is_listed`: it is one of several that the question asks for.
    """

    entity: Entity
    score: float
    places: tuple[int, ...]
    reasons: tuple[str, ...] = ()
    is_listed: bool = False


def ordered(candidates: Iterable[AnswerCandidate]) -> list[AnswerCandidate]:
    """Return candidates, best first.

    Of equal scores the earlier date is first (the first release of several), then the better evidence, then the smaller id.
    """

    def order(candidate: AnswerCandidate) -> tuple[float, str, tuple[int, ...], str]:
        name = candidate.entity["id"]
        return -round(candidate.score, _DIGITS), name if is_date(name) else "", candidate.places[:1], name

    return sorted(candidates, key=order)


def merged(candidates: Iterable[AnswerCandidate]) -> list[AnswerCandidate]:
    """Return ordered candidates, each entity once, with the sum of its scores."""
    sums: dict[str, AnswerCandidate] = {}
    for candidate in candidates:
        first = sums.get(candidate.entity["id"], candidate._replace(score=0.0))
        reasons = tuple(dict.fromkeys(first.reasons + candidate.reasons))
        sums[candidate.entity["id"]] = first._replace(score=first.score + candidate.score, reasons=reasons)
    return ordered(candidate for candidate in sums.values() if round(candidate.score, _DIGITS) > 0)


def with_days(candidates: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    """Return ordered answers to "when?", with a day in the place of its year if that is the best one: "12 December 2026", not "2026"."""
    year = candidates[0].entity["id"] if candidates else ""
    if not is_date(year) or candidates[0].entity != year_of(year):
        return [*candidates]
    days = (each for each in candidates[1:] if is_date(each.entity["id"]) and year_of(each.entity["id"])["id"] == year)
    day = next(days, None)
    if day is None:
        return [*candidates]
    rest = [candidate for candidate in candidates[1:] if candidate is not day]
    return [day._replace(score=candidates[0].score + day.score), *rest]


def answers(
    candidates: Sequence[AnswerCandidate], most: int | None, evidences: Sequence[ReadEvidence] = ()
) -> list[RankedAnswer]:
    """Return the best `most` of ordered candidates, or all of a list, as the answers of a turn; `evidences` give their time, unit and
    currency."""
    ranked = []
    if most:
        most = max(most, sum(candidate.is_listed for candidate in candidates))
    for rank, candidate in enumerate(candidates[:most], 1):
        entity = candidate.entity.copy()
        first = evidences[candidate.places[0]] if evidences and candidate.places else None
        if first is not None and (is_date(entity["id"]) or is_number(entity["id"])):
            for mention in first.mentions:
                if mention["id"] == entity["id"]:
                    value = value_at(first.text, mention["start"], mention["end"])
                    entity = value.copy() if value is not None and value["id"] == entity["id"] else entity
                    break
        answer: RankedAnswer = {
            "answer": entity,
            "score": round(candidate.score, _DIGITS),
            "rank": rank,
            "evidences": list(candidate.places[:_SUPPORT]),
            "reasons": list(candidate.reasons),
        }
        if candidate.is_listed:
            answer["list"] = True
        if first is not None and (time := first.stated_time(entity["id"])):
            answer["time"] = time
        ranked.append(answer)
    return ranked
