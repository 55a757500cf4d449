"""Builds an index folder (see `layout`) from JSON lines of passages: streamed, on all cores, in bounded memory.

Processes turn blocks of lines into the terms of each passage, which are appended to the files and added to the full-text
engine that finds candidates.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Iterator
from contextlib import closing
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
from . import analysis
from .blocks import BlockReader, read_passage
from .layout import Parameters, PassagesManifest, is_index, read_manifest, short_hash
from .writing import IndexWriter, finish

LOGGER = logging.getLogger(__name__)
MEMORY = 2_000_000_000
_LEAST_MEMORY = 64_000_000
BLOCK_BYTES, _LEAST_BLOCK = 8_000_000, 500_000
_BLOCK_FACTOR = 40  # bytes of memory for a byte of a block while it is read
_WORD_BYTES = 350  # of memory for a cached word
_LEAST_HEAP = 15_000_000  # of the engine


class Built(NamedTuple):
    """The manifest of an index, and the seconds that building it took."""

    manifest: PassagesManifest
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
    start = time.monotonic()
    parameters = parameters or Parameters()
    analysis.Analyzer(parameters.language)  # raises for an unknown language
    if not (parameters.title_weight >= 0 and parameters.k1 > 0 and 0 <= parameters.b <= 1):
        raise DataError(
            f"title weight {parameters.title_weight}, k1 {parameters.k1}, b {parameters.b}: "
            "the weight must be 0 or more, k1 above 0, b from 0 to 1"
        )
    parameters = msgspec.structs.replace(parameters, analysis=analysis.VERSION)
    _check_output(output, parameters, force)
    if memory < _LEAST_MEMORY:
        raise DataError(
            f"memory: {memory} bytes are too few to build an index; give {_LEAST_MEMORY // 10**6}MB or more"
        )
    workers = processes or cores()
    # three blocks for each process: the block it reads, a block on its way to it, and a result
    block_bytes = min(BLOCK_BYTES, max(_LEAST_BLOCK, memory // (2 * _BLOCK_FACTOR * (workers + 1))))
    most_words = memory // (4 * workers * _WORD_BYTES)
    size = passages.stat().st_size if passages.is_file() else 0
    workers = min(workers, size // block_bytes + 1)
    total = _count_lines(passages)
    for number, line in raw_lines(passages):
        if read_passage(passages, number, line)[1] != line:
            LOGGER.info("%s: its passages are kept as id, title and text", passages)
        break  # the first line tells the form of all
    with replacing(output) as folder:
        folder.mkdir()
        digest = hashlib.blake2b(digest_size=8)
        with (
            progress(f"reading {passages.name}", total, "passages", quiet) as advance,
            IndexWriter(folder, max(_LEAST_HEAP, memory // 4)) as writer,
        ):

            def blocks() -> Iterator[Block]:
                for block in read_blocks(passages, block_bytes):
                    digest.update(block.data)
                    yield block

            arguments = (passages, parameters, most_words)
            with closing(in_order(passages, blocks(), BlockReader, arguments, workers, "lower --memory")) as results:
                for rows in results:
                    if len(rows.sizes):
                        writer.add(rows)
                    advance(len(rows.sizes))
            if not writer.passages:
                raise DataError(f"{passages}: no passages; each line must be an object with 'id' and 'text'")
            _check_unique(passages, writer.column("id_hashes"))
        manifest = finish(writer, parameters, digest.digest())
    return Built(manifest, time.monotonic() - start)


def _check_output(output: Path, parameters: Parameters, force: bool) -> None:
    if not output.exists() or (output.is_dir() and not any(output.iterdir())):
        return
    if not is_index(output):
        raise OutputError(f"{output}: exists and is not a passage index; give another --output")
    if force:
        return
    try:
        same = read_manifest(output).parameters == parameters
    except IndexFileError:
        raise OutputError(f"{output}: holds a damaged index; --force replaces it") from None
    difference = "" if same else " with other parameters"
    raise OutputError(f"{output}: holds an index{difference} already; --force replaces it")


def _count_lines(path: Path) -> int:
    lines, open_end = 1, 0
    with open_packed(path) as file, reading(path, lambda: lines):
        while data := file.read(1 << 20):
            lines += data.count(b"\n")
            open_end = len(data) - data.rfind(b"\n") - 1 if b"\n" in data else open_end + len(data)
            if open_end > LONGEST_LINE:
                raise too_long(path, lines)
    return lines


def _check_unique(path: Path, hashes: npt.NDArray[np.uint64]) -> None:
    order = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    repeats = set(order[1:][ordered[1:] == ordered[:-1]].tolist())
    if not repeats:
        return
    repeated = set(hashes[list(repeats)].tolist())
    first: dict[str, int] = {}
    for number, line in raw_lines(path):
        name = read_passage(path, number, line)[0].id
        if short_hash(name.encode()) in repeated and first.setdefault(name, number) != number:
            raise DataError(f"{path}:{number}: the id '{name}' was given in line {first[name]} already")
