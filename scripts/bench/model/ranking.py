"""Ranking on the dev sets: BM25, bi-encoders, the cross-encoder over the best of a fusion, and their blend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from convinse.language.bm25 import bm25_scores

from ..measures import Rank, best_first, cross_fitted, first_right
from .sets import Asked

if TYPE_CHECKING:
    from convinse.encoder.bi_encoder import BiEncoder
    from convinse.encoder.reranker import BertReranker

    from .model import Model

Advance = Callable[[int], None]
BM25, BASE, OWN = "BM25", "base bi-encoder", "the model's bi-encoder"
FUSED, CROSS, BLENDED = "BM25 and bi-encoder fused", "cross-encoder", "cross-encoder and cosine"
SYSTEMS = (BM25, BASE, OWN, FUSED, CROSS, BLENDED)
TOP = 20  # that the cross-encoder reads
WEIGHTS = (0.0, 2.5, 5.0, 10.0, 20.0, 40.0)  # of the cosine beside the log odds
_RRF_K = 60
_PORTION = 25  # questions computed together


class Ranked(NamedTuple):
    """The rank of the first right text of each question, by system; the weights that the blend had."""

    ranks: dict[str, list[Rank]]
    weights: tuple[float, float]


def rank_sets(
    model: Model, base: BiEncoder | None, asked: Sequence[Asked], advance: Advance, top: int | None = TOP
) -> Ranked:
    """Rank the texts of all questions with all systems.

    Args:
        model: with its cross-encoder and its bi-encoder.
        base: another bi-encoder to compare with.
        asked: the questions.
        advance: is called with the number of questions that are done.
        top: texts that the cross-encoder scores, the best of the fusion; the others follow in its order. None: all.
    """
    own = cosines(model.bi_encoder, asked)
    ranks: dict[str, list[Rank]] = {system: [] for system in SYSTEMS if system not in (BASE, BLENDED)}
    if base is not None:
        ranks[BASE] = ranks_of(asked, cosines(base, asked))
    blended: dict[float, list[Rank]] = {weight: [] for weight in WEIGHTS}
    for start in range(0, len(asked), _PORTION):
        portion = asked[start : start + _PORTION]
        orders = []
        for one, cosine in zip(portion, own[start:], strict=False):
            lexical = best_first(bm25_scores(one.query, one.texts), one.texts)
            dense = best_first(cosine, one.texts)
            order = fused(lexical, dense, one.texts)
            for system, found in ((BM25, lexical), (OWN, dense), (FUSED, order)):
                ranks[system].append(first_right(found, one.right))
            orders.append(order)
        odds = log_odds(model.reranker, portion, [order[:top] for order in orders])
        for one, cosine, order, scores in zip(portion, own[start:], orders, odds, strict=False):
            for weight in WEIGHTS:
                best = reordered(order, scores + weight * cosine[order[:top]], one.texts)
                blended[weight].append(first_right(best, one.right))
            ranks[CROSS].append(blended[0.0][-1])
        advance(len(portion))
    ranks[BLENDED], weights = cross_fitted(blended)
    return Ranked({system: ranks[system] for system in SYSTEMS if system in ranks}, weights)


def ranks_of(asked: Sequence[Asked], scores: Sequence[np.ndarray]) -> list[Rank]:
    """The rank of the first right text of each question by scores of all its texts."""
    return [first_right(best_first(own, one.texts), one.right) for one, own in zip(asked, scores, strict=True)]


def cosines(encoder: BiEncoder, asked: Sequence[Asked]) -> list[np.ndarray]:
    """The cosine of each question with each of its texts; each text is embedded once."""
    texts = list(dict.fromkeys(text for one in asked for text in one.texts))
    vectors = encoder.embed(texts)
    place_of = {text: place for place, text in enumerate(texts)}
    queries = encoder.embed([one.query for one in asked])
    return [vectors[[place_of[text] for text in one.texts]] @ query for one, query in zip(asked, queries, strict=True)]


def log_odds(reranker: BertReranker, asked: Sequence[Asked], orders: Sequence[Sequence[int]]) -> list[np.ndarray]:
    """The log odds of relevance of some texts of each question, in the given order."""
    pairs = [(one.query, one.texts[place]) for one, order in zip(asked, orders, strict=True) for place in order]
    return np.split(reranker.predict(pairs, logits=True), np.cumsum([len(order) for order in orders])[:-1])


def fused(first: Sequence[int], second: Sequence[int], texts: Sequence[str]) -> list[int]:
    """Places by reciprocal rank fusion of two orders, as the cascade fuses them."""
    values = np.zeros(len(texts))
    for order in (first, second):
        values[list(order)] += 1 / (_RRF_K + 1 + np.arange(len(order)))
    return best_first(values, texts)


def reordered(order: Sequence[int], scores: np.ndarray, texts: Sequence[str]) -> list[int]:
    """An order whose first places are sorted by their scores; the others follow as they are."""
    first = [order[place] for place in best_first(scores, [texts[place] for place in order[: len(scores)]])]
    return [*first, *order[len(scores) :]]
