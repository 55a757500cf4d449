"""What the parts for all other tools share: one pipeline, asked for evidences, an order of them, or answers; one call at a time."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from ..config import load_config, parse_config
from ..evidence_retrieval_scoring.native import NativeERS
from ..pipeline import Pipeline
from ..question_understanding.base import history_turn
from ..records.conversation import Conversation, RankedAnswer, Turn, check_conversations
from ..records.evidence import DEFAULT_SOURCES, Evidence, check_evidence, normalize_source, parse_sources
from ..scoring.trec import document_id

_META = ("evidence_text", "score")  # of an evidence, what the documents of other tools have fields of their own for
Settings = str | Mapping[str, Any]


class SharedPipeline:
    """A pipeline that several parts of other tools use; it is opened when it is first asked.

    Args:
        config: the name of a configuration, or its keys.
        sources: a combination such as `kb_text`.
    """

    def __init__(self, config: Settings = "config.yml", sources: str = DEFAULT_SOURCES) -> None:
        self.settings, self.sources = config, parse_sources(sources)
        self._lock = threading.Lock()  # tools ask from several threads; a model computes for one

    def to_dict(self) -> dict[str, Any]:
        """What the constructor takes, as JSON."""
        config = self.settings if isinstance(self.settings, str) else dict(self.settings)
        return {"config": config, "sources": "_".join(self.sources)}

    @cached_property
    def _pipeline(self) -> Pipeline:
        given = self.settings
        return Pipeline(load_config(given) if isinstance(given, str) else parse_config(given))

    def retrieve(
        self,
        questions: Sequence[str],
        earlier: Sequence[Sequence[Turn]] | None = None,
        sources: Sequence[str] | None = None,
    ) -> list[list[Evidence]]:
        """The top evidences of each question, best first, as the pipeline has them.

        Args:
            questions: each in full, or in the light of its `earlier` turns.
            earlier: of each question the turns before it, which count with their gold answers where they have any.
            sources: of the evidences; those of the constructor by default.

        Raises:
            DataError: a question is too long, an earlier turn is none.
        """
        with self._lock:
            return [turn["top_evidences"] for turn in self._understood(questions, earlier, "ers", sources)]

    def rank(
        self, questions: Sequence[str], evidences: Sequence[Sequence[Evidence]], most: int
    ) -> list[list[Evidence]]:
        """The best `most` of the given evidences of each question, best first, in the order that the pipeline's scorer gives them."""
        with self._lock:
            turns = self._understood(questions, None, "qu")
            return self._native.rank(turns, evidences, most)

    def answer(self, question: str, evidences: Sequence[Evidence]) -> list[RankedAnswer]:
        """Ranked answers that the pipeline finds in the given evidences, at most `ha_max_answers`."""
        with self._lock:
            (turn,) = self._understood([question], None, "qu")
            turn["top_evidences"] = list(evidences)
            (done,) = self._pipeline.run([{"conv_id": "answer", "questions": [turn]}], self.sources, done_by="ers")
            return done["questions"][0].get("pred_answers", [])

    def close(self) -> None:
        """Close what was opened."""
        if "_pipeline" in self.__dict__:
            self._pipeline.close()

    @cached_property
    def _native(self) -> NativeERS:
        ers, pipeline = self._pipeline.ers, self._pipeline
        return ers if isinstance(ers, NativeERS) else NativeERS(pipeline.config, resources=pipeline.resources)

    def _understood(
        self,
        questions: Sequence[str],
        earlier: Sequence[Sequence[Turn]] | None,
        until: Any,
        sources: Sequence[str] | None = None,
    ) -> list[Turn]:
        before = earlier or [()] * len(questions)
        asked: list[Conversation] = [
            {"conv_id": str(number), "questions": [*turns, {"question": question}]}
            for number, (question, turns) in enumerate(zip(questions, before, strict=True))
        ]
        check_conversations(asked, "questions")
        turns = [conversation["questions"][-1] for conversation in asked]
        histories = [[history_turn(turn, use_gold_answers=True) for turn in own] for own in before]
        self._pipeline.answer_turns(turns, histories, sources or self.sources, use_gold_answers=True, until=until)
        return turns


def shared_pipeline(config: SharedPipeline | Settings, sources: str | None = None) -> SharedPipeline:
    """A pipeline that is shared already, or one of its own for a configuration."""
    if isinstance(config, SharedPipeline):
        return config
    return SharedPipeline(config) if sources is None else SharedPipeline(config, sources)


def to_document(evidence: Evidence) -> tuple[str, str, dict[str, Any]]:
    """The id of an evidence (that of `evaluate trec`), its text, and all else that it has but its score."""
    return document_id(evidence), evidence["evidence_text"], {k: v for k, v in evidence.items() if k not in _META}


def to_evidence(text: str, meta: Mapping[str, Any]) -> Evidence:
    """An evidence of a document: what `to_document` gave, or a text of another tool, which counts as `text` without entities.

    Raises:
        DataError: what says that it is an evidence is none.
    """
    known: Any = dict(meta) if "wikidata_entities" in meta else {}
    evidence: Any = {"source": "text", "disambiguations": [], "wikidata_entities": [], **known, "evidence_text": text}
    check_evidence(evidence, "document")
    evidence["source"] = normalize_source(evidence["source"])
    return evidence  # type: ignore[no-any-return]
