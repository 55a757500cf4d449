"""The additions of a conversation to answered turns: reasons, a sentence, a confidence in words, follow-ups."""

from __future__ import annotations

from collections.abc import Sequence

from ..heterogeneous_answering.base import HeterogeneousAnswering
from ..records.conversation import Turn
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
        turn["confidence"] = confidence(turn)
        if (sentence := sentence_of(turn, resources.language)) is not None:
            turn["sentence"] = sentence
        turn["follow_ups"] = follow_ups(turn, history, sources, resources)


def confidence(turn: Turn) -> Confidence:
    """Return the probability of the best answer of a turn in words."""
    if "abstained" in turn or not turn["pred_answers"]:
        return "not known"
    return "likely" if turn["pred_answers"][0]["score"] >= _LIKELY else "perhaps"
