"""JSON lines of passages into an index folder (see `layout`): streamed, on all cores, in bounded memory.

Processes turn blocks of lines into the terms of each passage, which go into the files one after the other, and to the
full-text engine that finds candidates.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from ..support.blocks import Block, cores, in_order, read_blocks
from ..support.errors import DataError, IndexFileError, OutputError
from ..support.files import append_array, replacing, write_array
from ..support.full_text import LOCKS, FullText, FullTextWriter
from ..support.jsonlines import open_packed, raw_lines, reading, too_long
from ..support.limits import LONGEST_LINE
from ..support.manifest import write_manifest
from ..support.progress import progress
from ..support.workers import Crew
from . import analysis
from .blocks import MOST_REPEATS, BlockReader, Passage, Rows, title_repeats
from .layout import (
    ARRAYS,
    CANDIDATES,
    CHECKS,
    ENGINE_B,
    ENGINE_K1,
    FORMAT,
    NUMBER,
    TERMS,
    Parameters,
    PassagesManifest,
    is_index,
    length_norm,
    read_manifest,
    short_hash,
)

MEMORY = 2_000_000_000
_LEAST_MEMORY = 64_000_000
_BLOCK_BYTES, _LEAST_BLOCK = 8_000_000, 500_000
_BLOCK_FACTOR = 40  # bytes of memory that a byte of a block takes while it is read
_WORD_BYTES = 350  # of memory for a word that is remembered
_LEAST_HEAP = 15_000_000  # that the engine takes
_MOST_PASSAGES = (1 << 32) - 1
_AT_ONCE = 1 << 16  # documents that are asked for their number
_MARGIN = 1e-4  # relative: more than the engine's single precision can be off


class Built(NamedTuple):
    """What was built."""

    manifest: PassagesManifest
    seconds: float


def build_index(
    passages: Path,
    output: Path,
    parameters: Parameters | None = None,
    *,
    memory: int = MEMORY,
    force: bool = False,
    processes: int | Crew | None = None,
    quiet: bool = True,
) -> Built:
    """Build the index of a file of passages.

    Args:
        passages: JSON lines with `id`, `text` and optional `title` and `meta`, plain or packed (gz, bz2, zst).
        output: the folder; it takes its place when the index is whole. What it finds depends on the passages and the
            parameters only, not on memory and processes.
        parameters: language, weight of titles, k1 and b; the defaults of `Parameters` otherwise.
        memory: bytes that all processes together may use, about.
        force: replace an index that is there.
        processes: to read with, or workers elsewhere; all cores by default.
        quiet: show no progress.

    Raises:
        DataError: the file cannot be read, is empty, a line is no passage, or an id comes twice; file and line named.
        OutputError: `output` exists (without `force`), is something else than an index, or cannot be written.
    """
    start = time.monotonic()
    parameters = msgspec.structs.replace(parameters or Parameters(), analysis=analysis.VERSION)
    _check_parameters(parameters)
    _check_output(output, parameters, force)
    if memory < _LEAST_MEMORY:
        raise DataError(
            f"memory: {memory} bytes are too few to build an index; give {_LEAST_MEMORY // 10**6}MB or more"
        )
    crew = processes or cores()
    workers = crew if isinstance(crew, int) else crew.size
    # three blocks for each process: the block it reads, a block on its way to it, and a result
    block_bytes = min(_BLOCK_BYTES, max(_LEAST_BLOCK, memory // (2 * _BLOCK_FACTOR * (workers + 1))))
    most_words = memory // (4 * workers * _WORD_BYTES)
    size = passages.stat().st_size if passages.is_file() else 0
    if isinstance(crew, int):
        crew = min(crew, size // block_bytes + 1)
    total = _count_lines(passages)
    with replacing(output) as folder:
        folder.mkdir()
        writer = _Writer(folder, max(_LEAST_HEAP, memory // 4))
        digest = hashlib.blake2b(digest_size=8)
        with progress(f"reading {passages.name}", total, "passages", quiet) as advance, writer:
            blocks = _digested(read_blocks(passages, block_bytes), digest.update)
            arguments = (passages, parameters, most_words)
            with closing(in_order(passages, blocks, BlockReader, arguments, crew, "lower --memory")) as parts:
                for rows in parts:
                    writer.add(rows)
                    advance(len(rows.sizes))
            if not writer.passages:
                raise DataError(f"{passages}: no passages; each line must be an object with 'id' and 'text'")
            _check_unique(passages, writer.column("id_hashes"))
        manifest = _finish(folder, writer, parameters, digest.digest())
    return Built(manifest, time.monotonic() - start)


def _check_parameters(parameters: Parameters) -> None:
    analysis.Analyzer(parameters.language)
    if not (parameters.title_weight >= 0 and parameters.k1 > 0 and 0 <= parameters.b <= 1):
        raise DataError(
            f"title weight {parameters.title_weight}, k1 {parameters.k1}, b {parameters.b}: "
            "the weight must be 0 or more, k1 above 0, b from 0 to 1"
        )


def _check_output(output: Path, parameters: Parameters, force: bool) -> None:
    if not output.exists() or (output.is_dir() and not any(output.iterdir())):
        return
    if not is_index(output):
        raise OutputError(f"{output}: exists and is no passage index; give another --output")
    if force:
        return
    try:
        same = read_manifest(output).parameters == parameters
    except IndexFileError:
        raise OutputError(f"{output}: holds a damaged index; --force replaces it") from None
    difference = "" if same else " with other parameters"
    raise OutputError(f"{output}: holds an index{difference} already; --force replaces it")


def _count_lines(path: Path) -> int:
    """How many lines a file has: what the progress is measured against."""
    lines, open_end = 1, 0
    with open_packed(path) as file, reading(path, lambda: lines):
        while data := file.read(1 << 20):
            lines += data.count(b"\n")
            open_end = len(data) - data.rfind(b"\n") - 1 if b"\n" in data else open_end + len(data)
            if open_end > LONGEST_LINE:
                raise too_long(path, lines)
    return lines


def _digested(blocks: Iterator[Block], update: Callable[[bytes], object]) -> Iterator[Block]:
    for block in blocks:
        update(block.data)
        yield block


class _Writer:
    """Writes the passages of blocks as they come; keeps what is small of each one in memory (40 bytes).

    Args:
        folder: of the index.
        heap: bytes of the engine.
    """

    def __init__(self, folder: Path, heap: int) -> None:
        import tantivy

        self._folder = folder
        self._files = ExitStack()
        self._open: dict[str, BinaryIO] = {}
        self.passages = 0
        self.postings = 0
        self.hashes = np.empty(0, np.uint64)  # of all terms, ascending
        self.numbers = np.empty(0, np.uint32)  # of these
        names = ("sizes", "text_length", "title_length", "id_sizes", "id_hashes", "group_passages", "group_sizes")
        self._columns: dict[str, list[npt.NDArray[Any]]] = {name: [] for name in names}
        builder = tantivy.SchemaBuilder()
        builder.add_unsigned_field(NUMBER, fast=True)
        builder.add_text_field(TERMS, tokenizer_name="whitespace", index_option="freq")
        self._document = tantivy.Document
        self._candidates = FullTextWriter(folder / CANDIDATES, builder.build(), heap)

    def __enter__(self) -> _Writer:
        for name in ("row_term", "row_count", "ids", "lines"):
            self._open[name] = self._files.enter_context((self._folder / name).open("wb"))
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
        append_array(self._open["row_term"], self._numbered(rows.hashes)[rows.terms])
        append_array(self._open["row_count"], rows.counts)
        self._open["ids"].write(rows.ids)
        self._open["lines"].write(rows.lines)
        self.passages += len(rows.sizes)
        self.postings += len(rows.terms)
        for name, columns in self._columns.items():
            columns.append(getattr(rows, name))

    def _numbered(self, hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint32]:
        """The numbers of terms; new terms get the next numbers."""
        places = np.searchsorted(self.hashes, hashes)
        is_new = np.ones(len(hashes), dtype=bool)
        inside = places < len(self.hashes)
        is_new[inside] = self.hashes[places[inside]] != hashes[inside]
        numbers = np.arange(len(self.hashes), len(self.hashes) + int(is_new.sum()), dtype=np.uint32)
        self.numbers = np.insert(self.numbers, places[is_new], numbers)
        self.hashes = np.insert(self.hashes, places[is_new], hashes[is_new])
        return self.numbers[np.searchsorted(self.hashes, hashes)]

    def column(self, name: str) -> npt.NDArray[Any]:
        """One value for each passage, or group."""
        self._columns[name][:] = [np.concatenate(self._columns[name])]
        return self._columns[name][0]


def _check_unique(path: Path, hashes: npt.NDArray[np.uint64]) -> None:
    """Raise `DataError` for the first id that comes twice."""
    order = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    repeats = set(order[1:][ordered[1:] == ordered[:-1]].tolist())
    if not repeats:
        return
    wanted = set(hashes[list(repeats)].tolist())
    decoder = msgspec.json.Decoder(Passage)
    first: dict[str, int] = {}
    for number, line in raw_lines(path):
        name = decoder.decode(line).id
        if short_hash(name.encode()) in wanted and first.setdefault(name, number) != number:
            raise DataError(f"{path}:{number}: the id '{name}' was given in line {first[name]} already")


def _finish(folder: Path, writer: _Writer, parameters: Parameters, digest: bytes) -> PassagesManifest:
    """All that is known when the last line is read."""
    text, title = writer.column("text_length"), writer.column("title_length")
    length = text + parameters.title_weight * title
    mean = float(length.mean())
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
    files, block_sums = CHECKS.measure(folder, [*ARRAYS, *(f"{CANDIDATES}/{name}" for name in engine)])
    build_id = short_hash(msgspec.json.encode([FORMAT, parameters, digest]))
    manifest = PassagesManifest(
        format=FORMAT,
        build_id=f"{build_id:016x}",
        files=files,
        block_sums=block_sums,
        parameters=parameters,
        passages=writer.passages,
        terms=len(writer.hashes),
        postings=writer.postings,
        mean_length=mean,
        excess=_excess(parameters, length, text + title_repeats(parameters.title_weight) * title),
    )
    write_manifest(folder, manifest)
    return manifest


def _starts(sizes: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """Where each of some pieces begins when they stand one after the other, and where the last one ends."""
    return np.concatenate([np.zeros(1, np.uint64), np.cumsum(sizes, dtype=np.uint64)])


def _documents(folder: Path) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint32]]:
    """Where each segment of the engine begins, and the passage of each of its documents."""
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


def _excess(parameters: Parameters, length: npt.NDArray[np.float64], searched: npt.NDArray[np.float64]) -> float:
    """The most that a passage's score can be, relative to what the engine gives it.

    The engine's k1 and b are its own. It takes a passage for no longer than its `searched` terms, and counts a term at
    least as often; a title that is repeated too seldom for its weight, less often by that factor.
    """
    norm = length_norm(parameters.k1, parameters.b, length, float(length.mean()))
    engine_norm = length_norm(ENGINE_K1, ENGINE_B, searched, float(searched.mean()))
    seldom = max(1.0, parameters.title_weight / MOST_REPEATS)
    least = min(1.0, parameters.title_weight)  # that a term of a passage counts
    return max(1.0, float(((least + seldom * engine_norm) / (least + norm)).max())) * (1 + _MARGIN)
