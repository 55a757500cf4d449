"""LangChain: a retriever. A document is an evidence: its metadata has what the evidence has, and its score."""

from __future__ import annotations

from typing import Any

from ..support.errors import DependencyError
from .shared import Settings, SharedPipeline, shared_pipeline, to_document

try:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from pydantic import PrivateAttr
except ModuleNotFoundError as error:
    raise DependencyError(f"{error.name} is missing; run pip install 'convinse[langchain]'") from error


class LangChainRetriever(BaseRetriever):
    """A question -> the pipeline's best `k` evidences, best first.

    Args:
        config, sources: see `SharedPipeline`, which may be given in place of both.
        k: documents that are wanted.
    """

    k: int = 10
    _pipeline: SharedPipeline = PrivateAttr()

    def __init__(
        self, config: SharedPipeline | Settings = "config.yml", sources: str | None = None, k: int = 10, **options: Any
    ) -> None:
        super().__init__(**{"k": k, **options})
        self._pipeline = shared_pipeline(config, sources)

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        (evidences,) = self._pipeline.retrieve([query])
        documents = []
        for evidence in evidences[: self.k]:
            name, text, meta = to_document(evidence)
            documents.append(Document(id=name, page_content=text, metadata={**meta, "score": evidence["score"]}))
        return documents
