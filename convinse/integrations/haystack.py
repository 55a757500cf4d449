"""Components for Haystack 2: a retriever, a ranker and a reader. A document holds an evidence; its other keys are in `meta`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..records.evidence import Evidence
from ..support.errors import missing_extra
from .shared import Settings, SharedPipeline, shared_pipeline, to_document, to_evidence

try:
    from haystack import Document, ExtractedAnswer, component, default_from_dict, default_to_dict
except ModuleNotFoundError as error:
    raise missing_extra(f"{error.name} is missing", "haystack") from error


class _Component:
    def __init__(
        self, config: SharedPipeline | Settings = "config.yml", sources: str | None = None, top_k: int = 10
    ) -> None:
        self.pipeline, self.top_k = shared_pipeline(config, sources), top_k

    def to_dict(self) -> dict[str, Any]:
        """Return the component in Haystack's form, with the configuration of the pipeline."""
        stored: dict[str, Any] = default_to_dict(self, **self.pipeline.to_dict(), top_k=self.top_k)
        return stored

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Any:
        """Return a stored component, with a new pipeline."""
        return default_from_dict(cls, data)


@component
class HaystackRetriever(_Component):
    """A retriever of the pipeline's best `top_k` evidences; `config` may be a `SharedPipeline`."""

    @component.output_types(documents=list[Document])
    def run(self, query: str, top_k: int | None = None) -> dict[str, list[Document]]:
        """Retrieve evidences, best first, with their scores."""
        (evidences,) = self.pipeline.retrieve([query])
        documents = []
        for evidence in evidences[: self.top_k if top_k is None else top_k]:
            name, text, meta = to_document(evidence)
            documents.append(Document(id=name, content=text, meta=meta, score=evidence["score"]))
        return {"documents": documents}


@component
class HaystackRanker(_Component):
    """A ranker of documents, also of other retrievers, by the pipeline's scorer; it returns the best `top_k`."""

    @component.output_types(documents=list[Document])
    def run(self, query: str, documents: list[Document], top_k: int | None = None) -> dict[str, list[Document]]:
        """Rank documents, best first, with new scores; ids stay."""
        # a document goes through the ranking with its evidence
        evidences = [{**_evidence(document), "document": document} for document in documents]
        (ranked,) = self.pipeline.rank([query], [evidences], self.top_k if top_k is None else top_k)  # type: ignore[list-item]
        scored = [replace(evidence["document"], score=evidence["score"]) for evidence in ranked]  # type: ignore[typeddict-item]
        return {"documents": scored}


@component
class HaystackReader(_Component):
    """A reader that finds `top_k` answers in documents, at most `ha_max_answers`; an answer's meta has its item."""

    @component.output_types(answers=list[ExtractedAnswer])
    def run(self, query: str, documents: list[Document], top_k: int | None = None) -> dict[str, list[ExtractedAnswer]]:
        """Answer the question, best answers first."""
        ranked = self.pipeline.answer(query, [_evidence(document) for document in documents])
        answers = []
        for answer in ranked[: self.top_k if top_k is None else top_k]:
            best = next((documents[place] for place in answer.get("evidences", [])), None)
            answers.append(
                ExtractedAnswer(
                    query=query, score=answer["score"], data=answer["answer"]["label"], document=best, meta=dict(answer["answer"])
                )
            )  # fmt: skip
        return {"answers": answers}


def _evidence(document: Document) -> Evidence:
    return {**to_evidence(document.content or "", document.meta), "score": document.score or 0.0}
