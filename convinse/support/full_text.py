"""Folders of the full-text engine (tantivy): written whole, opened without changing them."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .errors import IndexFileError, one_line, remedy_of
from .files import remove, state_of, system_error

LOCKS = (".tantivy-meta.lock", ".tantivy-writer.lock")


class FullTextWriter:
    """Writes documents into a new folder, in the order in which they come; `with` ends its threads.

    `heap` is bytes that wait in memory; more documents than fit there become several segments.
    """

    def __init__(self, path: Path, schema: Any, heap: int) -> None:
        import tantivy

        path.mkdir()
        self._path = path
        self._mode = stat.S_IMODE(path.stat().st_mode) & 0o666  # what the user lets others do
        with self._writing():
            self._writer = tantivy.Index(schema, path=str(path)).writer(heap_size=heap, num_threads=1)

    def add(self, document: Any) -> None:
        """Append a `tantivy.Document`."""
        with self._writing():
            self._writer.add_document(document)

    def __enter__(self) -> FullTextWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        try:
            with self._writing():
                if kind is None:
                    self._writer.commit()
                self._writer.wait_merging_threads()
        except OSError:
            if kind is None:  # else what went wrong before is what is told
                raise
            return
        for lock in LOCKS:
            (self._path / lock).touch()  # the engine makes them when it reads; so reading changes nothing
        for file in self._path.iterdir():  # the engine's own are for their owner only
            file.chmod(self._mode)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """An error of the engine, which has one kind for all, becomes that of the system behind it."""
        try:
            yield
        except ValueError as error:
            if cause := system_error(error):
                raise cause from error
            raise OSError(f"full-text engine: {one_line(error)} Is the disk full?") from error


class FullText:
    """A folder of the engine, opened to search; `schema` and `searcher` are the engine's. Raises `IndexFileError`."""

    def __init__(self, path: Path) -> None:
        import tantivy

        self._path = path
        with self.reading():
            for file in path.iterdir():
                if not os.access(file, os.R_OK):
                    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(file))
            folder = path
            if not os.access(path, os.W_OK):  # links to a read-only index: the engine writes a lock file even to read
                folder = Path(tempfile.mkdtemp(prefix="convinse-index-"))
                weakref.finalize(self, remove, folder)  # at the latest when nothing needs it
                for file in path.iterdir():
                    if file.name not in LOCKS:
                        (folder / file.name).symlink_to(file.resolve())
            index = tantivy.Index.open(str(folder))
            index.reload()
            self.schema: Any = index.schema
            self.searcher: Any = index.searcher()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Around what the engine does: whatever it says of a damaged file is an `IndexFileError`."""
        try:
            yield
        except BaseException as error:  # ValueError, and kinds of the engine's own that derive from nothing narrower
            if isinstance(error, (KeyboardInterrupt, SystemExit)):
                raise
            raise IndexFileError(
                f"{self._path}: cannot be read: {one_line(error)}; {remedy_of(error, 'build it again')}"
            ) from None


def open_same(path: Path, manifest: Path, state: tuple[int, ...] | None) -> FullText:
    """Open the full-text index of a folder whose manifest was in a state. Raises `IndexFileError`: another build is there now."""
    engine = FullText(path)
    if state_of(manifest) != state:
        raise IndexFileError(f"{manifest.parent}: another build has taken its place since; open it again")
    return engine
