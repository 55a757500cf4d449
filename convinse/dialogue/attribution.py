"""The evidences that an answer rests on: answering is repeated without each of the best, and what changes the answer is a reason.

Leaving evidence out shows that it matters (RAGONITE). What a model read of the others stays as it is, so
that only the candidates and their ranking are computed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from ..heterogeneous_answering.base import HeterogeneousAnswering
from ..language.text import fold
from ..records.conversation import RankedAnswer, Turn
from ..records.evidence import Evidence
from ..records.replies import Reason

_TRIED = 5  # evidences left out alone
_LOSS = 0.05  # of the answer's probability; read on train, dev and natural-dev
_SHOWN = 3  # reasons of a turn
_ENOUGH = 0.7  # of the answer's probability: an evidence by which alone it has less does not say it


class _Outcome(NamedTuple):
    """The answer of a turn without some of its evidences, and how probable the turn's own answer still is."""

    label: str
    changed: bool
    probability: float


def attribute(answering: HeterogeneousAnswering, turns: Sequence[Turn], sources: Sequence[str]) -> None:
    """Write into turns which evidences their best answers rest on (`attribution`), best first.

    Args:
        answering: answered these turns just now; nothing is written unless it `can_answer_again`.
        turns: with answers; turns that abstain are passed over.
        sources: of the turns.
    """
    answered = [turn for turn in turns if turn["pred_answers"] and "abstained" not in turn]
    if not answering.can_answer_again or not answered:
        return
    tried = [_supporting(turn) for turn in answered]
    alone = [[frozenset([place]) for place in places] for places in tried]
    for turn, places, outcomes in zip(answered, tried, _without(answering, answered, alone, sources), strict=True):
        reasons = [
            Reason(evidence=place, without=own.label, probability=own.probability)
            for place, own in zip(places, outcomes, strict=True)
            if _matters(turn, own)
        ]
        turn["attribution"] = sorted(reasons, key=lambda reason: reason["probability"])[:_SHOWN]
    shared = [
        (turn, places) for turn, places in zip(answered, tried, strict=True) if not turn["attribution"] and places
    ]
    unexplained = [turn for turn, _ in shared]
    groups = [_naming(turn) for turn in unexplained]
    left_out = [
        [group, *(group - {place} for place in places)] for (_, places), group in zip(shared, groups, strict=True)
    ]
    for (turn, places), (without, *by) in zip(shared, _without(answering, unexplained, left_out, sources), strict=True):
        if _matters(turn, without):
            turn["attribution"] = _of_several(turn, places, without, by)


def _matters(turn: Turn, outcome: _Outcome) -> bool:
    return outcome.changed or turn["pred_answers"][0]["score"] - outcome.probability >= _LOSS


def _of_several(turn: Turn, places: Sequence[int], without: _Outcome, by: Sequence[_Outcome]) -> list[Reason]:
    """The reasons among evidences that say the same: those by which alone the answer stays, the surest first."""
    enough = _ENOUGH * turn["pred_answers"][0]["score"]
    carrying = [(place, own) for place, own in zip(places, by, strict=True) if not own.changed]
    carrying = [(place, own) for place, own in carrying if own.probability >= enough]
    carrying.sort(key=lambda pair: -pair[1].probability)
    return [
        Reason(evidence=place, without=without.label, probability=without.probability, together=True)
        for place, _ in carrying[:_SHOWN]
    ]


def _without(
    answering: HeterogeneousAnswering,
    turns: Sequence[Turn],
    left_out: Sequence[Sequence[AbstractSet[int]]],
    sources: Sequence[str],
) -> list[list[_Outcome]]:
    """Answer each turn again without each of its sets of evidences, all together."""
    variants: list[Turn] = []
    for turn, sets in zip(turns, left_out, strict=True):
        for places in sets:
            rest = [own for place, own in enumerate(turn["top_evidences"]) if place not in places]
            variants.append({**turn, "top_evidences": rest})
    answered = iter(answering.inference_on_turns(variants, sources) if variants else ())
    return [[_outcome(turn, next(answered)) for _ in sets] for turn, sets in zip(turns, left_out, strict=True)]


def _outcome(turn: Turn, answers: Sequence[RankedAnswer]) -> _Outcome:
    best = turn["pred_answers"][0]["answer"]["id"]
    probability = next((own["score"] for own in answers if own["answer"]["id"] == best), 0.0)
    if not answers:
        return _Outcome("", True, 0.0)
    return _Outcome(answers[0]["answer"]["label"], answers[0]["answer"]["id"] != best, probability)


def _supporting(turn: Turn) -> list[int]:
    """The places of the evidences to leave out alone: those named for the best answer, then the best that name it."""
    named = turn["pred_answers"][0].get("evidences", [])
    return list(dict.fromkeys((*named, *sorted(_naming(turn)))))[:_TRIED]


def _naming(turn: Turn) -> frozenset[int]:
    """The places of the evidences that support or name the best answer."""
    best = turn["pred_answers"][0]
    if "yes_no" in best.get("reasons", []):
        return frozenset(best.get("evidences", []))
    name, words = best["answer"]["id"], f" {fold(best['answer']['label'])} "
    named = (place for place, evidence in enumerate(turn["top_evidences"]) if _names(evidence, name, words))
    return frozenset([*best.get("evidences", []), *named])


def _names(evidence: Evidence, name: str, words: str) -> bool:
    return any(entity["id"] == name for entity in evidence["wikidata_entities"]) or (
        words in f" {fold(evidence['evidence_text'])} "
    )
