"""Entity voting: a model-free baseline for answering."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from ..language.answer_types import AnswerType
from ..records.conversation import RankedAnswer, Turn
from ..records.evidence import Entity, Evidence
from ..records.literals import is_date
from .dates import date_question, date_weights
from .typed_answering import TypedAnswering
from .values import FAR, nearness
from .yes_no import SUPPORT

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
            turn["pred_answers"] = self.yes_or_no(turn, turn["top_evidences"])
        else:
            answers = self.of_type(turn, expected, self.votes(turn, expected))
            turn["pred_answers"] = answers[: self.config.ha_max_answers]
        return turn["pred_answers"]

    def votes(self, turn: Turn, expected: AnswerType) -> list[RankedAnswer]:
        """The entities of the top evidences, best first; their scores are shares of all votes."""
        evidences = turn["top_evidences"]
        own = {evidence["retrieved_for_entity"]["id"] for evidence in evidences if "retrieved_for_entity" in evidence}
        best = max((evidence.get("score", 1.0) for evidence in evidences), default=0.0)
        asked = date_question(self.in_full(turn), evidences, self.language) if expected.kind == "date" else None
        wanted = self._wanted(turn, evidences)
        stems = self.language.words.stems
        echo = wanted - set(stems(" ".join(expected.words)))
        votes: dict[str, float] = defaultdict(float)
        labels: dict[str, str] = {}
        support: dict[str, list[int]] = defaultdict(list)
        for place, evidence in enumerate(evidences):
            weight = max(_FLOOR, (max(0.0, evidence.get("score", 1.0)) / best) ** _SHARPNESS) if best > 0 else 1.0
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
                labels.setdefault(entity["id"], entity["label"])
                support[entity["id"]].append(place)
        ranked = sorted(
            (entity_id for entity_id in votes if votes[entity_id] > 0),
            # of several dates that count the same, the first release is meant
            key=lambda entity_id: (
                -round(votes[entity_id], 9),
                entity_id if is_date(entity_id) else "",
                support[entity_id][0],
                entity_id,
            ),
        )
        total = sum(votes.values()) or 1.0
        return [
            {
                "answer": {"id": entity_id, "label": labels[entity_id]},
                "score": round(votes[entity_id] / total, 6),
                "rank": rank,
                "evidences": support[entity_id][:SUPPORT],
            }
            for rank, entity_id in enumerate(ranked, 1)
        ]

    def _prior(self, entity: Entity) -> float:
        """How much likelier an item with many facts is meant than one with few; it decides where votes are equal."""
        if not entity["id"].startswith("Q"):
            return 1.0
        return 1 + _PRIOR * math.log10(1 + self.kb.frequency(entity["id"]))

    def _wanted(self, turn: Turn, evidences: Sequence[Evidence]) -> set[str]:
        """Stems of what is asked, without the names of the question's own items."""
        names = {
            evidence["retrieved_for_entity"]["label"] for evidence in evidences if "retrieved_for_entity" in evidence
        }
        stems = self.language.words.stems
        asked = turn.get("structured_representation") or turn["question"]
        return set(stems(asked)) - {word for name in names for word in stems(name)}
