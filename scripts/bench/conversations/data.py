"""What `bench conversations` measures on: val_wd27k with each wording once.

The file has every conversation in 32 versions, one per choice between two wordings of each of its five turns. Versions
of one group share their questions, so most of them repeat what others have measured already.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from convinse.formats.conversations.benchmark import read_benchmark
from convinse.records.evidence import Conversation
from recipes.sources import needed

from ..questions import convquestions_path


def read_conversations(data: Path, groups: int | None = None) -> list[Conversation]:
    """The conversations that are measured; see `each_wording_once`. Gold answers have the ids of the contract.

    Args:
        data: the shared data.
        groups: only the first so many groups.
    """
    return list(each_wording_once(read_benchmark(convquestions_path(data), "convmix"), groups))


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


def more_questions(data: Path, number: int) -> list[Conversation]:
    """The first distinct questions of LC-QuAD 2.0 CQ dev, also over Wikidata, as conversations of one turn."""
    path = needed(data, "lcquad2-cq", "LC_QuAD20_CQ.dev.json.gz")
    questions = {c["questions"][0]["question"]: c for c in read_benchmark(path, "lcquad2")}
    return [{**c, "conv_id": f"lcquad-{c['conv_id']}"} for c in list(questions.values())[:number]]
