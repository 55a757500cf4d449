"""The best spans of texts, as characters with probabilities, decoded from start and end logits of many windows at a time."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np

from .tokens import Windows

_LOWEST = np.float32(-1e9)  # the logit of padding
_IS_BLANK = np.array([chr(code).isspace() for code in range(128)])  # of ASCII characters
Span = tuple[int, int, float, float, float]  # start, end, score, probability, probability of no answer


class SpanDecoder:
    """A collector of the best spans of texts: at most `max_spans` of a text, of at most `max_tokens` tokens.

    `offsets` are the [t, 2] character offsets of each text's tokens; `invalid` is the place of a text with scores that are not numbers.
    """

    invalid: int | None = None

    def __init__(self, texts: Sequence[str], offsets: Sequence[np.ndarray], max_tokens: int, max_spans: int) -> None:
        self._texts, self._max_tokens, self._max_spans = texts, max_tokens, max_spans
        self._edges = [_edges(text, of_text) for text, of_text in zip(texts, offsets, strict=True)]
        sizes = np.fromiter(map(len, offsets), dtype=np.int64, count=len(offsets))
        self._base = np.concatenate(([0], np.cumsum(sizes)))
        self._nulls = np.full(len(texts), np.inf)
        self._windows: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = []

    def add_windows(self, windows: Windows, places: np.ndarray, logits: np.ndarray, texts: np.ndarray) -> None:
        """Add the spans of the windows at `places` [b], from `logits` [b, longest, 2] of whole sequences, question included.

        `texts` are the places of the texts that were cut into windows.
        """
        sequences = windows.sequences
        firsts = sequences.firsts[places][:, None]
        lengths = (sequences.lengths[places] - windows.trailing)[:, None] - firsts
        columns = np.arange(max(1, int(lengths.max())))[None, :]
        tokens = np.take_along_axis(logits, np.minimum(firsts + columns, logits.shape[1] - 1)[..., None], axis=1)
        tokens[columns >= lengths] = _LOWEST
        self._add(texts[windows.pair_of[places]], windows.begins[places], logits[:, 0].sum(axis=1), tokens)

    def add_texts(self, places: np.ndarray, logits: Sequence[np.ndarray]) -> None:
        """Add the spans of texts in a single window, from [1 + t, 2] `logits` of [CLS] and of the t tokens of each text."""
        tokens = np.full((len(logits), max(2, *map(len, logits)) - 1, 2), _LOWEST, dtype=np.float32)
        for row, rows in enumerate(logits):
            tokens[row, : len(rows) - 1] = rows[1:]
        nulls = np.stack([rows[0] for rows in logits]).sum(axis=1)
        self._add(places, np.zeros(len(places), dtype=np.int64), nulls, tokens)

    def _add(self, texts: np.ndarray, begins: np.ndarray, nulls: np.ndarray, logits: np.ndarray) -> None:
        # of windows: the place of the text, that of the first token in it, the score of "no answer", and [w, longest, 2] logits of
        # the tokens, padded with a very low value
        is_invalid = np.isnan(nulls) | np.isnan(logits).any(axis=(1, 2))
        if is_invalid.any():
            self.invalid = int(texts[int(is_invalid.argmax())])
            return
        # a text has no answer only if none of its windows has one
        np.minimum.at(self._nulls, texts, nulls)
        start, end = logits[..., 0], logits[..., 1]
        length = start.shape[1]
        width = min(self._max_tokens, length)
        padded = np.pad(end, ((0, 0), (0, width)), constant_values=_LOWEST)
        # [w, length, width]: the span of each first token and number of further tokens
        scores = start[:, :, None] + np.lib.stride_tricks.sliding_window_view(padded, width, axis=1)[:, :length]
        flat = scores.reshape(len(start), -1)
        count = min(self._max_spans, flat.shape[1])
        chosen = np.argpartition(flat, flat.shape[1] - count, axis=1)[:, -count:]
        values = np.take_along_axis(flat, chosen, axis=1)
        rows, columns = np.nonzero(values > _LOWEST / 2)  # without padding
        first, further = np.divmod(chosen[rows, columns], width)
        first += begins[rows]
        self._windows.append((texts[rows], first, first + further, values[rows, columns]))

    def spans(self) -> list[list[Span]]:
        """Return the best spans of each text, best first; spans of the same characters count once."""
        result: list[list[Span]] = [[] for _ in self._texts]
        if not self._windows:
            return result
        texts, first, last, scores = (np.concatenate(parts) for parts in zip(*self._windows, strict=True))
        edges, tidy_edges = (np.concatenate(parts) for parts in zip(*self._edges, strict=True))
        first, last = first + self._base[texts], last + self._base[texts]
        start, end = tidy_edges[first, 0], tidy_edges[last, 1]
        is_valid = (edges[first, 0] < edges[last, 1]) & (start < end)
        texts, start, end, scores = texts[is_valid], start[is_valid], end[is_valid], scores[is_valid].astype(np.float64)
        # lexsort takes the last key first: the best of equal spans comes first
        texts, start, end, scores = _sorted([texts, start, end, scores], (-scores, end, start, texts))
        is_new = np.ones(len(texts), dtype=bool)
        is_new[1:] = (texts[1:] != texts[:-1]) | (start[1:] != start[:-1]) | (end[1:] != end[:-1])
        texts, start, end, scores = texts[is_new], start[is_new], end[is_new], scores[is_new]
        texts, start, end, scores = _sorted([texts, start, end, scores], (end, start, -scores, texts))
        bounds = np.searchsorted(texts, np.arange(len(self._texts) + 1))
        for text, null in enumerate(self._nulls):
            rows = slice(bounds[text], min(bounds[text + 1], bounds[text] + self._max_spans))
            if rows.start < rows.stop:
                result[text] = _with_probabilities(start[rows], end[rows], scores[rows], float(null))
        return result


def _sorted(columns: Sequence[np.ndarray], keys: Sequence[np.ndarray]) -> list[np.ndarray]:
    order = np.lexsort(keys)
    return [column[order] for column in columns]


def _with_probabilities(start: np.ndarray, end: np.ndarray, scores: np.ndarray, null: float) -> list[Span]:
    values = np.append(scores, null)
    probabilities = np.exp(values - values.max())
    probabilities /= probabilities.sum()
    no_answer = float(1 / (1 + np.exp(np.clip(scores[0] - null, -80, 80))))
    columns = (column.tolist() for column in (start, end, scores, probabilities[:-1]))
    return [(*span, no_answer) for span in zip(*columns, strict=True)]


def _edges(text: str, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    # The offsets of the tokens as the tokenizer has them, and tidied, [t, 2] each: combining marks, which tokenizers split off or
    # drop, belong to the character before them, and blanks, which some tokenizers count to the next word, to no token.
    if not text or (text.isascii() and not _has_blank_edges(text, offsets)):
        return offsets, offsets
    tidy = offsets.copy()
    for row, (start, end) in enumerate(offsets.tolist()):
        while 0 < start < len(text) and _is_mark(text[start]):
            start -= 1
        while start < len(text) and text[start].isspace():
            start += 1
        while 0 < end < len(text) and _is_mark(text[end]):
            end += 1
        while end > 0 and text[end - 1].isspace():
            end -= 1
        tidy[row] = start, end
    return offsets, tidy


def _has_blank_edges(text: str, offsets: np.ndarray) -> bool:
    is_blank = _IS_BLANK[np.frombuffer(text.encode("ascii"), dtype=np.uint8)]
    inside = np.clip(offsets - (0, 1), 0, len(text) - 1)
    return bool(is_blank[inside].any())


def _is_mark(char: str) -> bool:
    return unicodedata.category(char)[0] == "M"
