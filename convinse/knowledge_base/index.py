"""An index folder, opened for look-ups: labels, aliases, types, neighbourhoods, titles."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ..errors import IndexFileError, one_line
from ..evidence import Entity
from .build import DATABASE, FORMAT, MANIFEST, Manifest

Fact = list[Entity]
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
            self._connection = sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False)
        except (OSError, sqlite3.Error) as error:
            raise IndexFileError(f"{database}: cannot be opened: {one_line(error)}; build it again") from None
        if size != self.manifest.size:
            raise IndexFileError(f"{database}: {size} bytes where the manifest says {self.manifest.size}; build it again")
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

    def _read_label(self, entity_id: str) -> str:
        rows = self._rows("SELECT label FROM entity WHERE id = ?", entity_id)
        return rows[0][0] if rows else entity_id

    def label(self, entity_id: str) -> str:
        """The label of an item or a property; the id itself where there is none."""
        return self._label(entity_id)

    def entity(self, entity_id: str) -> Entity:
        """Id and label."""
        return {"id": entity_id, "label": self.label(entity_id)}

    def has(self, entity_id: str) -> bool:
        """Whether there is a document of that id."""
        return bool(self._rows("SELECT 1 FROM entity WHERE id = ?", entity_id))

    def aliases(self, entity_id: str) -> list[str]:
        """The aliases of an item or a property."""
        rows = self._rows("SELECT aliases FROM entity WHERE id = ?", entity_id)
        return msgspec.json.decode(rows[0][0]) if rows else []

    def description(self, entity_id: str) -> str:
        """The description, or an empty string."""
        rows = self._rows("SELECT description FROM entity WHERE id = ?", entity_id)
        return rows[0][0] if rows else ""

    def frequency(self, entity_id: str) -> int:
        """In how many facts an item occurs."""
        rows = self._rows("SELECT frequency FROM entity WHERE id = ?", entity_id)
        return rows[0][0] if rows else 0

    def titles(self) -> dict[str, str]:
        """Wikipedia title -> item."""
        return dict(self._rows("SELECT title, id FROM title"))  # type: ignore[arg-type]

    def properties(self) -> Iterable[tuple[str, str, list[str]]]:
        """Id, label and aliases of every property."""
        for entity_id, label, aliases in self._rows("SELECT id, label, aliases FROM entity WHERE id >= 'P' AND id < 'Q'"):
            yield entity_id, label, msgspec.json.decode(aliases)

    def _read_types(self, entity_id: str) -> tuple[str, ...]:
        """Labels of what an item is: instance of, occupation, and the classes above; lower case, nearest first."""
        level = [row[0] for row in self._rows("SELECT type FROM type WHERE id = ? AND kind IN ('P31', 'P106')", entity_id)]
        found = dict.fromkeys(level)
        for _ in range(_SUBCLASS_DEPTH):
            level = [
                row[0] for type_id in level for row in self._rows("SELECT type FROM type WHERE id = ? AND kind = 'P279'", type_id)
            ]
            found |= dict.fromkeys(level)
        return tuple(self.label(type_id).lower() for type_id in found)

    def candidates(self, form: str) -> list[Candidate]:
        """The items whose folded label or alias is `form`."""
        rows = self._rows(
            "SELECT entity.id, label, is_label, frequency FROM surface JOIN entity ON entity.id = surface.id "
            "WHERE form = ? AND entity.id >= 'Q'",
            form,
        )
        return [Candidate(entity_id, label, bool(is_label), frequency) for entity_id, label, is_label, frequency in rows]

    def forms(self) -> list[str]:
        """All folded labels and aliases of items, sorted."""
        return [row[0] for row in self._rows("SELECT DISTINCT form FROM surface WHERE id >= 'Q' ORDER BY form")]

    def neighborhood(self, entity_id: str, limit: int = 1000) -> list[Fact]:
        """The facts that an item occurs in: as subject first, then as object, then in qualifiers; at most `limit`."""
        rows = self._rows(
            "SELECT parts FROM neighbor JOIN fact ON fact.number = neighbor.number WHERE id = ? ORDER BY place, neighbor.number LIMIT ?",
            entity_id,
            limit,
        )
        return [self._fact(row[0]) for row in rows]

    def neighbors(self, entity_id: str, limit: int = 1000) -> set[str]:
        """The items that share a fact with an item (its `limit` first facts)."""
        found = {entity["id"] for fact in self.neighborhood(entity_id, limit) for entity in fact[::2]}
        return found - {entity_id}

    def _fact(self, parts: str) -> Fact:
        fact = []
        for part in msgspec.json.decode(parts):
            if len(part) == 1:
                fact.append({"id": part[0], "label": self.label(part[0])})
            else:
                unit = f" {self.label(part[2])}" if part[2] else ""
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
