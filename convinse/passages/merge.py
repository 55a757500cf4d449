"""The postings of all blocks into the order of their terms: as many terms at a time as fit into memory."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ..support.progress import Advance

PARTS = ("part_hash", "part_size", "part_passage", "part_count")  # of all blocks, one after the other
_POSTING_BYTES = 48  # of memory for a posting that is put in its place
_LEAST_POSTINGS = 1 << 16  # that are put in their place at a time
_WRITTEN = ("term_start", "term_bound", "posting_passage", "posting_count")


def starts_of(sizes: np.ndarray) -> np.ndarray:
    """Where each of some pieces begins when they stand one after the other, and where the last one ends."""
    return np.concatenate([np.zeros(1, np.uint64), np.cumsum(sizes, dtype=np.uint64)]).astype("<u8")


def all_terms(path: Path, memory: int) -> np.ndarray:
    """The hashes of all blocks, ascending, each once."""
    found = np.empty(0, "<u8")
    at_once = max(1 << 16, memory // 64)
    with path.open("rb") as file:
        while len(more := np.fromfile(file, "<u8", at_once)):
            found = np.union1d(found, more)
    return found


class Merge:
    """Brings the postings of all blocks into the order of their terms.

    Args:
        folder: of the index; holds `PARTS`, and gets `term_start`, `term_bound` and `posting_*`.
        terms: of each block.
        postings: of each block.
        hashes: of all terms, ascending.
        norm: [passages] float32, what is added to a frequency in the denominator of BM25.
        values: [256] what a `posting_count` counts as.
    """

    def __init__(
        self,
        folder: Path,
        terms: Sequence[int],
        postings: Sequence[int],
        hashes: np.ndarray,
        norm: np.ndarray,
        values: np.ndarray,
    ) -> None:
        self._folder, self._hashes, self._norm, self._values = folder, hashes, norm, values
        self._term_end = np.cumsum(terms)  # of each block in the parts
        self._term_at = self._term_end - np.asarray(terms)  # what is next of each block
        self._posting_at = np.cumsum(postings) - np.asarray(postings)
        self._files: dict[str, BinaryIO] = {}

    def run(self, memory: int, advance: Advance) -> None:
        """Write the files in about `memory` bytes."""
        most = max(_LEAST_POSTINGS, memory // _POSTING_BYTES)
        with ExitStack() as stack:
            for names, mode in ((PARTS, "rb"), (_WRITTEN, "wb")):
                for name in names:
                    self._files[name] = stack.enter_context((self._folder / name).open(mode))
            starts = starts_of(self._having())
            starts.tofile(self._files["term_start"])
            first = 0
            while first < len(self._hashes):
                last = int(np.searchsorted(starts, starts[first] + np.uint64(most), "right")) - 1
                last = max(first + 1, min(last, len(self._hashes)))
                places = (starts[first : last + 1] - starts[first]).astype(np.int64)
                passages, counts = self._gather(first, last, places)
                passages.tofile(self._files["posting_passage"])
                counts.tofile(self._files["posting_count"])
                self._bounds(passages, counts, places[:-1]).tofile(self._files["term_bound"])
                advance(len(passages))
                first = last

    def _having(self) -> np.ndarray:
        """[terms] int64: how many passages have each term."""
        having = np.zeros(len(self._hashes), np.int64)
        for start, end in zip(self._term_at, self._term_end, strict=True):
            hashes, sizes = self._read("part_hash", "<u8", start, end), self._read("part_size", "<u4", start, end)
            having[np.searchsorted(self._hashes, hashes)] += sizes
        return having

    def _gather(self, first: int, last: int, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The postings of the terms from `first` to `last`, whose postings begin at `places`, from all blocks."""
        passages, counts = np.empty(places[-1], "<u4"), np.empty(places[-1], "u1")
        hashes = self._hashes[first:last]
        following = self._hashes[last] if last < len(self._hashes) else None
        free = places[:-1].copy()  # where the next posting of each term goes
        for block, end in enumerate(self._term_end):
            rest = self._read("part_hash", "<u8", self._term_at[block], end)
            taken = len(rest) if following is None else int(np.searchsorted(rest, following))
            if not taken:
                continue
            term_end = self._term_at[block] + taken
            sizes = self._read("part_size", "<u4", self._term_at[block], term_end).astype(np.int64)
            number = np.searchsorted(hashes, rest[:taken])
            ends = np.cumsum(sizes)
            target = np.repeat(free[number] - ends + sizes, sizes) + np.arange(ends[-1])
            posting_end = self._posting_at[block] + ends[-1]
            passages[target] = self._read("part_passage", "<u4", self._posting_at[block], posting_end)
            counts[target] = self._read("part_count", "u1", self._posting_at[block], posting_end)
            free[number] += sizes
            self._term_at[block], self._posting_at[block] = term_end, posting_end
        return passages, counts

    def _bounds(self, passages: np.ndarray, counts: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """The largest frequency part of each term, rounded up."""
        parts = self._values[counts]
        parts /= parts + self._norm[passages]
        return (np.maximum.reduceat(parts, starts) * np.float32(1 + 1e-6)).astype("<f4")

    def _read(self, name: str, kind: str, start: int, end: int) -> np.ndarray:
        """Values `start` to `end` of a part."""
        self._files[name].seek(int(start) * np.dtype(kind).itemsize)
        return np.fromfile(self._files[name], kind, int(end) - int(start))
