"""CONVINSE's scoring: Okapi BM25 over unstemmed words, as in rank_bm25."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import numpy as np

from ..records.evidence import Evidence, with_score
from .scorer import Scorer

_K1, _B, _EPSILON = 1.5, 0.75, 0.25  # rank_bm25's defaults, which CONVINSE uses


class OkapiScorer(Scorer):
    """Ranks evidences as CONVINSE does: equal scores in the order of the evidences.

    Words stand between blanks and commas, in lower case, with their punctuation. Stop words are left out unless capitalised. Of
    evidences with the same words the last comes first, as CONVINSE returns the last for all of them.

    Args:
        stop_words: ignored words.
        delimiter: between the slots of a representation.
    """

    def __init__(self, stop_words: AbstractSet[str], delimiter: str) -> None:
        self._stop_words = stop_words
        self._delimiter = delimiter.strip()

    def rank(self, query: str, evidences: Sequence[Evidence], top_k: int) -> list[Evidence]:
        """See the base class."""
        texts = [self._words(evidence["evidence_text"]) for evidence in evidences]
        scores = okapi_scores(self._words(query), texts)
        first: dict[tuple[str, ...], int] = {}
        group = [first.setdefault(words, place) for place, words in enumerate(texts)]
        order = sorted(range(len(texts)), key=lambda place: (-scores[place], group[place], -place))
        return [with_score(evidences[place], scores[place]) for place in order[:top_k]]

    def _words(self, text: str) -> tuple[str, ...]:
        text = text.replace(",", " ")
        if self._delimiter:
            text = text.replace(self._delimiter, " ")
        return tuple(word.lower() for word in text.split() if word not in self._stop_words)


def okapi_scores(query: Sequence[str], texts: Sequence[Sequence[str]]) -> list[float]:
    """Return Robertson's BM25 scores of texts for a query; a repeated word of the query counts again.

    The weight of a word that n of N texts have is `log((N - n + 0.5) / (n + 0.5))`; if that is negative, a quarter of the mean
    over all words. The additions are in the order of rank_bm25, so that equal scores are equal there, too.
    """
    frequencies = [Counter(text) for text in texts]
    having = Counter(word for frequency in frequencies for word in frequency)
    if not having:
        return [0.0] * len(texts)
    idf = {word: math.log(len(texts) - n + 0.5) - math.log(n + 0.5) for word, n in having.items()}
    floor = _EPSILON * (sum(idf.values()) / len(idf))
    lengths = np.array([len(text) for text in texts])
    norms = _K1 * (1 - _B + _B * lengths / (int(lengths.sum()) / len(texts)))
    total = np.zeros(len(texts))
    for word in query:
        if word in idf:
            weight = floor if idf[word] < 0 else idf[word]
            frequency = np.array([counts.get(word, 0) for counts in frequencies])
            total += weight * (frequency * (_K1 + 1) / (frequency + norms))
    scores: list[float] = total.tolist()
    return scores
