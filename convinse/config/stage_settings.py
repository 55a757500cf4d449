"""How the stages work: structures of keys of the configuration."""

from __future__ import annotations

from typing import Literal

from .value_types import NotNegative, Positive, Settings, Weight


class ClocqParams(Settings, frozen=True):
    """Parameters of CLOCQ's search space retrieval (Christmann et al., WSDM 2022), with its names.

    h_match, h_rel, h_conn, h_coh: weights of the four candidate scores (match with the mention, relevance to the
    question, connectivity in the knowledge base, coherence); k: items per mention, or AUTO; d: depth of the candidate
    lists; p_setting: an item that is object or qualifier of more facts keeps only
    those with it as subject; bm25_limit: facts kept in all, by BM25 (0 or false: all).
    """

    h_match: Weight = 0.4
    h_rel: Weight = 0.2
    h_conn: Weight = 0.3
    h_coh: Weight = 0.1
    d: Positive = 20
    k: Positive | Literal["AUTO"] = "AUTO"
    p_setting: Positive = 1000
    bm25_limit: bool | NotNegative = 0
