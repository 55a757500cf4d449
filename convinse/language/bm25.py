"""BM25 over the texts of a turn, counted with numpy; ties are broken by the texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count

import numpy as np

from .text import END, Words, folded_words

_K1, _B = 1.5, 0.75
_STOP_WORD, _END = -1, -2
_MOST_CHARACTERS = 10_000_000  # of cached texts: with their numbers about 60 MB


class BM25:
    """BM25 over texts in a language, with a cache of texts that all callers share."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self._vocabulary = _Vocabulary(words)

    def scores(self, query: str | Mapping[str, float], texts: Sequence[str]) -> list[float]:
        """Return the BM25 score of every text for a query, or for weighted stems (a score is linear in its query terms).

        A query term t of weight w adds `w * idf(t) * tf / (tf + 1.5 * (0.25 + 0.75 * length / mean length))` to the
        score of a text that has it tf times, where with n of N texts having it `idf = log(1 + (N - n + 0.5) / (n + 0.5))`.

        Args:
            query: words, of weight 1 each; or stems with their weights, where only positive weights count.
            texts: to score; stop words do not count.

        Returns:
            A score for each text, rounded to 6 digits.
        """
        weights = query if isinstance(query, Mapping) else dict.fromkeys(self._words.stems(query), 1.0)
        query_terms = sorted(word for word, weight in weights.items() if weight > 0)
        if not query_terms or not texts:
            return [0.0] * len(texts)
        if self._vocabulary.characters > _MOST_CHARACTERS:
            self._vocabulary = _Vocabulary(self._words)
        vocabulary = self._vocabulary  # another thread may replace it
        places, terms = vocabulary.read(texts)
        lengths = np.bincount(places, minlength=len(texts))
        norms = _K1 * (1 - _B + _B * lengths / max(lengths.mean(), 1e-9))
        query_numbers = np.array([vocabulary.number[word] for word in query_terms])
        ascending = np.argsort(query_numbers)
        numbers = query_numbers[ascending]
        row = np.minimum(np.searchsorted(numbers, terms), len(numbers) - 1)
        in_query = numbers[row] == terms
        cells = ascending[row[in_query]] * len(texts) + places[in_query]
        frequencies = np.bincount(cells, minlength=len(numbers) * len(texts)).reshape(len(numbers), len(texts))
        total = np.zeros(len(texts))
        for word, frequency in zip(query_terms, frequencies, strict=True):
            having = int(np.count_nonzero(frequency))
            if having:  # always the same order of additions, so that equal texts score equally
                idf = float(np.log1p((len(texts) - having + 0.5) / (having + 0.5)))
                total += weights[word] * idf * (frequency / (frequency + norms))
        rounded: list[float] = total.round(6).tolist()
        return rounded

    def order(self, query: str | Mapping[str, float], texts: Sequence[str]) -> list[tuple[int, float]]:
        """Return (place, score) of the texts, best first; equal scores in the order of the texts' characters."""
        scores = self.scores(query, texts)
        return sorted(enumerate(scores), key=lambda pair: (-pair[1], texts[pair[0]], pair[0]))


class _Vocabulary:
    """Stems as numbers, and texts as rows of numbers: the turns of a conversation have many texts in common."""

    def __init__(self, words: Words) -> None:
        self.characters = 0
        numbers = count()
        self.number = _Memory(lambda _: next(numbers))  # of a stem
        self._word = _Memory(lambda word: _STOP_WORD if word in words.stop_words else self.number[words.stem(word)])
        self._word[END] = _END
        self._texts: dict[str, bytes] = {}

    def read(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return the places of texts and the numbers of their stems, a pair for each occurrence, without stop words."""
        unread = [*dict.fromkeys(text for text in texts if text not in self._texts)]
        if unread:
            folded = folded_words(unread)
            numbers = np.fromiter(map(self._word.__getitem__, folded), np.int32, len(folded))
            start = 0
            for text, end in zip(unread, np.flatnonzero(numbers == _END).tolist(), strict=True):
                self._texts[text] = numbers[start:end].tobytes()
                start = end + 1
            self.characters += sum(map(len, unread))
        rows = [*map(self._texts.__getitem__, texts)]
        terms = np.frombuffer(b"".join(rows), np.int32)
        places = np.repeat(np.arange(len(rows)), np.fromiter(map(len, rows), np.int64, len(rows)) // terms.itemsize)
        content = terms != _STOP_WORD
        return places[content], terms[content]


class _Memory(dict[str, int]):
    """A dictionary that computes missing values; a look-up of a present value is a single call in C."""

    def __init__(self, make: Callable[[str], int]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, key: str) -> int:
        return self.setdefault(key, self._make(key))  # of several threads, the value of the first counts
