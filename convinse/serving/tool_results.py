"""The results of the tools that agents call: a turn as the API and `turns.jsonl` have it, with the evidences that an agent reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import cast

from typing_extensions import TypedDict

from ..records.conversation import Turn
from ..records.evidence import Evidence

# of an evidence: they say again what its text says, and each word of a result costs an agent something
_REPEATED = ("fact", "row", "attribute", "mentions", "quote")


class ToolTurn(Turn):
    """A turn of a conversation. Of its evidences, those that support the answers; places of evidences are places among these."""

    conversation_id: str
    sources: list[str]


class FirstEvidences(TypedDict):
    """The first of `total` evidences, best first."""

    top_evidences: list[Evidence]
    total: int


def tool_turn(turn: Turn, conversation_id: str, sources: Sequence[str], most: int) -> ToolTurn:
    """Return a turn as `ask` gives it, with at most so many evidences."""
    return cast("ToolTurn", {**_shortened(turn, most), "conversation_id": conversation_id, "sources": list(sources)})


def first_evidences(evidences: Sequence[Evidence], limit: int) -> FirstEvidences:
    """Return the first `limit` evidences."""
    return {"top_evidences": list(map(_readable, evidences[:limit])), "total": len(evidences)}


def _shortened(turn: Turn, most: int) -> Turn:
    answers, reasons = turn["pred_answers"], turn.get("attribution", [])
    # the evidences that support the answers, the best answer's first, else the best ones
    best, *rest = [answer.get("evidences", []) for answer in answers] or [[]]
    supporting = dict.fromkeys(chain(best, (reason["evidence"] for reason in reasons), *rest))
    places = list(supporting or range(len(turn["top_evidences"])))[:most]
    moved = {place: number for number, place in enumerate(places)}
    shortened = {**turn, "top_evidences": [_readable(turn["top_evidences"][place]) for place in places]}
    shortened["pred_answers"] = [
        {
            **_without(answer, "spans"),
            "evidences": [moved[place] for place in answer.get("evidences", []) if place in moved],
        }
        for answer in answers
    ]
    if reasons:
        shown = [reason for reason in reasons if reason["evidence"] in moved]
        shortened["attribution"] = [{**reason, "evidence": moved[reason["evidence"]]} for reason in shown]
    if "representation" in turn:
        shortened["representation"] = _without(turn["representation"], "candidates")  # what names may mean otherwise
    if "parts" in turn:
        shortened["parts"] = [_shortened(part, 0) for part in turn["parts"]]
    return cast("Turn", shortened)


def _readable(evidence: Evidence) -> Evidence:
    return cast("Evidence", _without(evidence, *_REPEATED))


def _without(record: Mapping[str, object], *keys: str) -> dict[str, object]:
    return {key: value for key, value in record.items() if key not in keys}
