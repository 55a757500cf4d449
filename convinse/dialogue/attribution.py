"""The evidences that an answer rests on: answering is repeated without each of the best, and what changes the answer is a reason.

Leaving evidence out shows that it matters (RAGONITE). What a model read of the others stays as it is, so
that only the candidates and their ranking are computed again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from ..heterogeneous_answering.base import HeterogeneousAnswering
from ..language.text import fold
from ..records.conversation import RankedAnswer, Reason, Turn
from ..records.evidence import Evidence

_TRIED = 5  # evidences left out alone
_LOSS = 0.05  # of the answer's probability; read on train, dev and natural-dev
_SHOWN = 3  # reasons of a turn
_SHARE = 0.1  # of the largest loss: of evidences that only together carry an answer, those with less add nothing


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
    asked = [turn for turn in turns if turn["pred_answers"] and "abstained" not in turn]
    if not answering.can_answer_again or not asked:
        return
    tried = [[frozenset([place]) for place in _supporting(turn)] for turn in asked]
    losses: list[dict[int, float]] = []
    for turn, left_out, outcomes in zip(asked, tried, _without(answering, asked, tried, sources), strict=True):
        probability = turn["pred_answers"][0]["score"]
        turn["attribution"] = [
            {"evidence": next(iter(places)), "without": own.label, "probability": own.probability}
            for places, own in zip(left_out, outcomes, strict=True)
            if own.changed or probability - own.probability >= _LOSS
        ]
        turn["attribution"].sort(key=lambda reason: reason["probability"])
        del turn["attribution"][_SHOWN:]
        losses.append(
            {next(iter(own)): probability - out.probability for own, out in zip(left_out, outcomes, strict=True)}
        )
    unexplained = [(turn, own) for turn, own in zip(asked, losses, strict=True) if not turn["attribution"]]
    together = [[frozenset(_naming(turn))] for turn, _ in unexplained]
    for (turn, own), (outcome,) in zip(
        unexplained, _without(answering, [turn for turn, _ in unexplained], together, sources), strict=True
    ):
        if outcome.changed or turn["pred_answers"][0]["score"] - outcome.probability >= _LOSS:
            turn["attribution"] = list(_shared(own, outcome))


def _shared(losses: dict[int, float], outcome: _Outcome) -> Iterator[Reason]:
    """The reasons among evidences that say the same, those that each lose most first."""
    most = max(losses.values())
    for place in sorted(losses, key=lambda place: -losses[place])[:_SHOWN]:
        if losses[place] >= _SHARE * most or most <= 0:
            yield Reason(evidence=place, without=outcome.label, probability=outcome.probability, together=True)
        if most <= 0:
            return


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
    return list(dict.fromkeys((*named, *_naming(turn))))[:_TRIED]


def _naming(turn: Turn) -> list[int]:
    """The places of the evidences that support or name the best answer."""
    best = turn["pred_answers"][0]
    name, words = best["answer"]["id"], f" {fold(best['answer']['label'])} "
    places = set(best.get("evidences", []))
    return [
        place
        for place, evidence in enumerate(turn["top_evidences"])
        if place in places or _names(evidence, name, words)
    ]


def _names(evidence: Evidence, name: str, words: str) -> bool:
    return any(entity["id"] == name for entity in evidence["wikidata_entities"]) or (
        words in f" {fold(evidence['evidence_text'])} "
    )
