"""The index of documents: one SQLite file, a Wikipedia dump with names, which is changed in place in one transaction."""

from __future__ import annotations

import hashlib
import logging
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ..config import NO_KB
from ..records.evidence import Evidence
from ..support.errors import DataError, DependencyError, IndexFileError, one_line
from ..support.files import writing_to
from ..support.progress import Advance, progress
from ..wikipedia.dump import WikipediaDump
from ..wikipedia.stored_pages import (
    LAYOUT,
    SCHEMA,
    Embedding,
    PackedPage,
    changing,
    make_words,
    pack,
    put_pages,
    remove_page,
    write_meta,
)
from .evidences import FORMAT, NamedThing, document_evidences, item_id
from .files import FoundFile, find_files
from .names import DocumentNames
from .readers import read_document

LOGGER = logging.getLogger(__name__)
FILE = "documents.db"
_TABLES = """
CREATE TABLE file (
    name TEXT PRIMARY KEY, page INTEGER NOT NULL, size INTEGER NOT NULL, modified INTEGER NOT NULL, sha256 TEXT NOT NULL,
    digest TEXT NOT NULL, counts TEXT NOT NULL, fault TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE named (page INTEGER NOT NULL, item TEXT NOT NULL, names TEXT NOT NULL);
CREATE INDEX named_page ON named (page);
"""
_TOGETHER = 512  # evidences that are embedded together
RANKER = "snapshot:documents"  # of answers


class DocumentIndex(WikipediaDump):
    """The evidences of documents by item, as those of a dump, and their names.

    Args:
        folder: of `update`.

    Raises:
        IndexFileError: it is missing, damaged or of another format.
    """

    def __init__(self, folder: Path) -> None:
        path = folder / FILE
        if not path.is_file():
            raise IndexFileError(f"{folder}: no index of documents; make it with convinse index PATH --output {folder}")
        super().__init__(path)

    @cached_property
    def names(self) -> DocumentNames:
        """The names of the documents."""
        with _reading(self.path.parent):
            rows = self._connection.execute("SELECT item, names FROM named ORDER BY page, rowid").fetchall()
        return DocumentNames((_read_thing(*row) for row in rows), self.build_id)

    def files(self) -> list[tuple[str, str]]:
        """The names of all files, each with why it could not be read, or an empty string."""
        with _reading(self.path.parent):
            return list(self._connection.execute("SELECT name, fault FROM file ORDER BY name"))


def _read_thing(item: str, names: str) -> NamedThing:
    label, *aliases = msgspec.json.decode(names, type=list[str])
    return NamedThing({"id": item, "label": label}, (label, *aliases))


@contextmanager
def _reading(folder: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise IndexFileError(f"{folder}: cannot be read ({one_line(error)}); remove it and build it again") from None


class Updated(NamedTuple):
    """What a change of an index did: files by what became of them, and why others were left out."""

    added: int
    changed: int
    removed: int
    unchanged: int
    faults: dict[str, str]  # of files that could not be read
    left_out: Counter[str]
    counts: Counter[str]  # evidences by source, and `pages`


def settings_over(folder: Path) -> dict[str, Any]:
    """The settings of a configuration that asks about an index alone."""
    no_others = {"kb_path": NO_KB, "clocq_use_api": False, "ers_on_the_fly": False, "ers_passage_index": None}
    return {**no_others, "ers_wikipedia_dump": str(folder), "ha_ranker": RANKER}


def update(
    folder: Path, paths: Sequence[Path], embedding: Embedding | None, quiet: bool = True, strict: bool = False
) -> Updated:
    """Let an index hold the files at and below paths: what is new or changed is read, what is gone is removed.

    The change is one transaction: a reader sees the old state or the new one, whatever happens meanwhile. The same files give the
    same answers, however often and in whatever order they came.

    Args:
        folder: of the index; it is made where there is none.
        paths: files and folders.
        embedding: makes the vectors by which evidences are found; another one than before reads all files again.
        quiet: show no progress.
        strict: a file that cannot be read is an error, and nothing changes.

    Raises:
        DataError: a path does not exist, or nothing in it can be read.
        OutputError: the index cannot be written, or another process is changing it.
    """
    files, left_out = find_files(paths)
    with writing_to(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with (
        changing(folder / FILE, folder) as connection,
        progress("reading documents", len(files), "files", quiet) as advance,
    ):
        done = _Change(connection, embedding, advance).make(files)
        if strict and done.faults:
            raise DataError("; ".join(f"{name}: {fault}" for name, fault in done.faults.items()))
        if not done.counts["pages"]:
            raise DataError(
                f"{', '.join(map(str, paths))}: no file can be read{_told(done.faults, left_out)}; name files of text, such as .txt, .md, .html or .csv"
            )
    return done._replace(left_out=left_out)


def _told(faults: dict[str, str], left_out: Counter[str]) -> str:
    reasons = [
        *(f"{name} {fault}" for name, fault in list(faults.items())[:3]),
        *(f"{n} {why}" for why, n in left_out.items()),
    ]
    return f" ({'; '.join(reasons)})" if reasons else ""


class _File(NamedTuple):
    page: int
    size: int
    modified: int
    sha256: str
    fault: str


class _New(NamedTuple):
    file: FoundFile
    sha256: str
    evidences: list[Evidence]
    named: list[NamedThing]


def _packed(item: str, evidences: list[Evidence]) -> PackedPage:
    return pack(item, evidences)._replace(row=int(item[1:]))  # whatever came before it


class _Change:
    """One change of an index, in the transaction of a connection."""

    def __init__(self, connection: sqlite3.Connection, embedding: Embedding | None, advance: Advance) -> None:
        self._connection, self._embedding, self._advance = connection, embedding, advance
        self._new: list[_New] = []
        self._faults: dict[str, str] = {}
        self._begin()
        rows = connection.execute("SELECT name, page, size, modified, sha256, fault FROM file")
        self._known = {name: _File(*rest) for name, *rest in rows}

    def _begin(self) -> None:
        """Make the tables; what another version or another model wrote is left out."""
        written = f"{FORMAT} {LAYOUT} {'' if self._embedding is None else self._embedding.name}"
        tables = {row[0] for row in self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if "meta" in tables and (written,) in self._connection.execute(
            "SELECT value FROM meta WHERE key = 'documents'"
        ):
            return
        for table in ("words", "meta", "page", "vectors", "file", "named"):
            if table in tables:
                self._connection.execute(f"DROP TABLE {table}")
        for statement in (SCHEMA + _TABLES).split(";"):  # a script would end the transaction
            self._connection.execute(statement)
        make_words(self._connection)
        self._connection.execute("INSERT INTO meta VALUES ('documents', ?)", (written,))

    def make(self, files: Sequence[FoundFile]) -> Updated:
        """Read what is new or changed, and remove what is gone."""
        counted: Counter[str] = Counter()
        for name in self._known.keys() - {file.name for file in files}:
            self._remove(name)
            counted["removed"] += 1
        for file in files:
            counted[self._take(file)] += 1
            self._advance()
        self._write()
        total, counts = 0, Counter({"pages": 0})
        for digest, own in self._connection.execute("SELECT digest, counts FROM file WHERE digest != ''"):
            total += int(digest, 16)
            counts.update(msgspec.json.decode(own))
        if self._connection.total_changes:  # else a running server need not read the same again
            write_meta(self._connection, total, "" if self._embedding is None else self._embedding.name, counts)
        return Updated(
            added=counted["added"],
            changed=counted["changed"],
            removed=counted["removed"],
            unchanged=counted["unchanged"],
            faults=self._faults,
            left_out=Counter(),
            counts=counts,
        )

    def _take(self, file: FoundFile) -> str:
        known = self._known.get(file.name)
        if known is not None and (known.size, known.modified) == (file.size, file.modified):
            self._note_fault(file.name, known.fault)
            return "unchanged"
        try:
            data = file.path.read_bytes()
            digest = hashlib.sha256(data).hexdigest()
            if known is not None and known.sha256 == digest:
                self._connection.execute("UPDATE file SET modified = ? WHERE name = ?", (file.modified, file.name))
                self._note_fault(file.name, known.fault)
                return "unchanged"
            evidences, named = document_evidences(file.name, read_document(file.name, data))
        except (DataError, DependencyError, OSError) as error:
            self._remove(file.name)
            self._note_fault(file.name, one_line(error))
            if isinstance(error, DataError):  # else it may be read the next time
                self._insert(file, 0, digest, "", "{}", one_line(error))
            return "faulty"
        self._new.append(_New(file, digest, evidences, named))
        if sum(len(own.evidences) for own in self._new) >= _TOGETHER:
            self._write()
        return "added" if known is None else "changed"

    def _note_fault(self, name: str, fault: str) -> None:
        if fault:
            self._faults[name] = fault

    def _write(self) -> None:
        """Write the documents that were read, their evidences embedded together."""
        if not self._new:
            return
        pages = [_packed(item_id(file.name), evidences) for file, _, evidences, _ in self._new]
        for own in self._new:
            self._remove(own.file.name)
        put_pages(self._connection, pages, self._embedding)
        for (file, digest, _, named), page in zip(self._new, pages, strict=True):
            things = (
                (page.row, entity["id"], msgspec.json.encode([entity["label"], *names])) for entity, names in named
            )
            self._connection.executemany("INSERT INTO named VALUES (?, ?, ?)", things)
            counts = msgspec.json.encode(page.counts).decode()
            self._insert(file, page.row, digest, f"{page.digest:064x}", counts, "")
        self._new.clear()

    def _insert(self, file: FoundFile, page: int, sha256: str, digest: str, counts: str, fault: str) -> None:
        values = file.name, page, file.size, file.modified, sha256, digest, counts, fault
        self._connection.execute("INSERT INTO file VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)

    def _remove(self, name: str) -> None:
        known = self._known.pop(name, None)
        if known is None:
            return
        if known.page:
            remove_page(self._connection, item_id(name))
            self._connection.execute("DELETE FROM named WHERE page = ?", (known.page,))
        self._connection.execute("DELETE FROM file WHERE name = ?", (name,))
