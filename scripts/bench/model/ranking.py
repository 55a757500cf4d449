"""Ranking on the dev sets, and evidence for the one-hop questions of ConvQuestions: BM25, bi-encoders, cross-encoder, blend.

No fact of training is about the items of these questions. Their candidates are the facts that are retrieved for them; the
wide candidates are these and, up to 520, the best by BM25 of all facts two hops away, without those that hold an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from convinse.config import Config
from convinse.encoder.bi_encoder import BiEncoder, KeptEmbeddings
from convinse.encoder.reranker import BertReranker
from convinse.evidence_retrieval_scoring.bm25 import BM25Scorer, QueryExpansion
from convinse.evidence_retrieval_scoring.cascade import Cascade, reciprocal_ranks
from convinse.knowledge_base.index import FactEntities, KnowledgeBase
from convinse.language.language import english
from convinse.records.evidence import Evidence
from convinse.records.facts import fact_evidence, fact_text

from ..candidates import Candidates, first_hit, gather, is_right, widened
from ..measures import Rank, best_first, cross_fitted, first_right
from .sets import Asked

if TYPE_CHECKING:
    from .heads import Model

Advance = Callable[[int], None]
BM25, BASE, OWN = "BM25", "base bi-encoder", "the model's bi-encoder"
FUSED, CROSS, BLENDED = "BM25 and bi-encoder fused", "cross-encoder", "cross-encoder and cosine"
SYSTEMS = (BM25, BASE, OWN, FUSED, CROSS, BLENDED)
WITHOUT_MODEL = (BM25, BASE)
TOP = 20  # that the cross-encoder reads
WEIGHTS = (0.0, 2.5, 5.0, 10.0, 20.0, 40.0)  # of the cosine beside the log odds
_PORTION = 25  # questions computed together


def rank_sets(
    model: Model, base: BiEncoder | None, asked: Sequence[Asked], advance: Advance, top: int | None = TOP
) -> tuple[dict[str, list[Rank]], tuple[float, float]]:
    """Rank the texts of all questions with all systems; the cross-encoder scores the `top` best of the fusion (None: all).

    Returns:
        The rank of the first right text of each question, by system, and the weights that the blend had.
    """
    own = cosines(model.bi_encoder, asked)
    ranks: dict[str, list[Rank]] = {system: [] for system in SYSTEMS if system not in (BASE, BLENDED)}
    if base is not None:
        ranks[BASE] = ranks_of(asked, cosines(base, asked))
    blended: dict[float, list[Rank]] = {weight: [] for weight in WEIGHTS}
    for start in range(0, len(asked), _PORTION):
        portion = asked[start : start + _PORTION]
        orders = []
        for question, cosine in zip(portion, own[start:], strict=False):
            lexical = best_first(english().bm25.scores(question.query, question.texts), question.texts)
            dense = best_first(cosine, question.texts)
            order = fused(lexical, dense, question.texts)
            for system, places in ((BM25, lexical), (OWN, dense), (FUSED, order)):
                ranks[system].append(first_right(places, question.right))
            orders.append(order)
        odds = log_odds(model.reranker, portion, [order[:top] for order in orders])
        for question, cosine, order, scores in zip(portion, own[start:], orders, odds, strict=False):
            for weight in WEIGHTS:
                best = reordered(order, scores + weight * cosine[order[:top]], question.texts)
                blended[weight].append(first_right(best, question.right))
            ranks[CROSS].append(blended[0.0][-1])
        advance(len(portion))
    ranks[BLENDED], weights = cross_fitted(blended)
    return {system: ranks[system] for system in SYSTEMS if system in ranks}, weights


def ranks_of(asked: Sequence[Asked], scores: Sequence[np.ndarray]) -> list[Rank]:
    """The rank of the first right text of each question by scores of all its texts."""
    two = zip(asked, scores, strict=True)
    return [first_right(best_first(own, question.texts), question.right) for question, own in two]


def cosines(encoder: BiEncoder, asked: Sequence[Asked]) -> list[np.ndarray]:
    """The cosine of each question with each of its texts; each text is embedded once."""
    form = encoder.row_form
    texts = list(dict.fromkeys(text for question in asked for text in question.read(form)))
    vectors = encoder.embed(texts)
    place_of = {text: place for place, text in enumerate(texts)}
    queries = zip(asked, encoder.embed([question.query for question in asked]), strict=True)
    return [vectors[[place_of[text] for text in question.read(form)]] @ query for question, query in queries]


def log_odds(reranker: BertReranker, asked: Sequence[Asked], orders: Sequence[Sequence[int]]) -> list[np.ndarray]:
    """The log odds of relevance of some texts of each question, in the given order."""
    two = zip(asked, orders, strict=True)
    pairs = [(question.query, question.read(reranker.row_form)[place]) for question, order in two for place in order]
    return np.split(reranker.predict(pairs, logits=True), np.cumsum([len(order) for order in orders])[:-1])


def fused(first: Sequence[int], second: Sequence[int], texts: Sequence[str]) -> list[int]:
    """Places by reciprocal rank fusion of two orders, as the cascade fuses them."""
    return best_first(reciprocal_ranks([first, second]), texts)


def reordered(order: Sequence[int], scores: np.ndarray, texts: Sequence[str]) -> list[int]:
    """An order whose first places are sorted by their scores; the others follow as they are."""
    first = [order[place] for place in best_first(scores, [texts[place] for place in order[: len(scores)]])]
    return [*first, *order[len(scores) :]]


RETRIEVED, WIDE = "as retrieved", "widened"
EXPANDED, CASCADE = "BM25, expanded query", "cascade"
_DEEP = 100  # evidences that the cascade gives
_WIDTH = 520
_ITEMS = 8  # whose facts are remembered: the questions of a conversation are about the same ones


@dataclass(frozen=True)
class Pools:
    questions: tuple[Candidates, ...]  # with the gold answers
    evidences: dict[str, list[list[Evidence]]]  # of each question, by kind of candidates
    scorer: BM25Scorer  # BM25 as the pipeline has it, which knows the names of properties


def evidence_pools(data: Path, work: Path, most: int) -> Pools:
    gathered = gather(data, work)
    questions = tuple(question for question in gathered.questions if question.one_hop)[:most]
    with closing(KnowledgeBase(gathered.kb)) as kb:
        two_hops = lru_cache(maxsize=_ITEMS)(kb.two_hop_neighborhood)
        wide = [wide_facts(question, two_hops) for question in questions]
    retrieved = [question.facts for question in questions]
    return Pools(questions, {RETRIEVED: retrieved, WIDE: wide}, BM25Scorer(QueryExpansion(gathered.properties)))


def wide_facts(question: Candidates, two_hops: Callable[[str], Sequence[FactEntities]]) -> list[Evidence]:
    """The facts of a question, then others around the items that they were retrieved for, at most 520 of different texts."""
    items = dict.fromkeys(evidence["retrieved_for_entity"]["id"] for evidence in question.facts)
    others = {fact_text(fact): fact for item in items for fact in two_hops(item)}
    own = {evidence["evidence_text"] for evidence in question.facts}
    texts = [text for text in others if text not in own]
    best = (
        fact_evidence(fact := others[texts[place]], fact[0]) for place, _ in english().bm25.order(question.query, texts)
    )
    return widened(question, best, _WIDTH)


def asked_of(questions: Sequence[Candidates], evidences: Sequence[Sequence[Evidence]]) -> list[Asked]:
    return [
        Asked.of(question.query, ((evidence["evidence_text"], is_right(evidence, question.gold)) for evidence in own))
        for question, own in zip(questions, evidences, strict=True)
    ]


def evidence_ranks(
    model: Model, base: BiEncoder | None, pools: Pools, kind: str, advance: Callable[[int], None]
) -> dict[str, list[Rank]]:
    """The rank of the first evidence with an answer, of each question, by system; the cross-encoder scores all."""
    evidences = pools.evidences[kind]
    asked = asked_of(pools.questions, evidences)
    ranks, _ = rank_sets(model, base, asked, advance, top=None)
    expanded = [pools.scorer.scores(question.query, own) for question, own in zip(asked, evidences, strict=True)]
    ranks[EXPANDED] = ranks_of(asked, expanded)
    chosen = Config().evs_cascade
    cascade = Cascade(
        pools.scorer, model.reranker, KeptEmbeddings(model.bi_encoder), lexical=chosen.lexical, dense=chosen.dense
    )
    ranks[CASCADE] = []
    for question, own in zip(pools.questions, evidences, strict=True):
        ranks[CASCADE].append(first_hit(cascade.rank(question.query, own, _DEEP), question.gold))
    return ranks
