"""Embeddings of texts by a BERT: mean-pooled or [CLS], of length 1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..support.vectors import VectorCache
from .checkpoint import Checkpoint
from .engine import prepare_blocks
from .pool import ModelHead


class BiEncoder(ModelHead):
    """A model that embeds texts; the dot product of two embeddings is their cosine. See `ModelHead` for the arguments.

    Any Hugging Face checkpoint of a BERT-like model will do, sentence-transformers' folders included: their `1_Pooling` sets
    the pooling (mean, or the vector of [CLS]); without it token vectors are averaged. Other poolings are refused.
    """

    task = "embedding"

    def __init__(self, model: str | Path | Checkpoint, device: str | None = None, **options: Any) -> None:
        super().__init__(model, device, **options)
        self.dimension = self.engine.backend.dimension
        self.weights_id = self.model_id  # the same however it computes
        self.model_id = f"{self.model_id}/{self.tokenizer.max_length}/{self.engine.backend.identity}"

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return [n, dimension] float32 embeddings, each row of length 1."""
        distinct = list(dict.fromkeys(texts))
        vectors = np.empty((len(distinct), self.dimension), dtype=np.float32)
        for start, sequences in prepare_blocks(distinct, self.tokenizer.singles):
            for places, (batch,) in self.engine.run(sequences, ["embedding"]):
                vectors[start + places] = batch
        self._check_numbers("embedding", vectors, distinct)
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        place_of = {text: place for place, text in enumerate(distinct)}
        return vectors[[place_of[text] for text in texts]]


class KeptEmbeddings:
    """A bi-encoder with caches of its embeddings of evidences (`vectors`) and of questions; without one all are computed anew.

    `stored` returns the vectors [n, d] of texts in a dump, and whether the dump has them, bool [n].
    """

    def __init__(
        self,
        bi_encoder: BiEncoder,
        vectors: VectorCache | None = None,
        questions: VectorCache | None = None,
        stored: Callable[[Sequence[str]], tuple[np.ndarray, np.ndarray]] | None = None,
    ) -> None:
        self.bi_encoder = bi_encoder
        self._vectors, self._questions, self._stored = vectors, questions, stored

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return [n, d] float16 of distinct texts, each row of about length 1. Raises `ModelError`: one is not a number."""
        if self._stored is None:
            return self._cached(texts)
        stored, is_stored = self._stored(texts)
        vectors, rest = stored.astype(np.float16), np.flatnonzero(~is_stored)
        if len(rest):
            vectors[rest] = self._cached([texts[place] for place in rest.tolist()])
        return vectors

    def _cached(self, texts: Sequence[str]) -> np.ndarray:
        if self._vectors is None:
            return self.bi_encoder.embed(texts).astype(np.float16)
        return self._vectors.found_or_computed(texts, self.bi_encoder.embed)

    def embed_questions(self, questions: Sequence[str]) -> np.ndarray:
        """Return [n, d] float32, each row of length 1; raises what `embed` does."""
        if self._questions is None:
            return self.bi_encoder.embed(questions)
        return self._questions.found_or_computed(questions, self.bi_encoder.embed)
