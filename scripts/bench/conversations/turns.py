"""What `bench conversations` asks and how it counts: each wording once; measures.

The file has every conversation in 32 versions, one per choice between two wordings of each of its five turns. Versions
of one group share their questions, so most of them repeat what others have measured already.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from convinse.formats.conversations.benchmark import read_benchmark
from convinse.language.text import fold
from convinse.records.conversation import Conversation, Turn
from convinse.records.evidence import Entity
from convinse.records.literals import is_date
from convinse.scoring.convqa import is_answer
from recipes.sources import needed

from ..candidates import CONVQUESTIONS
from ..harness import Figures
from ..measures import mean_reciprocal_rank, share_within


def read_conversations(data: Path, groups: int | None = None) -> list[Conversation]:
    """The conversations that are measured; see `each_wording_once`. Gold answers have the ids of the contract."""
    return list(each_wording_once(read_benchmark(needed(data, *CONVQUESTIONS), "convmix"), groups))


def each_wording_once(versions: Iterable[Conversation], groups: int | None = None) -> Iterator[Conversation]:
    """Versions of each group, none of which repeats a wording: no (group, turn, question) is in two of them.

    In the order of the file, a version is taken when all of its wordings are new to its group. Of two wordings a turn
    these are two versions: the first one of the group, and the one that differs from it in every turn.
    """
    seen: dict[int, set[tuple[int, str]]] = defaultdict(set)
    for version in versions:
        group: int = version["group"]  # type: ignore[typeddict-item]
        if group not in seen and groups is not None and len(seen) >= groups:
            continue
        wordings = {(place, turn["question"]) for place, turn in enumerate(version["questions"])}
        if not wordings & seen[group]:
            seen[group] |= wordings
            yield version


_YEAR = re.compile(r"[0-9]{4}")
HIT = 5
SUBSETS: dict[str, Callable[[Turn], bool]] = {
    "all": lambda turn: True,
    "one_hop": lambda turn: bool(turn["one_hop"]),  # type: ignore[typeddict-item]
}


def is_right(entity: Entity, gold: Iterable[Entity]) -> bool:
    """Whether an entity is a gold answer: of the same id, or a date in the year where the gold answer is a bare year."""
    gold = list(gold)
    if is_answer(entity, gold):
        return True
    years = {entity["label"] for entity in gold if is_date(entity["id"]) and _YEAR.fullmatch(entity["label"])}
    return is_date(entity["id"]) and entity["id"][:4] in years


def is_right_by_label(entity: Entity, gold: Iterable[Entity]) -> bool:
    """Whether an entity is right, or has the label of a gold answer but for case, accents and punctuation."""
    gold = list(gold)
    return is_right(entity, gold) or (fold(entity["label"]) or "-") in {fold(entity["label"]) for entity in gold}


def rank_of_gold(turn: Turn) -> int | None:
    return next((a["rank"] for a in turn["pred_answers"] if is_right(a["answer"], turn["answers"])), None)


def place_of_gold(turn: Turn) -> int | None:
    """The place of the first top evidence with a gold answer, from 1."""
    held = (any(is_right(entity, turn["answers"]) for entity in e["wikidata_entities"]) for e in turn["top_evidences"])
    return next((place for place, right in enumerate(held, 1) if right), None)


def figures(turns: Sequence[Turn]) -> Figures:
    """Means over answered turns: gold answers among the entities of the top evidences, and among the ranked answers."""
    ranks = [rank_of_gold(turn) for turn in turns]
    labels = [is_right_by_label(own["answer"], turn["answers"]) for turn in turns for own in turn["pred_answers"][:1]]
    return {
        "turns": len(turns),
        "answer_presence": sum(place_of_gold(turn) is not None for turn in turns) / max(1, len(turns)),
        "p_at_1": share_within(ranks, 1),
        "mrr": mean_reciprocal_rank(ranks),
        "h_at_5": share_within(ranks, HIT),
        # an answer also counts by its label, where the published id is of another item
        "p_at_1_label": sum(labels) / max(1, len(turns)),
    }


def turns_of(conversations: Iterable[Conversation], subset: str = "all") -> list[Turn]:
    return [turn for c in conversations for turn in c["questions"] if SUBSETS[subset](turn)]
