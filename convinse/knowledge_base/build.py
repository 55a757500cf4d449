"""The build of an index folder (see `layout`) from a Wikidata JSON dump, which is streamed in bounded memory.

The dump is read once: processes parse blocks of lines into arrays, which are appended to files. The postings (facts that an
item occurs in as object or in a qualifier) and the names are distributed to buckets on disk, which are sorted one by one.
"""

from __future__ import annotations

import hashlib
import logging
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import BinaryIO

import msgspec
import numpy as np

from ..language.text import fold
from ..support.blocks import Block, cores, in_order, read_blocks
from ..support.errors import DataError, OutputError
from ..support.files import append_array, replacing, write_array
from ..support.full_text import LOCKS
from ..support.manifest import has_kind, measure, write_manifest
from ..support.progress import progress
from .dump import LANGUAGES, BadLineError, EntityDocument, LeftOut, SnakValue, is_entity_line, line_faults, parse_line
from .layout import (
    ARRAYS,
    FORMAT,
    KIND,
    LITERAL,
    MOST_PAIRS,
    NAMES,
    PAIRS_SHIFT,
    PROPERTIES,
    RANK_SHIFT,
    RANKS,
    SEPARATOR,
    KnowledgeBaseManifest,
)
from .names import form_hash, other_forms, write_names

LOGGER = logging.getLogger(__name__)
BLOCK = 8 << 20  # bytes of a block of lines that a process parses
_BUCKET_SHIFT = 20  # a bucket of postings has those of 2 ** 20 items
_FORM_BUCKET_SHIFT = 58  # the upper bits of a hash: 64 buckets of names
_LITERAL_BYTES = 250  # of memory for a cached literal


def build(
    dump: Path, output: Path, *, memory: int = 4 << 30, languages: Sequence[str] = LANGUAGES, quiet: bool = True
) -> KnowledgeBaseManifest:
    """Build the index of a dump; an older index at `output` is replaced when the new index is complete.

    Args:
        dump: a Wikidata JSON dump, plain or packed as `.gz`, `.bz2` or `.zst`.
        output: the folder of the index.
        memory: bytes that the build may use, approximately.
        languages: of labels, descriptions and aliases; the first in which an entity has them.
        quiet: show no progress.
    """
    if output.exists() and not has_kind(output, KIND):
        raise OutputError(f"{output}: exists and is not a knowledge base; choose another folder, or remove it")
    size = max(1, dump.stat().st_size >> 20) if dump.exists() else 1  # MB
    faults = line_faults(dump)
    with replacing(output) as folder:
        folder.mkdir()
        with (
            closing(KnowledgeBaseWriter(folder, dump, memory)) as writer,
            progress(f"reading {dump.name}", size, "MB", quiet) as advance,
        ):

            def blocks() -> Iterator[Block]:
                shown = 0
                for block in read_blocks(dump, BLOCK):
                    advance((block.position >> 20) - shown)
                    shown = block.position >> 20
                    yield block

            arguments = (_parse_block, tuple(languages))
            with closing(in_order(dump, blocks(), partial, arguments, cores(), "try again")) as parts:
                for part in parts:
                    faults.count(part.lines, [(f"line {number}", reason) for number, reason in part.bad])
                    writer.add(part)
            faults.count(0, final=True)
        manifest = writer.finish(list(languages), quiet)
        write_manifest(folder, manifest)
    return manifest


def _parse_block(languages: tuple[str, ...], block: Block) -> ParsedBlock:
    part = ParsedBlock()
    for number, line in block.lines():
        if not is_entity_line(line):
            continue
        part.lines += 1
        try:
            if (document := parse_line(line, languages, part.left_out)) is not None:
                part.add(document)
        except BadLineError as error:
            part.bad.append((number, str(error)))
    return part


_uint32, _uint64 = partial(array, "I"), partial(array, "Q")


@dataclass
class ParsedBlock:
    """The arrays of one block of lines."""

    lines: int = 0
    bad: list[tuple[int, str]] = field(default_factory=list)
    left_out: LeftOut = field(default_factory=LeftOut)
    properties: list[dict[str, object]] = field(default_factory=list)
    items: array[int] = field(default_factory=_uint32)  # in the order of the dump
    texts: bytearray = field(default_factory=bytearray)
    text_size: array[int] = field(default_factory=_uint32)  # of each item
    tokens: array[int] = field(default_factory=_uint32)  # literals numbered within the block
    fact_size: array[int] = field(default_factory=_uint32)  # of each item, in tokens
    fact_count: array[int] = field(default_factory=_uint32)  # of each item
    literals: dict[str, int] = field(default_factory=dict)  # their numbers
    inverse: array[int] = field(default_factory=_uint32)  # (item, place in tokens, 0 as object or 1 in qualifier)
    form_hash: array[int] = field(default_factory=_uint64)
    form_item: array[int] = field(default_factory=_uint32)

    def add(self, document: EntityDocument) -> None:
        """Append the document of an item or a property."""
        if document.kind == "property":
            self.properties.append({"id": document.id, "label": document.label, "aliases": document.aliases})
            return
        item = int(document.id[1:])
        start = len(self.tokens)
        preferred = RANKS.index("preferred")
        for rank, parts in sorted(document.statements, key=lambda statement: statement[0] != preferred):
            place = len(self.tokens)
            (prop, value), *qualifiers = parts[: MOST_PAIRS + 1]
            header = rank << RANK_SHIFT | len(qualifiers) << PAIRS_SHIFT | int(prop[1:])
            self.tokens.extend((item, header, self._token(value)))
            seen = {item}
            self._add_occurrence(value, place, 0, seen)
            for qualifier, qualifier_value in qualifiers:
                self.tokens.extend((int(qualifier[1:]), self._token(qualifier_value)))
                self._add_occurrence(qualifier_value, place, 1, seen)
        fields = (document.label, document.description, document.title, *dict.fromkeys(document.aliases))
        text = SEPARATOR.join(part.replace(SEPARATOR, " ") for part in fields).encode()
        self.items.append(item)
        self.texts += text
        self.text_size.append(len(text))
        self.fact_size.append(len(self.tokens) - start)
        self.fact_count.append(len(document.statements))
        label = document.label
        forms = dict.fromkeys(map(fold, (*document.aliases, *other_forms(label))), item) | {fold(label): item | LITERAL}
        for form, owner in forms.items():
            if form:
                self.form_hash.append(form_hash(form))
                self.form_item.append(owner)

    def _add_occurrence(self, value: SnakValue, place: int, role: int, seen: set[int]) -> None:
        if value.label is None:
            item = int(value.id[1:])
            if item not in seen:
                seen.add(item)
                self.inverse.extend((item, place, role))

    def _token(self, value: SnakValue) -> int:
        if value.label is None:
            return int(value.id[1:])
        text = value.id.replace(SEPARATOR, " ")
        if value.label != value.id or value.unit:
            text += SEPARATOR + (value.label if value.label != value.id else "")
        if value.unit:
            text += SEPARATOR + value.unit
        return LITERAL | self.literals.setdefault(text, len(self.literals))


class KnowledgeBaseWriter:
    """Writes the files of an index from blocks of documents into an empty folder; messages name the `dump`."""

    def __init__(self, folder: Path, dump: Path, memory: int) -> None:
        self._folder, self._dump, self._memory = folder, dump, memory
        self._raw = folder / ".raw"  # files that `finish` sorts and deletes
        self._raw.mkdir()
        self._files: dict[Path, BinaryIO] = {}
        self._literals: dict[str, int] = {}
        self._literal_count = 0
        self._token_count = 0
        self._properties: dict[str, dict[str, object]] = {}
        self._left_out = LeftOut()

    def _append(self, path: Path, data: bytes | bytearray | array[int]) -> None:
        if path not in self._files:
            self._files[path] = path.open("wb")
        self._files[path].write(data)

    def add(self, part: ParsedBlock) -> None:
        """Append the arrays of a block."""
        self._left_out.update(part.left_out)
        for entry in part.properties:
            self._properties.setdefault(str(entry["id"]), entry)
        self._append(self._raw / "items", part.items)
        self._append(self._raw / "text_size", part.text_size)
        self._append(self._raw / "fact_size", part.fact_size)
        self._append(self._raw / "fact_count", part.fact_count)
        self._append(self._folder / "text", part.texts)
        tokens = np.frombuffer(part.tokens, "<u4").copy()
        if part.literals:
            numbers = self._number_literals(part.literals)
            literal = np.flatnonzero(tokens >= LITERAL)  # headers and subjects are smaller
            tokens[literal] = numbers[tokens[literal] - LITERAL] | LITERAL
        self._append(self._folder / "tokens", tokens.tobytes())
        inverse = np.frombuffer(part.inverse, "<u4").reshape(-1, 3)
        rows = np.empty(len(inverse), [("item", "<u4"), ("key", "<u8")])
        rows["item"] = inverse[:, 0]
        place, role = inverse[:, 1].astype("<u8"), inverse[:, 2].astype("<u8")
        # sorts the facts of an item: as object first
        rows["key"] = (role << np.uint64(63)) | (place + np.uint64(self._token_count))
        self._append_to_buckets("postings", rows, rows["item"] >> _BUCKET_SHIFT)
        forms = np.empty(len(part.form_hash), [("hash", "<u8"), ("item", "<u4")])
        forms["hash"] = np.frombuffer(part.form_hash, "<u8")
        forms["item"] = np.frombuffer(part.form_item, "<u4")
        self._append_to_buckets("forms", forms, forms["hash"] >> np.uint64(_FORM_BUCKET_SHIFT))
        self._token_count += len(tokens)

    def _number_literals(self, literals: Iterable[str]) -> np.ndarray:
        texts, sizes, numbers = bytearray(), _uint32(), _uint32()
        for text in literals:
            number = self._literals.get(text)
            if number is None:
                if len(self._literals) * _LITERAL_BYTES > self._memory // 8:
                    self._literals.clear()  # later repetitions are stored again
                number = self._literals[text] = self._literal_count
                data = text.encode()
                texts += data
                sizes.append(len(data))
                self._literal_count += 1
            numbers.append(number)
        self._append(self._folder / "literals", texts)
        self._append(self._raw / "literal_size", sizes)
        return np.frombuffer(numbers, "<u4")

    def _append_to_buckets(self, name: str, rows: np.ndarray, buckets: np.ndarray) -> None:
        order = np.argsort(buckets, kind="stable")
        rows, buckets = rows[order], buckets[order]
        cuts = np.flatnonzero(np.diff(buckets)) + 1
        starts = [0, *cuts.tolist()] if len(rows) else []
        for start, end in zip(starts, [*cuts.tolist(), len(rows)], strict=False):
            self._append(self._raw / f"{name}.{int(buckets[start]):05d}", rows[start:end].tobytes())

    def close(self) -> None:
        """Close the files that documents are appended to."""
        for file in self._files.values():
            file.close()

    def finish(self, languages: list[str], quiet: bool) -> KnowledgeBaseManifest:
        """Sort the arrays, index the names, and return the manifest of the files. Raises `DataError` if there are no facts."""
        self.close()
        self._literals.clear()
        sorted_items, fact_count, skipped = self._sort_items()
        facts = int(fact_count.sum())
        left_out = "; ".join(f"{count:,} {name}" for name, count in self._left_out.most_common(5))
        if not facts:
            remedy = "is this a Wikidata JSON dump, and --language of its labels?"
            raise DataError(f"{self._dump}: no facts{f' (left out: {left_out})' if left_out else ''}; {remedy}")
        if left_out:
            LOGGER.info("%s: left out: %s", self._dump, left_out)
        literal_size = self._read_raw("literal_size", "<u4")
        self._save("literal_start", np.concatenate([[0], np.cumsum(literal_size, dtype="<u8")]))
        inverse_count, is_wide = self._sort_postings(sorted_items, skipped)
        with (self._folder / "form_hash").open("wb") as hashes, (self._folder / "form_item").open("wb") as owners:
            for rows in self._buckets("forms", [("hash", "<u8"), ("item", "<u4")]):
                rows = np.unique(rows)  # the names of repeated documents are there twice
                append_array(hashes, rows["hash"])
                append_array(owners, rows["item"])
        for name in ("literals", "text", "tokens"):  # files without content were not opened
            (self._folder / name).touch()
        properties = sorted(self._properties.values(), key=lambda entry: int(str(entry["id"])[1:]))
        (self._folder / PROPERTIES).write_bytes(msgspec.json.encode(properties))
        write_names(self._folder, sorted_items, fact_count + inverse_count, self._memory, quiet)
        for path in sorted(self._raw.iterdir()):
            path.unlink()
        self._raw.rmdir()
        paths = [path for path in sorted(self._folder.rglob("*")) if path.is_file() and path.name not in LOCKS]
        files = measure(self._folder, [path.relative_to(self._folder).as_posix() for path in paths])
        digest = hashlib.sha256(f"format {FORMAT} {languages}".encode())
        for name, entry in files.items():
            if not name.startswith(NAMES):  # the full-text engine names its files at random
                digest.update(f"{name} {entry.sha256}".encode())
        return KnowledgeBaseManifest(
            kind=KIND, format=FORMAT, build_id=digest.hexdigest()[:16], files=files, items=len(sorted_items),
            properties=len(properties), facts=facts, languages=languages, wide_postings=is_wide,
        )  # fmt: skip

    def _sort_items(self) -> tuple[np.ndarray, np.ndarray, list[tuple[int, int]]]:
        # returns the items, their numbers of facts, and the slices of `tokens` that repeated documents have
        items = self._read_raw("items", "<u4")
        order = np.argsort(items, kind="stable")
        is_repeated = np.zeros(len(items), bool)
        is_repeated[order[1:]] = items[order[1:]] == items[order[:-1]]
        for item in items[is_repeated][:10].tolist():
            LOGGER.warning("%s: Q%d appears twice; the second is skipped", self._dump, item)
        order = order[~is_repeated[order]]
        sorted_items = items[order]
        self._save("items", sorted_items)
        del items
        fact_size = self._read_raw("fact_size", "<u4")
        fact_start = np.cumsum(fact_size, dtype="<u8") - fact_size
        skipped = [(int(fact_start[p]), int(fact_start[p]) + int(fact_size[p])) for p in np.flatnonzero(is_repeated)]
        self._save("fact_start", fact_start[order])
        self._save("fact_size", fact_size[order])
        del fact_start, fact_size
        text_size = self._read_raw("text_size", "<u4")
        self._save("text_start", (np.cumsum(text_size, dtype="<u8") - text_size)[order])
        self._save("text_size", text_size[order])
        del text_size
        fact_count = self._read_raw("fact_count", "<u4")[order]
        self._save("fact_count", fact_count)
        return sorted_items, fact_count, skipped

    def _read_raw(self, name: str, kind: str) -> np.ndarray:
        path = self._raw / name
        return np.fromfile(path, kind) if path.exists() else np.empty(0, kind)

    def _save(self, name: str, values: np.ndarray) -> None:
        write_array(self._folder / name, values.astype(ARRAYS[name]))

    def _buckets(self, name: str, kind: list[tuple[str, str]]) -> Iterator[np.ndarray]:
        for path in sorted(self._raw.glob(f"{name}.*")):
            yield np.fromfile(path, kind)
            path.unlink()

    def _sort_postings(self, items: np.ndarray, skipped: Iterable[tuple[int, int]]) -> tuple[np.ndarray, bool]:
        # returns the number of postings of each item, and whether places in `tokens` need 64 bits
        is_wide = self._token_count > 0xFFFFFFFF
        counts = np.zeros(len(items), "<u4")
        place_mask = np.uint64((1 << 63) - 1)
        with (self._folder / "postings").open("wb") as file:
            for rows in self._buckets("postings", [("item", "<u4"), ("key", "<u8")]):
                number = np.searchsorted(items, rows["item"])
                is_valid = (number < len(items)) & (items[np.minimum(number, len(items) - 1)] == rows["item"])
                place = rows["key"] & place_mask
                for start, end in skipped:
                    is_valid &= ~((place >= start) & (place < end))
                rows, number = rows[is_valid], number[is_valid]
                order = np.lexsort((rows["key"], rows["item"]))
                append_array(file, (rows["key"][order] & place_mask).astype("<u8" if is_wide else "<u4"))
                different, times = np.unique(number, return_counts=True)
                counts[different] += times.astype(counts.dtype)
        self._save("inverse_start", np.concatenate([[0], np.cumsum(counts, dtype="<u8")]))
        return counts, is_wide
