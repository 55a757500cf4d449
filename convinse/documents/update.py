"""Updates the index of documents in place, in one transaction: new and changed files are read, missing files are removed."""

from __future__ import annotations

import hashlib
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from ..language.text import fold
from ..records.evidence import Evidence
from ..support.errors import DataError, one_line
from ..support.files import writing_to
from ..support.progress import progress
from ..wikipedia.stored_pages import LAYOUT, SCHEMA, Embedding, changing, pack, put_pages, remove_page, write_meta
from .evidences import FORMAT, NamedThing, document_evidences, item_id
from .files import FoundFile, counted_reason, find_files
from .index import DATED, FILE, PAIR, amounts, with_dates
from .missing_vectors import WITHOUT_VECTORS, bare_documents, embed_documents, store_vectors
from .readers import read_document

_TABLES = """
CREATE TABLE file (
    name TEXT PRIMARY KEY, page INTEGER NOT NULL, size INTEGER NOT NULL, modified INTEGER NOT NULL, sha256 TEXT NOT NULL,
    digest TEXT NOT NULL, counts TEXT NOT NULL, fault TEXT NOT NULL, title TEXT NOT NULL, left_out TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE named (page INTEGER NOT NULL, item TEXT NOT NULL, names TEXT NOT NULL);
CREATE INDEX named_page ON named (page);
CREATE TABLE head (page INTEGER NOT NULL, part INTEGER NOT NULL, name TEXT NOT NULL);
CREATE INDEX head_page ON head (page);
CREATE INDEX head_name ON head (name);
"""
_TOGETHER = 512  # evidences that are written together


class Updated(NamedTuple):
    """The counts of an update: files by their change, faults, and reasons to leave files out."""

    added: int
    changed: int
    removed: int
    unchanged: int
    faults: dict[str, str]  # of files that could not be read
    left_out: Counter[str]
    counts: Counter[str]  # evidences by source, and `pages`
    in_part: int  # files of which something was left out
    without_vectors: int  # evidences that are found by their words alone, until `vectors.add_vectors`


def update(
    folder: Path,
    paths: Sequence[Path],
    embedding: Embedding | None,
    quiet: bool = True,
    strict: bool = False,
    words_first: bool = False,
) -> Updated:
    """Update an index to the files at and below paths: new and changed files are read, missing files are removed.

    The update is one transaction: a reader sees the old state or the new one. The same files give the same answers after any
    sequence of updates. With another `embedding` than before all files are read again; if `strict`, a file that cannot be read
    is an error, and nothing changes. With `words_first` new documents are found by their words alone until `vectors.add_vectors`.

    Raises:
        DataError: a path does not exist, or none of its files can be read.
        OutputError: the index cannot be written, or another process is changing it.
    """
    files, left_out = find_files(paths)

    def check(done: Updated) -> None:
        if strict and done.faults:
            raise DataError("; ".join(f"{name}: {fault}" for name, fault in done.faults.items()))
        if not done.counts["pages"]:
            reasons = [f"{name}: {fault}" for name, fault in list(done.faults.items())[:3]]
            reasons += [counted_reason(number, reason) for reason, number in left_out.items()]
            shown = "; ".join(reasons) or "no files"
            raise DataError(
                f"{', '.join(map(str, paths))}: no file can be read ({shown}); name files of text, such as .txt or .md"
            )

    return update_to(folder, files, left_out, embedding, quiet, check, words_first)


def update_to(
    folder: Path,
    files: Sequence[FoundFile],
    left_out: Counter[str],
    embedding: Embedding | None,
    quiet: bool = True,
    check: Callable[[Updated], None] = lambda _: None,
    words_first: bool = True,
) -> Updated:
    """Update an index to these files as `update` does, and note what was left out; an error of `check` undoes it."""
    with writing_to(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with changing(folder / FILE, folder) as connection:
        done = _Change(connection, embedding, quiet, words_first).make(files, left_out)
        check(done)
    return done


class _New(NamedTuple):
    file: FoundFile
    sha256: str
    evidences: list[Evidence]
    named: list[NamedThing]
    left_out: str


class _Change:
    def __init__(
        self, connection: sqlite3.Connection, embedding: Embedding | None, quiet: bool, words_first: bool
    ) -> None:
        self._connection, self._embedding, self._quiet = connection, embedding, quiet
        self._words_first = words_first
        connection.execute("PRAGMA secure_delete = ON")  # what is removed is overwritten with zeros
        self._has_removed = False
        self._read: Counter[str] = Counter()  # new evidences by source
        self._new: list[_New] = []
        self._faults: dict[str, str] = {}
        self._make_tables()
        cursor = connection.cursor()
        cursor.row_factory = sqlite3.Row
        rows: list[sqlite3.Row] = cursor.execute("SELECT name, page, size, modified, sha256 FROM file").fetchall()
        self._stored = {row["name"]: row for row in rows}
        if self._stored:  # readers wait for the end of the transaction only, not while a part of it goes to the disk
            connection.execute("PRAGMA cache_spill = OFF")

    def _make_tables(self) -> None:
        execute = self._connection.execute
        version = f"{FORMAT} {LAYOUT} {'' if self._embedding is None else self._embedding.name}"
        tables = {row[0] for row in execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if "meta" in tables and (version,) in execute("SELECT value FROM meta WHERE key = 'documents'"):
            return
        for table in (
            "words",
            "meta",
            "page",
            "vectors",
            "file",
            "named",
            "head",
        ):  # of another version or another model
            execute(f"DROP TABLE IF EXISTS {table}")
        for statement in (SCHEMA + _TABLES).split(";"):  # a script would end the transaction
            execute(statement)
        execute("INSERT INTO meta VALUES ('documents', ?)", (version,))

    def make(self, files: Sequence[FoundFile], left_out: Counter[str]) -> Updated:
        changes: Counter[str] = Counter()
        for name in self._stored.keys() - {file.name for file in files}:
            self._remove(name)
            changes["removed"] += 1
        new = [file for file in files if not self._is_unchanged(file)]
        changes["unchanged"] += len(files) - len(new)
        is_quiet, read = self._quiet or not new, self._read
        with progress("reading documents", len(new), "files", is_quiet, note=lambda: amounts(read)) as advance:
            for file in new:
                changes[self._take(file)] += 1
                advance()
        self._write()
        if (
            self._has_removed
        ):  # else words of removed documents stay in the parts of the full-text index, marked as gone
            self._connection.execute("INSERT INTO words (words) VALUES ('optimize')")
        without_vectors = self._add_vectors()
        self._note(left_out)
        total, counts = 0, Counter({"pages": 0})
        for digest, of_file in self._connection.execute("SELECT digest, counts FROM file WHERE digest != ''"):
            total += int(digest, 16)
            counts.update(msgspec.json.decode(of_file))
        self._faults.update(self._connection.execute("SELECT name, fault FROM file WHERE fault != ''"))
        (in_part,) = self._connection.execute("SELECT count(*) FROM file WHERE left_out != ''").fetchone()
        if self._connection.total_changes:  # without changes a running server need not open it again
            write_meta(self._connection, total, "" if self._embedding is None else self._embedding.name, counts)
        return Updated(
            changes["added"], changes["changed"], changes["removed"], changes["unchanged"],
            dict(sorted(self._faults.items())), left_out, counts, in_part, without_vectors,
        )  # fmt: skip

    def _note(self, left_out: Counter[str]) -> None:
        """Store the numbers of files that are not read, but those that were to be passed over."""
        counts = {reason: number for reason, number in sorted(left_out.items()) if "hidden" not in reason}
        value = msgspec.json.encode(counts).decode()
        execute = self._connection.execute
        if (value,) not in execute("SELECT value FROM meta WHERE key = 'left_out'"):
            execute("INSERT OR REPLACE INTO meta VALUES ('left_out', ?)", (value,))

    def _add_vectors(self) -> int:
        """Make the missing vectors, unless words come first; return the number of those that are missing then."""
        if self._embedding is None:
            return 0
        documents = bare_documents(self._connection.execute(f"SELECT {WITHOUT_VECTORS}").fetchall())
        if self._words_first:
            return sum(document.evidences for document in documents)
        for made in embed_documents(self._connection, documents, self._embedding):
            store_vectors(self._connection, made)
        return 0

    def _is_unchanged(self, file: FoundFile) -> bool:
        stored = self._stored.get(file.name)
        return stored is not None and (stored["size"], stored["modified"]) == (file.size, file.modified)

    def _take(self, file: FoundFile) -> str:
        stored = self._stored.get(file.name)
        try:
            data = file.path.read_bytes()
            digest = hashlib.sha256(data).hexdigest()
            if stored is not None and stored["sha256"] == digest:
                self._connection.execute("UPDATE file SET modified = ? WHERE name = ?", (file.modified, file.name))
                return "unchanged"
            document = read_document(file.name, data)
            evidences, named = document_evidences(file.name, document)
        except DataError as error:
            self._remove(file.name)
            self._insert(file, 0, digest, "", "{}", one_line(error))
            return "faulty"
        except OSError as error:  # not stored: the next update reads the file again
            self._remove(file.name)
            self._faults[file.name] = error.strerror or one_line(error)
            return "faulty"
        self._read.update(evidence["source"] for evidence in evidences)
        self._new.append(_New(file, digest, evidences, named, "; ".join(document.left_out)))
        if sum(len(new.evidences) for new in self._new) >= _TOGETHER:
            self._write()
        return "added" if stored is None else "changed"

    def _write(self) -> None:
        """Write the new documents without vectors."""
        pages = []
        for new in self._new:
            self._remove(new.file.name)
            item = item_id(new.file.name)
            # the same row after any sequence of updates
            pages.append(pack(item, new.evidences)._replace(row=int(item[1:])))
        put_pages(self._connection, pages, None)
        for (file, digest, evidences, named, left_out), page in zip(self._new, pages, strict=True):
            things = (
                (page.row, entity["id"], msgspec.json.encode([entity["label"], *names])) for entity, names in named
            )
            self._connection.executemany("INSERT INTO named VALUES (?, ?, ?)", things)
            heads = ((page.row, part, name) for part, name in _heads(evidences))
            self._connection.executemany("INSERT INTO head VALUES (?, ?, ?)", heads)
            counts = msgspec.json.encode(page.counts).decode()
            (document, _), *_ = named
            self._insert(file, page.row, digest, f"{page.digest:064x}", counts, "", document["label"], left_out)
        self._new.clear()

    def _insert(
        self,
        file: FoundFile,
        page: int,
        sha256: str,
        digest: str,
        counts: str,
        fault: str,
        title: str = "",
        left_out: str = "",
    ) -> None:
        values = file.name, page, file.size, file.modified, sha256, digest, counts, fault, title, left_out
        self._connection.execute(f"INSERT INTO file VALUES ({', '.join('?' * len(values))})", values)

    def _remove(self, name: str) -> None:
        stored = self._stored.pop(name, None)
        if stored is None:
            return
        if stored["page"]:
            remove_page(self._connection, item_id(name))
            self._has_removed = True
            for table in ("named", "head"):
                self._connection.execute(f"DELETE FROM {table} WHERE page = ?", (stored["page"],))
        self._connection.execute("DELETE FROM file WHERE name = ?", (name,))


def _heads(evidences: Sequence[Evidence]) -> Iterator[tuple[int, str]]:
    """Yield the numbers of tables with their headers, and the names of pairs."""
    columns: dict[int, dict[int, str]] = defaultdict(dict)  # by the number of the table
    names = set[str]()
    for evidence in evidences:
        if "row" in evidence:
            cells = {cell["column"]: fold(cell["header"]) for cell in evidence["row"]["cells"]}
            columns[evidence["row"]["table"]] |= cells
        elif "attribute" in evidence:
            names.add(evidence["attribute"]["path"][-1])
    for table, headers in columns.items():
        if any(headers.values()):
            yield table, "\t".join(headers[column] for column in sorted(headers))
    for name in sorted(names):
        yield PAIR, name
    for heading in with_dates(evidences):
        yield DATED, heading
