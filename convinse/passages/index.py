"""The index of passages: opened by memory map, searched exactly."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from ..support.errors import IndexFileError, one_line
from . import analysis
from .analysis import Analyzer
from .blocks import Passage
from .layout import ARRAYS, Parameters, check, frequencies, read_manifest, short_hash

_MARGIN = np.float32(1e-5)  # relative: more than single precision can be off
_IDS_AT_ONCE = 1 << 16  # that are looked through
_FILL_FROM = 16  # a 16th of all sums touched: then setting all to zero is faster than finding the touched ones again


class Hit(NamedTuple):
    """A passage that was found: its number in the index, its id and its BM25 score."""

    number: int
    id: str
    score: float


class PassageIndex:
    """BM25 over passages, as `retrieve index` built it.

    The score of a passage for a question is the sum over the question's different terms of

        idf * f / (f + k1 * (1 - b + b * length / mean length)),    idf = log(1 + (N - n + 0.5) / (n + 0.5))

    where n of N passages have the term, f is how often the passage has it (in the text at most 31 times; in the title at
    most 7 times, times the title weight), and the length counts terms likewise. Results are exact; equal scores (to 9
    digits) stand in the order of the passages file.

    Searching visits the question's terms from the one that can add most. Once the best sums so far are higher than what
    the other terms can add together, no new passage can come into the results (MaxScore, Turtle and Flood 1995): of the
    other terms, which are the frequent ones, only the passages still in question are looked up.

    Args:
        folder: the index.
        parameters: what it must have been built with; None for anything.

    Raises:
        IndexFileError: there is no whole index of this format (and of `parameters`).
    """

    def __init__(self, folder: Path, parameters: Parameters | None = None) -> None:
        self.folder = folder
        self.manifest = manifest = read_manifest(folder)
        self.parameters = manifest.parameters
        if parameters is not None and parameters != self.parameters:
            raise IndexFileError(
                f"{folder}: built with {_shown(self.parameters)}, wanted {_shown(parameters)}; build it again with --force"
            )
        if self.parameters.analysis != analysis.VERSION:
            raise IndexFileError(f"{folder}: built with an older analysis of words; build it again with --force")
        check(folder, manifest)
        for name, kind in ARRAYS.items():
            setattr(self, f"_{name}", _mapped(folder / name, kind))
        self._values = frequencies(self.parameters.title_weight)
        k1, b = self.parameters.k1, self.parameters.b
        self._norm = (k1 * (1 - b), k1 * b / max(manifest.mean_length, 1e-9))  # constant, and for each term of length
        self._local = threading.local()

    def __len__(self) -> int:
        return self.manifest.passages

    @property
    def build_id(self) -> str:
        """What results depend on besides the question."""
        return self.manifest.build_id

    @cached_property
    def analyzer(self) -> Analyzer:
        """The analysis of the index's language."""
        return Analyzer(self.parameters.language)

    def search(self, question: str, top: int = 10) -> list[Hit]:
        """The best `top` passages that have a term of the question, best first."""
        numbers, scores = self.search_terms(self.analyzer.terms([question]), top)
        return [
            Hit(number, self.id(number), score) for number, score in zip(numbers.tolist(), scores.tolist(), strict=True)
        ]

    def id(self, number: int) -> str:
        """The id of a passage."""
        start, end = self._id_start[number : number + 2].tolist()
        return self._ids[start:end].tobytes().decode()

    def numbers(self, ids: Iterable[str]) -> dict[str, int]:
        """The numbers of passages by their ids, those that there are; all ids of the index are looked through."""
        wanted = {one.encode() for one in ids}
        found: dict[str, int] = {}
        for first in range(0, len(self), _IDS_AT_ONCE):
            places = self._id_start[first : first + _IDS_AT_ONCE + 1]
            block = self._ids[int(places[0]) : int(places[-1])].tobytes()
            ends = (places - places[0]).tolist()
            for number, place in enumerate(zip(ends[:-1], ends[1:], strict=True), first):
                one = block[slice(*place)]
                if one in wanted:
                    found[one.decode()] = number
        return found

    def passage(self, number: int) -> Passage:
        """A passage as it was given: id, text, title."""
        return self.passages([number])[0]

    def passages(self, numbers: Sequence[int]) -> list[Passage]:
        """Several passages; those of one group are unpacked together."""
        groups = np.searchsorted(self._group_first, np.asarray(numbers, np.uint64), "right") - 1
        lines: dict[int, list[bytes]] = {}
        found = []
        for number, group in zip(numbers, groups.tolist(), strict=True):
            if group not in lines:
                lines[group] = self._unpack(group)
            found.append(msgspec.json.decode(lines[group][number - int(self._group_first[group])], type=Passage))
        return found

    def _unpack(self, group: int) -> list[bytes]:
        import zstandard

        start, end = self._group_start[group : group + 2].tolist()
        try:
            return zstandard.ZstdDecompressor().decompress(self._lines[start:end].tobytes()).split(b"\n")
        except zstandard.ZstdError as error:
            raise IndexFileError(f"{self.folder / 'lines'}: damaged ({one_line(error)}); build it again") from None

    # -- search --------------------------------------------------------------------------------------------------------

    def search_terms(self, terms: Sequence[str], top: int) -> tuple[np.ndarray, np.ndarray]:
        """Numbers and scores (float64) of the best passages for terms; repeated terms count once."""
        lists = self._lists(terms)
        if not lists or top < 1:
            return np.empty(0, np.int64), np.empty(0)
        found, sums, least, visited = self._visit(lists, top)
        for place in range(visited, len(lists)):  # frequent terms, for the passages in question only
            sums = sums + lists[place].look_up(found, np.float32)
            least = _raised(least, sums, top)
            keep = sums + lists[place].rest >= least
            found, sums = found[keep], sums[keep]
        found = found[sums >= least]
        exact = np.zeros(len(found))
        for one in sorted(lists, key=lambda one: one.number):  # always the same order of additions
            exact += one.look_up(found, np.float64)
        exact = exact.round(9)
        order = np.lexsort((found, -exact))[:top]
        return found[order].astype(np.int64), exact[order]

    def _lists(self, terms: Sequence[str]) -> list[_List]:
        """The postings of the terms that there are, those that can add most first."""
        hashes = np.unique(np.array([short_hash(term.encode()) for term in set(terms)], np.uint64))
        if not len(hashes) or not len(self._term_hash):
            return []
        numbers = np.minimum(np.searchsorted(self._term_hash, hashes), len(self._term_hash) - 1)
        numbers = numbers[self._term_hash[numbers] == hashes]
        lists = [_List(self, number) for number in numbers.tolist()]
        lists.sort(key=lambda one: (-one.bound, one.number))
        rest = np.float32(0)
        for one in reversed(lists):
            one.rest = rest
            rest += one.bound
        return lists

    def _visit(self, lists: list[_List], top: int) -> tuple[np.ndarray, np.ndarray, np.float32, int]:
        """Add up whole lists until no other passage can be among the best.

        Returns:
            The passages still in question (ascending), their sums, a sum that the best `top` reach, and how many lists
            were visited.
        """
        sums = self._sums()
        least = np.float32(0)
        visited = touched = 0
        for one in lists:
            if least > one.bound + one.rest:
                break
            passages, parts = one.all_parts()
            parts += sums[passages]
            sums[passages] = parts
            least = _raised(least, parts, top)
            touched += len(passages)
            visited += 1
        needed = max(least - lists[visited - 1].rest, np.float32(0))
        kept = [one.passages[sums[one.passages] >= needed] for one in lists[:visited]]
        found = np.sort(np.concatenate(kept))
        found = found[np.diff(found, prepend=found[:1] - 1) != 0]  # each once
        values = sums[found]
        if touched * _FILL_FROM > len(sums):
            sums.fill(0)
        else:
            for one in lists[:visited]:
                sums[one.passages] = 0
        return found, values, least, visited

    def _sums(self) -> np.ndarray:
        """A zero for each passage; every thread has its own."""
        if not hasattr(self._local, "sums"):
            self._local.sums = np.zeros(len(self), np.float32)
        return self._local.sums


class _List:
    """The postings of a term."""

    def __init__(self, index: Any, number: int) -> None:
        self.number = number
        self._index = index
        start, end = index._term_start[number : number + 2].tolist()
        self.passages = index._posting_passage[start:end]
        self._counts = index._posting_count[start:end]
        having = end - start
        self._idf = float(np.log1p((len(index) - having + 0.5) / (having + 0.5)))
        self.bound = np.float32(self._idf * float(index._term_bound[number])) * (1 + _MARGIN)
        self.rest = np.float32(0)  # what the terms behind this one can add

    def all_parts(self) -> tuple[np.ndarray, np.ndarray]:
        """All passages with what the term adds to them."""
        return self.passages, self._parts(self._counts, self.passages, np.float32)

    def look_up(self, passages: np.ndarray, kind: Any) -> np.ndarray:
        """What the term adds to some passages (ascending); 0 for those that lack it."""
        parts = np.zeros(len(passages), kind)
        if len(passages):
            place = np.minimum(np.searchsorted(self.passages, passages), len(self.passages) - 1)
            having = self.passages[place] == passages
            parts[having] = self._parts(self._counts[place[having]], passages[having], kind)
        return parts

    def _parts(self, counts: np.ndarray, passages: np.ndarray, kind: Any) -> np.ndarray:
        constant, slope = self._index._norm
        parts = self._index._values[counts].astype(kind, copy=False)
        norm = self._index._length[passages].astype(kind, copy=False)
        norm *= kind(slope)
        norm += kind(constant)
        norm += parts
        parts /= norm
        parts *= kind(self._idf)
        return parts


def _raised(least: np.float32, sums: np.ndarray, top: int) -> np.float32:
    """A sum that `top` passages reach, rounded down: `least`, or a higher one that some sums show."""
    higher = sums[sums > least]
    if len(higher) < top:
        return least
    best = np.partition(higher, len(higher) - top)[len(higher) - top]
    return max(least, best * (1 - _MARGIN))


def _mapped(path: Path, kind: str) -> np.ndarray:
    """A file as an array; an empty one cannot be mapped."""
    if path.stat().st_size == 0:
        return np.empty(0, kind)
    return np.memmap(path, kind, "r").view(np.ndarray)


def _shown(parameters: Parameters) -> str:
    return ", ".join(f"{name} {value}" for name, value in msgspec.structs.asdict(parameters).items())
