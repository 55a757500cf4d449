"""Evidences scored by a server, in the place of a cross-encoder."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence

import msgspec
import numpy as np

from ..config.server_settings import EvsServer
from ..language_models.model_server import ModelServer
from ..language_models.scoring_server import ScoringServer
from ..records.evidence import Evidence, with_score
from ..support.cache import Cache

_DIGITS = 6  # of a score
_KEPT = "server scores"  # the kind of the cache's entries
_FARTHEST = 80.0  # log odds that are told apart


class ServerReranker:
    """Ranks evidences by the scores of `evs_server`, which the evidence cache keeps by model, question and texts.

    Scores of `rerank` that are not all from 0 to 1 are taken for log odds; of `embeddings` the cosine counts, from 0 on.

    Args:
        settings: of the server.
        host: sends the requests.
        cache: keeps the scores.
        counts: of requests that were sent, kept, and of no use.
    """

    def __init__(self, settings: EvsServer, host: ModelServer, cache: Cache, counts: Counter[str]) -> None:
        self._settings, self._host, self._cache, self._counts = settings, host, cache, counts
        self._server = ScoringServer(self._settings, self._host, self._counts)

    def rank(self, query: str, evidences: Sequence[Evidence], top_k: int | None = None) -> list[Evidence]:
        """The best `top_k` evidences with `score` added, best first; the given ones are not changed."""
        return self.rank_all([query], [evidences], top_k)[0]

    def rank_all(
        self,
        queries: Sequence[str],
        evidences: Sequence[Sequence[Evidence]],
        top_k: int | None = None,
        beside: Sequence[np.ndarray] | None = None,
        share: float = 0.0,
    ) -> list[list[Evidence]]:
        """`rank` for several queries, all sent at once; see `PairRanker`.

        Raises:
            NetworkError: the server cannot be asked, or its scores cannot be used.
            ConfigError: no server is named, or there is no key.
        """
        texts = [[evidence["evidence_text"] for evidence in candidates] for candidates in evidences]
        ranked = []
        for number, (candidates, own) in enumerate(zip(evidences, self._scores(queries, texts), strict=True)):
            if beside is not None and share:
                own = (1 - share) * own + share * beside[number]
            scores = np.round(own, _DIGITS).tolist()
            order = sorted(range(len(candidates)), key=lambda place: (-scores[place], texts[number][place], place))
            ranked.append([with_score(candidates[place], scores[place]) for place in order[:top_k]])
        return ranked

    def _scores(self, queries: Sequence[str], texts: Sequence[Sequence[str]]) -> list[np.ndarray]:
        if self._host.is_dry:
            return [np.zeros(len(own)) for own in texts]
        keys = [self._key(query, own) for query, own in zip(queries, texts, strict=True)]
        kept = [self._cache.get(*key) if own else [] for key, own in zip(keys, texts, strict=True)]
        fresh = [place for place, scores in enumerate(kept) if scores is None]
        self._counts["kept"] += len([own for own in kept if own])
        pairs = [(queries[place], texts[place]) for place in fresh]
        computed = self._relevance(pairs) if self._settings.kind == "rerank" else self._cosines(pairs)
        for place, scores in zip(fresh, computed, strict=True):
            kept[place] = np.round(scores.astype(np.float64), _DIGITS).tolist()
            self._cache.put(*keys[place], value=kept[place])
        return [np.array(scores, dtype=np.float64) for scores in kept]

    def _key(self, query: str, texts: Sequence[str]) -> tuple[str, ...]:
        settings = self._settings
        asked = msgspec.json.encode([settings.query_prefix, query, settings.text_prefix, texts])
        return _KEPT, settings.kind, self._host.model, hashlib.sha256(asked).hexdigest()

    def _relevance(self, pairs: Sequence[tuple[str, Sequence[str]]]) -> list[np.ndarray]:
        return [
            scores
            if ((scores >= 0) & (scores <= 1)).all()
            else 1 / (1 + np.exp(-np.clip(scores, -_FARTHEST, _FARTHEST)))
            for scores in self._server.relevance(pairs)
        ]

    def _cosines(self, pairs: Sequence[tuple[str, Sequence[str]]]) -> list[np.ndarray]:
        settings = self._settings
        queries = [settings.query_prefix + query for query, _ in pairs]
        place_of: dict[str, int] = {query: place for place, query in enumerate(dict.fromkeys(queries))}
        places = [
            [place_of.setdefault(settings.text_prefix + text, len(place_of)) for text in texts] for _, texts in pairs
        ]
        if not place_of:
            return []
        vectors = self._server.embed(list(place_of))
        return [
            np.clip(vectors[own] @ vectors[place_of[query]], 0.0, 1.0)
            for query, own in zip(queries, places, strict=True)
        ]
