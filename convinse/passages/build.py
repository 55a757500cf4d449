"""JSON lines of passages into an index folder (see `layout`): streamed, on all cores, in bounded memory.

Processes turn blocks of lines into sorted postings, which go to a temporary file one after the other. When all lines are
read the postings of as many terms as fit into memory are gathered from all blocks at a time, and written in their order.
"""

from __future__ import annotations

import hashlib
import os
import signal
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import msgspec
import numpy as np

from ..support.errors import DataError, IndexFileError, OutputError
from ..support.files import replacing
from ..support.jsonlines import open_packed, reading
from ..support.progress import progress
from . import analysis
from .blocks import Block, BlockReader, Passage
from .layout import (
    ARRAYS,
    FORMAT,
    MANIFEST,
    Manifest,
    Parameters,
    frequencies,
    is_index,
    read_manifest,
    record,
    short_hash,
)
from .merge import PARTS, Merge, all_terms, starts_of

MEMORY = 2_000_000_000
_LEAST_MEMORY = 64_000_000
_BLOCK_BYTES, _LEAST_BLOCK = 8_000_000, 500_000
_BLOCK_FACTOR = 40  # bytes of memory that a byte of a block takes while it is read
_WORD_BYTES = 250  # of memory for a word that is remembered
_MOST_PASSAGES = (1 << 32) - 1
_BOM = b"\xef\xbb\xbf"


class Built(NamedTuple):
    """What was built."""

    manifest: Manifest
    seconds: float


def build_index(
    passages: Path,
    output: Path,
    parameters: Parameters | None = None,
    *,
    memory: int = MEMORY,
    force: bool = False,
    processes: int | None = None,
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
        processes: to read with; all cores by default.
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
    workers = processes or _cores()
    # three blocks for each process: the one it reads, one on its way to it, and a result
    block_bytes = min(_BLOCK_BYTES, max(_LEAST_BLOCK, memory // (2 * _BLOCK_FACTOR * (workers + 1))))
    most_words = memory // (4 * workers * _WORD_BYTES)
    size = passages.stat().st_size if passages.is_file() else 0
    workers = min(workers, size // block_bytes + 1)
    total = _count_lines(passages)
    with replacing(output) as folder:
        folder.mkdir()
        writer = _Writer(folder)
        digest = hashlib.blake2b(digest_size=8)
        with progress(f"reading {passages.name}", total, "passages", quiet) as advance, writer:
            blocks = _raw_blocks(passages, block_bytes, digest)
            for block in _read_blocks(blocks, (passages, parameters.language, most_words), workers):
                writer.add(block)
                advance(len(block.id_sizes))
        if not writer.passages:
            raise DataError(f"{passages}: no passages; each line must be an object with 'id' and 'text'")
        _check_unique(passages, writer.id_hashes)
        manifest = _finish(folder, writer, parameters, digest.digest(), memory, quiet)
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
    other = "" if same else " with other parameters"
    raise OutputError(f"{output}: holds an index{other} already; --force replaces it")


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _count_lines(path: Path) -> int:
    """How many lines a file has: what the progress is measured against."""
    lines = 1
    with open_packed(path) as file, reading(path, lambda: lines):
        while data := file.read(1 << 20):
            lines += data.count(b"\n")
    return lines


# -- reading -----------------------------------------------------------------------------------------------------------


def _raw_blocks(path: Path, block_bytes: int, digest: Any) -> Iterator[tuple[bytes, int]]:
    """Whole lines, about `block_bytes` at a time, with the number of the first; `digest` sees all of them."""
    line = 1
    with open_packed(path) as file, reading(path, lambda: line):
        rest = file.read(len(_BOM)).removeprefix(_BOM)
        while data := file.read(block_bytes):
            data = rest + data + file.readline()
            rest = b""
            digest.update(data)
            yield data, line
            line += data.count(b"\n")
        if rest:
            digest.update(rest)
            yield rest, line


def _read_blocks(
    blocks: Iterator[tuple[bytes, int]], arguments: tuple[Path, str, int], workers: int
) -> Iterator[Block]:
    """The blocks in their order; a few are under way at once."""
    if workers == 1:
        reader = BlockReader(*arguments)
        for data, line in blocks:
            yield reader.read(data, line)
        return
    pool = ProcessPoolExecutor(workers, initializer=_start_worker, initargs=arguments)
    waiting: deque[Future[Block]] = deque()
    try:
        for data, line in blocks:
            waiting.append(pool.submit(_read_in_worker, data, line))
            if len(waiting) > workers + 1:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool:
        raise DataError(
            f"{arguments[0]}: a process that read it was killed, perhaps for its memory; lower --memory"
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


_readers: list[BlockReader] = []  # of a worker: one


def _start_worker(path: Path, language: str, most_words: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its workers
    _readers[:] = [BlockReader(path, language, most_words)]


def _read_in_worker(data: bytes, line: int) -> Block:
    return _readers[0].read(data, line)


# -- writing -----------------------------------------------------------------------------------------------------------


class _Writer:
    """Writes blocks as they come; keeps what is small of each passage in memory (28 bytes)."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = ExitStack()
        self._open: dict[str, BinaryIO] = {}
        self.passages = 0
        self.terms: list[int] = []  # of each block
        self.postings: list[int] = []
        self._columns: dict[str, list[np.ndarray]] = {
            name: [] for name in ("text", "title", "id_sizes", "id_hashes", "group_passages", "group_sizes")
        }

    def __enter__(self) -> _Writer:
        for name in (*PARTS, "ids", "lines"):
            self._open[name] = self._files.enter_context((self._folder / name).open("wb"))
        return self

    def __exit__(self, *error: object) -> None:
        self._files.close()

    def add(self, block: Block) -> None:
        """Append a block."""
        if self.passages + len(block.id_sizes) > _MOST_PASSAGES:
            raise DataError(f"more than {_MOST_PASSAGES:,} passages; build several indexes")
        for name, values in zip(
            PARTS, (block.hashes, block.sizes, block.passages + np.uint32(self.passages), block.counts), strict=True
        ):
            self._open[name].write(memoryview(values).cast("B") if len(values) else b"")
        self._open["ids"].write(block.ids)
        self._open["lines"].write(block.lines)
        self.terms.append(len(block.hashes))
        self.postings.append(len(block.passages))
        self.passages += len(block.id_sizes)
        for name, values in zip(
            self._columns,
            (
                block.text_length,
                block.title_length,
                block.id_sizes,
                block.id_hashes,
                block.group_passages,
                block.group_sizes,
            ),
            strict=True,
        ):
            self._columns[name].append(values)

    def column(self, name: str) -> np.ndarray:
        """One value for each passage, or group."""
        self._columns[name][:] = [np.concatenate(self._columns[name])]
        return self._columns[name][0]

    @property
    def id_hashes(self) -> np.ndarray:
        """[passages] uint64."""
        return self.column("id_hashes")


def _check_unique(path: Path, hashes: np.ndarray) -> None:
    """Raise `DataError` for the first id that comes twice."""
    order = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    repeats = set(order[1:][ordered[1:] == ordered[:-1]].tolist())
    if not repeats:
        return
    wanted = set(hashes[list(repeats)].tolist())
    decoder = msgspec.json.Decoder(Passage)
    first: dict[str, int] = {}
    with open_packed(path) as file:
        for number, line in enumerate(file, 1):
            line = line.removeprefix(_BOM) if number == 1 else line
            if line.isspace():
                continue
            one = decoder.decode(line).id
            if short_hash(one.encode()) in wanted and first.setdefault(one, number) != number:
                raise DataError(f"{path}:{number}: the id '{one}' was given in line {first[one]} already")


def _finish(folder: Path, writer: _Writer, parameters: Parameters, digest: bytes, memory: int, quiet: bool) -> Manifest:
    """All that is known when the last line is read."""
    length = writer.column("text") + parameters.title_weight * writer.column("title")
    mean = float(length.mean())
    length = length.astype("<f4")
    length.tofile(folder / "length")
    starts_of(writer.column("id_sizes")).tofile(folder / "id_start")
    starts_of(writer.column("group_passages")).tofile(folder / "group_first")
    starts_of(writer.column("group_sizes")).tofile(folder / "group_start")
    hashes = all_terms(folder / "part_hash", memory)
    hashes.tofile(folder / "term_hash")
    norm = np.float32(parameters.k1) * (
        np.float32(1 - parameters.b) + np.float32(parameters.b / max(mean, 1e-9)) * length
    )
    terms, postings = len(hashes), sum(writer.postings)
    with progress("sorting postings", postings, "postings", quiet) as advance:
        values = frequencies(parameters.title_weight)
        merge = Merge(folder, writer.terms, writer.postings, hashes, norm.astype(np.float32), values)
        merge.run(memory, advance)
    for name in PARTS:
        (folder / name).unlink()
    files = {name: record(folder / name) for name in ARRAYS}
    build_id = short_hash(msgspec.json.encode([FORMAT, parameters, digest]))
    manifest = Manifest(FORMAT, f"{build_id:016x}", parameters, writer.passages, terms, postings, mean, files)
    (folder / MANIFEST).write_bytes(msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n")
    return manifest
