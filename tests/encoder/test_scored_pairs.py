"""A second run finds what the cross-encoder has computed, the same to the last bit, and computes nothing."""

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
from evidences import evidence
from tiny_models import WORDS, Counted, joint, tiny

QUERIES = ["who wrote the hobbit", "when was it \ud800 written"]
TEXTS = [[" ".join(WORDS[n : n + 4]) for n in range(9)], ["the author", " ".join(WORDS) * 9, "город Толстой"]]


def evidences(texts):
    return [evidence(text, "kb") for text in texts]


def reranker(path, model=None, reads=True, **options):
    pool = ModelPool()
    if reads:
        pool.share_spans()
    cache = Cache(path)
    made = BertReranker(model or joint(), "cpu", models=pool, cache=cache, **{"max_length": 64, **options})
    return made, pool, Counted(made.engine)


def test_a_second_run_computes_nothing_and_finds_the_same(tmp_path):
    candidates = [evidences(texts) for texts in TEXTS]
    first, pool, counted = reranker(tmp_path)
    ranked = first.rank_all(QUERIES, candidates)
    assert counted.sequences == sum(map(len, TEXTS))
    first.close()
    again, other, idle = reranker(tmp_path)
    assert again.rank_all(QUERIES, candidates) == ranked
    assert idle.sequences == 0
    for query, texts in zip(QUERIES, TEXTS, strict=True):
        pairs, name = [(query, text) for text in texts], f"{again.model_id}/fp32"
        for one, two in zip(pool.spans.get(name, pairs), other.spans.get(name, pairs), strict=True):
            assert (one is None) == (two is None)
            assert one is None or (one.tokens == two.tokens and np.array_equal(one.logits, two.logits))
    assert other.spans.get(f"{again.model_id}/fp32", [(QUERIES[1], TEXTS[1][1])]) == [None]  # was cut
    again.close()


@pytest.mark.parametrize("change", ["query", "text", "order", "length", "model", "precision", "reading"])
def test_another_question_text_model_or_setting_is_computed(tmp_path, change):
    first, _, _ = reranker(tmp_path)
    first.rank_all(QUERIES[:1], [evidences(TEXTS[0])])
    first.close()
    query = QUERIES[0] + "?" * (change == "query")
    texts = TEXTS[0][::-1] if change == "order" else [text + " x" * (change == "text") for text in TEXTS[0]]
    settings = {"length": ("max_length", 65), "precision": ("precision", "bf16"), "reading": ("reads", False)}
    options = dict([settings[change]]) if change in settings else {}
    if change == "model":
        options = {"model": joint(seed=9)}
    other, _, counted = reranker(tmp_path, **options)
    plain = BertReranker(options.pop("model", joint()), "cpu", **{"max_length": 64, "precision": "auto", **{
        key: value for key, value in options.items() if key != "reads"}})  # fmt: skip
    found = other.rank_all([query], [evidences(texts)])
    assert counted.sequences == len(texts)
    assert found == plain.rank_all([query], [evidences(texts)])
    other.close()


def test_what_is_known_and_what_is_not_are_put_together(tmp_path):
    first, _, _ = reranker(tmp_path)
    first.rank_all(QUERIES[1:], [evidences(TEXTS[1])])
    both, _, counted = reranker(tmp_path)
    found = both.rank_all([*QUERIES, "x"], [*map(evidences, TEXTS), []])
    assert counted.sequences == len(TEXTS[0])
    without, _, _ = reranker(None)
    expected = without.rank_all([*QUERIES, "x"], [*map(evidences, TEXTS), []])
    for best, others in zip(found, expected, strict=True):
        assert [one["evidence_text"] for one in best] == [one["evidence_text"] for one in others]
    for made in (first, both):
        made.close()


def test_a_checkpoint_without_spans_is_kept_too(tmp_path):
    for sequences in (len(TEXTS[0]), 0):
        made, _, counted = reranker(tmp_path, model=tiny())
        ranked = made.rank_all(QUERIES[:1], [evidences(TEXTS[0])])
        assert counted.sequences == sequences and len(ranked[0]) == len(TEXTS[0])
        made.close()


def test_without_a_cache_nothing_is_kept(tmp_path):
    for _ in range(2):
        made, _, counted = reranker(None)
        made.rank_all(QUERIES[:1], [evidences(TEXTS[0])])
        assert counted.sequences == len(TEXTS[0])
    assert not list(tmp_path.iterdir())


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
