"""Folders of the full-text engine (tantivy): written whole, opened without changing them."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from .errors import IndexFileError, one_line

_LOCKS = (".tantivy-meta.lock", ".tantivy-writer.lock")


class FullTextWriter:
    """Writes documents into a new folder, in the order in which they come; `with` ends its threads.

    Args:
        path: the folder.
        schema: the fields, a `tantivy.Schema`.
        heap: bytes that wait in memory; more documents than fit there become several segments.
    """

    def __init__(self, path: Path, schema: Any, heap: int) -> None:
        import tantivy

        path.mkdir()
        self._path = path
        self._writer = tantivy.Index(schema, path=str(path)).writer(heap_size=heap, num_threads=1)

    def add(self, document: Any) -> None:
        """Append a `tantivy.Document`."""
        self._writer.add_document(document)

    def __enter__(self) -> FullTextWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if kind is None:
            self._writer.commit()
        self._writer.wait_merging_threads()
        for lock in _LOCKS:
            (self._path / lock).touch()  # the engine makes them when it reads; so reading changes nothing


class FullText:
    """A folder of the engine, opened to search; `schema` and `searcher` are the engine's.

    Raises:
        IndexFileError: it cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        import tantivy

        try:
            index = tantivy.Index.open(str(path if os.access(path, os.W_OK) else self._linked(path)))
            index.reload()
            self.schema: Any = index.schema
            self.searcher: Any = index.searcher()
        except Exception as error:  # the engine raises ValueError and its own kinds
            raise IndexFileError(f"{path}: cannot be opened: {one_line(error)}; build it again") from None

    def _linked(self, path: Path) -> Path:
        """A temporary folder of links to a read-only index: the engine writes a lock file even to read."""
        self._links = tempfile.TemporaryDirectory(prefix="convinse-index-")
        for file in path.iterdir():
            if file.name not in _LOCKS:
                (Path(self._links.name) / file.name).symlink_to(file.resolve())
        return Path(self._links.name)
