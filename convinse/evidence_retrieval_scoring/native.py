"""The native ERS: CLOCQ retrieval, then scoring as configured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Literal, Protocol, runtime_checkable

from ..config import Config
from ..records.conversation import Turn, asked_in_full
from ..records.evidence import Evidence
from ..resources import stage_language
from ..support.errors import ConfigError, NothingToTrainError
from .base import EvidenceRetrievalScoring
from .bm25 import BM25Scorer, QueryExpansion
from .cascade import Cascade
from .clocq_retriever import ClocqRetriever

_CONVERSATIONS = 32  # scored together by a neural scorer


class Scorer(Protocol):
    """Ranks evidences for queries."""

    def rank(self, query: str, evidences: Sequence[Evidence], top_k: int) -> list[Evidence]:
        """The best `top_k` evidences with `score` added, best first; all other fields kept."""


@runtime_checkable
class BatchScorer(Scorer, Protocol):
    """A scorer that computes several turns together."""

    def rank_all(
        self, queries: Sequence[str], evidences: Sequence[Sequence[Evidence]], top_k: int
    ) -> list[list[Evidence]]:
        """`rank` for several queries, each with its evidences; the results are the same as one by one."""


class NativeERS(EvidenceRetrievalScoring):
    """Evidences of the representation's items from all wanted sources, scored down to the top e.

    With a neural scorer the turns of many conversations are scored together.

    Args:
        config: see `ClocqRetriever` and the `evs_*` keys.
        retriever: the retriever to use instead of one of its own.
        scorer: the scorer to use instead of the one that `evs` names.
    """

    trainer = "convinse.training.reranker:train_reranker"

    def __init__(self, config: Config, retriever: ClocqRetriever | None = None, scorer: Scorer | None = None) -> None:
        super().__init__(config)
        self.retriever = retriever or ClocqRetriever(config)
        self._method = scoring_method(config)
        if self._method != "bm25":
            self.conversations_at_once = _CONVERSATIONS
        if scorer is not None:
            self.scorer = scorer

    @cached_property
    def scorer(self) -> Scorer:
        """The scorer that `evs` names."""
        if self._method == "bm25":
            return self.bm25
        from .neural import build_scorer

        return build_scorer(self.config, self._method, self.bm25, self.model_pool)

    @cached_property
    def bm25(self) -> BM25Scorer:
        """BM25, its queries expanded by the names of the knowledge base's properties."""
        expansion = QueryExpansion(self.retriever.kb.properties(), self.language)
        return BM25Scorer(expansion, language=self.language)

    def inference_on_turn(self, turn: Turn, sources: Sequence[str]) -> list[Evidence]:
        """Retrieve and score; see the base class."""
        candidates = self.retrieve(turn, sources)
        if isinstance(self.scorer, BatchScorer):
            turn["top_evidences"] = self._rank_all([turn], [candidates])[0]
        else:
            query = turn["structured_representation"]
            turn["top_evidences"] = self.scorer.rank(query, candidates, self.config.evs_max_evidences)
        return turn["top_evidences"]

    def inference_on_turns(self, turns: Iterable[Turn], sources: Sequence[str]) -> list[list[Evidence]]:
        """Retrieve for each turn, then score all of them together; see the base class."""
        if type(self).inference_on_turn is not NativeERS.inference_on_turn or not isinstance(self.scorer, BatchScorer):
            return super().inference_on_turns(turns, sources)
        turns = list(turns)
        candidates = []
        for turn in turns:
            turn.pop("top_evidences", None)
            candidates.append(self.retrieve(turn, sources))
        ranked = self._rank_all(turns, candidates)
        for turn, best in zip(turns, ranked, strict=True):
            self.finish_turn(turn, best, sources)
        return ranked

    def _rank_all(self, turns: Sequence[Turn], candidates: Sequence[Sequence[Evidence]]) -> list[list[Evidence]]:
        """Score by a neural scorer: BM25 looks for the representation's words, models read the question in full."""
        assert isinstance(self.scorer, BatchScorer)
        questions, most = [asked_in_full(turn) for turn in turns], self.config.evs_max_evidences
        if isinstance(self.scorer, Cascade):
            queries = [turn["structured_representation"] for turn in turns]
            return self.scorer.rank_all(queries, candidates, most, questions)
        return self.scorer.rank_all(questions, candidates, most)

    def retrieve(self, turn: Turn, sources: Sequence[str]) -> list[Evidence]:
        """The candidate evidences of a turn, not scored; adds `question_entities` to it."""
        evidences, entities = self.retriever.retrieve_evidences(turn["structured_representation"], sources)
        turn["question_entities"] = entities  # type: ignore[typeddict-unknown-key]
        return evidences

    def store_cache(self) -> None:
        """Close the caches."""
        self.retriever.store_cache()
        close = getattr(self.__dict__.get("scorer"), "close", None)
        if close is not None:
            close()


class ClocqBM25(NativeERS):
    """CONVINSE's own combination: CLOCQ retrieval and plain BM25 over the words of the representation."""

    def __init__(self, config: Config, retriever: ClocqRetriever | None = None) -> None:
        super().__init__(config, retriever, BM25Scorer(language=stage_language()))
        self.conversations_at_once = 1

    def train(self, sources: Sequence[str]) -> None:
        """Refuse: there is nothing to train."""
        raise NothingToTrainError("ers: 'clocq_bm25' has nothing to train; use ers: native with evs_model")


def scoring_method(config: Config) -> Literal["bm25", "cross_encoder", "cascade"]:
    """What `evs` means: `auto` is the cascade where a model is configured, else BM25.

    Raises:
        ConfigError: the wanted method has no model.
    """
    if config.evs == "auto":
        return "cascade" if config.evs_model or config.evs_bi_encoder else "bm25"
    if config.evs == "cross_encoder" and not config.evs_model:
        raise ConfigError("evs: cross_encoder needs evs_model: a folder of a trained model, or a hub name")
    if config.evs == "cascade" and not (config.evs_model or config.evs_bi_encoder):
        raise ConfigError("evs: cascade needs evs_model (a cross-encoder), evs_bi_encoder, or both")
    return config.evs
