"""Token ids of texts and of pairs of texts: each text is tokenised once, and pairs are joined from its tokens."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ..support.errors import ModelError
from ..support.recently_used import RecentlyUsed

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from .checkpoint import Checkpoint


class TokenCounter:
    """A counter of tokens with the tokenizer of an exported model's folder, which is read on first use.

    Texts are counted in full, without special tokens.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer

    def count(self, texts: Sequence[str]) -> int:
        """Return the sum of the tokens of the texts; it takes 0.2 ms for a turn, 5 ms for the longest conversation."""
        return sum(map(len, self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)))


# bytes of the caches of token ids (twice the candidates of a conversation) and of ids with offsets, which only readers need
_IDS_BYTES, _OFFSETS_BYTES = 4_000_000, 3_000_000
_CHUNK = 8192  # texts in a call of the tokenizer
_MIN_SECOND = 16  # tokens left to the second text of a pair, however long the first is


@dataclass(frozen=True)
class Sequences:
    """Model inputs of different lengths."""

    ids: list[np.ndarray]
    lengths: np.ndarray  # [n] numbers of tokens
    firsts: np.ndarray  # [n] numbers of leading tokens of type 0: the second text of a pair begins there
    second_type: int  # type of the tokens behind them
    pad_id: int

    def padded(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return `input_ids`, `attention_mask` and `token_type_ids` of the sequences at `places`: [b, longest] int64."""
        lengths = self.lengths[places]
        longest = int(lengths.max())
        input_ids = np.full((len(places), longest), self.pad_id, dtype=np.int64)
        for row, place in enumerate(places):
            ids = self.ids[place]
            input_ids[row, : len(ids)] = ids
        columns = np.arange(longest)[None, :]
        mask = columns < lengths[:, None]
        types = np.where((columns >= self.firsts[places][:, None]) & mask, self.second_type, 0)
        return input_ids, mask.astype(np.int64), types


@dataclass(frozen=True)
class Windows:
    """Windows over the second texts of pairs."""

    sequences: Sequences
    pair_of: np.ndarray  # [w] the pair of a window
    begins: np.ndarray  # [w] the window's first token among the tokens of the pair's second text
    offsets: list[np.ndarray]  # for each pair, [t, 2] character offsets of the second text's tokens
    trailing: int  # special tokens behind a window


_IdsAndOffsets: TypeAlias = tuple[np.ndarray, np.ndarray]  # token ids [t] and their character offsets [t, 2]


class _TokenCache:
    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        # the sizes count the text and the Python objects, too
        self._ids = RecentlyUsed[str, np.ndarray](_IDS_BYTES, lambda ids: 350 + 8 * len(ids))
        self._with_offsets = RecentlyUsed[str, _IdsAndOffsets](_OFFSETS_BYTES, lambda pair: 650 + 16 * len(pair[0]))

    def ids(self, texts: Sequence[str]) -> list[np.ndarray]:
        """Return the token ids of each text."""
        return self._ids.of(texts, self._encoded)

    def with_offsets(self, texts: Sequence[str]) -> list[_IdsAndOffsets]:
        """Return the token ids [t] and character offsets [t, 2] of each text."""
        return self._with_offsets.of(texts, self._encoded_with_offsets)

    def _encoded(self, texts: Sequence[str]) -> Iterator[np.ndarray]:
        for chunk in _chunks(texts):
            for encoding in self._tokenizer.encode_batch_fast(_unicode(chunk), add_special_tokens=False):
                yield np.array(encoding.ids, dtype=np.int32)

    def _encoded_with_offsets(self, texts: Sequence[str]) -> Iterator[_IdsAndOffsets]:
        for chunk in _chunks(texts):
            for encoding in self._tokenizer.encode_batch(_unicode(chunk), add_special_tokens=False):
                offsets = np.array(encoding.offsets, dtype=np.int32).reshape(-1, 2)
                yield np.array(encoding.ids, dtype=np.int32), offsets


class TextTokenizer:
    """A tokenizer from texts to model inputs of at most `max_length` tokens, special tokens counted.

    The post-processor of the fast `tokenizer` adds the model's special tokens; a pair ends with `trailing` of them.
    """

    def __init__(self, tokenizer: Tokenizer, max_length: int, pad_id: int) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._before, self._between, self._after, self._after_single, self._second_type = _special_tokens(tokenizer)
        self._pad_id = pad_id
        self._cache = _TokenCache(tokenizer)
        self.trailing = len(self._after)
        self._limit(max_length)

    def _limit(self, max_length: int) -> None:
        least = len(self._before) + len(self._between) + len(self._after) + 2 * _MIN_SECOND
        if max_length < least:
            raise ModelError(f"at most {max_length} tokens leave no room for two texts; give at least {least}")
        self.max_length = max_length

    @classmethod
    def of(cls, checkpoint: Checkpoint, max_length: int) -> TextTokenizer:
        """Return the tokenizer of a checkpoint; `max_length` is lowered to the model's limit."""
        tokenizer = checkpoint.tokenizer
        return cls(tokenizer.backend_tokenizer, min(max_length, checkpoint.max_length), tokenizer.pad_token_id or 0)

    def limited(self, max_length: int) -> TextTokenizer:
        """Return a tokenizer with another limit that shares the cached tokens."""
        tokenizer = copy.copy(self)
        tokenizer._limit(max_length)
        return tokenizer

    def ids(self, texts: Sequence[str]) -> list[np.ndarray]:
        """Return the token ids of texts, without special tokens, uncut."""
        return self._cache.ids(texts)

    def offsets(self, texts: Sequence[str]) -> list[np.ndarray]:
        """Return the [t, 2] character offsets of the tokens of texts, uncut."""
        return [offsets for _, offsets in self._cache.with_offsets(texts)]

    def pairs(self, pairs: Sequence[tuple[str, str]]) -> Sequences:
        """Return `[CLS] first [SEP] second [SEP]` of pairs.

        The second text is cut to fit. The first is cut only if it leaves the second fewer than 16 tokens, and then at its
        beginning: a conversation's current question stands at the end.
        """
        before, between, after = self._before, self._between, self._after
        room = self.max_length - len(before) - len(between) - len(after)
        firsts, seconds = self.ids([first for first, _ in pairs]), self.ids([second for _, second in pairs])
        ids, begins = [], np.empty(len(pairs), dtype=np.int64)
        for place, (first, second) in enumerate(zip(firsts, seconds, strict=True)):
            if len(first) > room - _MIN_SECOND:
                first = first[-(room - min(_MIN_SECOND, len(second))) :]
            ids.append(np.concatenate((before, first, between, second[: room - len(first)], after)))
            begins[place] = len(before) + len(first) + len(between)
        return Sequences(ids, _lengths(ids), begins, self._second_type, self._pad_id)

    def windows(self, pairs: Sequence[tuple[str, str]], stride: int) -> Windows:
        """Return `[CLS] first [SEP] window of second [SEP]` for all windows of the pairs.

        A second text that does not fit is read in windows that share `stride` tokens with the window before. The first text
        is cut as in `pairs`, but leaves the second at least half of the room.
        """
        before, between, after = self._before, self._between, self._after
        room = self.max_length - len(before) - len(between) - len(after)
        firsts = self.ids([first for first, _ in pairs])
        encodings = self._cache.with_offsets([second for _, second in pairs])
        ids, types, pair_of, begins = [], [], [], []
        for place, (first, (tokens, _)) in enumerate(zip(firsts, encodings, strict=True)):
            if len(first) > room // 2 and len(first) + len(tokens) > room:
                first = first[-max(room // 2, room - len(tokens)) :]
            size = room - len(first)
            step = max(1, size - stride)
            start = 0
            while True:
                ids.append(np.concatenate((before, first, between, tokens[start : start + size], after)))
                types.append(len(before) + len(first) + len(between))
                pair_of.append(place)
                begins.append(start)
                if start + size >= len(tokens):
                    break
                start += step
        sequences = Sequences(ids, _lengths(ids), np.array(types, dtype=np.int64), self._second_type, self._pad_id)
        owners, starts = np.array(pair_of, dtype=np.int64), np.array(begins, dtype=np.int64)
        return Windows(sequences, owners, starts, [offsets for _, offsets in encodings], len(after))

    def singles(self, texts: Sequence[str]) -> Sequences:
        """Return `[CLS] text [SEP]` of texts, cut to fit."""
        before, after = self._before, self._after_single
        room = self.max_length - len(before) - len(after)
        ids = [np.concatenate((before, text[:room], after)) for text in self.ids(texts)]
        return Sequences(ids, _lengths(ids), _lengths(ids), 0, self._pad_id)


def _chunks(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    return (texts[start : start + _CHUNK] for start in range(0, len(texts), _CHUNK))


def _unicode(texts: Sequence[str]) -> list[str]:
    # strings of JSON and Python may hold lone surrogates, which tokenizers refuse
    return [text if text.isascii() else text.encode("utf-8", "replace").decode() for text in texts]


def _lengths(ids: list[np.ndarray]) -> np.ndarray:
    return np.fromiter(map(len, ids), dtype=np.int64, count=len(ids))


def _special_tokens(tokenizer: Tokenizer) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]:
    # before, between and behind the texts of a pair, and behind a single text; the type of the tokens of a second text:
    # read off an example, since the special tokens of BERT and RoBERTa differ
    first_word, second_word = (tokenizer.encode(word, add_special_tokens=False).ids for word in ("one", "two"))
    both = tokenizer.encode("one", "two")
    ids, types = both.ids, both.type_ids
    start = _find(ids, first_word, 0)
    middle = start + len(first_word)
    second = _find(ids, second_word, middle)
    alone = tokenizer.encode("one").ids
    if alone[: start + len(first_word)] != ids[: start + len(first_word)]:
        raise ModelError("the tokenizer treats one text and two texts differently; such models are not supported")

    parts = (ids[:start], ids[middle:second], ids[second + len(second_word) :], alone[middle:])
    before, between, after, after_single = (np.array(part, dtype=np.int32) for part in parts)
    return before, between, after, after_single, types[second]


def _find(ids: list[int], part: list[int], start: int) -> int:
    for place in range(start, len(ids) - len(part) + 1):
        if part and ids[place : place + len(part)] == part:
            return place
    raise ModelError("the tokenizer does not keep the tokens of a pair as they are; such models are not supported")


def token_spans(spans: Sequence[tuple[int, int]], offsets: np.ndarray) -> np.ndarray:
    """Return character spans (end exclusive) as [n, 2] first and last tokens that share a character with them.

    A span without tokens (white space, or a sign that the tokenizer drops) is left out. `offsets` are [t, 2] of the tokens.
    """
    tokens = []
    for start, end in spans:
        first = int(np.searchsorted(offsets[:, 1], start, side="right"))
        last = int(np.searchsorted(offsets[:, 0], end, side="left")) - 1
        if first <= last:
            tokens.append((first, last))
    return np.array(tokens, dtype=np.int64).reshape(-1, 2)
