"""LangChain: a retriever. A document is an evidence, with its keys and its score in the metadata."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ..records.evidence import parse_sources
from ..support.errors import missing_extra
from .shared import Settings, SharedPipeline, shared_pipeline, to_document

try:
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import run_in_executor
    from pydantic import ConfigDict
except ModuleNotFoundError as error:
    raise missing_extra(f"{error.name} is missing", "langchain") from error


class LangChainRetriever(BaseRetriever):
    """A question -> the pipeline's best `k` evidences, best first.

    Args:
        config: see `SharedPipeline`, which may be given in its place.
        sources: a combination such as `kb_text`, or a list; those of the pipeline by default.
        k: the most documents; `invoke(question, k=..., sources=...)` overrides both.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid")  # `top_k` in place of `k` is an error

    config: Any = None  # the shared pipeline: a copy with other settings uses the same one
    sources: str | Sequence[str] | None = None
    k: int = 10

    def __init__(
        self,
        config: SharedPipeline | Settings = "config.yml",
        sources: str | Sequence[str] | None = None,
        k: int = 10,
        **options: Any,
    ) -> None:
        if sources is not None:
            parse_sources(sources)
        super().__init__(config=shared_pipeline(config, sources), sources=sources, k=k, **options)  # type: ignore[call-arg]

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        k: int | None = None,
        sources: str | Sequence[str] | None = None,
    ) -> list[Document]:
        chosen = self.sources if sources is None else sources
        (evidences,) = self.config.retrieve([query], sources=chosen and parse_sources(chosen))
        documents = []
        for evidence in evidences[: self.k if k is None else k]:
            name, text, meta = to_document(evidence)
            documents.append(Document(id=name, page_content=text, metadata={**meta, "score": evidence["score"]}))
        return documents

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **settings: Any
    ) -> list[Document]:
        return await run_in_executor(
            None, self._get_relevant_documents, query, run_manager=run_manager.get_sync(), **settings
        )
