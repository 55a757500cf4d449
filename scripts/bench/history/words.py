"""What of the history a question needs, in words, by the rewrites that people made of it; and what modules take of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from convinse.language.text import Words
from convinse.question_understanding.base import QuestionUnderstanding, understand
from convinse.question_understanding.history import answer_text
from convinse.records.conversation import Conversation, Turn
from convinse.resources import Resources
from convinse.stage import build
from convinse.support.registry import find_module
from recipes.rewritten import Rewritten, added_words

from ..harness import Figures

RESAMPLES, SEED = 1000, 22


class RewrittenSet(NamedTuple):
    """Conversations, and the knowledge base and models that they are understood with."""

    resources: Resources
    conversations: list[Rewritten]


class Needs(NamedTuple):
    """Of one question: words that it needs of its history, that were taken, and both; parts of turns that were taken, and those
    of them that hold a word that it needs; needed words in the parts that were taken."""

    needed: int
    taken: int
    both: int
    parts: int
    right_parts: int
    reached: int


class Interval(NamedTuple):
    """A measure, and the middle 95 % of what it is when whole groups of questions are drawn anew; as text with these in brackets."""

    value: float
    low: float
    high: float

    def __format__(self, form: str) -> str:
        return f"{self.value:{form}} ({self.low:{form}} to {self.high:{form}})"


def taken_words(module: str, rewritten: RewrittenSet) -> tuple[list[Needs], list[str]]:
    """Of each question with a history what it needs and what the module takes, and its group."""
    config = rewritten.resources.config
    understanding = build(find_module("qu", module, QuestionUnderstanding), config, rewritten.resources)
    language = rewritten.resources.language.words
    needs, of_groups = [], []
    for own in rewritten.conversations:
        turns = understood(understanding, own.conversation)
        for place, turn in enumerate(turns[1:], 1):
            needs.append(needs_of(turn, turns[:place], language))
            of_groups.append(own.group)
    return needs, of_groups


def understood(module: QuestionUnderstanding, conversation: Conversation) -> list[Turn]:
    """The turns of a conversation with what a module makes of them; the conversation stays as it is."""
    turns: list[Turn] = [{**turn} for turn in conversation["questions"]]
    for number in range(len(turns)):
        understand(module, [{**conversation, "questions": turns}], number, use_gold_answers=True)
    return turns


def needs_of(turn: Turn, history: Sequence[Turn], language: Words) -> Needs:
    """What the rewrite of a turn takes of its history, beside what its understanding took."""
    stems = language.stems
    said = {word for earlier in history for word in stems(f"{earlier['question']} {answer_text(earlier)}")}
    needed = said & added_words(turn["question"], completed(turn), language)
    used = turn["history_used"]
    taken = {word for part in used for word in stems(part["text"])} - set(stems(turn["question"]))
    parts = {(part["turn"], part["part"]) for part in used}
    by_number = {earlier["turn"]: earlier for earlier in history}
    texts = [
        set(stems(by_number[number]["question"] if part == "question" else answer_text(by_number[number])))
        for number, part in parts
    ]
    reached = needed & set().union(*texts)
    return Needs(
        len(needed),
        len(taken),
        len(needed & taken),
        len(parts),
        sum(bool(needed & text) for text in texts),
        len(reached),
    )


def completed(turn: Turn) -> str:
    """The rewrite of a turn."""
    text: str = turn["completed"]  # type: ignore[typeddict-item]
    return text


def word_figures(needs: Sequence[Needs], groups: Sequence[str]) -> Figures:
    """Precision, recall and F1 over all words, with the interval of F1; the other figures of `WORDS`."""
    rows = np.array(needs, np.float64).reshape(-1, len(Needs._fields))
    needed, taken, both, parts, right, reached = rows.sum(axis=0).tolist()
    return {
        "precision": both / max(1.0, taken), "recall": both / max(1.0, needed),
        "f1": interval(groups, lambda chosen: _f1(*rows[chosen, :3].sum(axis=0).tolist())),
        "parts_right": right / max(1.0, parts), "parts_reach": reached / max(1.0, needed),
        "decided": float(((rows[:, 0] > 0) == (rows[:, 1] > 0)).mean()) if len(rows) else 0.0,
    }  # fmt: skip


def _f1(needed: float, taken: float, both: float) -> float:
    return 2 * both / max(1.0, needed + taken)


def interval(groups: Sequence[str], value: Callable[[np.ndarray], float]) -> Interval:
    """A measure of questions with its interval; `value` takes the places of the questions that count, some several times."""
    places: dict[str, list[int]] = {}
    for place, group in enumerate(groups):
        places.setdefault(group, []).append(place)
    own = [np.array(group) for group in places.values()]
    if not own:
        return Interval(0.0, 0.0, 0.0)
    chance = np.random.default_rng(SEED)
    draws = [np.concatenate([own[at] for at in chance.integers(len(own), size=len(own))]) for _ in range(RESAMPLES)]
    low, high = np.percentile([value(draw) for draw in draws], (2.5, 97.5)).tolist()
    return Interval(value(np.arange(len(groups))), low, high)
