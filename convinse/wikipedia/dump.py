"""The Wikipedia dump: one SQLite file, item id -> evidences, opened without loading."""

from __future__ import annotations

import hashlib
import logging
import sqlite3
import zlib
from collections.abc import Iterable
from pathlib import Path

import msgspec

from ..errors import IndexFileError, one_line
from ..evidence import Evidence
from ..files import replacing
from .page import FORMAT

LOGGER = logging.getLogger(__name__)
_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE page (id TEXT PRIMARY KEY, evidences BLOB NOT NULL) WITHOUT ROWID;
"""


class WikipediaDump:
    """Evidences by item, read by key; several processes may read one file.

    Raises:
        IndexFileError: the file is missing, damaged or of another format.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.is_file():
            raise IndexFileError(f"{path}: no such Wikipedia dump; check ers_wikipedia_dump")
        try:
            self._connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, check_same_thread=False)
            meta = dict(self._connection.execute("SELECT key, value FROM meta").fetchall())
        except sqlite3.Error as error:
            raise IndexFileError(f"{path}: not a Wikipedia dump ({one_line(error)}); build it again") from None
        if meta.get("format") != str(FORMAT):
            raise IndexFileError(
                f"{path}: format {meta.get('format')}, this version reads format {FORMAT}; build it again"
            )
        self.build_id = meta["build_id"]

    def get(self, item_id: str) -> list[Evidence] | None:
        """The evidences of an item's page, or None when the dump has no such page."""
        try:
            row = self._connection.execute("SELECT evidences FROM page WHERE id = ?", (item_id,)).fetchone()
            return None if row is None else msgspec.json.decode(zlib.decompress(row[0]))
        except (sqlite3.Error, zlib.error, msgspec.DecodeError) as error:
            raise IndexFileError(f"{self.path}: damaged at {item_id} ({one_line(error)}); build it again") from None

    def __len__(self) -> int:
        return self._connection.execute("SELECT count(*) FROM page").fetchone()[0]

    def items(self) -> list[str]:
        """The ids of all items that have a page."""
        return [row[0] for row in self._connection.execute("SELECT id FROM page ORDER BY id")]

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def write_dump(path: Path, pages: Iterable[tuple[str, list[Evidence]]]) -> int:
    """Write (item id, evidences) pairs into a new dump, put in place when it is whole; returns their number."""
    digest = hashlib.sha256(f"format {FORMAT}".encode())
    count = 0
    with replacing(path) as temporary:
        connection = sqlite3.connect(temporary)
        connection.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;" + _SCHEMA)
        with connection:
            for item_id, evidences in pages:
                data = msgspec.json.encode(evidences)
                row = (item_id, zlib.compress(data, 9))
                if connection.execute("INSERT OR IGNORE INTO page VALUES (?, ?)", row).rowcount:
                    digest.update(item_id.encode() + b"\n" + data)
                    count += 1
                else:
                    LOGGER.warning("%s: a second page of %s is skipped", path, item_id)
            meta = {"format": str(FORMAT), "build_id": digest.hexdigest()[:16]}
            connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
        connection.close()
    return count
