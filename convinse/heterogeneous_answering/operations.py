"""Answers that follow from structure: the row or the fact that a question's operation singles out.

| reason | the question | the answer |
|---|---|---|
| `compare` | "Is X older than Y?", "Which of the two is longer, X or Y?" | by dates or numbers of the same property of both |
| `count` | "How many albums before 1970?" | the rows of a table that lie within the years |
| `order` | "Who produced their first album?", "her longest film", "the most goals" | of the row, or the item, at that place of the order |
| `beside` | "Which album came after Help!?", "Who replaced X?" | of the row next to that of the name |
| `during` | "Who was the coach in 1998?" | of the one row whose years hold it |
| `interval` | "Who led Y in 1998?", "... before X?", "Since when has X led Y?" | of facts and infobox values that hold for a time |
| `role` | "Who played X?" | of the row of X, or the fact whose qualifier is X |
| `name` | "Who was X in real life?" | the item that X is another name of, where nothing else is asked |

Each gives nothing where it cannot be carried out: no such rows or facts, equal or missing values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from .comparing import compared_things
from .intervals import by_intervals
from .named_rows import named_rows
from .neighbours import next_to
from .orders import counted_rows, ordered_things, within_years
from .question import AskedQuestion
from .ranking import AnswerCandidate, in_shares, merged


def bearers(asked: AskedQuestion) -> list[AnswerCandidate]:
    """The items that a question names by another name than their label, where it asks for nothing else of them."""
    keywords = asked.language.properties.keywords
    wanted = keywords(asked.question) - asked.language.operations.naming_keywords
    given = []
    for entity in asked.about:
        words = asked.renamed.get(entity["id"])
        if words and not wanted - keywords(words):
            places = (
                place
                for place, evidence in enumerate(asked.evidences)
                if words.casefold() in evidence["evidence_text"].casefold()
            )
            given.append(AnswerCandidate(entity, 1.0, tuple(places), ("name",)))
    return in_shares(given)


class _Operation(NamedTuple):
    """What an operation gives, and the share of its answers that were right.

    The share is (right + 1) / (given + 2) over the turns of the embedded train part and of the natural questions to choose by:
    role 13 of 13, order 4 of 4, during 1 of 2. Those that none of these turns has a use for have the share of all, 18 of 19.
    """

    answer: Callable[[AskedQuestion], list[AnswerCandidate]]
    trust: float


_OPERATIONS: Mapping[str, _Operation] = MappingProxyType(
    {
        "name": _Operation(bearers, 0.9),
        "compare": _Operation(compared_things, 0.9),
        "count": _Operation(counted_rows, 0.9),
        "beside": _Operation(next_to, 0.9),
        "interval": _Operation(by_intervals, 0.9),
        "order": _Operation(ordered_things, 0.83),
        "during": _Operation(within_years, 0.5),
        "role": _Operation(named_rows, 0.93),
    }
)


def operated(asked: AskedQuestion) -> tuple[float, list[AnswerCandidate]]:
    """What the first operation gives that can be carried out, and how far it is trusted, from 0 to 1; (0, []) where none can."""
    for operation in _OPERATIONS.values():
        if given := operation.answer(asked):
            return operation.trust, given
    return 0.0, []


def with_operations(asked: AskedQuestion, candidates: list[AnswerCandidate]) -> list[AnswerCandidate]:
    """Candidates of others, and before or among them what an operation gives, each with the share that it deserves."""
    trust, given = operated(asked)
    return merged((trust, given), (1 - trust, candidates)) if given else candidates
