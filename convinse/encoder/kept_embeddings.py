"""Vectors that are kept: what a model has computed of a text once is found again; embeddings of evidences in half precision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..support.vector_cache import VectorCache
    from .bi_encoder import BiEncoder

_KEEP_EVERY = 4096  # vectors: what a killed run loses at most


def found_or_computed(
    texts: Sequence[str], vectors: VectorCache, compute: Callable[[Sequence[str]], np.ndarray]
) -> np.ndarray:
    """[n, d] vectors of distinct texts: those that are kept, and all others computed and kept from now on.

    What is computed is returned as it is kept, so that the next run finds the same.
    """
    given, known = vectors.get(texts)
    unknown = np.flatnonzero(~known)
    for start in range(0, len(unknown), _KEEP_EVERY):
        places = unknown[start : start + _KEEP_EVERY]
        new = [texts[place] for place in places]
        given[places] = compute(new)
        vectors.put(new, given[places])
    return given


class KeptEmbeddings:
    """A bi-encoder and what keeps its embeddings from call to call and run to run.

    Args:
        bi_encoder: computes what is not known.
        vectors: keeps those of evidences; None computes all anew, with the same results.
        questions: keeps those of questions, as they were computed; None computes all anew.
    """

    def __init__(
        self, bi_encoder: BiEncoder, vectors: VectorCache | None = None, questions: VectorCache | None = None
    ) -> None:
        self.bi_encoder = bi_encoder
        self._vectors, self._questions = vectors, questions

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """[n, d] float16 of distinct texts, each row of about length 1.

        Raises:
            ModelError: an embedding is not a number.
            CacheError: they cannot be read or kept.
        """
        if self._vectors is None:
            return self.bi_encoder.embed(texts).astype(np.float16)
        return found_or_computed(texts, self._vectors, self.bi_encoder.embed)

    def embed_questions(self, questions: Sequence[str]) -> np.ndarray:
        """[n, d] float32, each row of length 1; raises what `embed` does."""
        if self._questions is None:
            return self.bi_encoder.embed(questions)
        distinct = list(dict.fromkeys(questions))
        place_of = {question: place for place, question in enumerate(distinct)}
        kept = found_or_computed(distinct, self._questions, self.bi_encoder.embed)
        return kept[[place_of[question] for question in questions]]
