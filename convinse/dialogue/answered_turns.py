"""The additions of a conversation to answered turns: reasons, a sentence, a confidence in words, follow-ups."""

from __future__ import annotations

from collections.abc import Sequence

from ..heterogeneous_answering.abstention import DO_NOT_SAY, MISSING
from ..heterogeneous_answering.base import HeterogeneousAnswering
from ..records.conversation import Turn
from ..records.evidence import shown_citation
from ..records.replies import Confidence
from ..resources import Resources
from .attribution import attribute
from .follow_ups import follow_ups
from .sentences import sentence_of

# least probability; on dev and natural-dev about nine in ten answers above it are right, half of those below
_LIKELY = 0.7


def add_replies(
    answering: HeterogeneousAnswering,
    turns: Sequence[Turn],
    histories: Sequence[Sequence[Turn]],
    sources: Sequence[str],
    resources: Resources,
) -> None:
    """Write the keys of `records.replies.SpokenReply` into turns of different conversations, which `answering` answered."""
    if resources.config.attribution:
        attribute(answering, turns, sources)
    for turn, history in zip(turns, histories, strict=True):
        if "abstained" in turn and (missing := not_in_files(turn, resources)):
            turn["abstained"]["reason"] = missing
        turn["confidence"] = confidence(turn)
        if (sentence := sentence_of(turn, resources.language, resources.property_names)) is not None:
            turn["sentence"] = sentence
        turn["follow_ups"] = follow_ups(turn, history, sources, resources)


def not_in_files(turn: Turn, resources: Resources) -> str | None:
    """Return that a turn's answer is not in the files, with the number of those read and the nearest place.

    None if something else is asked besides, or if it is not for want of an answer that the turn abstains.
    """
    index, reason = resources.documents_alone, turn["abstained"]["reason"]
    if index is None or not reason.startswith(MISSING):
        return None
    before = "" if reason == DO_NOT_SAY else f"{reason}; "
    nearest = next(filter(None, map(shown_citation, turn["top_evidences"])), "")
    return f"{before}not in your files: {index.coverage()}{f'; nearest: {nearest}' if nearest else ''}"


def confidence(turn: Turn) -> Confidence:
    """Return the probability of the best answer of a turn in words."""
    if "abstained" in turn or not turn["pred_answers"]:
        return "not known"
    return "likely" if turn["pred_answers"][0]["score"] >= _LIKELY else "perhaps"
