"""Search over all evidences of a dump, by words and by vectors, without linking."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..wikipedia.pages import EvidencePlace, Pages
from ..wikipedia.stored_pages import search_words
from .scorer import reciprocal_ranks

MOST = 20  # evidences by words, and as many by vectors


class EvidenceSearch:
    """Searches all pages for evidences: the nearest by the embeddings of a bi-encoder, and the best by BM25.

    Args:
        pages: the pages.
        embed: returns vectors [n, dimension] of questions, by the model of the dump's vectors, and caches them; None to search by
            words alone.

    Wikipedia's pages are read as a whole for the items that a question is linked to: with vectors, the search by words did not raise
    the number of answered questions there, and is left out (`searches_words`).
    """

    def __init__(self, pages: Pages, embed: Callable[[Sequence[str]], np.ndarray] | None) -> None:
        self._pages, self._embed, self._by_words = pages, embed, embed is None or pages.searches_words

    def prepare(self, questions: Sequence[str]) -> None:
        """Embed these questions in a single batch, so that `find` gets them from the cache of `embed`."""
        if self._embed is not None:
            self._embed(questions)

    def find(self, question: str, most: int = MOST) -> list[EvidencePlace]:
        """Return evidences for a question, at most `most` of each search, by reciprocal rank fusion."""
        lists = [self._pages.search(search_words(question), most)] if self._by_words else []
        if self._embed is not None:
            lists.append(self._pages.nearest(self._embed([question])[0], most))
        place_of: dict[EvidencePlace, int] = {}
        rankings = [[place_of.setdefault(evidence, len(place_of)) for evidence in ranked] for ranked in lists]
        scores = reciprocal_ranks(rankings, len(place_of)).tolist()
        return sorted(place_of, key=lambda evidence: (-scores[place_of[evidence]], evidence))
