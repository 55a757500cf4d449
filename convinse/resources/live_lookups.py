"""Look-ups of turns in live sources: the names of a question before it is understood, its facts before evidences are retrieved."""

from __future__ import annotations

from collections.abc import Sequence

from ..records.conversation import Turn, asked_in_full, names_spoken_of
from ..records.literals import is_item
from .shared import Resources


def look_up_names(resources: Resources, turns: Sequence[Turn], histories: Sequence[Sequence[Turn]]) -> bool:
    """Look up the names of questions if the knowledge base is live; returns True if it has changed. Adds `live` to the turns."""
    if (live := resources.live) is None:
        return False
    before = live.renew()
    for turn, history in zip(turns, histories, strict=True):
        turn["live"] = live.look_up_names(turn["question"], names_spoken_of(history) if history else None)
    return resources.renew_live(before)


def look_up_facts(resources: Resources, turns: Sequence[Turn]) -> bool:
    """Look up the facts of the items of understood questions, as `look_up_names`."""
    if (live := resources.live) is None:
        return False
    before = live.kb
    for turn in turns:
        if "live" not in turn:
            continue
        if (representation := turn.get("representation")) is None:
            mentions = resources.linker.link(turn["structured_representation"])
            items = [mention.candidates[0].id for mention in mentions]
            candidates = [item.id for mention in mentions for item in mention.candidates]
        else:
            entities = (*representation["entities"], *representation["context"])
            items = [entity["id"] for entity in entities if is_item(entity["id"])]
            candidates = [candidate["item"]["id"] for candidate in representation["candidates"]]
        live.look_up_facts(turn["live"], asked_in_full(turn), items, candidates, not turn.get("history_answers"))
    return resources.renew_live(before)
