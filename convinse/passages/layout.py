"""The files of a passage index: names, types, the manifest and its checks.

`candidates/` is a full-text index (tantivy) of the terms, which finds candidates; all else is a flat little-endian array
that is mapped into memory. Passages are numbered in the order of their file.

==================  =======  ==========================================================================================
`term_hash`         uint64   hashes of the terms, ascending
`term_number`       uint32   the number of each term
`row_start`         int64    (passages + 1) places in `row_*`
`row_term`          uint32   the terms of each passage, each once, by ascending hash
`row_count`         uint8    how often: in the text (low 5 bits, at most 31) and in the title (high 3 bits, at most 7)
`length`            float32  terms of each passage: those of the text + title weight * those of the title
`segment_start`     int64    where each segment of `candidates` begins in `document`
`document`          uint32   the passage that each document of `candidates` is
`id_start`, `ids`   uint64   (passages + 1) places in `ids` (UTF-8)
`group_first`       uint64   (groups + 1) the first passage of each group in `lines`
`group_start`       uint64   (groups + 1) its place in `lines`
`lines`             bytes    the passages, JSON lines, a Zstandard frame a group
==================  =======  ==========================================================================================

A term's hash is the first 64 bits of its BLAKE2b digest: of 5 million terms, two agree with a probability of 1 in a million.
In `candidates` a term is its hash in hexadecimal digits.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from ..support import manifest
from ..support.manifest import Manifest, has_kind
from .analysis import NEUTRAL

KIND = "passages"
FORMAT = 3  # of the files below; raised when one changes
REMEDY = "build it again with --force"
CANDIDATES = "candidates"
TERMS, NUMBER = "terms", "number"  # fields of a document in it
ARRAYS = {
    "term_hash": "<u8", "term_number": "<u4", "row_start": "<i8", "row_term": "<u4", "row_count": "u1", "length": "<f4",
    "segment_start": "<i8", "document": "<u4", "id_start": "<u8", "ids": "u1", "group_first": "<u8", "group_start": "<u8",
    "lines": "u1",
}  # fmt: skip
ENGINE_K1, ENGINE_B = 1.2, 0.75  # of the search for candidates, with any parameters
TEXT_BITS, MOST_IN_TEXT, MOST_IN_TITLE = 5, 31, 7


class Parameters(msgspec.Struct, frozen=True):
    """The parameters of an index.

    language: of the passages, see `analysis.LANGUAGES`; title_weight: of an occurrence in the title, relative to the text;
    k1, b: of BM25; analysis: version of the analysis.
    """

    language: str = NEUTRAL
    title_weight: float = 2.0
    k1: float = 1.2
    b: float = 0.75
    analysis: int = 1


class PassagesManifest(Manifest, kw_only=True):
    """The manifest of an index folder.

    postings: terms of all passages, each once a passage; mean_length: of `length`; excess: the most that the score of a
    passage can be, relative to its score in the search for candidates.
    """

    parameters: Parameters
    passages: int
    terms: int
    postings: int
    mean_length: float
    excess: float


def short_hash(data: bytes) -> int:
    """Return 64 bits of a term or an id."""
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")


def token(term_hash: int) -> str:
    """Return the form of a term in `candidates`."""
    return f"{term_hash:x}"


def frequencies(title_weight: float) -> npt.NDArray[np.float64]:
    """Return [256] the frequency that each value of `row_count` stands for."""
    codes = np.arange(256)
    return ((codes & MOST_IN_TEXT) + title_weight * (codes >> TEXT_BITS)).astype(np.float64)


def length_norm(k1: float, b: float, length: npt.NDArray[np.float64], mean: float) -> npt.NDArray[np.float64]:
    """Return the term that BM25 adds to a frequency in its denominator, for passages of some lengths."""
    return k1 * (1 - b) + k1 * b / max(mean, 1e-9) * length


def is_index(folder: Path) -> bool:
    """Return True if the manifest of a folder is that of a passage index."""
    return has_kind(folder, KIND)


def read_manifest(folder: Path) -> PassagesManifest:
    """Return the manifest of an index folder. Raises `IndexFileError`."""
    missing = "no passage index here ({}); make one with `retrieve index`"
    return manifest.read_manifest(folder, PassagesManifest, FORMAT, REMEDY, missing)
