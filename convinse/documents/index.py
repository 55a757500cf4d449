"""The index of documents: an SQLite file like a Wikipedia dump, with names, which is updated in place in one transaction."""

from __future__ import annotations

import hashlib
import logging
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ..config import NO_KB
from ..language.text import counted, fold
from ..records.evidence import Evidence, Row
from ..records.written_values import day_in
from ..support.errors import DataError, IndexFileError, one_line
from ..support.files import writing_to
from ..support.progress import progress
from ..wikipedia.dump import WikipediaDump
from ..wikipedia.stored_pages import LAYOUT, SCHEMA, Embedding, changing, pack, put_pages, remove_page, write_meta
from .evidences import FORMAT, NamedThing, document_evidences, item_id
from .files import FoundFile, counted_reason, find_files
from .missing_vectors import WITHOUT_VECTORS, DocumentVectors, bare_documents, embed_documents, store_vectors
from .model import LOCKED, NO_TEXT
from .names import DocumentNames
from .readers import read_document

LOGGER = logging.getLogger(__name__)
FILE = "documents.db"
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
_PAGES_WITH = "FROM head JOIN page ON page.rowid = head.page JOIN file ON file.page = head.page"
_PAIR, _DATED = -1, -2  # in place of the number of a table: the name of a pair, a heading with a date
_MOST_FILES = 2_000  # that are read for one question
_HEADS = 64  # tables of several files in memory, since several turns ask about them
_TOGETHER = 512  # evidences that are written together
_FAULTS = {NO_TEXT: "scans", LOCKED: "locked"}  # other faults: files that cannot be read
RANKER = "snapshot:documents"  # of answers


class DocumentIndex(WikipediaDump):
    """The evidences of documents by item, and the names in the documents; see `update`.

    The names of the same documents are those of the index `before`, which was open until it got further vectors.
    """

    def __init__(self, folder: Path, before: DocumentIndex | None = None) -> None:
        path = folder / FILE
        if not path.is_file():
            raise IndexFileError(f"{folder}: no index of documents; make it with convinse index PATH --output {folder}")
        super().__init__(path)
        if before is not None and before.content_id == self.content_id and "names" in before.__dict__:
            self.names = before.names

    @cached_property
    def names(self) -> DocumentNames:
        """The names of the documents."""
        things: list[NamedThing] = []
        for item, encoded in self._select("item, names FROM named ORDER BY page, rowid"):
            label, *others = msgspec.json.decode(encoded, type=list[str])
            things.append(({"id": item, "label": label}, (label, *others)))
        return DocumentNames(things, self.content_id)

    searches_words = True

    def _open(self) -> None:
        super()._open()
        self.content_id = self.build_id  # of the documents, whichever vectors there are
        self.without_vectors = bare_documents(self._select(WITHOUT_VECTORS)) if self.vectors_of else []
        if self.without_vectors:  # other results than those with all vectors
            missing = repr([document.digest for document in self.without_vectors])
            self.build_id += f" without {hashlib.sha256(missing.encode()).hexdigest()[:16]}"

    @contextmanager
    def unchanging(self) -> Iterator[None]:
        """Read a single state of the index while the block runs: a change waits for its end."""
        if self._connection.in_transaction:
            yield
            return
        self._connection.execute("BEGIN")
        try:
            self._select("value FROM meta LIMIT 1")  # the state is that of the first look
            yield
        finally:
            with suppress(sqlite3.ProgrammingError):  # the block has closed the index
                self._connection.execute("COMMIT")

    def missing_vectors(self, embedding: Embedding) -> Iterator[list[DocumentVectors]]:
        """Yield the vectors of documents without them, some documents at a time. Raises `IndexFileError`."""
        if self.vectors_of != embedding.model:
            return
        try:
            yield from embed_documents(self._connection, self.without_vectors, embedding)
        except sqlite3.Error as error:
            raise IndexFileError(f"{self.path}: cannot be read ({one_line(error)}); try again") from None

    def rows_alike(self, page: str, table: int) -> list[Row]:
        """See the base class; of the first files by their names."""
        heads = self._select(
            "head.name FROM head JOIN page ON page.rowid = head.page WHERE id = ? AND part = ?", page, table
        )
        return self._rows_below(heads[0][0]) if heads else self.table(page, table)

    @cached_property
    def _rows_below(self) -> Callable[[str], list[Row]]:
        @lru_cache(_HEADS)
        def rows(head: str) -> list[Row]:
            tables = self._select(
                f"page.id, part {_PAGES_WITH} WHERE head.name = ? ORDER BY file.name, part LIMIT ?",
                head,
                _MOST_FILES + 1,
            )
            return [row for page, table in _first(tables) for row in self.table(page, table)]

        return rows

    @cached_property
    def pair_names(self) -> Sequence[str]:
        """See the base class."""
        return [name for (name,) in self._select("DISTINCT name FROM head WHERE part = ? ORDER BY name", _PAIR)]

    def with_pairs(self, names: Sequence[str]) -> list[Evidence]:
        """See the base class; of the first files by their names."""
        return self._pairs_of(tuple(names))

    @cached_property
    def _pairs_of(self) -> Callable[[tuple[str, ...]], list[Evidence]]:
        @lru_cache(_HEADS)
        def pairs(names: tuple[str, ...]) -> list[Evidence]:
            places = ", ".join("?" * len(names))
            pages = self._select(
                f"DISTINCT page.id {_PAGES_WITH} WHERE part = ? AND head.name IN ({places}) ORDER BY file.name LIMIT ?",
                _PAIR, *names, _MOST_FILES + 1,
            )  # fmt: skip
            return [
                evidence for (page,) in _first(pages) for evidence in self.get(page) or () if "attribute" in evidence
            ]

        return pairs

    @cached_property
    def dated_sections(self) -> list[Evidence]:
        """See the base class; of the first files by their names."""
        pages = self._select(
            f"DISTINCT page.id {_PAGES_WITH} WHERE part = ? ORDER BY file.name LIMIT ?", _DATED, _MOST_FILES + 1
        )
        return [evidence for (page,) in _first(pages) for evidence in _with_dates(self.get(page) or ()).values()]

    def sizes(self) -> dict[str, int]:
        """See the base class."""
        return {"files": sum(not file.fault for file in self.files())}

    def files(self) -> list[ListedFile]:
        """Return what was read of each file, by its name."""
        rows = self._select("name, title, counts, left_out, fault FROM file ORDER BY name")
        return [
            ListedFile(name, title, Counter(msgspec.json.decode(counts)), left_out, fault)
            for name, title, counts, left_out, fault in rows
        ]

    def sha256(self, name: str) -> str:
        """Return the SHA-256 of a file as it was read; empty if the index does not have it."""
        rows = self._select("sha256 FROM file WHERE name = ?", name)
        return str(rows[0][0]) if rows else ""

    def coverage(self) -> str:
        """Say how many files were read, and how many were not, by the reason: `212 read, 3 skipped (2 scans, 1 locked)`."""
        rows = self._select("fault, left_out != '', count(*) FROM file GROUP BY 1, 2")
        read, in_part = (sum(count for fault, part, count in rows if not fault and part >= least) for least in (0, 1))
        skipped: Counter[str] = Counter()
        for fault, _, count in rows:
            if fault:
                skipped[_FAULTS.get(fault, "that cannot be read")] += count
        for (left_out,) in self._select("value FROM meta WHERE key = 'left_out'"):
            skipped.update(msgspec.json.decode(left_out, type=dict[str, int]))
        parts = [f"{read:,} read"]
        if in_part:
            parts.append(f"{in_part:,} of them in part")
        if skipped:
            reasons = ", ".join(counted_reason(count, reason) for reason, count in sorted(skipped.items()))
            parts.append(f"{skipped.total():,} skipped ({reasons})")
        return ", ".join(parts)

    def states(self) -> dict[str, tuple[int, int]]:
        """Return the size and the time of change (nanoseconds) of each file as it was read."""
        return {name: (size, modified) for name, size, modified in self._select("name, size, modified FROM file")}

    def _select(self, selection: str, *values: object) -> list[Any]:
        try:
            return self._connection.execute(f"SELECT {selection}", values).fetchall()
        except sqlite3.Error as error:
            raise IndexFileError(f"{self.path}: cannot be read ({one_line(error)}); build it again") from None


class ListedFile(NamedTuple):
    """A file as it was read: its evidences by source; `left_out` says what was not read, `fault` why nothing was."""

    name: str
    title: str
    counts: Counter[str]
    left_out: str
    fault: str


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


def settings_over(folder: Path) -> dict[str, Any]:
    """Return the settings of a configuration that answers from an index alone."""
    return {
        "kb_path": NO_KB,
        "clocq_use_api": False,
        "ers_on_the_fly": False,
        "ers_passage_index": None,
        "ers_wikipedia_dump": None,
        "ers_documents": str(folder),
        "ha_ranker": RANKER,
    }


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


def amounts(counts: Mapping[str, int]) -> str:
    """Return the numbers of evidences by source in words: `1 passage, 7 rows`; empty without any."""
    words = {"text": "passage", "table": "row", "info": "value"}
    return ", ".join(counted(counts[source], word) for source, word in words.items() if counts.get(source))


class _File(NamedTuple):
    page: int
    size: int
    modified: int
    sha256: str


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
        rows = connection.execute("SELECT name, page, size, modified, sha256 FROM file")
        self._stored = {name: _File(*rest) for name, *rest in rows}
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
        return stored is not None and (stored.size, stored.modified) == (file.size, file.modified)

    def _take(self, file: FoundFile) -> str:
        stored = self._stored.get(file.name)
        try:
            data = file.path.read_bytes()
            digest = hashlib.sha256(data).hexdigest()
            if stored is not None and stored.sha256 == digest:
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
        if stored.page:
            remove_page(self._connection, item_id(name))
            self._has_removed = True
            for table in ("named", "head"):
                self._connection.execute(f"DELETE FROM {table} WHERE page = ?", (stored.page,))
        self._connection.execute("DELETE FROM file WHERE name = ?", (name,))


def _first(rows: list[Any]) -> list[Any]:
    if len(rows) > _MOST_FILES:
        LOGGER.warning("only the first %s files with such rows are listed and counted", f"{_MOST_FILES:,}")
    return rows[:_MOST_FILES]


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
        yield _PAIR, name
    for heading in _with_dates(evidences):
        yield _DATED, heading


def _with_dates(evidences: Sequence[Evidence]) -> dict[str, Evidence]:
    """Return the first evidence below each heading with a day, or of a document with such a title, by these."""
    found: dict[str, Evidence] = {}
    for evidence in evidences:
        title = evidence["wikidata_entities"][0]["label"] if evidence["wikidata_entities"] else ""
        heading = (evidence["citation"]["headings"] or [title])[-1]
        if heading not in found and day_in(heading):
            found[heading] = evidence
    return found
