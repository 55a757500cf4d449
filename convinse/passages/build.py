"""Builds an index folder (see `layout`) from JSON lines of passages: streamed, on all cores, in bounded memory.

Processes turn blocks of lines into the terms of each passage, which are appended to the files and added to the full-text
engine that finds candidates.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import numpy as np
import numpy.typing as npt

from ..support.blocks import Block, cores, in_order, read_blocks
from ..support.errors import DataError, OutputError
from ..support.files import append_array, replacing, write_array
from ..support.full_text import LOCKS, FullText, FullTextWriter
from ..support.jsonlines import raw_lines
from ..support.manifest import measure, write_manifest
from ..support.progress import progress
from . import analysis
from .blocks import MOST_REPEATS, BlockReader, Rows, read_passage, title_repeats
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
    is_index,
    length_norm,
    short_hash,
)

MEMORY = 2_000_000_000  # bytes of all processes that build
_LEAST_MEMORY = 64_000_000  # bytes: about what the smallest blocks of one process take
BLOCK_BYTES, _LEAST_BLOCK = 8_000_000, 500_000
_BLOCK_FACTOR = 40  # bytes of memory for a byte of a block while it is read
_WORD_BYTES = 350  # of memory for a cached word
_LEAST_HEAP = 15_000_000  # of the engine
_AT_ONCE = 1 << 16  # documents whose numbers are read
_MARGIN = 1e-4  # relative: more than the error of the engine's single precision
_COLUMNS = ("sizes", "text_length", "title_length", "id_sizes", "id_hashes", "group_passages", "group_sizes")


def build_index(
    passages: Path,
    output: Path,
    parameters: Parameters | None = None,
    *,
    memory: int = MEMORY,
    force: bool = False,
    processes: int | None = None,
    quiet: bool = True,
) -> PassagesManifest:
    """Build the index of a file of passages; return its manifest.

    Args:
        passages: JSON lines as `read_passage` reads them, plain or packed (gz, bz2, zst).
        output: the folder, put in place when the index is complete. Results depend on the passages and the parameters only,
            not on memory and processes.
        parameters: language, weight of titles, k1 and b; the defaults of `Parameters` otherwise.
        memory: bytes that all processes together may use, about.
        force: replace an existing index.
        processes: to read with; all cores by default.
        quiet: show no progress.

    Raises:
        DataError: the file cannot be read, is empty, a line is not a passage, or an id comes twice; file and line named.
        OutputError: `output` exists (without `force`), is not an index, or cannot be written.
    """
    parameters = msgspec.structs.replace(parameters or Parameters(), analysis=analysis.VERSION)
    _check(parameters, output, memory, force)
    workers = processes or cores()
    # three blocks for each process: the block it reads, a block on its way to it, and a result
    block_bytes = min(BLOCK_BYTES, max(_LEAST_BLOCK, memory // (2 * _BLOCK_FACTOR * (workers + 1))))
    most_words = memory // (4 * workers * _WORD_BYTES)
    size = passages.stat().st_size if passages.is_file() else 0
    workers = min(workers, size // block_bytes + 1)
    digest = hashlib.blake2b(digest_size=8)
    with replacing(output) as folder:
        folder.mkdir()
        with (
            progress(f"reading {passages.name}", size >> 20, "MB", quiet) as advance,
            IndexWriter(folder, max(_LEAST_HEAP, memory // 4)) as writer,
        ):

            def blocks() -> Iterator[Block]:
                shown = 0
                for block in read_blocks(passages, block_bytes):
                    digest.update(block.data)
                    advance((block.position >> 20) - shown)
                    shown = block.position >> 20
                    yield block

            arguments = (passages, parameters, most_words)
            with closing(in_order(passages, blocks(), BlockReader, arguments, workers, "lower --memory")) as results:
                for rows in results:
                    writer.add(rows)
            if not writer.passages:
                raise DataError(f"{passages}: no passages; each line must be an object with 'id' and 'text'")
            _check_unique(passages, writer.column("id_hashes"))
        return writer.finish(parameters, digest.digest())


def _check(parameters: Parameters, output: Path, memory: int, force: bool) -> None:
    analysis.Analyzer(parameters.language)  # raises for an unknown language
    if not (parameters.title_weight >= 0 and parameters.k1 > 0 and 0 <= parameters.b <= 1):
        raise DataError(
            f"title weight {parameters.title_weight}, k1 {parameters.k1}, b {parameters.b}: "
            "the weight must be 0 or more, k1 above 0, b from 0 to 1"
        )
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        if not is_index(output):
            raise OutputError(f"{output}: exists and is not a passage index; give another --output")
        if not force:
            raise OutputError(f"{output}: holds an index already; --force replaces it")
    if memory < _LEAST_MEMORY:
        raise DataError(f"memory: {memory} bytes are too few; give {_LEAST_MEMORY // 10**6}MB or more")


def _check_unique(path: Path, hashes: npt.NDArray[np.uint64]) -> None:
    values, numbers = np.unique(hashes, return_counts=True)
    repeated = set(values[numbers > 1].tolist())
    first: dict[str, int] = {}
    for number, line in raw_lines(path) if repeated else ():
        name = read_passage(path, number, line)[0].id
        if short_hash(name.encode()) in repeated and first.setdefault(name, number) != number:
            raise DataError(f"{path}:{number}: the id '{name}' was given in line {first[name]} already")


class IndexWriter:
    """Writes the files of an index, some with every block of passages, the others after the last.

    40 bytes of a passage stay in memory. The engine has a `heap` in bytes.
    """

    def __init__(self, folder: Path, heap: int) -> None:
        import tantivy

        self._folder = folder
        self._files = ExitStack()
        self._open: dict[str, BinaryIO] = {}
        self.passages = 0
        self._postings = 0
        self._hashes = np.empty(0, np.uint64)  # of all terms, ascending
        self._numbers = np.empty(0, np.uint32)  # of these
        self._columns: dict[str, list[npt.NDArray[Any]]] = {name: [] for name in _COLUMNS}
        builder = tantivy.SchemaBuilder()
        builder.add_unsigned_field(NUMBER, fast=True)
        builder.add_text_field(TERMS, tokenizer_name="whitespace", index_option="freq")
        self._document = tantivy.Document
        self._candidates = FullTextWriter(folder / CANDIDATES, builder.build(), heap)

    def __enter__(self) -> IndexWriter:
        for name in ("row_term", "row_count", "ids", "lines"):
            self._open[name] = self._files.enter_context((self._folder / name).open("wb"))
        self._files.enter_context(self._candidates)
        return self

    def __exit__(self, *error: Any) -> None:
        self._files.__exit__(*error)

    def add(self, rows: Rows) -> None:
        """Append the passages of a block."""
        if not len(rows.sizes):
            return
        for passage, tokens in enumerate(rows.tokens.split("\n"), self.passages):
            document = self._document()
            document.add_unsigned(NUMBER, passage)
            document.add_text(TERMS, tokens)
            self._candidates.add(document)
        append_array(self._open["row_term"], self._numbered(rows.hashes)[rows.terms])
        append_array(self._open["row_count"], rows.counts)
        self._open["ids"].write(rows.ids)
        self._open["lines"].write(rows.lines)
        self.passages += len(rows.sizes)
        self._postings += len(rows.terms)
        for name, columns in self._columns.items():
            columns.append(getattr(rows, name))

    def _numbered(self, hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint32]:
        places = np.searchsorted(self._hashes, hashes)
        is_new = np.ones(len(hashes), dtype=bool)
        inside = places < len(self._hashes)
        is_new[inside] = self._hashes[places[inside]] != hashes[inside]
        numbers = np.arange(len(self._hashes), len(self._hashes) + int(is_new.sum()), dtype=np.uint32)
        self._numbers = np.insert(self._numbers, places[is_new], numbers)
        self._hashes = np.insert(self._hashes, places[is_new], hashes[is_new])
        return self._numbers[np.searchsorted(self._hashes, hashes)]

    def column(self, name: str) -> npt.NDArray[Any]:
        """Return the values of a column, one for each passage or group."""
        self._columns[name][:] = [np.concatenate(self._columns[name])]
        return self._columns[name][0]

    def finish(self, parameters: Parameters, digest: bytes) -> PassagesManifest:
        """Write the remaining arrays and the manifest after the last block; `digest` is of the passages."""
        folder, text, title = self._folder, self.column("text_length"), self.column("title_length")
        mean = (int(text.sum()) + parameters.title_weight * int(title.sum())) / self.passages
        length = text + parameters.title_weight * title
        segments, documents = _documents(folder)
        arrays: dict[str, npt.NDArray[Any]] = {
            "term_hash": self._hashes,
            "term_number": self._numbers,
            "row_start": _starts(self.column("sizes")),
            "length": length,
            "segment_start": segments,
            "document": documents,
            "id_start": _starts(self.column("id_sizes")),
            "group_first": _starts(self.column("group_passages")),
            "group_start": _starts(self.column("group_sizes")),
        }
        for name, values in arrays.items():
            write_array(folder / name, values.astype(ARRAYS[name]))
        engine = sorted(path.name for path in (folder / CANDIDATES).iterdir() if path.name not in LOCKS)
        manifest = PassagesManifest(
            kind=KIND,
            format=FORMAT,
            build_id=f"{short_hash(msgspec.json.encode([FORMAT, parameters, digest])):016x}",
            files=measure(folder, [*ARRAYS, *(f"{CANDIDATES}/{name}" for name in engine)]),
            parameters=parameters,
            passages=self.passages,
            terms=len(self._hashes),
            postings=self._postings,
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
