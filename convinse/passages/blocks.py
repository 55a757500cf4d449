"""Analyzes blocks of passage lines into the terms of each passage, in the processes of a build."""

from __future__ import annotations

import math
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from ..formats.poleval.runs import Passage
from ..formats.records import first_of
from ..support.blocks import Block
from ..support.errors import DataError
from ..support.jsonlines import JSON_ERRORS, decoded, not_json
from .analysis import Analyzer
from .layout import MOST_IN_TEXT, MOST_IN_TITLE, TEXT_BITS, Parameters, short_hash, token

GROUP = 32  # passages of a compressed group
MOST_REPEATS = 16  # of a title in the search for candidates
_LEVEL = 3  # of Zstandard
_STOP = 0  # the number of all stop words
_TERM_BITS = 32  # of a sort key, below the passage


_DECODER = msgspec.json.Decoder(Passage)
_MEMBERS = msgspec.json.Decoder(dict[str, Any])
_IDS = ("id", "_id", "docid", "docno", "doc_id", "pid")
_TEXTS = ("text", "contents", "body", "passage", "content", "page_content")


class Rows(NamedTuple):
    """The passages of a block."""

    hashes: npt.NDArray[np.uint64]  # [t] of the terms, ascending
    sizes: npt.NDArray[np.int64]  # [n] different terms of each passage
    terms: npt.NDArray[np.int64]  # [p] places in `hashes`
    counts: npt.NDArray[np.uint8]  # [p] see `layout`
    text_length: npt.NDArray[np.int64]  # [n]
    title_length: npt.NDArray[np.int64]  # [n]
    tokens: str  # for the search for candidates: a line a passage
    ids: bytes
    id_sizes: npt.NDArray[np.uint64]  # [n]
    id_hashes: npt.NDArray[np.uint64]  # [n]
    lines: bytes
    group_passages: npt.NDArray[np.uint64]  # [g]
    group_sizes: npt.NDArray[np.uint64]  # [g]


def title_repeats(title_weight: float) -> int:
    """Return the number of copies of a title in the search for candidates, which has no weights of words."""
    return max(1, min(MOST_REPEATS, math.ceil(title_weight)))


class BlockReader:
    """Reads blocks, with a cache of at most `most_words` words; messages name the `path` of the file."""

    def __init__(self, path: Path, parameters: Parameters, most_words: int) -> None:
        self._path = path
        self._analyzer = Analyzer(parameters.language)
        self._repeats = title_repeats(parameters.title_weight)
        self._most_words = most_words
        self._words = _Words(self._analyzer)

    def __call__(self, block: Block) -> Rows:
        """Read the lines of a block. Raises `DataError` naming the file and the line of the first bad passage."""
        from ..support.zstd import zstd

        if len(self._words) > self._most_words:
            self._words = _Words(self._analyzer)
        ids: list[bytes] = []
        lines: list[bytes] = []
        numbers: list[int] = []
        sizes: list[int] = []  # words of the text, words of the title, and so on
        tokens: list[str] = []
        split, number_of, token_of = self._analyzer.words, self._words.__getitem__, self._words.tokens
        for line_number, file_line in block.lines():
            passage, line = read_passage(self._path, line_number, file_line)
            ids.append(passage.id.encode())
            lines.append(line)
            text = list(map(number_of, split(passage.text)))
            title = list(map(number_of, split(passage.title))) if passage.title else []
            numbers += text
            numbers += title
            sizes += (len(text), len(title))
            tokens.append(" ".join([token_of[number] for number in text + title * self._repeats if number]))
        groups = [lines[start : start + GROUP] for start in range(0, len(lines), GROUP)]
        frames = [zstd.compress(b"\n".join(group), _LEVEL) for group in groups]
        places = np.repeat(np.arange(len(sizes)), sizes)  # twice the passage, plus 1 for a title
        terms = np.array(numbers, np.int64)
        content = terms != _STOP
        lengths = np.bincount(places[content], minlength=len(sizes))
        return Rows(
            *self._counted(terms[content], places[content], len(ids)),
            lengths[::2],
            lengths[1::2],
            "\n".join(tokens),
            b"".join(ids),
            np.fromiter(map(len, ids), np.uint64, len(ids)),
            np.fromiter(map(short_hash, ids), np.uint64, len(ids)),
            b"".join(frames),
            np.fromiter(map(len, groups), np.uint64, len(groups)),
            np.fromiter(map(len, frames), np.uint64, len(frames)),
        )

    def _counted(
        self, terms: npt.NDArray[np.int64], places: npt.NDArray[np.int64], passages: int
    ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
        all_hashes = np.frombuffer(self._words.hashes, np.uint64)
        present = np.zeros(len(all_hashes), dtype=bool)
        present[terms] = True
        present_terms = np.flatnonzero(present)
        present_terms = present_terms[np.argsort(all_hashes[present_terms], kind="stable")]
        rank = np.empty(len(all_hashes), np.int64)
        rank[present_terms] = np.arange(len(present_terms))
        keys = np.sort((places >> 1 << _TERM_BITS | rank[terms]) << 1 | places & 1)
        first = np.flatnonzero(np.diff(keys, prepend=-1))  # of equal keys: the same word in the same text or title
        often = np.diff(first, append=len(keys))
        keys = keys[first]
        in_title = (keys & 1).astype(bool)
        keys >>= 1
        often = np.where(in_title, np.minimum(often, MOST_IN_TITLE) << TEXT_BITS, np.minimum(often, MOST_IN_TEXT))
        first = np.flatnonzero(np.diff(keys, prepend=-1))  # text and title of a passage are side by side
        counts = np.add.reduceat(often, first).astype(np.uint8) if len(first) else np.empty(0, np.uint8)
        keys = keys[first]
        sizes = np.bincount(keys >> _TERM_BITS, minlength=passages)
        return all_hashes[present_terms], sizes, keys & ((1 << _TERM_BITS) - 1), counts


def read_passage(path: Path, number: int, line: bytes) -> tuple[Passage, bytes]:
    """Return the passage of a line of a file, and the line for an index.

    Reads the project's form and the forms of BEIR (`_id`, `title`, `text`), Pyserini (`id`, `contents` that begins with a line
    for the title), TREC (`docid` or `docno`, `body`), MS MARCO (`pid`, `passage`), and of frameworks (`content` or `page_content`,
    the title among the metadata). Raises `DataError` for any other line.
    """
    try:
        passage = _DECODER.decode(line)
    except msgspec.ValidationError:
        members = decoded(_MEMBERS, path, number, line)
        title, contents = members.pop("title", None), members.get("contents")
        text = first_of(members, _TEXTS)
        if title is None:
            match first_of(members, ("metadata", "meta")):
                case {"title": title}:
                    pass
        if title is None and text is contents:
            first, newline, rest = str(text).partition("\n")  # what is no string has none, and is refused below
            if newline and rest.strip():
                title, text = first.strip('"'), rest
        members = {"id": first_of(members, _IDS), "title": title, "text": text, **members}
        renamed = {key: value for key, value in members.items() if value is not None}
        for key, names in (("id", _IDS), ("text", _TEXTS)):
            if key not in renamed:
                raise DataError(
                    f"{path}:{number}: a passage without {key}; its key must be {' or '.join(names)}"
                ) from None
        line = msgspec.json.encode(renamed)
        passage = decoded(_DECODER, path, number, line)
    except JSON_ERRORS as error:
        raise not_json(path, number, error) from None
    if passage.id.split() != [passage.id]:
        fault = "holds white space, which the submission format cannot carry" if passage.id.strip() else "is empty"
        raise DataError(f"{path}:{number}: the id '{passage.id}' {fault}".replace("\n", " "))
    if not passage.text or passage.text.isspace():
        raise DataError(f"{path}:{number}: passage '{passage.id}' has no text")
    return passage, line


class _Words(dict[str, int]):
    """Word -> number of its term; a look-up of a cached word is a single call in C."""

    def __init__(self, analyzer: Analyzer) -> None:
        super().__init__()
        self._analyzer = analyzer
        self._numbers: dict[int, int] = {}
        self._next = count(_STOP + 1)
        self.hashes = bytearray(8)  # [numbers] uint64; that of the stop words is not used
        self.tokens = [""]  # [numbers]

    def __missing__(self, word: str) -> int:
        term = self._analyzer.term(word)
        number = _STOP
        if term is not None:
            value = short_hash(term.encode())
            if value not in self._numbers:
                self._numbers[value] = next(self._next)
                self.hashes += value.to_bytes(8, "little")
                self.tokens.append(token(value))
            number = self._numbers[value]
        self[word] = number
        return number
