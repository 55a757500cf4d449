"""A pipeline that the parts for all other tools share, for evidences, rankings and answers; a call at a time."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from ..config import load_config, parse_config
from ..evidence_retrieval_scoring.native import NativeERS
from ..pipeline import Pipeline
from ..question_understanding.base import history_turn
from ..records.conversation import Conversation, RankedAnswer, Turn, check_conversations, new_turn
from ..records.evidence import DEFAULT_SOURCES, Evidence, check_evidence, normalize_source, parse_sources

_FIELDS = ("evidence_text", "score")  # keys of an evidence that are fields of other tools' documents, not metadata
Settings = str | Mapping[str, Any]


def document_id(evidence: Evidence) -> str:
    """Return the source and 16 hexadecimal digits of a hash of source and text: `kb-0f3a...`, the same in every run."""
    source = normalize_source(evidence["source"])
    digest = hashlib.sha256(f"{source}\n{evidence['evidence_text']}".encode()).hexdigest()
    return f"{source}-{digest[:16]}"


class SharedPipeline:
    """A pipeline that several parts of other tools use; it is opened on first use.

    Args:
        config: the name of a configuration, or its keys.
        sources: a combination such as `kb_text`, or a list.
    """

    def __init__(self, config: Settings = "config.yml", sources: str | Sequence[str] = DEFAULT_SOURCES) -> None:
        self.settings, self.sources = config, parse_sources(sources)
        self._lock = threading.Lock()  # tools ask from several threads; a model computes for one

    def to_dict(self) -> dict[str, Any]:
        """Return the arguments of the constructor, as JSON."""
        config = self.settings if isinstance(self.settings, str) else dict(self.settings)
        return {"config": config, "sources": "_".join(self.sources)}

    @cached_property
    def _pipeline(self) -> Pipeline:
        settings = self.settings
        return Pipeline(load_config(settings) if isinstance(settings, str) else parse_config(settings))

    def retrieve(
        self,
        questions: Sequence[str],
        earlier: Sequence[Sequence[Turn]] | None = None,
        sources: Sequence[str] | None = None,
    ) -> list[list[Evidence]]:
        """Retrieve the pipeline's top evidences of every question, best first. Raises `DataError`.

        Args:
            questions: in full, or to be understood by their `earlier` turns.
            earlier: the turns before every question, with gold answers if they have any.
            sources: of the evidences; those of the constructor by default.
        """
        with self._lock:
            return [turn["top_evidences"] for turn in self._understood(questions, earlier, "ers", sources)]

    def rank(
        self, questions: Sequence[str], evidences: Sequence[Sequence[Evidence]], most: int
    ) -> list[list[Evidence]]:
        """Rank the evidences of every question with the pipeline's scorer; returns the best `most`, best first."""
        with self._lock:
            turns = self._understood(questions, None, "qu")
            return self._native.rank(turns, evidences, most)

    def answer(self, question: str, evidences: Sequence[Evidence]) -> list[RankedAnswer]:
        """Return the ranked answers that the pipeline finds in evidences, at most `ha_max_answers`."""
        with self._lock:
            (turn,) = self._understood([question], None, "qu")
            turn["top_evidences"] = list(evidences)
            (done,) = self._pipeline.run([{"conv_id": "answer", "questions": [turn]}], self.sources, done_by="ers")
            return done["questions"][0].get("pred_answers", [])

    def close(self) -> None:
        """Close the pipeline, if it was opened."""
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
        conversations: list[Conversation] = [
            {"conv_id": str(number), "questions": [*turns, new_turn(question=question)]}
            for number, (question, turns) in enumerate(zip(questions, before, strict=True))
        ]
        check_conversations(conversations, "questions")
        turns = [conversation["questions"][-1] for conversation in conversations]
        histories = [[history_turn(turn, use_gold_answers=True) for turn in history] for history in before]
        self._pipeline.answer_turns(turns, histories, sources or self.sources, use_gold_answers=True, until=until)
        return turns


def shared_pipeline(config: SharedPipeline | Settings, sources: str | Sequence[str] | None = None) -> SharedPipeline:
    """Return `config` if it is a shared pipeline already, else a new pipeline of a configuration."""
    return config if isinstance(config, SharedPipeline) else SharedPipeline(config, sources or DEFAULT_SOURCES)


def to_document(evidence: Evidence) -> tuple[str, str, dict[str, Any]]:
    """Return the id of an evidence (see `document_id`), its text, and its other keys but the score."""
    return document_id(evidence), evidence["evidence_text"], {k: v for k, v in evidence.items() if k not in _FIELDS}


def to_evidence(text: str, meta: Mapping[str, Any]) -> Evidence:
    """Return the evidence of a document of `to_document`, or of another tool's text: of source `text`, without entities.

    Raises `DataError`.
    """
    keys: Any = dict(meta) if "wikidata_entities" in meta else {}
    evidence: Any = {"source": "text", "disambiguations": [], "wikidata_entities": [], **keys, "evidence_text": text}
    check_evidence(evidence, "document")
    evidence["source"] = normalize_source(evidence["source"])
    return evidence  # type: ignore[no-any-return]
