"""The cascade: BM25 and a bi-encoder choose the candidates that the cross-encoder reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..encoder.bi_encoder import KeptEmbeddings
from ..records.evidence import Evidence, with_score
from ..records.ranked_rows import as_read
from .bm25 import BM25Scorer
from .scorer import PairRanker, Scorer, reciprocal_ranks


class _Fused(NamedTuple):
    """The evidences of a query after BM25 and the bi-encoder."""

    chosen: np.ndarray  # places of the input of the cross-encoder, best first
    rest: np.ndarray  # places of the others, best first
    values: np.ndarray  # [n] the fusion's values, by place
    words: np.ndarray  # [n] the BM25 scores as shares of the best score, by place


class Cascade(Scorer):
    """Ranks evidences in two steps, so that thousands of candidates are scored in the time of a few hundred.

    The best evidences by BM25 and as many by the bi-encoder are merged by reciprocal rank fusion
    (Cormack et al., SIGIR 2009), and the cross-encoder scores them. If these are fewer than `top_k`, the rest follow in the order
    of the fusion with score 0. Without a cross-encoder the order of the fusion is final, and its values are the scores.

    Args:
        bm25: the lexical scorer.
        reranker: the cross-encoder, or None.
        embeddings: of the bi-encoder; if None, BM25 chooses `2 * size` evidences.
        size: evidences chosen by BM25, and by the bi-encoder.
        lexical_share: weight of the BM25 score (as a share of the best score) in the scores; the cross-encoder's
            probability has the rest. Small cross-encoders are overconfident.
    """

    def __init__(
        self,
        bm25: BM25Scorer,
        reranker: PairRanker | None,
        embeddings: KeptEmbeddings | None,
        size: int = 100,
        lexical_share: float = 0.0,
    ) -> None:
        self._bm25 = bm25
        self.reranker = reranker
        self.embeddings = embeddings
        self._share = lexical_share
        self._size = size if embeddings is not None else 2 * size

    def rank(self, query: str, evidences: Sequence[Evidence], top_k: int) -> list[Evidence]:
        """Return copies of the best `top_k` evidences with `score`, best first."""
        return self.rank_all([query], [evidences], top_k)[0]

    def rank_all(
        self,
        queries: Sequence[str],
        evidences: Sequence[Sequence[Evidence]],
        top_k: int,
        questions: Sequence[str] | None = None,
    ) -> list[list[Evidence]]:
        """See the base class."""
        questions = queries if questions is None else questions
        fused = self._fuse(queries, questions, evidences)
        if self.reranker is None:
            return [
                [
                    with_score(candidates[place], round(float(fusion.values[place]), 6))
                    for place in fusion.chosen[:top_k]
                ]
                for candidates, fusion in zip(evidences, fused, strict=True)
            ]
        inputs = [
            [candidates[place] for place in fusion.chosen] for candidates, fusion in zip(evidences, fused, strict=True)
        ]
        shares = [fusion.words[fusion.chosen] for fusion in fused]
        ranked = self.reranker.rank_all(questions, inputs, top_k, shares, self._share)
        for best, candidates, fusion in zip(ranked, evidences, fused, strict=True):
            best.extend(with_score(candidates[place], 0.0) for place in fusion.rest[: top_k - len(best)])
        return ranked

    def _fuse(
        self, queries: Sequence[str], questions: Sequence[str], evidences: Sequence[Sequence[Evidence]]
    ) -> list[_Fused]:
        dense: list[np.ndarray] = []
        if self.embeddings is not None:
            form = self.embeddings.bi_encoder.row_form
            read = [[as_read(evidence, form) for evidence in candidates] for candidates in evidences]
            place_of: dict[str, int] = {}
            places = [[place_of.setdefault(text, len(place_of)) for text in texts] for texts in read]
            vectors = self.embeddings.embed(list(place_of))
            embedded = self.embeddings.embed_questions(questions)
            dense = [vectors[rows].astype(np.float32) @ vector for vector, rows in zip(embedded, places, strict=True)]
        fused = []
        for number, (query, candidates) in enumerate(zip(queries, evidences, strict=True)):
            texts = [evidence["evidence_text"] for evidence in candidates]
            lexical_scores = self._bm25.scores(query, candidates)
            rankings = [_order(lexical_scores, texts)]
            limits = [self._size]
            if self.embeddings is not None:
                rankings.append(_order(dense[number], texts))
                limits.append(self._size)
            values = reciprocal_ranks(rankings, len(candidates))
            chosen = np.full(len(candidates), self.reranker is None)  # without it the fusion is final
            for ranking, limit in zip(rankings, limits, strict=True):
                chosen[ranking[:limit]] = True
            ranks = list(zip(~chosen, -values, texts, strict=True))
            order = np.array(sorted(range(len(candidates)), key=ranks.__getitem__), dtype=np.int64)
            words = np.asarray(lexical_scores, dtype=np.float64) / max(max(lexical_scores, default=0.0), 1e-9)
            size = int(chosen.sum())
            fused.append(_Fused(order[:size], order[size:], values, words))
        return fused


def _order(scores: Sequence[float] | np.ndarray, texts: Sequence[str]) -> np.ndarray:
    rounded = np.round(np.asarray(scores, dtype=np.float64), 6)
    return np.array(sorted(range(len(texts)), key=lambda place: (-rounded[place], texts[place], place)), dtype=np.int64)
