"""Watches files and folders, and keeps their index up to date while others ask."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from ..support.errors import one_line
from ..wikipedia.stored_pages import Embedding
from .files import FoundFile, find_files
from .index import DocumentIndex
from .update import update_to
from .vectors import add_vectors

LOGGER = logging.getLogger(__name__)
_PAUSE = 0.5  # seconds between two looks; a change is taken at the second look that finds the file the same
_SHARE = 0.1  # of a processor at most: a look at 10,000 files takes 0.09 s
_PATIENCE = 10.0  # seconds for the work under way when the block ends; unfinished changes are undone


class Watcher:
    """A thread that looks at files again and again, and updates their index when some come, change or go.

    A file that differs in two looks is being written, and stays as it was. The thread also makes the vectors that the index
    lacks. A failure is logged in one line, once, and the thread goes on. Use it in a `with` block; it ends with the block.

    Args:
        folder: of the index, which exists.
        paths: the files and folders that it is of.
        embedding: that of the index.
    """

    def __init__(self, folder: Path, paths: Sequence[Path], embedding: Embedding | None) -> None:
        self._folder, self._paths, self._embedding = folder, paths, embedding
        with closing(DocumentIndex(folder)) as index:
            self._indexed = index.states()
            self._faults = {(file.name, file.fault) for file in index.files() if file.fault}
            self._has_vectors = not index.without_vectors
        self._files: list[FoundFile] = []  # that are to be indexed
        self._left_out: Counter[str] = Counter()
        self._before: dict[str, FoundFile] | None = None  # at the last look
        self._next_look = 0.0
        self._reason = ""
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watcher", daemon=True)

    def __enter__(self) -> Watcher:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._thread.join(_PATIENCE)

    def _run(self) -> None:
        while not self._stopping.wait(max(0.0, self._next_look - time.monotonic())):
            try:
                if self._is_changed():
                    self._update()
                elif not self._has_vectors and self._embedding is not None:
                    add_vectors(self._folder, self._embedding, is_stopped=self._has_else_to_do)
                    self._has_vectors = not self._has_else_to_do()
                self._reason = ""
            except Exception as error:  # whatever fails now may work at the next look: the thread goes on
                if one_line(error) != self._reason:
                    self._reason = one_line(error)
                    LOGGER.warning("%s; answers are from the files as they were read before", self._reason)

    def _has_else_to_do(self) -> bool:
        return self._stopping.is_set() or (time.monotonic() >= self._next_look and self._is_changed())

    def _is_changed(self) -> bool:
        """Look at the files; return True if those that are not being written differ from the indexed ones."""
        start = time.monotonic()
        try:
            files, self._left_out = find_files(self._paths)
            found = {file.name: file for file in files}
        finally:
            end = time.monotonic()
            self._next_look = end + max(_PAUSE, (end - start) / _SHARE)
        before, self._before = self._before, found
        if before is None:
            return False
        self._files = []
        for name, file in found.items():
            if before.get(name) == file:
                self._files.append(file)
            elif name in self._indexed:
                size, modified = self._indexed[name]
                self._files.append(file._replace(size=size, modified=modified))
        return _states(self._files) != self._indexed

    def _update(self) -> None:
        done = update_to(self._folder, self._files, self._left_out, self._embedding)
        self._indexed = _states(self._files)
        self._has_vectors = not done.without_vectors
        faults = set(done.faults.items())
        for name, fault in sorted(faults - self._faults):
            LOGGER.warning("%s: %s", name, fault)
        self._faults = faults


def _states(files: Sequence[FoundFile]) -> dict[str, tuple[int, int]]:
    return {file.name: (file.size, file.modified) for file in files}
