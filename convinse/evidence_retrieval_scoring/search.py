"""Search over all evidences of a dump, by words and by vectors: what needs no item."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..wikipedia.dump import FoundEvidence, WikipediaDump
from ..wikipedia.stored_pages import search_words

MOST = 20  # evidences that are found by words, and as many by vectors
_RRF_K = 60  # of the fusion's authors


class EvidenceSearch:
    """Finds evidences of all pages for questions: the nearest by the embeddings of a bi-encoder, and the best by BM25.

    Args:
        dump: the pages.
        embed: makes vectors [n, dimension] of questions, by the model of the dump's vectors, and keeps them; None: words alone count.
        is_linked: whether questions are linked to items of a knowledge base, so that the pages that they name are read as a whole.
            Beside these and the nearest evidences, words find nothing that answers more questions.
    """

    def __init__(
        self, dump: WikipediaDump, embed: Callable[[Sequence[str]], np.ndarray] | None, is_linked: bool = False
    ) -> None:
        self._dump, self._embed, self._by_words = dump, embed, embed is None or not is_linked

    def prepare(self, questions: Sequence[str]) -> None:
        """Embed together the questions that are searched for next."""
        if self._embed is not None:
            self._embed(questions)

    def find(self, question: str, most: int = MOST) -> list[FoundEvidence]:
        """The evidences of a question, by reciprocal rank fusion of both searches; twice `most` of them at most."""
        lists = [self._dump.search(search_words(question), most)] if self._by_words else []
        if self._embed is not None:
            lists.append(self._dump.nearest(self._embed([question])[0], most))
        scores: dict[FoundEvidence, float] = {}
        for ranked in lists:
            for rank, evidence in enumerate(ranked, 1):
                scores[evidence] = scores.get(evidence, 0.0) + 1 / (_RRF_K + rank)
        return sorted(scores, key=lambda evidence: (-scores[evidence], evidence))
