"""Evidences scored by a server, in the place of a cross-encoder."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import msgspec
import numpy as np

from ..config.server_settings import EvsServer
from ..language_models.model_server import ModelServer
from ..language_models.scoring_server import ScoringServer
from ..records.evidence import Evidence, with_score
from ..support.cache import Cache

_DIGITS = 6  # of a score
_CACHED = "server scores"  # the kind of the cache's entries
_FARTHEST = 80.0  # limit of log odds


class ServerReranker:
    """Ranks evidences by the scores of `evs_server`, which the evidence cache keeps by model, question and texts.

    Scores of `rerank` outside 0 to 1 are taken for log odds; with `embeddings` the score is the cosine, at least 0.

    Args:
        settings: of the server.
        host: sends the requests.
        cache: of the scores.
    """

    def __init__(self, settings: EvsServer, host: ModelServer, cache: Cache) -> None:
        self._settings, self._host, self._cache = settings, host, cache
        self._server = ScoringServer(self._settings, self._host)

    def rank(self, query: str, evidences: Sequence[Evidence], top_k: int | None = None) -> list[Evidence]:
        """Return copies of the best `top_k` evidences with `score`, best first."""
        return self.rank_all([query], [evidences], top_k)[0]

    def rank_all(
        self,
        queries: Sequence[str],
        evidences: Sequence[Sequence[Evidence]],
        top_k: int | None = None,
        beside: Sequence[np.ndarray] | None = None,
        share: float = 0.0,
    ) -> list[list[Evidence]]:
        """Rank for several queries, all sent at once; see `PairRanker`.

        Raises:
            NetworkError: the server cannot be reached, or its scores are invalid.
            ConfigError: the server or its key is missing.
        """
        texts = [[evidence["evidence_text"] for evidence in candidates] for candidates in evidences]
        ranked = []
        for number, (candidates, values) in enumerate(zip(evidences, self._scores(queries, texts), strict=True)):
            if beside is not None and share:
                values = (1 - share) * values + share * beside[number]
            scores = np.round(values, _DIGITS).tolist()
            order = sorted(range(len(candidates)), key=lambda place: (-scores[place], texts[number][place], place))
            ranked.append([with_score(candidates[place], scores[place]) for place in order[:top_k]])
        return ranked

    def _scores(self, queries: Sequence[str], texts: Sequence[Sequence[str]]) -> list[np.ndarray]:
        settings = self._settings
        keys, cached = [], []
        for query, candidates in zip(queries, texts, strict=True):
            request = msgspec.json.encode([settings.prefixes[0], query, settings.prefixes[1], candidates])
            keys.append((_CACHED, settings.kind, self._host.model, hashlib.sha256(request).hexdigest()))
            cached.append(self._cache.get(*keys[-1]) if candidates else [])
        fresh = [place for place, scores in enumerate(cached) if scores is None]
        pairs = [(queries[place], texts[place]) for place in fresh]
        computed = self._server.relevance(pairs) if settings.kind == "rerank" else self._cosines(pairs)
        for place, scores in zip(fresh, computed, strict=True):
            if not ((scores >= 0) & (scores <= 1)).all():  # log odds
                scores = 1 / (1 + np.exp(-np.clip(scores, -_FARTHEST, _FARTHEST)))
            cached[place] = np.round(scores.astype(np.float64), _DIGITS).tolist()
            self._cache.put(*keys[place], value=cached[place])
        return [np.array(scores, dtype=np.float64) for scores in cached]

    def _cosines(self, pairs: Sequence[tuple[str, Sequence[str]]]) -> list[np.ndarray]:
        settings = self._settings
        queries = [settings.prefixes[0] + query for query, _ in pairs]
        place_of: dict[str, int] = {query: place for place, query in enumerate(dict.fromkeys(queries))}
        places = [
            [place_of.setdefault(settings.prefixes[1] + text, len(place_of)) for text in texts] for _, texts in pairs
        ]
        if not place_of:
            return []
        vectors = self._server.embed(list(place_of))
        return [
            np.clip(vectors[rows] @ vectors[place_of[query]], 0.0, 1.0)
            for query, rows in zip(queries, places, strict=True)
        ]
