"""The index of passages: a full-text engine finds candidates, which are then scored exactly."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from ..formats.poleval.runs import Passage
from ..support.errors import IndexFileError, one_line
from ..support.files import open_consistently, state_of
from ..support.full_text import FullText, open_same
from ..support.manifest import MANIFEST, check_folder, map_array
from . import analysis
from .analysis import Analyzer
from .layout import (
    ARRAYS,
    CANDIDATES,
    ENGINE_K1,
    REMEDY,
    TERMS,
    frequencies,
    length_norm,
    read_manifest,
    short_hash,
    token,
)

SPARE = 10  # candidates beyond the requested ones: enough for nearly every question
_MORE = 4  # factor of the candidates fetched, if they are too few
_TINY = 1e-6  # bound of the engine's single-precision error for a term, if scores are near 0
IDS_AT_ONCE = 1 << 16  # ids that are compared in a block
_NO_TERM = 0xFFFFFFFF  # above all numbers of terms


class Hit(NamedTuple):
    """A result: the number of a passage in the index, its id and its BM25 score."""

    number: int
    id: str
    score: float


class PassageIndex:
    """BM25 over passages, as `retrieve index` built it.

    The score of a passage for a question is the sum over the distinct terms of the question of

        idf * f / (f + k1 * (1 - b + b * length / mean length)),    idf = log(1 + (N - n + 0.5) / (n + 0.5))

    where n of N passages have the term, f is its number in the passage (in the text at most 31; in the title at most 7,
    times the title weight), and the length counts terms likewise. Results are exact; equal scores (to 9 digits) are in the
    order of the passages file.

    The full-text engine returns somewhat more candidates than requested, by similar scores: it stores lengths in one byte.
    They are scored again in double precision. An upper bound of the score follows from the engine's score; if passages
    behind the last candidate could be better, more are fetched.

    Raises:
        IndexFileError: the folder has no complete index of this format.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        open_consistently(folder / MANIFEST, self._open)
        self._segments: list[int] = self._arrays["segment_start"].tolist()
        self._values = frequencies(self.parameters.title_weight)
        self._norm = (self.parameters.k1, self.parameters.b)

    def _open(self) -> None:
        self.manifest = manifest = read_manifest(folder := self.folder)
        self.parameters = manifest.parameters
        self.build_id = manifest.build_id  # results depend on it and on the question
        if self.parameters.analysis != analysis.VERSION:
            raise IndexFileError(f"{folder}: built with an older analysis of words; build it again with --force")
        self._state = state_of(folder / MANIFEST)
        check_folder(folder, IndexFileError, remedy=REMEDY)
        self._arrays: dict[str, Any] = {name: map_array(folder / name, kind, REMEDY) for name, kind in ARRAYS.items()}

    def __len__(self) -> int:
        return self.manifest.passages

    @cached_property
    def _candidates(self) -> FullText:
        return open_same(self.folder / CANDIDATES, self.folder / MANIFEST, self._state)

    @cached_property
    def analyzer(self) -> Analyzer:
        """The analysis of the index's language."""
        return Analyzer(self.parameters.language)

    def search(self, question: str, top: int = 10) -> list[Hit]:
        """Return the best `top` passages that have a term of the question, best first."""
        numbers, scores = self.search_terms(self.analyzer.terms([question]), top)
        pairs = zip(numbers.tolist(), scores.tolist(), strict=True)
        return [Hit(number, self.id(number), score) for number, score in pairs]

    def id(self, number: int) -> str:
        """Return the id of a passage."""
        start, end = self._arrays["id_start"][number : number + 2].tolist()
        return str(self._arrays["ids"][start:end].data, "utf-8")

    def numbers(self, ids: Iterable[str]) -> dict[str, int]:
        """Return the numbers of passages by their ids, without unknown ids; reads all ids of the index."""
        requested = {name.encode() for name in ids}
        numbers: dict[str, int] = {}
        for first in range(0, len(self), IDS_AT_ONCE):
            starts = self._arrays["id_start"][first : first + IDS_AT_ONCE + 1]
            block = self._arrays["ids"][int(starts[0]) : int(starts[-1])].tobytes()
            borders = (starts - starts[0]).tolist()
            for number, (start, end) in enumerate(zip(borders[:-1], borders[1:], strict=True), first):
                name = block[start:end]
                if name in requested:
                    numbers[name.decode()] = number
        return numbers

    def passages(self, numbers: Sequence[int]) -> list[Passage]:
        """Return passages as indexed: id, text, title."""
        from ..support.zstd import zstd

        first = self._arrays["group_first"]
        groups = first.searchsorted(np.asarray(numbers, np.uint64), "right") - 1
        lines: dict[int, list[bytes]] = {}
        passages = []
        for number, group in zip(numbers, groups.tolist(), strict=True):
            if group not in lines:
                start, end = self._arrays["group_start"][group : group + 2].tolist()
                try:
                    data = zstd.decompress(self._arrays["lines"][start:end].tobytes())
                except zstd.ZstdError as error:
                    fault = f"damaged ({one_line(error)}); build it again"
                    raise IndexFileError(f"{self.folder / 'lines'}: {fault}") from None
                lines[group] = data.split(b"\n")
            passages.append(msgspec.json.decode(lines[group][number - int(first[group])], type=Passage))
        return passages

    def search_terms(self, terms: Iterable[str], top: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """Return numbers and scores of the best passages for terms; repeated terms count once."""
        query, query_terms, idf = self._query(terms)
        if not len(idf) or top < 1:
            return np.empty(0, np.int64), np.empty(0)
        fetch = top + top // 4 + SPARE
        while True:
            with self._candidates.reading():
                hits = self._candidates.searcher.search(query, min(fetch, len(self)), count=False).hits
            places = [self._segments[address.segment_ord] + address.doc for _, address in hits]
            numbers = self._arrays["document"][np.array(places, np.int64)].astype(np.int64)
            scores = self._scores(numbers, query_terms, idf)
            if len(hits) < fetch:
                break
            # no passage behind the last candidate has a higher score
            bound = hits[-1][0] / (ENGINE_K1 + 1) * self.manifest.excess + _TINY * len(idf)
            if np.partition(scores, -top)[-top] > bound:
                break
            fetch *= _MORE
        scores = scores.round(9)
        order = np.lexsort((numbers, -scores))[:top]
        return numbers[order], scores[order]

    def _query(self, terms: Iterable[str]) -> tuple[Any, npt.NDArray[np.uint32], npt.NDArray[np.float64]]:
        """Return the engine's query, the ascending numbers of the terms with `_NO_TERM` behind them, and the idf of the terms."""
        import tantivy

        engine = self._candidates
        searcher, hashes = engine.searcher, {short_hash(term.encode()) for term in terms}
        counts = {value: passages for value in hashes if (passages := searcher.doc_freq(TERMS, token(value)))}
        places = self._arrays["term_hash"].searchsorted(np.array([*counts], np.uint64))
        numbers = self._arrays["term_number"][places].tolist()
        queries, pairs = [], []
        for (value, passages), number in zip(counts.items(), numbers, strict=True):
            query = tantivy.Query.term_query(engine.schema, TERMS, token(value), index_option="freq")
            queries.append((tantivy.Occur.Should, query))
            pairs.append((number, math.log1p((len(self) - passages + 0.5) / (passages + 0.5))))
        pairs.sort()
        term_numbers = np.array([*(number for number, _ in pairs), _NO_TERM], np.uint32)
        return tantivy.Query.boolean_query(queries), term_numbers, np.array([idf for _, idf in pairs])

    def _scores(
        self, numbers: npt.NDArray[np.int64], query_terms: npt.NDArray[np.uint32], idf: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        arrays = self._arrays
        starts = arrays["row_start"][numbers]
        sizes = arrays["row_start"][numbers + 1] - starts
        ends = sizes.cumsum()
        places = (starts - ends + sizes).repeat(sizes)
        places += np.arange(len(places))
        terms = arrays["row_term"][places]
        column = query_terms.searchsorted(terms)
        matching = (query_terms[column] == terms).nonzero()[0]
        passage = ends.searchsorted(matching, "right")
        frequency = self._values[arrays["row_count"][places[matching]]]
        norm = length_norm(*self._norm, arrays["length"][numbers].astype(np.float64), self.manifest.mean_length)
        parts = idf[column[matching]] * frequency / (frequency + norm[passage])
        return np.bincount(passage, parts, len(numbers)).astype(np.float64, copy=False)
