"""An index folder, opened for look-ups: labels, aliases, types, neighbourhoods, titles."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ..errors import IndexFileError, one_line
from ..evidence import Entity
from .build import DATABASE, FORMAT, MANIFEST, Manifest, id_number, number_id

Fact = list[Entity]
_ID = re.compile(r"[QP][1-9]\d{0,17}")
_SUBCLASS_DEPTH = 2  # classes of a class that count as types


class Candidate(NamedTuple):
    """An item that a surface form may mean."""

    id: str
    label: str
    is_label: bool
    frequency: int


class KnowledgeBase:
    """The embedded knowledge base.

    Opening reads the manifest only; the pages of the database are read when needed and shared between processes.

    Args:
        path: the folder that `knowledge_base.build` wrote.

    Raises:
        IndexFileError: the folder is missing, truncated, or of another format.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.manifest = _read_manifest(path)
        database = path / DATABASE
        try:
            size = database.stat().st_size
            self._connection = sqlite3.connect(
                f"{database.resolve().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
            )
        except (OSError, sqlite3.Error) as error:
            raise IndexFileError(f"{database}: cannot be opened: {one_line(error)}; build it again") from None
        if size != self.manifest.size:
            raise IndexFileError(
                f"{database}: {size} bytes where the manifest says {self.manifest.size}; build it again"
            )
        self._label = lru_cache(maxsize=1_000_000)(self._read_label)
        self.types = lru_cache(maxsize=200_000)(self._read_types)

    @property
    def build_id(self) -> str:
        """What results depend on: the same for the same documents and format."""
        return self.manifest.build_id

    def _rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        try:
            return self._connection.execute(sql, values).fetchall()
        except sqlite3.DatabaseError as error:
            raise IndexFileError(f"{self.path / DATABASE}: damaged ({one_line(error)}); build it again") from None

    def _field(self, column: str, entity_id: str) -> Any:
        """A column of an entity's row, or None."""
        rows = (
            self._rows(f"SELECT {column} FROM entity WHERE id = ?", id_number(entity_id))
            if _ID.fullmatch(entity_id)
            else []
        )
        return rows[0][0] if rows else None

    def _read_label(self, entity_id: str) -> str:
        return self._field("label", entity_id) or entity_id

    def label(self, entity_id: str) -> str:
        """The label of an item or a property; the id itself where there is none."""
        return self._label(entity_id)

    def entity(self, entity_id: str) -> Entity:
        """Id and label."""
        return {"id": entity_id, "label": self.label(entity_id)}

    def has(self, entity_id: str) -> bool:
        """Whether there is a document of that id."""
        return self._field("id", entity_id) is not None

    def aliases(self, entity_id: str) -> list[str]:
        """The aliases of an item or a property."""
        return msgspec.json.decode(self._field("aliases", entity_id) or "[]")

    def description(self, entity_id: str) -> str:
        """The description, or an empty string."""
        return self._field("description", entity_id) or ""

    def frequency(self, entity_id: str) -> int:
        """In how many facts an item occurs."""
        return self._field("frequency", entity_id) or 0

    def titles(self) -> dict[str, str]:
        """Wikipedia title -> item."""
        return {
            title: number_id(number) for title, number in self._rows("SELECT title, id FROM entity WHERE title != ''")
        }

    def properties(self) -> Iterable[tuple[str, str, list[str]]]:
        """Id, label and aliases of every property."""
        for number, label, aliases in self._rows("SELECT id, label, aliases FROM entity WHERE id < 0 ORDER BY id DESC"):
            yield number_id(number), label, msgspec.json.decode(aliases)

    def _read_types(self, entity_id: str) -> tuple[str, ...]:
        """Labels of what an item is: instance of, occupation, and the classes above; lower case, nearest first."""
        if not _ID.fullmatch(entity_id):
            return ()
        level = [
            row[0]
            for row in self._rows("SELECT type FROM type WHERE id = ? AND kind IN (-31, -106)", id_number(entity_id))
        ]
        found = dict.fromkeys(level)
        for _ in range(_SUBCLASS_DEPTH):
            level = [
                row[0]
                for number in level
                for row in self._rows("SELECT type FROM type WHERE id = ? AND kind = -279", number)
            ]
            found |= dict.fromkeys(level)
        return tuple(self.label(number_id(number)).lower() for number in found)

    def is_class(self, entity_id: str) -> bool:
        """Whether an item is a class of things: it has a superclass, or something is an instance of it."""
        number = id_number(entity_id)
        return bool(
            self._rows("SELECT 1 FROM type WHERE id = ? AND kind = -279 LIMIT 1", number)
            or self._rows("SELECT 1 FROM type WHERE type = ? LIMIT 1", number)
        )

    def candidates(self, form: str) -> list[Candidate]:
        """The items whose folded label or alias is `form`."""
        rows = self._rows(
            "SELECT entity.id, label, is_label, frequency FROM surface JOIN entity ON entity.id = surface.id "
            "WHERE form = ? AND entity.id > 0",
            form,
        )
        return [
            Candidate(number_id(number), label, bool(is_label), frequency)
            for number, label, is_label, frequency in rows
        ]

    def people(self, surname: str) -> list[Candidate]:
        """The people with a folded surname, the most frequent first."""
        rows = self._rows(
            "SELECT entity.id, label, frequency FROM surname JOIN entity ON entity.id = surname.id WHERE form = ? "
            "ORDER BY frequency DESC, entity.id",
            surname,
        )
        return [Candidate(number_id(number), label, False, frequency) for number, label, frequency in rows]

    def forms(self) -> list[str]:
        """All folded labels and aliases of items, sorted."""
        return [row[0] for row in self._rows("SELECT DISTINCT form FROM surface WHERE id > 0 ORDER BY form")]

    def neighborhood(self, entity_id: str, limit: int = 1000) -> list[Fact]:
        """The facts that an item occurs in: as subject first, then as object, then in qualifiers; at most `limit`."""
        rows = self._rows(
            "SELECT parts FROM neighbor JOIN fact ON fact.number = neighbor.number WHERE id = ? ORDER BY place, neighbor.number LIMIT ?",
            id_number(entity_id) if _ID.fullmatch(entity_id) else 0,
            limit,
        )
        return [self._fact(row[0]) for row in rows]

    def neighbors(self, entity_id: str, limit: int = 1000) -> set[str]:
        """The items that share a fact with an item (its `limit` first facts)."""
        facts = self.neighborhood(entity_id, limit)
        found = {entity["id"] for fact in facts for entity in fact[::2] if _ID.fullmatch(entity["id"])}
        return found - {entity_id}

    def _fact(self, parts: str) -> Fact:
        fact = []
        for part in msgspec.json.decode(parts):
            if isinstance(part, int):
                entity_id = number_id(part)
                fact.append({"id": entity_id, "label": self.label(entity_id)})
            else:
                unit = f" {self.label(number_id(part[2]))}" if part[2] else ""
                fact.append({"id": part[0], "label": part[1] + unit})
        return fact

    def close(self) -> None:
        """Close the database."""
        self._connection.close()


def _read_manifest(path: Path) -> Manifest:
    file = path / MANIFEST
    try:
        manifest = msgspec.json.decode(file.read_bytes(), type=Manifest)
    except OSError as error:
        raise IndexFileError(f"{path}: no knowledge base here ({one_line(error)}); check kb_path") from None
    except msgspec.DecodeError as error:
        raise IndexFileError(f"{file}: damaged ({one_line(error)}); build it again") from None
    if manifest.format != FORMAT:
        raise IndexFileError(f"{file}: format {manifest.format}, this version reads format {FORMAT}; build it again")
    return manifest
