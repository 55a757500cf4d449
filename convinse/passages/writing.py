"""Writes the files of an index: some with every block of passages, the others after the last."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import numpy as np
import numpy.typing as npt

from ..support.errors import DataError
from ..support.files import append_array, write_array
from ..support.full_text import LOCKS, FullText, FullTextWriter
from ..support.manifest import measure, write_manifest
from .blocks import MOST_REPEATS, Rows, title_repeats
from .layout import (
    ARRAYS,
    CANDIDATES,
    ENGINE_B,
    ENGINE_K1,
    FORMAT,
    KIND,
    NUMBER,
    TERMS,
    Parameters,
    PassagesManifest,
    length_norm,
    short_hash,
)

_MOST_PASSAGES = (1 << 32) - 1
_AT_ONCE = 1 << 16  # documents whose numbers are read
_MARGIN = 1e-4  # relative: more than the error of the engine's single precision


class IndexWriter:
    """Writes the passages of blocks; 40 bytes of a passage stay in memory. The engine has a `heap` in bytes."""

    def __init__(self, folder: Path, heap: int) -> None:
        import tantivy

        folder.mkdir(exist_ok=True)
        self.folder = folder
        self._files = ExitStack()
        self._open: dict[str, BinaryIO] = {}
        self.passages = 0
        self.postings = 0
        self.hashes = np.empty(0, np.uint64)  # of all terms, ascending
        self.numbers = np.empty(0, np.uint32)  # of these
        self.having = np.empty(0, np.int64)  # the number of passages with a term, by its number
        names = ("sizes", "text_length", "title_length", "id_sizes", "id_hashes", "group_passages", "group_sizes")
        self._columns: dict[str, list[npt.NDArray[Any]]] = {name: [] for name in names}
        builder = tantivy.SchemaBuilder()
        builder.add_unsigned_field(NUMBER, fast=True)
        builder.add_text_field(TERMS, tokenizer_name="whitespace", index_option="freq")
        self._document = tantivy.Document
        self._candidates = FullTextWriter(folder / CANDIDATES, builder.build(), heap)

    def __enter__(self) -> IndexWriter:
        for name in ("row_term", "row_count", "ids", "lines"):
            self._open[name] = self._files.enter_context((self.folder / name).open("wb"))
        self._files.enter_context(self._candidates)
        return self

    def __exit__(self, *error: Any) -> None:
        self._files.__exit__(*error)

    def add(self, rows: Rows) -> None:
        """Append the passages of a block."""
        if self.passages + len(rows.sizes) > _MOST_PASSAGES:
            raise DataError(f"more than {_MOST_PASSAGES:,} passages; build several indexes")
        if not len(rows.sizes):
            return
        for passage, tokens in enumerate(rows.tokens.split("\n"), self.passages):
            document = self._document()
            document.add_unsigned(NUMBER, passage)
            document.add_text(TERMS, tokens)
            self._candidates.add(document)
        numbers = self._numbered(rows.hashes)
        self.having = np.concatenate([self.having, np.zeros(len(self.hashes) - len(self.having), np.int64)])
        self.having[numbers] += np.bincount(rows.terms, minlength=len(numbers))
        append_array(self._open["row_term"], numbers[rows.terms])
        append_array(self._open["row_count"], rows.counts)
        self._open["ids"].write(rows.ids)
        self._open["lines"].write(rows.lines)
        self.passages += len(rows.sizes)
        self.postings += len(rows.terms)
        for name, columns in self._columns.items():
            columns.append(getattr(rows, name))

    def _numbered(self, hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint32]:
        places = np.searchsorted(self.hashes, hashes)
        is_new = np.ones(len(hashes), dtype=bool)
        inside = places < len(self.hashes)
        is_new[inside] = self.hashes[places[inside]] != hashes[inside]
        numbers = np.arange(len(self.hashes), len(self.hashes) + int(is_new.sum()), dtype=np.uint32)
        self.numbers = np.insert(self.numbers, places[is_new], numbers)
        self.hashes = np.insert(self.hashes, places[is_new], hashes[is_new])
        return self.numbers[np.searchsorted(self.hashes, hashes)]

    def column(self, name: str) -> npt.NDArray[Any]:
        """Return the values of a column, one for each passage or group."""
        self._columns[name][:] = [np.concatenate(self._columns[name])]
        return self._columns[name][0]


def finish(writer: IndexWriter, parameters: Parameters, digest: bytes) -> PassagesManifest:
    """Write the remaining arrays and the manifest after the last block."""
    build_id = f"{short_hash(msgspec.json.encode([FORMAT, parameters, digest])):016x}"
    folder, text, title = writer.folder, writer.column("text_length"), writer.column("title_length")
    mean = (int(text.sum()) + parameters.title_weight * int(title.sum())) / writer.passages
    length = text + parameters.title_weight * title
    segments, documents = _documents(folder)
    arrays: dict[str, npt.NDArray[Any]] = {
        "term_hash": writer.hashes,
        "term_number": writer.numbers,
        "row_start": _starts(writer.column("sizes")),
        "length": length,
        "segment_start": segments,
        "document": documents,
        "id_start": _starts(writer.column("id_sizes")),
        "group_first": _starts(writer.column("group_passages")),
        "group_start": _starts(writer.column("group_sizes")),
    }
    for name, values in arrays.items():
        write_array(folder / name, values.astype(ARRAYS[name]))
    engine = sorted(path.name for path in (folder / CANDIDATES).iterdir() if path.name not in LOCKS)
    files = measure(folder, [*ARRAYS, *(f"{CANDIDATES}/{name}" for name in engine)])
    manifest = PassagesManifest(
        kind=KIND,
        format=FORMAT,
        build_id=build_id,
        files=files,
        parameters=parameters,
        passages=writer.passages,
        terms=len(writer.hashes),
        postings=writer.postings,
        mean_length=mean,
        excess=_excess(parameters, length, mean, text + title_repeats(parameters.title_weight) * title),
    )
    write_manifest(folder, manifest)
    return manifest


def _starts(sizes: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    return np.concatenate([np.zeros(1, np.uint64), np.cumsum(sizes, dtype=np.uint64)])


def _documents(folder: Path) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint32]]:
    import tantivy

    searcher = FullText(folder / CANDIDATES).searcher
    segments = msgspec.json.decode((folder / CANDIDATES / "meta.json").read_bytes())["segments"]
    sizes = [segment["max_doc"] for segment in segments]
    numbers: list[npt.NDArray[np.uint32]] = []
    for segment, size in enumerate(sizes):
        for first in range(0, size, _AT_ONCE):
            addresses = [tantivy.DocAddress(segment, place) for place in range(first, min(size, first + _AT_ONCE))]
            numbers.append(np.array(searcher.fast_field_values(NUMBER, addresses), np.uint32))
    return np.cumsum([0, *sizes]), np.concatenate(numbers)


def _excess(
    parameters: Parameters, length: npt.NDArray[np.float64], mean: float, searched: npt.NDArray[np.float64]
) -> float:
    """The most that a passage's score can be, relative to the engine's score.

    The engine has a fixed k1 and b. Its length of a passage is at most that of the `searched` terms, and its count of a term is
    at least the same; if a title is repeated too seldom for its weight, the count is smaller by that factor.
    """
    norm = length_norm(parameters.k1, parameters.b, length, mean)
    engine_norm = length_norm(ENGINE_K1, ENGINE_B, searched, float(searched.mean()))
    seldom = max(1.0, parameters.title_weight / MOST_REPEATS)
    least = min(1.0, parameters.title_weight)  # count of a term in a passage
    return max(1.0, float(((least + seldom * engine_norm) / (least + norm)).max())) * (1 + _MARGIN)
