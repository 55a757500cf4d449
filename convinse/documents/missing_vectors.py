"""The documents of an index that have no vectors yet, and the vectors to store of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from ..records.evidence import Evidence
from ..wikipedia.stored_pages import Embedding, evidences_in

_TOGETHER = 512  # evidences that are embedded together
# a selection of documents without vectors, in the order in which they are read; those without evidences have none
WITHOUT_VECTORS = """
file.page, file.digest, file.counts FROM file LEFT JOIN vectors ON vectors.page = file.page
WHERE vectors.page IS NULL AND file.page != 0 AND file.counts != '{"pages":1}' ORDER BY file.name
"""


class BareDocument(NamedTuple):
    """A document without vectors: its row, the digest of its content, and the number of its evidences."""

    row: int
    digest: str
    evidences: int


DocumentVectors = tuple[BareDocument, bytes]  # the vectors of a document, as they are stored


def bare_documents(rows: Iterable[tuple[int, str, str]]) -> list[BareDocument]:
    """Return the documents without vectors, from the rows of the selection."""
    decoded = ((row, digest, msgspec.json.decode(counts, type=dict[str, int])) for row, digest, counts in rows)
    return [BareDocument(row, digest, sum(counts.values()) - counts["pages"]) for row, digest, counts in decoded]


def embed_documents(
    connection: sqlite3.Connection, documents: Sequence[BareDocument], embedding: Embedding
) -> Iterator[list[DocumentVectors]]:
    """Yield the vectors of documents, some documents at a time."""
    waiting: list[tuple[BareDocument, list[Evidence]]] = []
    for number, document in enumerate(documents, 1):
        for (blob,) in connection.execute("SELECT evidences FROM page WHERE rowid = ?", (document.row,)).fetchall():
            waiting.append((document, evidences_in(blob)))
        if number == len(documents) or sum(len(evidences) for _, evidences in waiting) >= _TOGETHER:
            packed = embedding.packed([evidences for _, evidences in waiting])
            yield [(document, numbers) for (document, _), numbers in zip(waiting, packed, strict=True)]
            waiting.clear()


def store_vectors(connection: sqlite3.Connection, vectors: Iterable[DocumentVectors]) -> None:
    """Store vectors, without those of documents that were changed or removed meanwhile: no file has their digest."""
    connection.executemany(
        "INSERT OR IGNORE INTO vectors SELECT page, ? FROM file WHERE page = ? AND digest = ?",
        ((numbers, document.row, document.digest) for document, numbers in vectors),
    )
