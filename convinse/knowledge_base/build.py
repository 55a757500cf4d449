"""A Wikidata JSON dump into an index folder: `kb.db` (SQLite) and `manifest.json`."""

from __future__ import annotations

import hashlib
import logging
import sqlite3
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import msgspec

from ..errors import DataError, OutputError
from ..files import replacing, sha256
from ..text import fold
from .dump import Document, Statement, read_dump

LOGGER = logging.getLogger(__name__)
FORMAT = 1
DATABASE = "kb.db"
MANIFEST = "manifest.json"
_HUMAN = "Q5"
_NAME_SUFFIXES = frozenset(("jr", "sr", "ii", "iii", "iv"))
_INSTANCE_OF, _SUBCLASS_OF, _OCCUPATION = "P31", "P279", "P106"

# Items are their number, properties its negative: half the size of the ids as text.
_SCHEMA = """
CREATE TABLE entity (id INTEGER PRIMARY KEY, label TEXT NOT NULL, description TEXT NOT NULL, title TEXT NOT NULL,
                     aliases TEXT NOT NULL, frequency INTEGER NOT NULL);
CREATE TABLE surface (form TEXT NOT NULL, id INTEGER NOT NULL, is_label INTEGER NOT NULL,
                      PRIMARY KEY (form, id)) WITHOUT ROWID;
CREATE TABLE surname (form TEXT NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (form, id)) WITHOUT ROWID;
CREATE TABLE type (id INTEGER NOT NULL, kind INTEGER NOT NULL, type INTEGER NOT NULL,
                   PRIMARY KEY (id, kind, type)) WITHOUT ROWID;
CREATE INDEX type_of ON type (type);
CREATE TABLE fact (number INTEGER PRIMARY KEY, parts TEXT NOT NULL);
CREATE TABLE neighbor (id INTEGER NOT NULL, place INTEGER NOT NULL, number INTEGER NOT NULL,
                       PRIMARY KEY (id, place, number)) WITHOUT ROWID;
"""


def id_number(entity_id: str) -> int:
    """`Q42` -> 42, `P31` -> -31."""
    return int(entity_id[1:]) if entity_id[0] == "Q" else -int(entity_id[1:])


def number_id(number: int) -> str:
    """The inverse of `id_number`."""
    return f"Q{number}" if number > 0 else f"P{-number}"


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
        OutputError: `output` cannot be written, or is something else than an index.
    """
    if output.exists() and not (output / MANIFEST).is_file():
        raise OutputError(f"{output}: exists and is no knowledge base; choose another folder, or remove it")
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
            if not _insert_entity(connection, document):
                LOGGER.warning("%s: %s appears twice; the second is skipped", where, document.id)
                continue
            digest.update(repr(document).encode())
            kinds[document.kind] += 1
            for statement in sorted(document.statements, key=lambda s: not s.preferred):
                if document.kind == "property":
                    continue
                _insert_fact(connection, number, document.id, statement, frequency)
                number += 1
        connection.executemany(
            "UPDATE entity SET frequency = ? WHERE id = ?", ((n, id_number(i)) for i, n in frequency.items())
        )
    if not number:
        raise DataError(f"{where}: no facts; is this a Wikidata JSON dump?")
    connection.execute("VACUUM")
    connection.close()
    return Manifest(
        FORMAT, digest.hexdigest()[:16], kinds["item"], kinds["property"], number, path.stat().st_size, sha256(path)
    )


def _insert_entity(connection: sqlite3.Connection, document: Document) -> bool:
    """Insert what is known of an entity besides its facts; False when it is there already."""
    cursor = connection.execute(
        "INSERT OR IGNORE INTO entity VALUES (?, ?, ?, ?, ?, 0)",
        (
            id_number(document.id),
            document.label,
            document.description,
            document.title,
            msgspec.json.encode(document.aliases).decode(),
        ),
    )
    if not cursor.rowcount:
        return False
    forms = {fold(alias): False for alias in document.aliases} | {fold(document.label): True}
    connection.executemany(
        "INSERT OR REPLACE INTO surface VALUES (?, ?, ?)",
        ((form, id_number(document.id), is_label) for form, is_label in forms.items() if form),
    )
    for statement in document.statements:
        prop, value = statement.parts[0]
        if prop in (_INSTANCE_OF, _SUBCLASS_OF, _OCCUPATION) and value.label is None:
            if value.id == _HUMAN:
                _insert_surname(connection, document)
            connection.execute(
                "INSERT OR IGNORE INTO type VALUES (?, ?, ?)",
                (id_number(document.id), id_number(prop), id_number(value.id)),
            )
    return True


def _insert_surname(connection: sqlite3.Connection, document: Document) -> None:
    """The last word of a person's name, `Jr.` and the like aside."""
    words = [word for word in fold(document.label).split() if word not in _NAME_SUFFIXES]
    if len(words[-1:]) == 1 and words[-1] != fold(document.label):
        connection.execute("INSERT OR IGNORE INTO surname VALUES (?, ?)", (words[-1], id_number(document.id)))


def _insert_fact(
    connection: sqlite3.Connection, number: int, subject: str, statement: Statement, frequency: Counter[str]
) -> None:
    parts: list[int | list[str | int | None]] = [id_number(subject)]
    neighbors = {subject: 0}
    for place, (prop, value) in enumerate(statement.parts, 1):
        parts.append(id_number(prop))
        if value.label is None:
            parts.append(id_number(value.id))
            neighbors.setdefault(value.id, min(place, 2))
        else:
            parts.append([value.id, value.label, id_number(value.unit) if value.unit else None])
    connection.execute("INSERT INTO fact VALUES (?, ?)", (number, msgspec.json.encode(parts).decode()))
    connection.executemany(
        "INSERT INTO neighbor VALUES (?, ?, ?)", ((id_number(i), place, number) for i, place in neighbors.items())
    )
    frequency.update(neighbors.keys())
