"""The neural scorers that a configuration names."""

from __future__ import annotations

from typing import Literal

import msgspec

from ..config import Config
from ..encoder.pool import ModelPool
from ..encoder.reranker import BertReranker
from ..resources import load_bi_encoder, load_reranker
from .bm25 import BM25Scorer
from .cascade import Cascade


def build_scorer(
    config: Config, method: Literal["cross_encoder", "cascade"], bm25: BM25Scorer, models: ModelPool | None = None
) -> BertReranker | Cascade:
    """The scorer of `evs`, its models loaded; a joint model once for all its tasks, and for others with `models`.

    Raises:
        ModelError: `evs_model` or `evs_bi_encoder` cannot be loaded.
    """
    models = ModelPool() if models is None else models
    reranker = load_reranker(config, models)
    if method == "cross_encoder":
        assert reranker is not None  # scoring_method has seen to it
        return reranker
    bi_encoder = vectors = None
    if config.evs_bi_encoder:
        bi_encoder, vectors = load_bi_encoder(config, config.evs_bi_encoder, "evs_bi_encoder", models)
    return Cascade(bm25, reranker, bi_encoder, vectors, **msgspec.structs.asdict(config.evs_cascade))
