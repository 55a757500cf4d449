"""The index of documents: an SQLite file like a Wikipedia dump, with names, which `update` changes in place."""

from __future__ import annotations

import hashlib
import logging
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ..config import NO_KB
from ..language.text import counted
from ..records.evidence import Evidence, Row
from ..records.written_values import day_in
from ..support.errors import IndexFileError, one_line
from ..wikipedia.dump import WikipediaDump
from ..wikipedia.stored_pages import Embedding
from .evidences import NamedThing
from .files import counted_reason
from .missing_vectors import WITHOUT_VECTORS, DocumentVectors, bare_documents, embed_documents
from .model import LOCKED, NO_TEXT
from .names import DocumentNames

LOGGER = logging.getLogger(__name__)
FILE = "documents.db"
_PAGES_WITH = "FROM head JOIN page ON page.rowid = head.page JOIN file ON file.page = head.page"
PAIR, DATED = -1, -2  # in place of the number of a table: the name of a pair, a heading with a date
_MOST_FILES = 2_000  # that are read for one question
_HEADS = 64  # tables of several files in memory, since several turns ask about them
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
        return [name for (name,) in self._select("DISTINCT name FROM head WHERE part = ? ORDER BY name", PAIR)]

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
                PAIR, *names, _MOST_FILES + 1,
            )  # fmt: skip
            return [
                evidence for (page,) in _first(pages) for evidence in self.get(page) or () if "attribute" in evidence
            ]

        return pairs

    @cached_property
    def dated_sections(self) -> list[Evidence]:
        """See the base class; of the first files by their names."""
        pages = self._select(
            f"DISTINCT page.id {_PAGES_WITH} WHERE part = ? ORDER BY file.name LIMIT ?", DATED, _MOST_FILES + 1
        )
        return [evidence for (page,) in _first(pages) for evidence in with_dates(self.get(page) or ()).values()]

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


def amounts(counts: Mapping[str, int]) -> str:
    """Return the numbers of evidences by source in words: `1 passage, 7 rows`; empty without any."""
    words = {"text": "passage", "table": "row", "info": "value"}
    return ", ".join(counted(counts[source], word) for source, word in words.items() if counts.get(source))


def _first(rows: list[Any]) -> list[Any]:
    if len(rows) > _MOST_FILES:
        LOGGER.warning("only the first %s files with such rows are listed and counted", f"{_MOST_FILES:,}")
    return rows[:_MOST_FILES]


def with_dates(evidences: Sequence[Evidence]) -> dict[str, Evidence]:
    """Return the first evidence below each heading with a day, or of a document with such a title, by these."""
    found: dict[str, Evidence] = {}
    for evidence in evidences:
        title = evidence["wikidata_entities"][0]["label"] if evidence["wikidata_entities"] else ""
        heading = (evidence["citation"]["headings"] or [title])[-1]
        if heading not in found and day_in(heading):
            found[heading] = evidence
    return found
