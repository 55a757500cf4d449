"""The measures of ConvMix (Christmann et al., SIGIR 2022): P@1, MRR, Hit@5 and answer presence.

Ids are compared without case, quotes and plus signs. An unanswered turn counts 0 everywhere. A turn without gold answers is
not measured. If the list of gold answers is empty, the question has no answer: abstaining is right.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from ..records.conversation import Conversation, Turn
from ..records.evidence import SOURCES, Entity, Evidence, normalize_source

_BINS = 10  # of probabilities, as in the paper of the calibration error


def calibration_error(probabilities: Iterable[float], right: Iterable[bool]) -> float:
    """Return the expected calibration error (Naeini et al., AAAI 2015), from 0 to 1.

    The error is the distance of the share of right answers from the mean probability, in bins of equal width, weighted by
    the number of answers of a bin.
    """
    gaps, number = [0.0] * _BINS, 0
    for probability, is_right in zip(probabilities, right, strict=True):
        gaps[_bin(probability)] += probability - float(is_right)
        number += 1
    return sum(map(abs, gaps)) / max(1, number)


def calibration_error_by_chance(probabilities: Iterable[float]) -> float:
    """Return the `calibration_error` to expect if all probabilities are true, which few answers have, too.

    The number of right answers of a bin is taken as normally distributed around its mean.
    """
    variances, number = [0.0] * _BINS, 0
    for probability in probabilities:
        variances[_bin(probability)] += probability * (1 - probability)
        number += 1
    return sum(math.sqrt(2 / math.pi * variance) for variance in variances) / max(1, number)


def _bin(probability: float) -> int:
    return min(int(probability * _BINS), _BINS - 1)


Measure = Literal["p_at_1", "mrr", "h_at_5", "answer_presence"]
MEASURES: tuple[Measure, ...] = ("p_at_1", "mrr", "h_at_5", "answer_presence")


def normalize_id(entity_id: str) -> str:
    """Return the form of an id for comparison."""
    return entity_id.lower().strip().replace('"', "").replace("+", "")


def is_answer(entity: Entity, answers: Iterable[Entity]) -> bool:
    """Return True if an entity is a gold answer."""
    return normalize_id(entity["id"]) in _ids(answers)


def first_rank(turn: Turn) -> int | None:
    """Return the rank of the first right answer, or None."""
    for answer in turn.get("pred_answers", []):
        if is_answer(answer["answer"], turn["answers"]):
            return answer["rank"]
    return None


def add_answer_metrics(turn: Turn) -> None:
    """Add `p_at_1`, `mrr` and `h_at_5` to a turn that has gold answers."""
    if not turn.get("answers"):
        return
    rank = first_rank(turn)
    turn["p_at_1"] = float(rank == 1)
    turn["mrr"] = 1.0 / rank if rank else 0.0
    turn["h_at_5"] = float(rank is not None and rank <= 5)


def has_abstained(turn: Turn) -> bool:
    """Return True if a turn has no answer, or only suggestions (`abstained`)."""
    return not turn.get("pred_answers") or bool(turn.get("abstained"))


def has_answer(evidence: Evidence, answers: Iterable[Entity]) -> bool:
    """Return True if a gold answer is among the entities of an evidence."""
    return not _ids(answers).isdisjoint(_ids(evidence["wikidata_entities"]))


def _ids(entities: Iterable[Entity]) -> set[str]:
    return {normalize_id(entity["id"]) for entity in entities}


def add_answer_presence(turn: Turn, sources: Sequence[str]) -> None:
    """Add `answer_presence` and `answer_presence_per_src` (in `top_evidences`) to a turn that has gold answers."""
    if not turn.get("answers"):
        return
    present = dict.fromkeys(sources, False)
    for evidence in turn["top_evidences"]:
        if has_answer(evidence, turn["answers"]):
            present[normalize_source(evidence["source"])] = True
    turn["answer_presence"] = any(present.values())
    turn["answer_presence_per_src"] = present


def measure_anew(conversations: Iterable[Conversation]) -> None:
    """Measure all turns anew by their answers and evidences, which `check_measurable` has checked.

    Sources are those of all evidences, and those in the turns' `answer_presence_per_src`.
    """
    turns = [turn for conversation in conversations for turn in conversation["questions"]]
    named = {normalize_source(source) for turn in turns for source in turn.get("answer_presence_per_src", {})}
    named |= {normalize_source(evidence["source"]) for turn in turns for evidence in turn.get("top_evidences", [])}
    for turn in turns:
        for key in (*MEASURES, "answer_presence_per_src"):
            turn.pop(key, None)  # type: ignore[misc]
        add_answer_metrics(turn)
        add_answer_presence(turn, [source for source in SOURCES if source in named])


def evaluate(conversations: Iterable[Conversation]) -> dict[str, Any]:
    """Return the mean of every measure over all turns with gold answers; empty data gives 0.

    Further keys: the same means by `domains`, by `turns` (the number of the turn in its conversation), by `kinds` (the
    turn's key `kind`), and by `sources` (the turns whose answer a source's evidences hold); `unanswerable`, the number of
    turns with an empty list of gold answers and the share of abstentions among them; `abstained`, the same share of the
    turns with gold answers, and of the turns whose first answer is right; `calibration_error` of the first answers' scores
    as probabilities, and by chance.
    """
    turns: list[Turn] = []
    domains: dict[str, list[Turn]] = defaultdict(list)
    positions: dict[str, list[Turn]] = defaultdict(list)
    kinds: dict[str, list[Turn]] = defaultdict(list)
    sources: dict[str, list[Turn]] = {}
    unanswerable: list[Turn] = []
    for conversation in conversations:
        measured = []
        for index, turn in enumerate(conversation["questions"]):
            if turn.get("answers"):
                measured.append(turn)
                positions[str(turn.get("turn", index))].append(turn)
                if turn.get("kind") is not None:
                    kinds[str(turn["kind"])].append(turn)
            elif turn.get("answers") is not None:
                unanswerable.append(turn)
        turns += measured
        domains[str(conversation.get("domain", "none"))] += measured
        for turn in measured:
            for source, present in turn.get("answer_presence_per_src", {}).items():
                sources.setdefault(source, []).extend([turn] if present else [])
    right = [turn for turn in turns if turn.get("p_at_1")]
    scores = (next((answer.get("score", 0.0) for answer in turn.get("pred_answers", [])), 0.0) for turn in turns)
    tops = [min(max(score, 0.0), 1.0) for score in scores]
    return {
        **_means(turns),
        "calibration_error": round(calibration_error(tops, [bool(turn.get("p_at_1")) for turn in turns]), 4),
        "calibration_error_by_chance": round(calibration_error_by_chance(tops), 4),
        "abstained": {
            "answerable": _mean(map(has_abstained, turns), len(turns)),
            "right": _mean(map(has_abstained, right), len(right)),
        },
        "domains": {domain: _means(group) for domain, group in sorted(domains.items()) if group},
        # by their numbers: 10 comes after 9
        "turns": {name: _means(group) for name, group in sorted(positions.items(), key=lambda it: (len(it[0]), it[0]))},
        "kinds": {kind: _means(group) for kind, group in sorted(kinds.items())},
        "sources": {source: _means(group) for source, group in sources.items()},
        "unanswerable": {
            "num_questions": len(unanswerable),
            "abstained": _mean(map(has_abstained, unanswerable), len(unanswerable)),
        },
    }


def _means(turns: Sequence[Turn]) -> dict[str, Any]:
    sources = list(dict.fromkeys(source for turn in turns for source in turn.get("answer_presence_per_src", {})))
    return {
        "num_questions": len(turns),
        **{measure: _mean((float(turn.get(measure, 0)) for turn in turns), len(turns)) for measure in MEASURES},
        "answer_presence_per_src": {
            source: _mean(
                (float(turn.get("answer_presence_per_src", {}).get(source, False)) for turn in turns), len(turns)
            )
            for source in sources
        },
    }


def _mean(values: Iterable[float], number: int) -> float:
    return round(sum(values) / number, 4) if number else 0.0
