"""JSON lines of passages into an index folder (see `layout`): streamed, on all cores, in bounded memory.

Processes turn blocks of lines into the terms of each passage, which go into the files one after the other, and to the
full-text engine that finds candidates.
"""

from __future__ import annotations

import hashlib
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from ..support.blocks import Block, cores, in_order, read_blocks
from ..support.errors import DataError, IndexFileError, OutputError
from ..support.files import replacing
from ..support.jsonlines import open_packed, raw_lines, reading, too_long
from ..support.limits import LONGEST_LINE
from ..support.progress import progress
from ..support.workers import Crew
from . import analysis
from .blocks import BlockReader, Passage
from .layout import Parameters, PassagesManifest, is_index, part_folders, read_manifest, short_hash
from .writing import IndexWriter, finish

MEMORY = 2_000_000_000
_LEAST_MEMORY = 64_000_000
_BLOCK_BYTES, _LEAST_BLOCK = 8_000_000, 500_000
_BLOCK_FACTOR = 40  # bytes of memory that a byte of a block takes while it is read
_WORD_BYTES = 350  # of memory for a word that is remembered
_LEAST_HEAP = 15_000_000  # that the engine takes


class Built(NamedTuple):
    """What was built: the manifest of the index, or of each of its parts."""

    manifests: list[PassagesManifest]
    seconds: float

    @property
    def manifest(self) -> PassagesManifest:
        """That of an index in one piece, or of the first part."""
        return self.manifests[0]


def build_index(
    passages: Path,
    output: Path,
    parameters: Parameters | None = None,
    *,
    memory: int = MEMORY,
    force: bool = False,
    processes: int | Crew | None = None,
    parts: int = 1,
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
        parts: with 2 or more, `output` becomes a folder of as many parts (of fewer where there are fewer passages) with as
            many lines each, in their order: `part-1`, `part-2` and so on.
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
    ends = [1 + total * number // parts for number in range(1, parts)]  # the first lines of all parts but the first
    with replacing(output) as folder:
        folder.mkdir()
        digest, numbers = hashlib.blake2b(digest_size=8), deque[int]()
        writers: dict[int, IndexWriter] = {}
        with progress(f"reading {passages.name}", total, "passages", quiet) as advance, ExitStack() as writing:
            blocks = _cut(_digested(read_blocks(passages, block_bytes), digest.update), ends, numbers)
            arguments = (passages, parameters, most_words)
            with closing(in_order(passages, blocks, BlockReader, arguments, crew, "lower --memory")) as results:
                for rows in results:
                    number = numbers.popleft()
                    if len(rows.sizes) and number not in writers:
                        writing.close()
                        place = folder if parts == 1 else folder / f"part-{len(writers) + 1}"
                        writers[number] = writing.enter_context(IndexWriter(place, max(_LEAST_HEAP, memory // 4)))
                    if len(rows.sizes):
                        writers[number].add(rows)
                    advance(len(rows.sizes))
            if not writers:
                raise DataError(f"{passages}: no passages; each line must be an object with 'id' and 'text'")
            _check_unique(passages, np.concatenate([writer.column("id_hashes") for writer in writers.values()]))
        manifests = finish(list(writers.values()), parameters, digest.digest(), parts > 1)
    return Built(manifests, time.monotonic() - start)


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
    parts = part_folders(output)
    if not is_index(output) and not parts:
        raise OutputError(f"{output}: exists and is no passage index; give another --output")
    if force:
        return
    try:
        same = read_manifest(parts[0] if parts else output).parameters == parameters
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


def _cut(blocks: Iterator[Block], ends: list[int], numbers: deque[int]) -> Iterator[Block]:
    """Blocks that are cut before some lines; `numbers` gets for each block how many of these lines are behind it."""
    number = 0
    for block in blocks:
        lines = block.data.count(b"\n") + 1 if number < len(ends) else 0
        while number < len(ends) and ends[number] < block.first_line + lines:
            *head, tail = block.data.split(b"\n", max(0, ends[number] - block.first_line))
            if head:
                numbers.append(number)
                yield Block(b"\n".join(head), block.first_line, block.position)
            block = Block(tail, ends[number], block.position)
            lines = tail.count(b"\n") + 1
            number += 1
        numbers.append(number)
        yield block


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
