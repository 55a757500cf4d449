"""Entity voting: a model-free baseline for answering."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from ..language.answer_types import AnswerType
from ..records.conversation import RankedAnswer, Turn
from ..records.evidence import Entity, Evidence, question_items
from ..records.literals import is_date
from .dates import date_question, date_weights
from .ranking import ranking, score_shares
from .typed_answering import TypedAnswering
from .values import FAR, nearness

_SHARPNESS = 4.0  # exponent of an evidence's weight: higher listens to the best evidences only
_PRIOR = 0.1  # for each tenfold number of facts
_FLOOR = 1e-3  # of a weight: what fits the type counts even where no word matches
_ECHO = 0.1  # an answer seldom repeats the words of the question ("Award for Directing" to "who directed")


class EntityVoting(TypedAnswering):
    """The entities of the top evidences are the candidates; every evidence votes for its entities.

    - A vote weighs `(score / best score) ** 4`, shared by the square root of the number of entities in the evidence.
    - The items that the evidences were retrieved for are the question's own and no candidates.
    - Votes count by how well the candidate fits the expected answer type (the representation's last slot, else the
      question's words): a date for "when", a human for "who", an item whose class is named for "which ...".
    - Dates count by how well their names and evidences fit the question's words; see `dates.date_weights`.
    - Numbers that are stated for what is asked come before the others, yes or no is decided by facts and words; see
      `TypedAnswering`.

    Args:
        config: `kb_path` (types of items), `sr_delimiter`, `ha_max_answers` are used.
        kb: the knowledge base to use instead of the configured one.
    """

    def inference_on_turn(self, turn: Turn, sources: Sequence[str]) -> list[RankedAnswer]:
        """Vote; see the base class."""
        expected = self.expected(turn)
        if expected.kind == "yesno":
            turn["pred_answers"] = self.yes_or_no(turn)
        else:
            answers = self.of_type(turn, expected, self.votes(turn, expected))
            turn["pred_answers"] = answers[: self.config.ha_max_answers]
        return turn["pred_answers"]

    def votes(self, turn: Turn, expected: AnswerType) -> list[RankedAnswer]:
        """The entities of the top evidences, best first; their scores are shares of all votes."""
        evidences = turn["top_evidences"]
        own = {item["id"] for item in question_items(evidences)}
        asked = date_question(self.in_full(turn), evidences, self.language) if expected.kind == "date" else None
        wanted = self._wanted(turn, evidences)
        stems = self.language.words.stems
        echo = wanted - set(stems(" ".join(expected.words)))
        votes: dict[str, float] = defaultdict(float)
        answers: dict[str, Entity] = {}
        support: dict[str, list[int]] = defaultdict(list)
        for place, (evidence, share) in enumerate(zip(evidences, score_shares(evidences), strict=True)):
            weight = max(_FLOOR, share**_SHARPNESS)
            candidates = [entity for entity in evidence["wikidata_entities"] if entity["id"] not in own]
            near = nearness(evidence, wanted, self.language.words)
            dates = {} if asked is None else date_weights(evidence, asked, self.property_names, self.language)
            fits = [
                self.fit(expected, entity)
                * self._prior(entity)
                * dates.get(entity["id"], 1.0)
                * near.get(entity["id"], FAR)
                * (_ECHO if echo & set(stems(entity["label"])) else 1.0)
                for entity in candidates
            ]
            shared = max(1.0, sum(fits)) ** 0.5
            for entity, suits in zip(candidates, fits, strict=True):
                votes[entity["id"]] += weight * suits / shared
                answers.setdefault(entity["id"], {"id": entity["id"], "label": entity["label"]})
                support[entity["id"]].append(place)
        total = sum(votes.values()) or 1.0
        # of several dates that count the same, the first release is meant
        keys = {
            name: (-round(vote, 9), name if is_date(name) else "", support[name][0], name)
            for name, vote in votes.items()
            if vote > 0
        }
        return ranking(
            (answers[name], votes[name] / total, support[name]) for name in sorted(keys, key=keys.__getitem__)
        )

    def _prior(self, entity: Entity) -> float:
        """How much likelier an item with many facts is meant than one with few; it decides where votes are equal."""
        if not entity["id"].startswith("Q"):
            return 1.0
        return 1 + _PRIOR * math.log10(1 + self.kb.frequency(entity["id"]))

    def _wanted(self, turn: Turn, evidences: Sequence[Evidence]) -> set[str]:
        """Stems of what is asked, without the names of the question's own items."""
        stems = self.language.words.stems
        asked = turn.get("structured_representation") or turn["question"]
        return set(stems(asked)) - {word for item in question_items(evidences) for word in stems(item["label"])}
