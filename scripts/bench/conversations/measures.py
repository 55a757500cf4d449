"""The measures of `bench conversations`: answer presence, P@1, MRR, Hit@5, and where failed turns are lost."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from convinse.language.text import fold
from convinse.records.evidence import Conversation, Entity, Turn
from convinse.records.literals import is_date
from convinse.scoring.convqa import is_answer

_YEAR = re.compile(r"[0-9]{4}")
HIT = 5
SUBSETS: dict[str, Callable[[Turn], bool]] = {
    "all": lambda turn: True,
    "one_hop": lambda turn: bool(turn["one_hop"]),  # type: ignore[typeddict-item]
}


class Figures(NamedTuple):
    """Means over turns.

    Attributes:
        turns: how many.
        answer_presence: share of turns with a gold answer among the entities of the top evidences.
        p_at_1, mrr, h_at_5: of the ranked answers.
        p_at_1_label: P@1 when an answer also counts by its label, where the published id is of another item.
    """

    turns: int
    answer_presence: float
    p_at_1: float
    mrr: float
    h_at_5: float
    p_at_1_label: float


def is_right(entity: Entity, gold: Iterable[Entity]) -> bool:
    """Whether an entity is a gold answer: of the same id, or a date in the year where the gold answer is a bare year."""
    gold = list(gold)
    if is_answer(entity, gold):
        return True
    years = {one["label"] for one in gold if is_date(one["id"]) and _YEAR.fullmatch(one["label"])}
    return is_date(entity["id"]) and entity["id"][:4] in years


def is_right_by_label(entity: Entity, gold: Iterable[Entity]) -> bool:
    """Whether an entity is right, or has the label of a gold answer but for case, accents and punctuation."""
    gold = list(gold)
    return is_right(entity, gold) or (fold(entity["label"]) or "-") in {fold(one["label"]) for one in gold}


def rank_of_gold(turn: Turn) -> int | None:
    """The rank of the first right answer."""
    return next((a["rank"] for a in turn["pred_answers"] if is_right(a["answer"], turn["answers"])), None)


def place_of_gold(turn: Turn) -> int | None:
    """The place of the first top evidence with a gold answer, from 1."""
    for place, evidence in enumerate(turn["top_evidences"], 1):
        if any(is_right(entity, turn["answers"]) for entity in evidence["wikidata_entities"]):
            return place
    return None


def figures(turns: Sequence[Turn]) -> Figures:
    """The means over answered turns."""
    ranks = [rank_of_gold(turn) for turn in turns]
    labels = [
        bool(turn["pred_answers"]) and is_right_by_label(turn["pred_answers"][0]["answer"], turn["answers"])
        for turn in turns
    ]

    def mean(values: Iterable[float]) -> float:
        return round(sum(values) / len(turns), 4) if turns else 0.0

    return Figures(
        len(turns),
        mean(place_of_gold(turn) is not None for turn in turns),
        mean(rank == 1 for rank in ranks),
        mean(1 / rank for rank in ranks if rank),
        mean(rank is not None and rank <= HIT for rank in ranks),
        mean(labels),
    )


def turns_of(conversations: Iterable[Conversation], subset: str = "all") -> list[Turn]:
    """The turns of a subset."""
    return [turn for c in conversations for turn in c["questions"] if SUBSETS[subset](turn)]


def where_lost(turn: Turn) -> str | None:
    """Why a turn has no right answer in front, as far as the data tells; None where it has one."""
    rank = rank_of_gold(turn)
    if rank == 1:
        return None
    if is_yes_or_no(turn):
        return "yes or no"
    if turn["label_agrees"] is False:  # type: ignore[typeddict-item]
        return "gold id is not of the gold label"
    if place_of_gold(turn) is not None:
        return f"present, ranked 2 to {HIT}" if rank and rank <= HIT else f"present, not in the best {HIT}"
    return "present in no evidence" if turn["in_kb"] else "not in the knowledge base"  # type: ignore[typeddict-item]


def is_yes_or_no(turn: Turn) -> bool:
    """Whether the gold answer is yes or no."""
    return any(answer["id"] in ("Yes", "No") for answer in turn["answers"])


def losses(turns: Iterable[Turn]) -> Counter[str]:
    """How many turns are lost where."""
    return Counter(reason for turn in turns if (reason := where_lost(turn)))
