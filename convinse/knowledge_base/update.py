"""Updates an index with changed entity documents; the result equals a build of the changed dump, byte for byte."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from itertools import chain
from pathlib import Path

import msgspec
import numpy as np

from ..support.errors import DataError, IndexFileError, one_line
from ..support.files import replacing
from ..support.jsonlines import JSON_ERRORS, raw_lines, read_bytes
from ..support.manifest import check_folder, map_array, write_manifest
from .build import KnowledgeBaseWriter, ParsedBlock
from .dump import BESIDE, FETCHED_ENTITY, BadLineError, EntityDocument, LeftOut, is_entity_line, line_faults, parse_line
from .layout import ARRAYS, LITERAL, PROPERTIES, REMEDY, pairs_in, read_manifest, read_properties
from .stored_facts import fact_places

_ID = re.compile(r"[QP][1-9][0-9]{0,9}")
_TOGETHER = 1 << 16  # items that are copied at once


def update(folder: Path, changes: Path, *, memory: int = 4 << 30, quiet: bool = True) -> dict[str, int]:
    """Put changed entity documents into an index, which is replaced when the new one is complete.

    A document replaces the document with its id; new documents come last. Entities are removed if their document says that they
    are missing or redirect to another entity, or if it has no label in the languages of the index any more.
    Returns the numbers of entities that were `added`, `replaced` and `removed`.

    Args:
        folder: of the index.
        changes: a dump as `build` takes it, or an answer of `Special:EntityData` or `wbgetentities`; held in memory.
        memory: bytes that sorting may use, about.
        quiet: show no progress.
    """
    if not folder.is_dir():
        read_manifest(folder)  # raises: the message names the missing file
    with replacing(folder) as new:
        old = _StoredIndex(folder)
        documents = _read_changes(changes, tuple(old.manifest.languages))
        new.mkdir()
        with closing(KnowledgeBaseWriter(new, changes, memory)) as writer:
            for part in old.blocks(documents):
                writer.add(part)
            write_manifest(new, writer.finish(old.manifest.languages, quiet))
    replaced = old.names & documents.keys()
    removed = sum(documents[name] is None for name in replaced)
    added = sum(document is not None for document in documents.values()) - len(replaced) + removed
    return {"added": added, "replaced": len(replaced) - removed, "removed": removed}


class _StoredIndex:
    """An index as blocks of parsed documents."""

    def __init__(self, folder: Path) -> None:
        self.manifest = read_manifest(folder)
        check_folder(folder, IndexFileError, remedy=REMEDY, reads_files=True)  # or damage gets a new checksum
        self._properties = read_properties(folder, (folder / PROPERTIES).read_bytes())
        self._arrays = {
            name: map_array(folder / name, kind, REMEDY) for name, kind in ARRAYS.items() if name != "postings"
        }
        self.names: set[str] = set()  # of entities that changes have, too

    def blocks(self, documents: Mapping[str, EntityDocument | None]) -> Iterator[ParsedBlock]:
        """Yield the blocks of the changed dump; a replaced document keeps its place."""
        items = self._arrays["items"]
        numbers = np.array([int(name[1:]) for name in documents if name[0] == "Q"], items.dtype)
        order = np.argsort(self._arrays["text_start"], kind="stable")  # the places of items as the dump had them
        changed = np.flatnonzero(np.isin(items[order], numbers)).tolist()
        self.names.update(f"Q{number}" for number in items[order[changed]].tolist())
        self.names.update(prop.id for prop in self._properties if prop.id in documents)
        start = 0
        for position in (*changed, len(order)):
            for first in range(start, position, _TOGETHER):
                yield self._unchanged(order[first : min(first + _TOGETHER, position)])
            if position < len(order):
                yield _parsed([documents[f"Q{items[order[position]]}"]])
            start = position + 1
        yield _parsed([document for name, document in documents.items() if name not in self.names or name[0] == "P"])
        owners = self._arrays["form_item"]
        is_unchanged = ~np.isin(owners & (LITERAL - 1), numbers)
        yield ParsedBlock(
            form_hash=array("Q", self._arrays["form_hash"][is_unchanged].tobytes()),
            form_item=array("I", owners[is_unchanged].tobytes()),
            properties=[msgspec.to_builtins(prop) for prop in self._properties if prop.id not in documents],
        )

    def _unchanged(self, places: np.ndarray) -> ParsedBlock:
        arrays = self._arrays
        sizes = arrays["fact_size"][places]
        tokens = arrays["tokens"][_pieces(arrays["fact_start"][places], sizes)]
        inverse = _inverse(tokens, sizes)
        text_sizes = arrays["text_size"][places]
        return ParsedBlock(
            literals=self._number_literals(tokens),
            items=array("I", arrays["items"][places].tobytes()),
            texts=bytearray(arrays["text"][_pieces(arrays["text_start"][places], text_sizes)].tobytes()),
            text_size=array("I", text_sizes.tobytes()),
            tokens=array("I", tokens.tobytes()),
            fact_size=array("I", sizes.tobytes()),
            fact_count=array("I", arrays["fact_count"][places].tobytes()),
            inverse=array("I", inverse.tobytes()),
        )

    def _number_literals(self, tokens: np.ndarray) -> dict[str, int]:
        """Number the literals among tokens anew, in place; return their texts in that order."""
        starts, data = self._arrays["literal_start"], self._arrays["literals"].data
        at = np.flatnonzero(tokens >= LITERAL)
        numbers, first, which = np.unique(tokens[at] - LITERAL, return_index=True, return_inverse=True)
        order = np.argsort(first)
        literals: dict[str, int] = {}
        new = np.zeros(len(numbers), tokens.dtype)
        for place, start, end in zip(
            order.tolist(), starts[numbers[order]].tolist(), starts[numbers[order] + 1].tolist(), strict=True
        ):
            new[place] = literals.setdefault(str(data[start:end], "utf-8"), len(literals))
        tokens[at] = new[which] | LITERAL
        return literals


def _pieces(starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The places of pieces of an array, one behind the other."""
    ends = np.cumsum(sizes, dtype=np.int64)
    shifts: np.ndarray = np.repeat(starts.astype(np.int64) - (ends - sizes), sizes)
    return shifts + np.arange(len(shifts))


def _inverse(tokens: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """`ParsedBlock.inverse` of facts: the items that occur in the facts of others; `sizes` of all facts of an item."""
    ends = np.cumsum(sizes, dtype=np.int64)
    facts = fact_places(tokens, (ends - sizes)[sizes > 0], ends[sizes > 0])
    values = 1 + pairs_in(tokens[facts + 1]).astype(np.int64)
    fact = np.repeat(np.arange(len(facts)), values)
    number = np.arange(len(fact)) - np.repeat(np.cumsum(values) - values, values)  # 0: the object, then qualifiers
    item = tokens[facts[fact] + 2 + 2 * number]
    named = np.flatnonzero((item < LITERAL) & (item != tokens[facts[fact]]))
    _, first = np.unique(fact[named] << 32 | item[named].astype(np.int64), return_index=True)
    once = named[first]
    return np.stack([item[once], facts[fact[once]], number[once] > 0], axis=1).astype("<u4")


def _parsed(documents: Sequence[EntityDocument | None]) -> ParsedBlock:
    part = ParsedBlock()
    for document in documents:
        if document is not None:
            part.add(document)
    return part


_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])


def _read_changes(path: Path, languages: tuple[str, ...]) -> dict[str, EntityDocument | None]:
    """The documents of a file by id, the first of an id; None for removed entities."""
    documents: dict[str, EntityDocument | None] = {}
    faults = line_faults(path)
    for place, line in _entities(path):
        try:
            data = line.strip(BESIDE)
            entity = FETCHED_ENTITY.decode(data)
            if not _is_id(entity.id):
                raise BadLineError(f"{entity.id[:40]!r} is not an id of an item or a property")
            documents.setdefault(entity.id, None if entity.is_missing else parse_line(data, languages, LeftOut()))
            # an answer has a redirected entity under its old id
            for name in {place, "" if entity.redirects is None else entity.redirects.get("from", "")} - {entity.id}:
                if _is_id(name):
                    documents.setdefault(name, None)
        except (*JSON_ERRORS, BadLineError) as error:
            faults.count(1, [(place, one_line(error))])
        else:
            faults.count(1)
    faults.count(0, final=True)
    if not documents:
        raise DataError(f"{path}: holds no entity")
    return documents


def _is_id(name: str) -> bool:
    return _ID.fullmatch(name) is not None and int(name[1:]) < LITERAL


def _entities(path: Path) -> Iterator[tuple[str, bytes]]:
    """The entity documents of a dump, or of an answer of Wikidata, with their places in it."""
    lines = ((f"line {number}", line) for number, line in raw_lines(path) if is_entity_line(line))
    head = next(lines, ("", b""))
    if b'"entities"' in head[1][:1000] or head[1].strip() == b"{":
        entities: dict[str, msgspec.Raw] = {}
        with suppress(*JSON_ERRORS):  # a dump, whose lines follow
            entities = _OBJECT.decode(_OBJECT.decode(read_bytes(path)).get("entities", b"{}"))
        if entities:
            yield from ((name, bytes(data)) for name, data in entities.items())
            return
    if head[1]:
        yield from chain([head], lines)
