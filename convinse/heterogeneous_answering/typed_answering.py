"""What answering modules share that look at the type of answer a question asks for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from ..answer_type import AnswerType, expected_type, fit, parse_label, types_from_label
from ..config import Config, resolve
from ..evidence import Entity, Evidence, RankedAnswer, Turn
from ..knowledge_base.index import KnowledgeBase
from ..text import stems
from .base import HeterogeneousAnswering

_COVERED = 0.75  # share of a yes/no question's words that one evidence must hold for a "yes"
_CLASS_WEIGHT = 0.2
_CLASSES_WANTED = frozenset(
    "genre kind style type sort instrument position profession job occupation language sport award prize religion colour color species".split()
)
_YES: Entity = {"id": "Yes", "label": "Yes"}
_NO: Entity = {"id": "No", "label": "No"}
SUPPORT = 3  # evidences named per answer


class TypedAnswering(HeterogeneousAnswering):
    """Knows the expected answer type of a turn, how well an item fits it, and answers questions for yes or no.

    Args:
        config: `kb_path` (types of items) and `sr_delimiter` are used.
        kb: the knowledge base to use instead of the configured one.
    """

    def __init__(self, config: Config, kb: KnowledgeBase | None = None) -> None:
        super().__init__(config)
        if kb is not None:
            self.kb = kb

    @cached_property
    def kb(self) -> KnowledgeBase:
        """The knowledge base that types are looked up in, opened on first use."""
        return KnowledgeBase(resolve(self.config.kb_path))

    def expected(self, turn: Turn) -> AnswerType:
        """The type of answer: the representation's last slot, else by the question's words."""
        slots = turn.get("structured_representation", "").split(self.config.sr_delimiter.strip())
        return parse_label(slots[-1]) if len(slots) == 4 else expected_type(turn["question"])

    def fit(self, expected: AnswerType, entity: Entity) -> float:
        """How well an entity fits the expected type, from 0 to 1."""
        types: Iterable[str] = ()
        if entity["id"].startswith("Q"):
            types = self.kb.types(entity["id"]) or types_from_label(entity["label"])
        suits = fit(expected, entity["id"], types)
        # a class ("football club", a lower-case label) is no answer to "which club", but one to "which genre"
        is_class = entity["id"].startswith("Q") and entity["label"][:1].islower()
        return suits * _CLASS_WEIGHT if is_class and not _CLASSES_WANTED.intersection(expected.words) else suits

    def yes_or_no(self, turn: Turn, evidences: Sequence[Evidence]) -> list[RankedAnswer]:
        """ "Yes" when one evidence holds at least three quarters of the question's content words, else "No", and the other."""
        wanted = set(stems(turn.get("structured_representation") or turn["question"])) - {"yes"}
        coverage = [
            len(wanted & set(stems(evidence["evidence_text"]))) / len(wanted) if wanted else 0.0
            for evidence in evidences
        ]
        best = max(coverage, default=0.0)
        support = sorted(range(len(coverage)), key=lambda place: (-coverage[place], place))[:SUPPORT]
        first, second = (_YES, _NO) if best >= _COVERED else (_NO, _YES)
        certainty = round(best if first is _YES else 1 - best, 6)
        return [
            {"answer": dict(first), "score": certainty, "rank": 1, "evidences": support},  # type: ignore[typeddict-item]
            {"answer": dict(second), "score": round(1 - certainty, 6), "rank": 2, "evidences": support},  # type: ignore[typeddict-item]
        ]
