"""The files of a passage index: names, types, the manifest and its checks.

Everything is a flat little-endian array that is mapped into memory. Passages are numbered in the order of their file.

==================  =======  ==========================================================================================
`term_hash`         uint64   hashes of the terms, ascending
`term_start`        uint64   (terms + 1) places in `posting_*`; the difference of two is a term's document frequency
`term_bound`        float32  the most that a passage's frequency part of BM25 is for the term (without idf)
`posting_passage`   uint32   the passages that hold the term, ascending
`posting_count`     uint8    how often: in the text (low 5 bits, at most 31) and in the title (high 3 bits, at most 7)
`length`            float32  terms of each passage: those of the text + title weight * those of the title
`id_start`, `ids`   uint64   (passages + 1) places in `ids` (UTF-8)
`group_first`       uint64   (groups + 1) the first passage of each group in `lines`
`group_start`       uint64   (groups + 1) its place in `lines`
`lines`             bytes    the passages as they were given, JSON lines, a Zstandard frame a group
==================  =======  ==========================================================================================

A term's hash is the first 64 bits of its BLAKE2b digest: of 5 million terms, two agree with a probability of 1 in a million.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ..support.errors import IndexFileError, one_line
from .analysis import NEUTRAL

if TYPE_CHECKING:
    import numpy as np

FORMAT = 1
MANIFEST = "manifest.json"
ARRAYS = {
    "term_hash": "<u8", "term_start": "<u8", "term_bound": "<f4", "posting_passage": "<u4", "posting_count": "u1",
    "length": "<f4", "id_start": "<u8", "ids": "u1", "group_first": "<u8", "group_start": "<u8", "lines": "u1",
}  # fmt: skip
TEXT_BITS, MOST_IN_TEXT, MOST_IN_TITLE = 5, 31, 7
_SAMPLE = 1 << 14  # bytes of a block that opening reads
_BLOCKS = 16  # such blocks of a file


class Parameters(msgspec.Struct, frozen=True):
    """What an index is built with, and bound to.

    language: of the passages, see `analysis.LANGUAGES`; title_weight: how much an occurrence in the title counts against
    one in the text; k1, b: of BM25; analysis: version of the analysis.
    """

    language: str = NEUTRAL
    title_weight: float = 2.0
    k1: float = 1.2
    b: float = 0.75
    analysis: int = 1


class FileRecord(msgspec.Struct, frozen=True):
    """Size of a file, and a checksum over blocks that are spread over it."""

    size: int
    sample: str


class Manifest(msgspec.Struct, frozen=True):
    """What an index folder says of itself; `build_id` depends on the passages, the parameters and the format only."""

    format: int
    build_id: str
    parameters: Parameters
    passages: int
    terms: int
    postings: int
    mean_length: float
    files: dict[str, FileRecord]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(record.size for record in self.files.values())


def short_hash(data: bytes) -> int:
    """64 bits of a term or an id."""
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")


def frequencies(title_weight: float) -> np.ndarray:
    """[256] float32: what each value of `posting_count` counts as."""
    import numpy as np

    codes = np.arange(256)
    return ((codes & MOST_IN_TEXT) + title_weight * (codes >> TEXT_BITS)).astype(np.float32)


def record(path: Path) -> FileRecord:
    """Measure a file that was just written."""
    size = path.stat().st_size
    digest = hashlib.blake2b(str(size).encode(), digest_size=16)
    with path.open("rb") as file:
        if size <= _SAMPLE * _BLOCKS:
            digest.update(file.read())
        else:
            for number in range(_BLOCKS):
                file.seek((size - _SAMPLE) * number // (_BLOCKS - 1))
                digest.update(file.read(_SAMPLE))
    return FileRecord(size, digest.hexdigest())


def is_index(folder: Path) -> bool:
    """Whether a folder says that it is a passage index."""
    return (folder / MANIFEST).is_file()


def read_manifest(folder: Path) -> Manifest:
    """The manifest of an index folder.

    Raises:
        IndexFileError: there is none, it is damaged, or of another format or analysis.
    """
    file = folder / MANIFEST
    try:
        data = file.read_bytes()
    except OSError as error:
        half = "it is half-written; " if folder.is_dir() and any((folder / name).exists() for name in ARRAYS) else ""
        raise IndexFileError(
            f"{folder}: no passage index here ({half}{one_line(error)}); make one with `retrieve index`"
        ) from None
    try:
        found: Any = msgspec.json.decode(data)["format"]
    except (msgspec.DecodeError, KeyError, TypeError) as error:
        raise IndexFileError(f"{file}: damaged ({one_line(error)}); build it again with --force") from None
    if found != FORMAT:
        raise IndexFileError(f"{file}: format {found}, this version reads format {FORMAT}; build it again with --force")
    try:
        return msgspec.json.decode(data, type=Manifest)
    except msgspec.DecodeError as error:
        raise IndexFileError(f"{file}: damaged ({one_line(error)}); build it again with --force") from None


def check(folder: Path, manifest: Manifest) -> None:
    """Compare the files with the manifest, by their sizes and samples.

    Raises:
        IndexFileError: a file is missing, truncated or altered; the message names it.
    """
    for name in ARRAYS:
        path, expected = folder / name, manifest.files.get(name)
        if expected is None:
            raise IndexFileError(f"{folder / MANIFEST}: names no file '{name}'; build it again with --force")
        try:
            found = record(path)
        except OSError as error:
            raise IndexFileError(f"{path}: cannot be read: {one_line(error)}; build it again with --force") from None
        if found.size != expected.size:
            raise IndexFileError(
                f"{path}: {found.size} bytes where the manifest says {expected.size}; build it again with --force"
            )
        if found != expected:
            raise IndexFileError(f"{path}: altered since it was built; build it again with --force")
