"""Makes the vectors that an update with words first left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from functools import lru_cache
from pathlib import Path

import numpy as np

from ..encoder.bi_encoder import BiEncoder
from ..encoder.checkpoint import folder_id, model_path, row_form_of
from ..encoder.exported import is_exported, read_exported
from ..support.progress import progress
from ..wikipedia.stored_pages import Embedding, changing
from .index import FILE, DocumentIndex
from .missing_vectors import DocumentVectors, store_vectors

# evidences whose vectors are stored together, 20 s of work: a killed process loses that, and readers open the index anew each time
_STORED_TOGETHER = 8192


def embedding_of(model: str) -> Embedding:
    """Return the embedding of evidences by a bi-encoder; one with ONNX files is loaded for its first vectors, not before."""
    folder = Path(model_path(model))
    exported = read_exported(folder, f"evs_bi_encoder: {model}") if is_exported(folder) else None
    if exported is not None and "embedding" in exported.outputs:
        load = lru_cache(BiEncoder)

        def embed(texts: Sequence[str]) -> np.ndarray:
            return load(model).embed(texts)

        return Embedding(folder_id(folder), exported.hidden_size, row_form_of(model), embed)
    encoder = BiEncoder(model)
    return Embedding(encoder.weights_id, encoder.dimension, encoder.row_form, encoder.embed)


def add_vectors(
    folder: Path, embedding: Embedding, quiet: bool = True, is_stopped: Callable[[], bool] = lambda: False
) -> None:
    """Make the vectors that `update` with `words_first` left out, in batches that readers see; it goes on where it stopped.

    Raises:
        IndexFileError: the index cannot be read.
        OutputError: it cannot be written.
    """
    with closing(DocumentIndex(folder)) as index:
        total = sum(document.evidences for document in index.without_vectors)
        if not total:
            return
        made: list[DocumentVectors] = []
        with progress("embedding passages", total, "passages", quiet) as advance:
            for some in index.missing_vectors(embedding):
                made += some
                if sum(document.evidences for document, _ in made) >= _STORED_TOGETHER:
                    _store_all(folder, embedding, made)
                advance(sum(document.evidences for document, _ in some))
                if is_stopped():
                    break
            _store_all(folder, embedding, made)


def _store_all(folder: Path, embedding: Embedding, made: list[DocumentVectors]) -> None:
    with changing(folder / FILE, folder) as connection:
        if (embedding.name,) in connection.execute("SELECT value FROM meta WHERE key = 'embeddings'"):
            store_vectors(connection, made)
    made.clear()
