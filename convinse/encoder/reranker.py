"""The BERT reranker: a cross-encoder that scores evidences for a query."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from ..config import Config
from ..records.evidence import Evidence
from ..records.ranked_rows import as_read
from ..support.cache import Cache
from .checkpoint import Checkpoint
from .engine import Output, prepare_blocks
from .pool import ModelHead, PairSpans
from .tokens import Sequences

_DIGITS = 5  # decimals by which scores differ
_MAX_ROUNDING = 3e-6  # difference of two scores of the same pair at most


class BertReranker(ModelHead):
    """A scorer of (query, evidence) pairs with a Hugging Face sequence-classification checkpoint.

    The checkpoint has one logit (relevance) or two (irrelevant, relevant). Pairs are tokenised once, sorted by
    length and computed in batches by token budget; equal pairs are computed once. A pair's score depends on the pair
    alone up to rounding (about 1e-6 in fp32), not on the other pairs or their order.

    A joint model (`encoder.joint`) whose pool shares spans computes the span logits of the pairs in the same pass.

    >>> reranker = BertReranker("snapshot:model")
    >>> texts = ["Dublin is the capital of Ireland.", "Titanic was directed by James Cameron."]
    >>> scores = reranker.predict([("Who directed Titanic?", text) for text in texts])
    >>> texts[scores.argmax()]
    'Titanic was directed by James Cameron.'

    Args:
        cache: of the scores of `rank` and `rank_all`, for later runs; `predict` does not use it.
        model, device, options: see `ModelHead`.
    """

    task = "sequence-classification"

    def __init__(
        self,
        model: str | Path | Checkpoint | Config,
        device: str | None = None,
        *,
        cache: Cache | None = None,
        **options: Any,
    ) -> None:
        super().__init__(model, device, **options)
        self._cache = cache

    def predict(self, pairs: Sequence[tuple[str, str]], *, logits: bool = False) -> np.ndarray:
        """Return the [n] float32 relevance of (query, text) pairs, from 0 to 1, or with `logits` as log odds."""
        place_of: dict[tuple[str, str], int] = {}
        rows = np.array([place_of.setdefault((query, text), len(place_of)) for query, text in pairs], dtype=np.int64)
        distinct = list(place_of)
        scores = np.empty(len(distinct), dtype=np.float32)
        outputs: list[Output] = ["relevance"] if self._loaded.spans is None else ["relevance", "spans"]
        for start, sequences in prepare_blocks(distinct, self.tokenizer.pairs):
            for places, (odds, *spans) in self.engine.run(sequences, outputs):
                scores[start + places] = odds
                if spans:
                    self._cache_spans(distinct[start:], sequences, places, spans[0])
        self._check_numbers("score", scores, [text for _, text in distinct])
        return scores[rows] if logits else _sigmoid(scores[rows])

    def _cache_spans(
        self, pairs: Sequence[tuple[str, str]], sequences: Sequences, places: np.ndarray, spans: np.ndarray
    ) -> None:
        # `spans` are [b, longest, 2]; a pair of as many tokens as fit may have been cut, so its text was not read whole
        lengths, firsts = sequences.lengths[places], sequences.firsts[places]
        whole = np.flatnonzero(lengths < self.tokenizer.max_length)
        read = []
        for row in whole:
            first, last = int(firsts[row]), int(lengths[row]) - self.tokenizer.trailing
            read.append(PairSpans(int(lengths[row]), np.concatenate((spans[row, :1], spans[row, first:last]))))
        self._loaded.spans.put(self._loaded.identity, [pairs[places[row]] for row in whole], read)  # type: ignore[union-attr]

    def _odds(self, queries: Sequence[str], texts: Sequence[Sequence[str]]) -> list[np.ndarray]:
        identity, spans = self._loaded.identity, self._loaded.spans  # at each call: a reader may share spans later
        cache = None
        if self._cache is not None and self._cache.enabled:
            limit = self.tokenizer.max_length
            cache = ScoreCache(self._cache, identity, limit, has_spans=spans is not None)
        cached = [
            None if cache is None else cache.get(*query_texts) for query_texts in zip(queries, texts, strict=True)
        ]
        missing = [place for place, scored in enumerate(cached) if scored is None]
        pairs = [(queries[place], text) for place in missing for text in texts[place]]
        computed, start = self.predict(pairs, logits=True), 0
        odds = [np.empty(0, np.float32) if scored is None else scored[0] for scored in cached]
        for place in missing:
            rows, start = slice(start, start + len(texts[place])), start + len(texts[place])
            odds[place] = computed[rows]
            if cache is not None and len(texts[place]):
                pair_spans = [None] * len(texts[place]) if spans is None else spans.get(identity, pairs[rows])
                cache.put(queries[place], texts[place], (odds[place], list(pair_spans)))
        if spans is not None:
            for query, candidates, scored in zip(queries, texts, cached, strict=True):
                text_spans = () if scored is None else zip(candidates, scored[1], strict=True)
                spans_of = {(query, text): pair for text, pair in text_spans if pair is not None}
                spans.put(identity, spans_of.keys(), spans_of.values())
        return odds

    def close(self) -> None:
        """Close the cache; the next use opens it again."""
        if self._cache is not None:
            self._cache.close()

    def rank(self, query: str, evidences: Sequence[Evidence], top_k: int | None = None) -> list[Evidence]:
        """Return copies of the best `top_k` evidences (all by default) with `score` (0 to 1) added, best first.

        Equal scores (to 5 decimals of the log odds) are ordered by the evidences' texts, whatever the order of the input.
        """
        return self.rank_all([query], [evidences], top_k)[0]

    def rank_all(
        self,
        queries: Sequence[str],
        evidences: Sequence[Sequence[Evidence]],
        top_k: int | None = None,
        beside: Sequence[np.ndarray] | None = None,
        share: float = 0.0,
    ) -> list[list[Evidence]]:
        """Rank the evidences of several queries, in shared batches; see `rank`.

        `beside` are further scores of each query's evidences, [n] from 0 to 1, with the weight `share`; the cross-encoder's
        probabilities have the weight `1 - share`.
        """
        texts = [[as_read(evidence, self.row_form) for evidence in candidates] for candidates in evidences]
        ranked = []
        for number, (candidates, odds) in enumerate(zip(evidences, self._odds(queries, texts), strict=True)):
            levels = _without_rounding(odds.astype(np.float64))
            scores = _sigmoid(levels)
            if beside is not None and share:
                levels = scores = _without_rounding((1 - share) * scores + share * beside[number])
            sources = [evidence["source"] for evidence in candidates]
            keys = list(zip((-levels).tolist(), texts[number], sources, strict=True))
            order = sorted(range(len(candidates)), key=keys.__getitem__)[:top_k]
            ranked.append([{**candidates[place], "score": round(float(scores[place]), 6)} for place in order])
        return ranked  # type: ignore[return-value]


def _without_rounding(scores: np.ndarray) -> np.ndarray:
    # the last digits of a score depend on its batch: scores that differ by no more than rounding become equal
    order = np.argsort(-scores, kind="stable")
    descending = scores[order]
    is_first = np.ones(len(scores), bool)  # of a run of equal scores
    is_first[1:] = descending[:-1] - descending[1:] > _MAX_ROUNDING
    levels = np.empty_like(scores)
    levels[order] = descending[is_first][np.cumsum(is_first) - 1]
    return np.round(levels, _DIGITS)


def _sigmoid(odds: np.ndarray) -> np.ndarray:
    probabilities: np.ndarray = 1 / (1 + np.exp(-np.clip(odds, -80, 80)))
    return probabilities


# -- the cache of scores ------------------------------------------------------------------------------------------------


# of a query's texts: [n] float32 log odds of relevance, and span logits, None for a text that was cut or without a joint model
PairScores = tuple[np.ndarray, list[PairSpans | None]]


_Entry = tuple[bytes, list[tuple[int, bytes] | None]]  # `PairScores` as bytes of float32, with the tokens of each pair


class ScoreCache:
    """A cache of `PairScores` by a query and the list of its texts.

    The key has the model's weights and precision (`identity`), the tokens that a pair is cut to, and whether entries have spans.
    """

    def __init__(self, cache: Cache, identity: str, max_length: int, has_spans: bool) -> None:
        self._cache = cache
        self._key = ("scored pairs", identity, max_length, has_spans)

    def get(self, query: str, texts: Sequence[str]) -> PairScores | None:
        """Return the scores of texts for a query, or None."""
        value = self._cache.get(*self._key, _digest([query, *texts]))
        if value is None:
            return None
        try:
            odds, pairs = msgspec.convert(value, _Entry)
        except msgspec.ValidationError:  # an entry of another version: it is computed again
            return None
        spans = [
            None if pair is None else PairSpans(pair[0], np.frombuffer(pair[1], "<f4").copy().reshape(-1, 2))
            for pair in pairs
        ]
        return np.frombuffer(odds, "<f4").copy(), spans

    def put(self, query: str, texts: Sequence[str], scored: PairScores) -> None:
        """Store the scores of texts for a query."""
        odds, spans = scored
        pairs = [None if pair is None else (pair.tokens, pair.logits.astype("<f4").tobytes()) for pair in spans]
        entry = odds.astype("<f4").tobytes(), pairs
        self._cache.put(*self._key, _digest([query, *texts]), value=msgspec.to_builtins(entry))


def _digest(texts: Sequence[str]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for text in texts:
        digest.update(f"{len(text)}:".encode() + text.encode("utf-8", "surrogatepass"))
    return base64.b64encode(digest.digest()).decode()
