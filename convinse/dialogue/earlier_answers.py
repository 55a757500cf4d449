"""Makes answers that rest on an earlier answer as doubtful as it is: "when was he born?" behind a guess is a guess."""

from __future__ import annotations

from collections.abc import Sequence

from ..heterogeneous_answering.abstention import DO_NOT_SAY
from ..records.conversation import Turn
from .steps import best_score

# Of a probability, what stays if the earlier answer is certainly wrong. Of 97 answers that rest on an earlier one the log loss was .606
# as they were, .597 with the product of both probabilities, .506 with the root of the earlier one, .490 with this: who is asked about
# behind a wrong answer often has the same property ("which country is he from?"), and where the earlier one was doubted it was right in half.
_RIGHT_ANYWAY = 0.5


def doubt_earlier_answers(turns: Sequence[Turn], histories: Sequence[Sequence[Turn]], least: float) -> None:
    """Lower the probabilities of answers to questions that have an earlier answer in them, in place.

    Args:
        turns: answered turns.
        histories: the turns before each of them, with predicted answers.
        least: the probability below which an answer is a suggestion.
    """
    for turn, history in zip(turns, histories, strict=True):
        places = {part["turn"] for part in turn.get("history_used", ()) if part["part"] == "answer"}
        scores = [best_score(earlier) for earlier in history if earlier.get("turn") in places]
        if not turn["pred_answers"] or not scores:
            continue
        # as a message of a chat shows it, so that a conversation from its messages is the same
        share = _RIGHT_ANYWAY + (1 - _RIGHT_ANYWAY) * round(min(scores), 2)
        turn["pred_answers"] = [
            {**ranked, "score": round(ranked["score"] * share, 6)} for ranked in turn["pred_answers"]
        ]
        if best_score(turn) < least:
            turn.setdefault("abstained", {"reason": DO_NOT_SAY})
