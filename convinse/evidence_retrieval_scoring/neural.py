"""The scorers that a configuration names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from ..config import Config
from ..encoder.checkpoint import model_config, model_path
from ..encoder.pool import JOINT
from ..records.evidence import Evidence
from ..resources import Resources
from ..support.errors import ConfigError
from .bm25 import BM25Scorer
from .cascade import Cascade
from .scorer import PairRanker, Scorer
from .server_reranker import ServerReranker

ScoringMethod = Literal["bm25", "cross_encoder", "cascade"]
_LEXICAL_SHARE = (
    0.3  # of BM25 beside the small joint models, which are surer than right: what every configuration that ships said
)


class CrossEncoder(Scorer):
    """A cross-encoder, local or of a server, which reads questions in full."""

    def __init__(self, reranker: PairRanker) -> None:
        self.reranker = reranker

    def rank(self, query: str, evidences: Sequence[Evidence], top_k: int) -> list[Evidence]:
        """See `BertReranker.rank`."""
        return self.reranker.rank(query, evidences, top_k)

    def rank_all(
        self,
        queries: Sequence[str],
        evidences: Sequence[Sequence[Evidence]],
        top_k: int,
        questions: Sequence[str] | None = None,
    ) -> list[list[Evidence]]:
        """See the base class."""
        return self.reranker.rank_all(queries if questions is None else questions, evidences, top_k)


def scoring_method(config: Config) -> ScoringMethod:
    """Return the scoring method of `evs`; `auto` is the cascade if a model is configured, else BM25.

    Raises:
        ConfigError: the method needs a model.
    """
    server = config.evs_server.base_url
    if config.evs_model and server:
        raise ConfigError("evs_model and evs_server both score evidences; give one of them")
    reranker = config.evs_model or server
    if config.evs == "auto":
        return "cascade" if reranker or config.evs_bi_encoder else "bm25"
    if config.evs == "cross_encoder" and not reranker:
        raise ConfigError(
            "evs: cross_encoder needs evs_model: a folder of a trained model, or a hub name; or evs_server"
        )
    if config.evs == "cascade" and not (reranker or config.evs_bi_encoder):
        raise ConfigError("evs: cascade needs evs_model (a cross-encoder) or evs_server, evs_bi_encoder, or both")
    return config.evs


def build_scorer(resources: Resources, method: ScoringMethod, bm25: BM25Scorer) -> Scorer:
    """Return the scorer of a method with its models loaded; a joint model is loaded once for all its tasks.

    Raises:
        ModelError: `evs_model` or `evs_bi_encoder` cannot be loaded.
    """
    if method == "bm25":
        return bm25
    config = resources.config
    reranker: PairRanker | None = resources.reranker()
    if config.evs_server.base_url:
        reranker = ServerReranker(config.evs_server, resources.model_server("evs_server"), resources.cache)
    if method == "cross_encoder":
        assert reranker is not None  # checked by scoring_method
        return CrossEncoder(reranker)
    name = config.evs_bi_encoder
    embeddings = resources.embeddings(name, "evs_bi_encoder") if name else None
    share = _LEXICAL_SHARE if not config.evs_server.base_url and _is_joint(config.evs_model) else 0.0
    return Cascade(bm25, reranker, embeddings, config.evs_cascade, share)


def _is_joint(name: str | None) -> bool:
    folder = Path(model_path(name)) if name else None
    return folder is not None and folder.is_dir() and model_config(folder).get("model_type") == JOINT
