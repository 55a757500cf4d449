"""Attribution: an evidence is a reason of an answer if answering without it changes the answer or its probability (RAGONITE).

Models do not read the remaining evidences again; only the candidates and their ranking are computed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import islice

from ..heterogeneous_answering.base import HeterogeneousAnswering
from ..language.text import fold
from ..records.conversation import Turn
from ..records.evidence import Entity
from ..records.replies import Reason

_TRIED = 5  # evidences left out alone
_LOSS = 0.05  # of the answer's probability; chosen on train, dev and natural-dev
_SHOWN = 3  # reasons of a turn
_ENOUGH = 0.7  # of the answer's probability, which a single evidence must give it to be a reason


def attribute(answering: HeterogeneousAnswering, turns: Sequence[Turn], sources: Sequence[str]) -> None:
    """Write the reasons of the best answers (`attribution`), best first, into turns that do not abstain.

    Nothing is written unless `answering`, which answered them, `can_answer_again`.
    """
    # what is computed from whole tables rests on no single evidence, an age on two dates
    answered = [turn for turn in turns if turn["pred_answers"] and not turn.keys() & {"abstained", "extent"}]
    answered = [turn for turn in answered if "age" not in turn["pred_answers"][0].get("reasons", ())]
    if not answering.can_answer_again or not answered:
        return
    tried = []  # the evidences listed with the best answer, then the best evidences that name it
    for turn in answered:
        listed = turn["pred_answers"][0].get("evidences", [])
        tried.append(list(dict.fromkeys((*listed, *sorted(_naming(turn)))))[:_TRIED])
    single = [[frozenset([place]) for place in places] for places in tried]
    for turn, places, outcomes in zip(answered, tried, _without(answering, answered, single, sources), strict=True):
        reasons = [
            Reason(evidence=place, without=first["label"], probability=probability)
            for place, (first, probability) in zip(places, outcomes, strict=True)
            if _matters(turn, first, probability)
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
    for (turn, places), ((first, probability), *by) in zip(
        shared, _without(answering, unexplained, left_out, sources), strict=True
    ):
        if not _matters(turn, first, probability):
            continue
        # of evidences that say the same, the reasons are those that alone give the answer
        best = turn["pred_answers"][0]
        name, enough = best["answer"]["id"], _ENOUGH * best["score"]
        alone = sorted(zip(places, by, strict=True), key=lambda pair: -pair[1][1])
        enough_alone = [place for place, (entity, score) in alone if entity["id"] == name and score >= enough]
        turn["attribution"] = [
            Reason(evidence=place, without=first["label"], probability=probability, together=True)
            for place in enough_alone[:_SHOWN]
        ]


def _matters(turn: Turn, first: Entity, probability: float) -> bool:
    best = turn["pred_answers"][0]
    return first["id"] != best["answer"]["id"] or best["score"] - probability >= _LOSS


def _without(
    answering: HeterogeneousAnswering,
    turns: Sequence[Turn],
    left_out: Sequence[Sequence[AbstractSet[int]]],
    sources: Sequence[str],
) -> list[list[tuple[Entity, float]]]:
    """Answer turns again without these sets of their evidences, all at once.

    Returns for each set the best answer, with an empty id without any answer, and what the turn's own best answer has left of its
    probability.
    """
    variants: list[Turn] = []
    for turn, sets in zip(turns, left_out, strict=True):
        for places in sets:
            rest = [evidence for place, evidence in enumerate(turn["top_evidences"]) if place not in places]
            variants.append({**turn, "top_evidences": rest})
    results = iter(answering.inference_on_turns(variants, sources) if variants else ())
    outcomes: list[list[tuple[Entity, float]]] = []
    for turn, sets in zip(turns, left_out, strict=True):
        outcomes.append([])
        best = turn["pred_answers"][0]["answer"]["id"]
        for answers in islice(results, len(sets)):
            first = answers[0]["answer"] if answers else Entity(id="", label="")
            probability = next((ranked["score"] for ranked in answers if ranked["answer"]["id"] == best), 0.0)
            outcomes[-1].append((first, probability))
    return outcomes


def _naming(turn: Turn) -> frozenset[int]:
    """Return the places of the evidences that support or name the best answer."""
    best = turn["pred_answers"][0]
    places = set(best.get("evidences", []))
    if "yes_no" in best.get("reasons", []):
        return frozenset(places)
    name, words = best["answer"]["id"], f" {fold(best['answer']['label'])} "
    for place, evidence in enumerate(turn["top_evidences"]):
        ids = (entity["id"] for entity in evidence["wikidata_entities"])
        if name in ids or words in f" {fold(evidence['evidence_text'])} ":
            places.add(place)
    return frozenset(places)
