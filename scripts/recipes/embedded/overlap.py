"""Texts that share eight words in a row with held-out ones, and are not learned from therefore."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from recipes.embedded.examples import Example

_RUN = 8  # words
_WORD = re.compile(r"\w+")
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # of a polynomial over the words' numbers, modulo 2**64


class HeldOut:
    """The runs of eight words of held-out texts, in any case and with any punctuation.

    Args:
        texts: a text of fewer words has no run.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._number: dict[str, int] = {}
        runs = [self._runs(text) for text in dict.fromkeys(texts)]
        self._held = np.unique(np.concatenate([np.empty(0, dtype=np.uint64), *runs]))
        self._known: dict[str, bool] = {}

    def meets(self, text: str) -> bool:
        """Whether a text has one of the runs."""
        if text not in self._known:
            runs = self._runs(text)
            places = np.searchsorted(self._held, runs)
            inside = places < len(self._held)
            self._known[text] = bool((self._held[places[inside]] == runs[inside]).any())
        return self._known[text]

    def without(self, example: Example) -> Example | None:
        """The example without the candidates that have one of the runs; None where it loses all its relevant ones."""
        kept = tuple(candidate for candidate in example.candidates if not self.meets(candidate.text))
        if not kept or kept[0].relevant != example.answered:
            return None
        return example if len(kept) == len(example.candidates) else replace(example, candidates=kept)

    def _runs(self, text: str) -> np.ndarray:
        """[n] a number for each run."""
        number = self._number
        words = [number.setdefault(word, len(number)) for word in _WORD.findall(text.casefold())]
        numbers = np.array(words, dtype=np.uint64)
        count = max(0, len(numbers) - _RUN + 1)
        runs = np.zeros(count, dtype=np.uint64)
        for place in range(_RUN):
            runs = runs * _FACTOR + numbers[place : place + count]
        return runs
