"""A Wikidata JSON dump into an index folder: `kb.db` (SQLite) and `manifest.json`."""

from __future__ import annotations

import hashlib
import sqlite3
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import msgspec

from ..errors import DataError
from ..files import replacing, sha256
from ..text import fold
from .dump import Document, Statement, read_dump

FORMAT = 1
DATABASE = "kb.db"
MANIFEST = "manifest.json"
_INSTANCE_OF, _SUBCLASS_OF, _OCCUPATION = "P31", "P279", "P106"

_SCHEMA = """
CREATE TABLE entity (id TEXT PRIMARY KEY, label TEXT NOT NULL, description TEXT NOT NULL, title TEXT NOT NULL,
                     aliases TEXT NOT NULL, frequency INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE surface (form TEXT NOT NULL, id TEXT NOT NULL, is_label INTEGER NOT NULL,
                      PRIMARY KEY (form, id)) WITHOUT ROWID;
CREATE TABLE title (title TEXT PRIMARY KEY, id TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE type (id TEXT NOT NULL, kind TEXT NOT NULL, type TEXT NOT NULL, PRIMARY KEY (id, kind, type)) WITHOUT ROWID;
CREATE TABLE fact (number INTEGER PRIMARY KEY, parts TEXT NOT NULL);
CREATE TABLE neighbor (id TEXT NOT NULL, place INTEGER NOT NULL, number INTEGER NOT NULL,
                       PRIMARY KEY (id, place, number)) WITHOUT ROWID;
"""


class Manifest(msgspec.Struct, forbid_unknown_fields=False):
    """What an index folder says of itself; `build_id` depends on the documents and the format only."""

    format: int
    build_id: str
    items: int
    properties: int
    facts: int
    size: int
    sha256: str


def build(dump: Path, output: Path) -> Manifest:
    """Build the index of a dump; an older one at `output` is replaced when the new one is whole.

    Raises:
        DataError: the dump cannot be read or holds no facts.
        OutputError: `output` cannot be written.
    """
    with replacing(output) as folder:
        folder.mkdir()
        manifest = _write(read_dump(dump), folder / DATABASE, str(dump))
        (folder / MANIFEST).write_bytes(msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n")
    return manifest


def _write(documents: Iterable[Document], path: Path, where: str) -> Manifest:
    connection = sqlite3.connect(path)
    connection.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;" + _SCHEMA)
    kinds: Counter[str] = Counter()
    frequency: Counter[str] = Counter()
    digest = hashlib.sha256(f"format {FORMAT}".encode())
    number = 0
    with connection:
        for document in documents:
            digest.update(repr(document).encode())
            kinds[document.kind] += 1
            _insert_entity(connection, document)
            for statement in sorted(document.statements, key=lambda s: not s.preferred):
                if document.kind == "property":
                    continue
                _insert_fact(connection, number, document.id, statement, frequency)
                number += 1
        connection.executemany("UPDATE entity SET frequency = ? WHERE id = ?", ((n, i) for i, n in frequency.items()))
    if not number:
        raise DataError(f"{where}: no facts; is this a Wikidata JSON dump?")
    connection.execute("VACUUM")
    connection.close()
    return Manifest(FORMAT, digest.hexdigest()[:16], kinds["item"], kinds["property"], number, path.stat().st_size, sha256(path))


def _insert_entity(connection: sqlite3.Connection, document: Document) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO entity VALUES (?, ?, ?, ?, ?, 0)",
        (document.id, document.label, document.description, document.title, msgspec.json.encode(document.aliases).decode()),
    )
    forms = {fold(alias): False for alias in document.aliases} | {fold(document.label): True}
    connection.executemany(
        "INSERT OR REPLACE INTO surface VALUES (?, ?, ?)",
        ((form, document.id, is_label) for form, is_label in forms.items() if form),
    )
    if document.title:
        connection.execute("INSERT OR IGNORE INTO title VALUES (?, ?)", (document.title, document.id))
    for statement in document.statements:
        prop, value = statement.parts[0]
        if prop in (_INSTANCE_OF, _SUBCLASS_OF, _OCCUPATION) and value.label is None:
            connection.execute("INSERT OR IGNORE INTO type VALUES (?, ?, ?)", (document.id, prop, value.id))


def _insert_fact(
    connection: sqlite3.Connection, number: int, subject: str, statement: Statement, frequency: Counter[str]
) -> None:
    parts: list[list[str | None]] = [[subject]]
    neighbors = {subject: 0}
    for place, (prop, value) in enumerate(statement.parts, 1):
        parts.append([prop])
        parts.append([value.id] if value.label is None else [value.id, value.label, value.unit])
        if value.label is None:
            neighbors.setdefault(value.id, min(place, 2))
    connection.execute("INSERT INTO fact VALUES (?, ?)", (number, msgspec.json.encode(parts).decode()))
    connection.executemany("INSERT INTO neighbor VALUES (?, ?, ?)", ((i, place, number) for i, place in neighbors.items()))
    frequency.update(neighbors.keys())
