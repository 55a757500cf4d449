"""A block of passage lines into sorted postings: what the processes of a build compute."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from ..support.errors import DataError
from ..support.jsonlines import not_json
from .analysis import Analyzer
from .layout import MOST_IN_TEXT, MOST_IN_TITLE, TEXT_BITS, short_hash

GROUP = 32  # passages of a compressed group
_LEVEL = 3  # of Zstandard
_STOP = 0  # the number of all stop words
_PLACE_BITS = 25  # of a sort key: passage in the block, and whether the word is in the title


class Passage(msgspec.Struct):
    """A line of a passages file; `meta` and other keys are kept as they are."""

    id: str
    text: str
    title: str | None = None


_DECODER = msgspec.json.Decoder(Passage)


class Block(NamedTuple):
    """The postings of a block, by ascending term hash, then passage; passages count from 0 in the block."""

    hashes: np.ndarray  # [t] uint64
    sizes: np.ndarray  # [t] uint32, postings of each term
    passages: np.ndarray  # [p] uint32
    counts: np.ndarray  # [p] uint8, see `layout`
    text_length: np.ndarray  # [n] uint32
    title_length: np.ndarray  # [n] uint32
    ids: bytes
    id_sizes: np.ndarray  # [n] uint32
    id_hashes: np.ndarray  # [n] uint64
    lines: bytes
    group_passages: np.ndarray  # [g] uint32
    group_sizes: np.ndarray  # [g] uint32


class BlockReader:
    """Reads blocks; remembers the words it has seen, up to a limit.

    Args:
        path: of the file, for messages.
        language: see `Analyzer`.
        most_words: different words that are remembered.
    """

    def __init__(self, path: Path, language: str, most_words: int) -> None:
        self._path = path
        self._analyzer = Analyzer(language)
        self._most_words = most_words
        self._words = _Words(self._analyzer)

    def read(self, data: bytes, first_line: int) -> Block:
        """Invert the lines in `data`. Raises `DataError` naming the file and the line of the first bad passage."""
        import zstandard

        if len(self._words) > self._most_words:
            self._words = _Words(self._analyzer)
        ids: list[bytes] = []
        kept: list[bytes] = []
        words: list[str] = []
        sizes: list[int] = []  # words of the text, words of the title, and so on
        split = self._analyzer.words
        for number, line in enumerate(data.split(b"\n"), first_line):
            if not line or line.isspace():
                continue
            passage = self._decode(line, number)
            ids.append(passage.id.encode())
            kept.append(line)
            found = split(passage.text)
            words += found
            sizes.append(len(found))
            found = split(passage.title) if passage.title else []
            words += found
            sizes.append(len(found))
        terms = np.fromiter(map(self._words.__getitem__, words), np.int64, len(words))
        packer = zstandard.ZstdCompressor(level=_LEVEL)
        groups = [kept[start : start + GROUP] for start in range(0, len(kept), GROUP)]
        frames = [packer.compress(b"\n".join(group)) for group in groups]
        places = np.repeat(np.arange(len(sizes)), sizes)  # twice the passage, and one more for a title
        content = terms != _STOP
        lengths = np.bincount(places[content], minlength=len(sizes)).astype(np.uint32)
        return Block(
            *self._invert(terms[content], places[content]),
            lengths[::2],
            lengths[1::2],
            b"".join(ids),
            np.fromiter(map(len, ids), np.uint32, len(ids)),
            np.fromiter(map(short_hash, ids), np.uint64, len(ids)),
            b"".join(frames),
            np.fromiter(map(len, groups), np.uint32, len(groups)),
            np.fromiter(map(len, frames), np.uint32, len(frames)),
        )

    def _invert(self, terms: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Hashes, sizes, passages and counts of a `Block`."""
        hash_of = np.frombuffer(self._words.hashes, np.uint64)
        present = np.zeros(len(hash_of), dtype=bool)
        present[terms] = True
        numbers = np.flatnonzero(present)
        numbers = numbers[np.argsort(hash_of[numbers], kind="stable")]
        rank = np.empty(len(hash_of), np.int64)
        rank[numbers] = np.arange(len(numbers))
        keys = np.sort(rank[terms] << _PLACE_BITS | places)
        first = np.flatnonzero(np.diff(keys, prepend=-1))  # of equal keys: one word in one text or title
        often = np.diff(first, append=len(keys))
        keys = keys[first]
        in_title = (keys & 1).astype(bool)
        keys >>= 1
        often = np.where(in_title, np.minimum(often, MOST_IN_TITLE) << TEXT_BITS, np.minimum(often, MOST_IN_TEXT))
        first = np.flatnonzero(np.diff(keys, prepend=-1))  # text and title of one passage stand side by side
        counts = np.add.reduceat(often, first).astype(np.uint8) if len(first) else np.empty(0, np.uint8)
        keys = keys[first]
        sizes = np.bincount(keys >> (_PLACE_BITS - 1), minlength=len(numbers)).astype(np.uint32)
        return hash_of[numbers], sizes, (keys & ((1 << (_PLACE_BITS - 1)) - 1)).astype(np.uint32), counts

    def _decode(self, line: bytes, number: int) -> Passage:
        try:
            passage = _DECODER.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise not_json(self._path, number, error) from None
        if passage.id.split() != [passage.id]:
            fault = "holds white space, which the submission format cannot carry" if passage.id.strip() else "is empty"
            raise DataError(f"{self._path}:{number}: the id '{passage.id}' {fault}".replace("\n", " "))
        if not passage.text or passage.text.isspace():
            raise DataError(f"{self._path}:{number}: passage '{passage.id}' has no text")
        return passage


class _Words(dict[str, int]):
    """The number of each word's term; a look-up of a word that was seen before is a single call in C."""

    def __init__(self, analyzer: Analyzer) -> None:
        super().__init__()
        self._analyzer = analyzer
        self._numbers: dict[int, int] = {}
        self._next = count(_STOP + 1)
        self.hashes = bytearray(8)  # [numbers] uint64; that of the stop words is not used

    def __missing__(self, word: str) -> int:
        term = self._analyzer.term(word)
        number = _STOP
        if term is not None:
            value = short_hash(term.encode())
            known = self._numbers.get(value)
            if known is None:
                known = self._numbers[value] = next(self._next)
                self.hashes += value.to_bytes(8, "little")
            number = known
        self[word] = number
        return number
