"""Evidence on the dev sets: the one-hop questions of ConvQuestions over facts of wikidata-27k.

No fact of training is about their items. A question's candidates are the facts that are retrieved for it; the wide
candidates are these and, up to 520, the best by BM25 of all facts two hops away, without those that hold an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from convinse.config import Config
from convinse.evidence_retrieval_scoring.bm25 import BM25Scorer, QueryExpansion
from convinse.knowledge_base.index import Fact, KnowledgeBase
from convinse.knowledge_base.search_space import fact_text
from convinse.language.bm25 import bm25_order
from convinse.records.evidence import Evidence, unique_entities

from ..candidates import Candidates, gather
from ..measures import Rank, cross_fitted
from ..questions import first_hit, is_right
from .ranking import BASE, BLENDED, BM25, CROSS, OWN, WEIGHTS, cosines, log_odds, ranks_of
from .sets import Asked

if TYPE_CHECKING:
    from bench.model.model import Model
    from convinse.encoder.bi_encoder import BiEncoder

RETRIEVED, WIDE = "as retrieved", "widened"
EXPANDED, CASCADE = "BM25, expanded query", "cascade"
CUTS = (5, 20, 100)
_WIDTH = 520
_ITEMS = 8  # whose facts are remembered: the questions of a conversation are about the same ones
_PORTION = 5  # questions computed together


@dataclass(frozen=True)
class Pools:
    """Questions with their candidate evidences.

    Attributes:
        questions: with the gold answers.
        evidences: of each question, by kind of candidates.
        scorer: BM25 as the pipeline has it, which knows the names of properties.
    """

    questions: tuple[Candidates, ...]
    evidences: dict[str, list[list[Evidence]]]
    scorer: BM25Scorer


def evidence_pools(data: Path, work: Path, most: int) -> Pools:
    """Build the knowledge base in the folder `work` and retrieve.

    Args:
        data: the folder of shared data.
        work: where both are kept.
        most: questions, from the first; there are about a hundred.
    """
    gathered = gather(data, work)
    questions = tuple(question for question in gathered.questions if question.one_hop)[:most]
    kb = KnowledgeBase(gathered.kb)
    try:
        two_hops = lru_cache(maxsize=_ITEMS)(kb.two_hop_neighborhood)
        wide = [wide_facts(question, two_hops) for question in questions]
    finally:
        kb.close()
    retrieved = [question.facts for question in questions]
    return Pools(questions, {RETRIEVED: retrieved, WIDE: wide}, BM25Scorer(QueryExpansion(gathered.properties)))


def wide_facts(question: Candidates, two_hops: Callable[[str], Sequence[Fact]]) -> list[Evidence]:
    """The facts of a question, then others around the items that they were retrieved for, at most 520 of different texts.

    Args:
        question: with its facts.
        two_hops: the facts of an item and of its neighbours.
    """
    found = {evidence["evidence_text"]: evidence for evidence in question.facts}
    items = dict.fromkeys(evidence["retrieved_for_entity"]["id"] for evidence in question.facts)
    others = {fact_text(fact): fact for item in items for fact in two_hops(item)}
    texts = [text for text in others if text not in found]
    for place, _ in bm25_order(question.query, texts):
        if len(found) >= _WIDTH:
            break
        evidence = _evidence(others[texts[place]])
        if not is_right(evidence, question.gold):
            found[texts[place]] = evidence
    return list(found.values())


def _evidence(fact: Fact) -> Evidence:
    entities = unique_entities([fact[0], *fact[2::2]])
    mentions = [[entity["label"], entity["id"]] for entity in entities]
    return {
        "evidence_text": fact_text(fact), "source": "kb", "disambiguations": mentions, "wikidata_entities": entities,
    }  # fmt: skip


def asked_of(questions: Sequence[Candidates], evidences: Sequence[Sequence[Evidence]]) -> list[Asked]:
    """The questions with their candidates as texts."""
    return [
        Asked(
            question.query,
            [evidence["evidence_text"] for evidence in own],
            frozenset(place for place, evidence in enumerate(own) if is_right(evidence, question.gold)),
        )
        for question, own in zip(questions, evidences, strict=True)
    ]


def evidence_ranks(
    model: Model, base: BiEncoder | None, pools: Pools, kind: str, advance: Callable[[int], None]
) -> dict[str, list[Rank]]:
    """The rank of the first evidence with an answer, of each question, by system; the cross-encoder scores all."""
    from convinse.evidence_retrieval_scoring.cascade import Cascade

    evidences = pools.evidences[kind]
    asked = asked_of(pools.questions, evidences)
    expanded = [pools.scorer.scores(one.query, own) for one, own in zip(asked, evidences, strict=True)]
    plain = [BM25Scorer().scores(one.query, own) for one, own in zip(asked, evidences, strict=True)]
    ranks = {BM25: ranks_of(asked, plain), EXPANDED: ranks_of(asked, expanded)}
    if base is not None:
        ranks[BASE] = ranks_of(asked, cosines(base, asked))
    own = cosines(model.bi_encoder, asked)
    ranks[OWN] = ranks_of(asked, own)
    chosen = Config().evs_cascade
    cascade = Cascade(pools.scorer, model.reranker, model.bi_encoder, lexical=chosen.lexical, dense=chosen.dense)
    odds, hits = [], []
    for start in range(0, len(asked), _PORTION):
        portion = asked[start : start + _PORTION]
        odds += log_odds(model.reranker, portion, [range(len(one.texts)) for one in portion])
        best = cascade.rank_all([one.query for one in portion], evidences[start : start + _PORTION], max(CUTS))
        of_portion = pools.questions[start : start + _PORTION]
        hits += [first_hit(found, one.gold) for found, one in zip(best, of_portion, strict=True)]
        advance(len(portion))
    ranks[CASCADE] = hits
    ranks[CROSS] = ranks_of(asked, odds)
    sums = {weight: [scores + weight * cosine for scores, cosine in zip(odds, own, strict=True)] for weight in WEIGHTS}
    ranks[BLENDED] = cross_fitted({weight: ranks_of(asked, scores) for weight, scores in sums.items()}).ranks
    return ranks
