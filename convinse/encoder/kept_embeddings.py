"""Embeddings that are kept: what a bi-encoder has computed once is found again, in half precision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..support.vector_cache import VectorCache
    from .bi_encoder import BiEncoder

_KEEP_EVERY = 4096  # embeddings: what a killed run loses at most


class KeptEmbeddings:
    """A bi-encoder and what keeps its embeddings from call to call and run to run.

    Args:
        bi_encoder: computes what is not known; also for texts that are not to be kept.
        vectors: keeps them; None computes all anew, with the same results.
    """

    def __init__(self, bi_encoder: BiEncoder, vectors: VectorCache | None = None) -> None:
        self.bi_encoder = bi_encoder
        self._vectors = vectors

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """[n, d] float16 of distinct texts, each row of about length 1.

        Raises:
            ModelError: an embedding is not a number.
            CacheError: they cannot be read or kept.
        """
        if self._vectors is None:
            return self.bi_encoder.embed(texts).astype(np.float16)
        vectors, known = self._vectors.get(texts)
        unknown = np.flatnonzero(~known)
        for start in range(0, len(unknown), _KEEP_EVERY):
            places = unknown[start : start + _KEEP_EVERY]
            fresh = [texts[place] for place in places]
            vectors[places] = self.bi_encoder.embed(fresh).astype(np.float16)
            self._vectors.put(fresh, vectors[places])
        return vectors
