"""Entity voting: a model-free baseline for answering."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from ..answer_type import AnswerType
from ..evidence import Evidence, RankedAnswer, Turn
from ..text import fold, stem, stems
from .typed_answering import SUPPORT, TypedAnswering

_SHARPNESS = 4.0  # exponent of an evidence's weight: higher listens to the best evidences only
_FLOOR = 1e-3  # of a weight: what fits the type counts even where no word matches
_FAR, _REACH = 0.3, 3.0  # the least weight of a place in an evidence; words over which nearness halves
_BEHIND = 3.0  # how much farther a word behind an entity is than one before it ("Director is", "directed by")
_ECHO = 0.1  # an answer seldom repeats the words of the question ("Award for Directing" to "who directed")


class EntityVoting(TypedAnswering):
    """The entities of the top evidences are the candidates; every evidence votes for its entities.

    - A vote weighs `(score / best score) ** 4`, shared by the square root of the number of entities in the evidence.
    - The items that the evidences were retrieved for are the question's own and no candidates.
    - Votes count by how well the candidate fits the expected answer type (the representation's last slot, else the
      question's words): a date for "when", a human for "who", an item whose class is named for "which ...".
    - A question for yes or no gets "Yes" when one evidence holds at least three quarters of its content words, else "No".

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
            turn["pred_answers"] = self.votes(turn, expected, self.config.ha_max_answers)
        return turn["pred_answers"]

    def votes(self, turn: Turn, expected: AnswerType, most: int | None = None) -> list[RankedAnswer]:
        """The entities of the top evidences, best first; their scores are shares of all votes."""
        evidences = turn["top_evidences"]
        own = {evidence["retrieved_for_entity"]["id"] for evidence in evidences if "retrieved_for_entity" in evidence}
        best = max((evidence.get("score", 1.0) for evidence in evidences), default=0.0)
        wanted = self._wanted(turn, evidences)
        echo = wanted - set(stems(" ".join(expected.words)))
        votes: dict[str, float] = defaultdict(float)
        labels: dict[str, str] = {}
        support: dict[str, list[int]] = defaultdict(list)
        for place, evidence in enumerate(evidences):
            weight = max(_FLOOR, (max(0.0, evidence.get("score", 1.0)) / best) ** _SHARPNESS) if best > 0 else 1.0
            candidates = [entity for entity in evidence["wikidata_entities"] if entity["id"] not in own]
            near = nearness(evidence, wanted)
            fits = [
                self.fit(expected, entity)
                * near.get(entity["id"], _FAR)
                * (_ECHO if echo & set(stems(entity["label"])) else 1.0)
                for entity in candidates
            ]
            shared = max(1.0, sum(fits)) ** 0.5
            for entity, suits in zip(candidates, fits, strict=True):
                votes[entity["id"]] += weight * suits / shared
                labels.setdefault(entity["id"], entity["label"])
                support[entity["id"]].append(place)
        ranked = sorted(
            (one for one in votes if votes[one] > 0),
            key=lambda entity_id: (-round(votes[entity_id], 9), support[entity_id][0], entity_id),
        )
        total = sum(votes.values()) or 1.0
        return [
            {
                "answer": {"id": entity_id, "label": labels[entity_id]},
                "score": round(votes[entity_id] / total, 6),
                "rank": rank,
                "evidences": support[entity_id][:SUPPORT],
            }
            for rank, entity_id in enumerate(ranked[:most], 1)
        ]

    def _wanted(self, turn: Turn, evidences: Sequence[Evidence]) -> set[str]:
        """Stems of what is asked, without the names of the question's own items."""
        names = {
            evidence["retrieved_for_entity"]["label"] for evidence in evidences if "retrieved_for_entity" in evidence
        }
        asked = turn.get("structured_representation") or turn["question"]
        return set(stems(asked)) - {word for name in names for word in stems(name)}


def nearness(evidence: Evidence, wanted: set[str]) -> dict[str, float]:
    """How near each mentioned entity stands to a word that is asked for, from `_FAR` to 1, by entity id.

    In "Year is 1996, Film is Basquiat, Role is Andy Warhol", a question for the role prefers the value beside it.
    """
    words = re.findall(r"\w+", fold(evidence["evidence_text"]))
    hits = [place for place, word in enumerate(words) if stem(word) in wanted]
    found: dict[str, float] = {}
    for surface, entity_id in evidence["disambiguations"]:
        parts = fold(surface).split()
        for place in range(len(words) - len(parts) + 1) if parts else ():
            if words[place : place + len(parts)] == parts:
                end = place + len(parts) - 1
                gaps = [
                    place - hit if hit < place else _BEHIND * (hit - end) for hit in hits if not place <= hit <= end
                ]
                gap = min(gaps, default=None)
                value = _FAR if gap is None else _FAR + (1 - _FAR) / (1 + gap / _REACH)
                found[entity_id] = max(found.get(entity_id, 0.0), value)
    return found
