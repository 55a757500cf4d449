import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convinse.encoder.bi_encoder import BiEncoder, KeptEmbeddings
from convinse.encoder.reranker import BertReranker
from convinse.evidence_retrieval_scoring.bm25 import BM25Scorer
from convinse.evidence_retrieval_scoring.cascade import Cascade
from convinse.support.cache import Cache
from convinse.support.vectors import VectorCache
from evidences import evidence, same_ranking, scores, texts
from tiny_models import WORDS, Counted, tiny

QUERY = "who wrote the hobbit book"


def many(number, seed=0):
    chance = random.Random(seed)
    return [evidence(" ".join(chance.choices(WORDS, k=chance.randint(2, 20)))) for _ in range(number)]


EVIDENCES = many(150)


@pytest.fixture(scope="module")
def reranker():
    return BertReranker(tiny(), "cpu")


@pytest.fixture(scope="module")
def bi_encoder():
    return BiEncoder(tiny("bert", "embedding", seed=3), "cpu")


def ordered(scores, candidates, places=None):
    """Places, best first; those of equal scores by their texts."""
    places = range(len(candidates)) if places is None else places
    return sorted(places, key=lambda place: (-scores[place], candidates[place]["evidence_text"], place))


def by_bm25(candidates, query=QUERY):
    return ordered(BM25Scorer().scores(query, candidates), candidates)


def by_vectors(bi_encoder, candidates, query=QUERY):
    vectors = bi_encoder.embed(texts(candidates)).astype(np.float16).astype(np.float32)
    return ordered((vectors @ bi_encoder.embed([query])[0]).astype(np.float64).round(6), candidates)


def fused(*rankings):
    values = {}
    for ranking in rankings:
        for rank, place in enumerate(ranking, 1):
            values[place] = values.get(place, 0) + 1 / (60 + rank)
    return values


@pytest.mark.parametrize("size", [12, 1, 500])
def test_the_cross_encoder_sees_the_best_of_both(reranker, bi_encoder, size):
    cascade = Cascade(BM25Scorer(), reranker, KeptEmbeddings(bi_encoder), size=size)
    chosen = {*by_bm25(EVIDENCES)[:size], *by_vectors(bi_encoder, EVIDENCES)[:size]}
    found = cascade.rank(QUERY, EVIDENCES, len(chosen))
    same_ranking(found, reranker.rank(QUERY, [EVIDENCES[place] for place in chosen]))


def test_the_others_follow_in_the_order_of_the_fusion_with_score_0(reranker, bi_encoder):
    cascade = Cascade(BM25Scorer(), reranker, KeptEmbeddings(bi_encoder), size=5)
    lexical, dense = by_bm25(EVIDENCES), by_vectors(bi_encoder, EVIDENCES)
    chosen = {*lexical[:5], *dense[:5]}
    values = fused(lexical, dense)
    rest = ordered(values, EVIDENCES, set(range(150)) - chosen)
    found = cascade.rank(QUERY, EVIDENCES, 40)
    assert len(found) == 40
    assert found[len(chosen) :] == [{**EVIDENCES[place], "score": 0.0} for place in rest[: 40 - len(chosen)]]
    assert all(one["score"] > 0 for one in found[: len(chosen)])


def test_without_a_cross_encoder_the_fusion_is_final(bi_encoder):
    lexical, dense = by_bm25(EVIDENCES), by_vectors(bi_encoder, EVIDENCES)
    values = fused(lexical, dense)
    cascade = Cascade(BM25Scorer(), None, KeptEmbeddings(bi_encoder), size=150)
    expected = ordered(values, EVIDENCES)
    found = cascade.rank(QUERY, EVIDENCES, 30)
    assert found == [{**EVIDENCES[place], "score": pytest.approx(values[place], abs=1e-6)} for place in expected[:30]]


def test_the_cross_encoder_computes_what_was_chosen_only(bi_encoder):
    made = BertReranker(tiny(), "cpu")
    counted = Counted(made.engine)
    Cascade(BM25Scorer(), made, KeptEmbeddings(bi_encoder), size=10).rank(QUERY, EVIDENCES, 100)
    assert 10 <= counted.sequences <= 20


@pytest.mark.parametrize("folder", [True, False])
def test_embeddings_are_computed_once(tmp_path, reranker, folder):
    made = BiEncoder(tiny("bert", "embedding", seed=3), "cpu")
    path = tmp_path if folder else None
    vectors = VectorCache(Cache(path), made.model_id, made.dimension)
    cascade = Cascade(BM25Scorer(), reranker, KeptEmbeddings(made, vectors), size=10)
    counted = Counted(made.engine)
    first = cascade.rank(QUERY, EVIDENCES, 30)
    distinct = len(set(texts(EVIDENCES)))
    assert counted.sequences == distinct + 1
    assert cascade.rank(QUERY, EVIDENCES, 30) == first
    assert counted.sequences == distinct + 2  # the query
    cascade.rank(QUERY, [*EVIDENCES, *many(3, seed=9)], 30)
    assert counted.sequences == distinct + 3 + 3
    if folder:  # and the next process finds them
        other = VectorCache(Cache(path), made.model_id, made.dimension)
        again = Cascade(BM25Scorer(), reranker, KeptEmbeddings(made, other), size=10)
        assert again.rank(QUERY, EVIDENCES, 30) == first
        assert counted.sequences == distinct + 3 + 3 + 1
    assert Cascade(BM25Scorer(), reranker, KeptEmbeddings(made), size=10).rank(QUERY, EVIDENCES, 30) == first


def test_questions_are_embedded_once(reranker):
    made = BiEncoder(tiny("bert", "embedding", seed=3), "cpu")
    vectors = VectorCache(Cache(None), made.model_id, made.dimension)
    questions = VectorCache(Cache(None), made.model_id, made.dimension, precision="float32")
    plain = Cascade(BM25Scorer(), reranker, KeptEmbeddings(made, vectors), size=10).rank(QUERY, EVIDENCES, 30)
    cascade = Cascade(BM25Scorer(), reranker, KeptEmbeddings(made, vectors, questions), size=10)
    counted = Counted(made.engine)
    for _ in range(2):
        assert cascade.rank(QUERY, EVIDENCES, 30) == plain
        assert counted.sequences == 1


def shared(reranker, bi_encoder, share):
    return Cascade(BM25Scorer(), reranker, KeptEmbeddings(bi_encoder), size=10, lexical_share=share)


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 0.9, 1.0])
def test_scores_mix_probability_and_bm25(reranker, bi_encoder, share):
    probabilities = reranker.predict([(QUERY, text) for text in texts(EVIDENCES)])
    lexical = np.array(BM25Scorer().scores(QUERY, EVIDENCES))
    total = (1 - share) * probabilities + share * lexical / lexical.max()
    chosen = {*by_bm25(EVIDENCES)[:10], *by_vectors(bi_encoder, EVIDENCES)[:10]}
    expected = ordered(total.round(5), EVIDENCES, chosen)
    found = shared(reranker, bi_encoder, share).rank(QUERY, EVIDENCES, len(expected))
    assert texts(found) == [EVIDENCES[place]["evidence_text"] for place in expected]
    assert scores(found) == pytest.approx([total[place] for place in expected], abs=2e-5)
    plain = shared(reranker, bi_encoder, 0.0).rank(QUERY, EVIDENCES, len(expected))
    assert (texts(found) == texts(plain)) == (share == 0.0)


def test_orders_do_not_depend_on_the_given_one(reranker, bi_encoder):
    cascade = shared(reranker, bi_encoder, 0.5)
    expected = cascade.rank(QUERY, EVIDENCES, 60)
    for seed in range(3):
        same_ranking(cascade.rank(QUERY, random.Random(seed).sample(EVIDENCES, len(EVIDENCES)), 60), expected, 1.1e-5)


def test_equal_evidences_of_several_sources_are_all_kept(reranker, bi_encoder):
    cascade = Cascade(BM25Scorer(), reranker, KeptEmbeddings(bi_encoder), size=4)
    twins = [evidence("the hobbit", source) for source in ("text", "kb", "info")]
    found = cascade.rank(QUERY, [*twins, *EVIDENCES[:5]], 8)
    assert sorted(one["source"] for one in found if one["evidence_text"] == "the hobbit") == ["info", "kb", "text"]
    assert len({one["score"] for one in found if one["evidence_text"] == "the hobbit"} - {0.0}) == 1


class LengthReranker:
    """Ranks by length: a reranker of one's own, without a model."""

    def rank_all(self, queries, evidences, top_k, others=None, share=0.0):
        ranked = [sorted(candidates, key=lambda one: -len(one["evidence_text"]))[:top_k] for candidates in evidences]
        return [[{**one, "score": float(len(one["evidence_text"]))} for one in best] for best in ranked]


@given(
    st.lists(st.lists(st.sampled_from(WORDS[:12]), max_size=4).map(" ".join), max_size=25),
    st.integers(0, 8), st.integers(0, 30),
)  # fmt: skip
def test_any_candidates(sentences, size, top_k):
    candidates = [evidence(text) for text in sentences]
    cascade = Cascade(BM25Scorer(), LengthReranker(), None, size=size)
    found = cascade.rank("the a of hobbit wrote", candidates, top_k)
    assert len(found) == min(top_k, len(candidates))
    order = by_bm25(candidates, "the a of hobbit wrote")
    chosen = sorted((candidates[place] for place in order[: 2 * size]), key=lambda one: -len(one["evidence_text"]))
    rest = [candidates[place] for place in order[2 * size :]]
    assert texts(found) == texts([*chosen, *rest][:top_k])
    assert scores(found[len(chosen) :]) == [0.0] * max(0, len(found) - len(chosen))


def test_the_bi_encoder_reads_rows_in_the_form_that_it_was_shown(monkeypatch):
    cell = {"header": "", "text": "the book", "entities": [], "start": 6, "column": 0}
    row = {"caption": "", "section": "", "rank": "first", "cells": [cell]}
    evidences = [evidence("Book, the book", "table", row=row), EVIDENCES[0]]
    for form, read in (("ranked", "Book [first], the book"), ("plain", "Book, the book")):
        made, embedded = BiEncoder(tiny("bert", "embedding", row_form=form), "cpu"), []
        embed = made.embed
        monkeypatch.setattr(
            made,
            "embed",
            lambda evidences, embed=embed, embedded=embedded: embedded.append(evidences) or embed(evidences),
        )
        ranked = Cascade(BM25Scorer(), None, KeptEmbeddings(made)).rank(QUERY, evidences, 9)
        assert embedded == [[read, EVIDENCES[0]["evidence_text"]], [QUERY]]
        assert sorted(texts(ranked)) == sorted(texts(evidences))
