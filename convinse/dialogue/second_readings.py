"""Tries the second reading of a question with an unsure answer: meant is the reading that finds the more probable answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..heterogeneous_answering.abstention import DO_NOT_SAY
from ..records.conversation import Turn, Understanding, new_turn
from ..scoring.convqa import add_answer_metrics, add_answer_presence
from .steps import best_score, take_over

# probability of an answer beside which no other reading is tried: of 400 questions to choose by, a second reading mended none above it
_SURE = 0.6
# The better of two is believed too much. With this share of its probability a second reading mended 13 of 400 answers over the embedded
# data and spoilt 2 (1.0: 14 and 2; .5: 8 and 1), of 910 over wikidata-27k, which has few of the answers, 1 and 3 (6 and 3; 1 and 2); the
# log loss of those that were taken fell from .55 to .47.
_BELIEVED = 0.75
_OF_QUESTION = ("turn", "question_id", "question", "act", "meanings")
# what a turn has of a reading and of its answer
_FOUND = 0.1  # probability of an answer of the second, at least: below it neither finds anything, and the likelier reading stays
_RESULTS = ("top_evidences", "question_entities", "pred_answers", "abstained", "extent", *Understanding.__annotations__)


def try_second_readings(
    turns: Sequence[Turn], sources: Sequence[str], least: float, answer: Callable[[Sequence[Turn]], None]
) -> None:
    """Answer the second readings of turns with unsure answers, in place: the more probable best answer stays, with its reading.

    Args:
        turns: answered turns; none keeps a `second_reading`.
        sources: the sources that are asked.
        least: the probability below which an answer is a suggestion.
        answer: retrieves and answers understood turns.
    """
    pairs = []
    for turn in turns:
        reading = turn.pop("second_reading", None)
        if reading is not None and best_score(turn) < _SURE:
            question = {key: turn[key] for key in _OF_QUESTION if key in turn}  # type: ignore[literal-required]
            pairs.append((turn, new_turn(**question, **reading)))
    if not pairs:
        return
    answer([other for _, other in pairs])
    for turn, other in pairs:
        for ranked in other["pred_answers"]:
            ranked["score"] = round(ranked["score"] * _BELIEVED, 6)
        if best_score(other) > max(best_score(turn), _FOUND):
            take_over(turn, other, _RESULTS)
            if best_score(turn) < least:
                turn.setdefault("abstained", {"reason": DO_NOT_SAY})
            add_answer_presence(turn, sources)
            add_answer_metrics(turn)
