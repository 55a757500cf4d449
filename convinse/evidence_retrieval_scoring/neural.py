"""The neural scorers that a configuration names."""

from __future__ import annotations

from typing import Literal

import msgspec

from ..config import Config
from ..encoder.pool import ModelPool
from ..encoder.reranker import BertReranker
from ..resources import model_path
from ..support.evidence_cache import EvidenceCache
from .bm25 import BM25Scorer
from .cascade import Cascade


def build_scorer(
    config: Config, method: Literal["cross_encoder", "cascade"], bm25: BM25Scorer, models: ModelPool | None = None
) -> BertReranker | Cascade:
    """The scorer of `evs`, its models loaded; a joint model once for all its tasks, and for others with `models`.

    Raises:
        ModelError: `evs_model` or `evs_bi_encoder` cannot be loaded.
    """
    reranker = bi_encoder = vectors = None
    models = ModelPool() if models is None else models
    path = config.ers_cache_path if config.ers_use_cache else None
    if config.evs_model:
        reranker = BertReranker(
            model_path(config.evs_model),
            config.device,
            precision=config.evs_precision,
            max_length=config.evs_max_length,
            token_budget=config.evs_token_budget,
            key="evs_model",
            models=models,
            cache=EvidenceCache(path),
        )
    if method == "cross_encoder":
        assert reranker is not None  # scoring_method has seen to it
        return reranker
    if config.evs_bi_encoder:
        from ..encoder.bi_encoder import BiEncoder
        from ..support.vector_cache import VectorCache

        bi_encoder = BiEncoder(
            model_path(config.evs_bi_encoder),
            config.device,
            precision=config.evs_precision,
            max_length=config.evs_max_length,
            token_budget=config.evs_token_budget,
            models=models,
        )
        vectors = VectorCache(path, bi_encoder.model_id, bi_encoder.dimension)
    return Cascade(bm25, reranker, bi_encoder, vectors, **msgspec.structs.asdict(config.evs_cascade))
