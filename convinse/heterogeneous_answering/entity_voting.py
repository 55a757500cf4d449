"""Entity voting: a model-free baseline for answering."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from ..records.conversation import RankedAnswer, Turn
from ..records.evidence import Entity
from .base import HeterogeneousAnswering
from .dates import date_question, date_weights
from .operations import with_operations
from .quantities import numbers
from .question import AskedQuestion
from .ranking import AnswerCandidate, answers, in_shares, in_years, merged
from .values import FAR, nearness
from .yes_no import yes_or_no

_SHARPNESS = 4.0  # exponent of an evidence's weight: higher listens to the best evidences only
_PRIOR = 0.1  # for each tenfold number of facts; it decides where votes are equal
_STATED = 0.75  # the share of the number that the evidences state for what is asked; voting and reading have the rest
_FLOOR = 1e-3  # of a weight: what fits the type counts even where no word matches
_ECHO = 0.1  # an answer seldom repeats the words of the question ("Award for Directing" to "who directed")


class EntityVoting(HeterogeneousAnswering):
    """Answers without a model: the entities of the top evidences are the candidates; see `votes`.

    Numbers that are stated for what is asked come before the others, dates are years where a year is asked for, yes or no
    is decided by facts and words. What orders, compares or looks up a row or a fact comes before all of it (`operations`).

    Args:
        config: `kb_path` (types of items), `sr_delimiter`, `ha_max_answers` are used.
        resources: what the stages of a pipeline share.
    """

    def inference_on_turn(self, turn: Turn, sources: Sequence[str]) -> list[RankedAnswer]:
        """Vote; see the base class."""
        asked = AskedQuestion.of(turn, self.config.sr_delimiter, self.resources)
        candidates = (
            yes_or_no(asked).candidates() if asked.expected.kind == "yesno" else as_expected(asked, votes(asked))
        )
        return answers(with_operations(asked, candidates), self.config.ha_max_answers)


def as_expected(asked: AskedQuestion, candidates: list[AnswerCandidate]) -> list[AnswerCandidate]:
    """Candidates as the expected type wants them: behind the numbers that answer, as years where a year is asked for."""
    if asked.asks_for_year:
        return in_years(candidates)
    answering = numbers(asked)
    return merged((_STATED, answering), (1 - _STATED, candidates)) if answering else candidates


def votes(asked: AskedQuestion) -> list[AnswerCandidate]:
    """The entities of the evidences, best first; every evidence votes for its entities.

    - A vote weighs `(score / best score) ** 4`, shared by the square root of the number of entities in the evidence.
    - The items that the evidences were retrieved for are the question's own and no candidates.
    - Votes count by how well the candidate fits the expected answer type (the representation's, else by the question's
      words): a date for "when", a human for "who", an item whose class is named for "which ...".
    - Where a date is asked for, dates count by how well their names and evidences fit the question's words; see
      `dates.date_weights`.
    """
    reason = "dates" if asked.expected.kind == "date" else "votes"
    meant = date_question(asked.in_full, asked.evidences, asked.language) if reason == "dates" else None
    stems = asked.language.words.stems
    echo = asked.stems.difference(stems(" ".join(asked.expected.words)))
    scores: dict[str, float] = defaultdict(float)
    entities: dict[str, Entity] = {}
    support: dict[str, list[int]] = defaultdict(list)
    known: dict[tuple[str, str], tuple[float, float, float]] = {}  # what is the same in all evidences
    for place, (evidence, share) in enumerate(zip(asked.evidences, asked.shares, strict=True)):
        weight = max(_FLOOR, share**_SHARPNESS)
        candidates = [entity for entity in evidence["wikidata_entities"] if entity["id"] not in asked.own]
        near = nearness(evidence, asked.stems, asked.language.words)
        dates = {} if meant is None else date_weights(evidence, meant, asked.names, asked.language)
        fits = []
        for entity in candidates:
            name, label = entity["id"], entity["label"]
            if (name, label) not in known:
                new = 1.0 if echo.isdisjoint(stems(label)) else _ECHO
                facts = asked.resources.kb.frequency(name) if name.startswith("Q") else 0
                known[name, label] = asked.fit(entity), 1 + _PRIOR * math.log10(1 + facts), new
            suits, prior, new = known[name, label]
            fits.append(suits * prior * dates.get(name, 1.0) * near.get(name, FAR) * new)
        shared = max(1.0, sum(fits)) ** 0.5
        for entity, suits in zip(candidates, fits, strict=True):
            scores[entity["id"]] += weight * suits / shared
            entities.setdefault(entity["id"], {"id": entity["id"], "label": entity["label"]})
            support[entity["id"]].append(place)
    given = entities.items()
    return in_shares([AnswerCandidate(own, scores[name], tuple(support[name]), (reason,)) for name, own in given])
