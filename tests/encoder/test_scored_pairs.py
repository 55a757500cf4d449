"""Kept scores of pairs: a second run finds what the cross-encoder has computed, the same to the last bit, and computes nothing."""

import json

import numpy as np
import pytest

from convinse.config import parse_config
from convinse.encoder.pool import ModelPool, ReadPair
from convinse.encoder.reranker import BertReranker
from convinse.encoder.scored_pairs import Scored, ScoredPairs
from convinse.formats.convmix import read_conversations
from convinse.pipeline import Pipeline
from convinse.support.cache import Cache
from evidences import evidence, texts
from tiny_models import WORDS, Counted, joint, tiny

QUERIES = ["who wrote the hobbit", "when was it \ud800 written"]
TEXTS = [[" ".join(WORDS[n : n + 4]) for n in range(9)], ["the author", " ".join(WORDS) * 9, "город Толстой"]]


def evidences(listed):
    return [evidence(text, "kb") for text in listed]


CANDIDATES = [evidences(listed) for listed in TEXTS]


@pytest.fixture
def reranker(closed):
    """A reranker as of another run over the same folder, its pool, and what it computes."""

    def make(path, model=None, reads=True, **options):
        pool = ModelPool()
        if reads:
            pool.share_spans()
        settings = {"max_length": 64, **options}
        made = closed(BertReranker(model or joint(), "cpu", models=pool, cache=Cache(path), **settings))
        return made, pool, Counted(made.engine)

    return make


def test_a_second_run_computes_nothing_and_finds_the_same(reranker, tmp_path):
    first, pool, counted = reranker(tmp_path)
    ranked = first.rank_all(QUERIES, CANDIDATES)
    assert counted.sequences == sum(map(len, TEXTS))
    first.close()
    again, other, idle = reranker(tmp_path)
    assert again.rank_all(QUERIES, CANDIDATES) == ranked
    assert idle.sequences == 0
    name = f"{again.model_id}/fp32"
    for query, listed in zip(QUERIES, TEXTS, strict=True):
        pairs = [(query, text) for text in listed]
        for one, two in zip(pool.spans.get(name, pairs), other.spans.get(name, pairs), strict=True):
            assert (one is None) == (two is None)
            assert one is None or (one.tokens == two.tokens and np.array_equal(one.logits, two.logits))
    assert other.spans.get(name, [(QUERIES[1], TEXTS[1][1])]) == [None]  # was cut


SETTINGS = {
    "length": {"max_length": 65},
    "precision": {"precision": "bf16"},
    "reading": {"reads": False},
    "model": {"model": joint(seed=9)},
}


@pytest.mark.parametrize("change", ["query", "text", "order", *SETTINGS])
def test_another_question_text_model_or_setting_is_computed(reranker, tmp_path, change):
    reranker(tmp_path)[0].rank_all(QUERIES[:1], CANDIDATES[:1])
    query = QUERIES[0] + "?" * (change == "query")
    listed = TEXTS[0][::-1] if change == "order" else [text + " x" * (change == "text") for text in TEXTS[0]]
    options = SETTINGS.get(change, {})
    other, _, counted = reranker(tmp_path, **options)
    found = other.rank_all([query], [evidences(listed)])
    assert counted.sequences == len(listed)
    assert found == reranker(None, **{**options, "reads": False})[0].rank_all([query], [evidences(listed)])


def test_known_and_unknown_pairs_are_put_together(reranker, tmp_path):
    reranker(tmp_path)[0].rank_all(QUERIES[1:], CANDIDATES[1:])
    both, _, counted = reranker(tmp_path)
    found = both.rank_all([*QUERIES, "x"], [*CANDIDATES, []])
    assert counted.sequences == len(TEXTS[0])
    expected = reranker(None)[0].rank_all([*QUERIES, "x"], [*CANDIDATES, []])
    assert [texts(best) for best in found] == [texts(best) for best in expected]


def test_a_checkpoint_without_spans_is_kept_too_but_nothing_without_a_cache(reranker, tmp_path):
    for path, model, counts in ((tmp_path / "cache", tiny(), [len(TEXTS[0]), 0]), (None, None, [len(TEXTS[0])] * 2)):
        for sequences in counts:
            made, _, counted = reranker(path, model=model)
            ranked = made.rank_all(QUERIES[:1], CANDIDATES[:1])
            assert counted.sequences == sequences and len(ranked[0]) == len(TEXTS[0])
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]


@pytest.mark.parametrize("key", ["odds", "tokens", "sizes", "logits", "shape"])
def test_an_entry_of_another_form_is_unknown(tmp_path, key):
    read = [ReadPair(5, np.ones((3, 2), np.float32)), None]
    cache = Cache(tmp_path)
    pairs = ScoredPairs(cache, "model", 64, True)
    pairs.put("q", ["a", "b"], Scored(np.array([1, 2], np.float32), read))
    kept = pairs.get("q", ["a", "b"])
    assert kept.odds.tolist() == [1, 2] and kept.read[1] is None and kept.read[0].logits.shape == (3, 2)
    parts = json.loads(cache.keys()[0])
    value = cache.get(*parts)
    if key == "shape":
        value = [value]
    else:
        value[key] = value[key][:-4] if isinstance(value[key], str) else value[key][:-1]
    cache.put(*parts, value=value)
    assert pairs.get("q", ["a", "b"]) is None


def test_a_pipeline_answers_again_without_its_model_computing_pairs(tmp_path, monkeypatch):
    config = parse_config(
        {"evs": "cascade", "evs_model": str(joint()), "evs_cascade": {"lexical": 5, "dense": 0, "lexical_share": 0.3},
         "ha": "extractive", "ha_model": str(joint()), "ers_cache_path": str(tmp_path / "cache"), "device": "cpu"}
    )  # fmt: skip
    conversations = read_conversations(config.input_path("dev"))[:2]
    answered = []
    for run in range(2):
        with Pipeline(config) as pipeline:
            if run:
                monkeypatch.setattr(BertReranker, "predict", lambda self, pairs, logits=False: np.empty(len(pairs)))
            answered.append(pipeline.run(conversations, "kb_text"))
    assert answered[0] == answered[1]
    assert any(turn["pred_answers"] for one in answered[1] for turn in one["questions"])
