"""Every head of a joint model: batches, backends and precisions, sharing, settings, kept results, errors."""

import numpy as np
import pytest
from model_heads import HEADS, PAIRS, each_head, exported, save_heads, whole

from convinse.config import load_config, parse_config
from convinse.encoder.heads import AnswerTypeHead, YesNoHead
from convinse.encoder.pool import ModelPool, PairSpans, SpanCache
from convinse.encoder.reranker import BertReranker
from convinse.encoder.settings import ModelSettings
from convinse.resources import Resources
from convinse.support.cache import Cache
from convinse.support.errors import ModelError
from convinse.support.vectors import VectorCache
from refusals import refused
from tiny_models import Counted, copy_of, damage, joint, tiny, word_pieces

# --- the same whatever is computed beside it, and where


@each_head()
@pytest.mark.parametrize("options", [{"backend": "torch"}, {"backend": "onnx", "precision": "fp32"}], ids=str)
def test_together_is_as_one_by_one_in_any_order(head, options):
    model = head.make(exported(), **options)
    together = head.of(model)
    assert len(np.unique(together.reshape(len(PAIRS), -1).round(6), axis=0)) >= 4  # else equal to all
    alone = np.concatenate([head.of(model, [pair]) for pair in PAIRS])
    np.testing.assert_allclose(together, alone, atol=head.tolerance)
    np.testing.assert_allclose(head.of(model, PAIRS[::-1])[::-1], together, atol=head.tolerance)
    assert len(head.of(model, [])) == 0
    small = head.make(exported(), token_budget=1, **options)
    np.testing.assert_allclose(head.of(small), together, atol=head.tolerance)


@each_head()
def test_onnx_runtime_computes_as_pytorch_does(head):
    expected = head.of(head.make(backend="torch"))
    fp32 = head.of(head.make(exported(), backend="onnx", precision="fp32"))
    np.testing.assert_allclose(fp32, expected, rtol=1e-4, atol=head.tolerance)
    model = head.make(exported(), backend="onnx", precision="int8")
    assert model.engine.backend.identity.startswith("int8-")
    int8 = head.of(model)
    assert not np.array_equal(int8, expected) and np.corrcoef(int8.ravel(), expected.ravel())[0, 1] > 0.98
    alone = np.concatenate([head.of(model, [pair]) for pair in PAIRS])
    np.testing.assert_allclose(int8, alone, atol=2e-4)  # of the padding's sums, not of others' ranges


@each_head("reranker", "bi_encoder", "reader")
def test_equal_inputs_are_computed_once(head):
    model = head.make()
    counted = Counted(model.engine)
    head.of(model)
    once = counted.sequences  # a long text has several windows
    found = head.of(model, [*PAIRS, *PAIRS[::-1], *PAIRS])
    assert counted.sequences == 2 * once and len(PAIRS) <= once <= len(PAIRS) + 1
    np.testing.assert_array_equal(found[: len(PAIRS)], found[len(PAIRS) : 2 * len(PAIRS)][::-1])
    np.testing.assert_array_equal(found[: len(PAIRS)], found[2 * len(PAIRS) :])


@each_head("yes_no", "answer_type", "rewriter")
def test_results_to_be_cached_are_computed_without_padding(head):
    model = head.make()
    counted = Counted(model.engine)
    head.of(model, [*PAIRS, *PAIRS])
    assert all((batch != word_pieces().pad_token_id).all() for batch in counted.batches)
    assert max(map(len, counted.batches)) > 1


# --- sharing


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_a_pool_shares_a_joint_model_among_heads_that_compute_as_alone(precision):
    pool = ModelPool()
    shared = {name: head.make(models=pool, precision=precision) for name, head in HEADS.items()}
    assert len({id(model.engine) for model in shared.values()}) == 1
    for name, head in HEADS.items():
        alone = head.make(precision=precision)
        assert shared[name].model_id == alone.model_id
        np.testing.assert_allclose(head.of(shared[name]), head.of(alone), atol=head.tolerance)


def test_each_way_to_compute_has_an_engine_of_its_own():
    head, pool = HEADS["reranker"], ModelPool()
    ways = [{}, {"precision": "bf16"}, {"token_budget": 300}, {"folder": exported(), "backend": "onnx"}]
    models = [head.make(models=pool, **way) for way in ways]
    assert len({id(model.engine) for model in models}) == len({id(model.engine.backend) for model in models}) == 4
    assert [model.engine.precision for model in models] == ["fp32", "bf16", "fp32", "int8"]
    assert models[2].engine.token_budget == 300
    assert head.make(models=pool, max_length=40).engine is models[0].engine


def test_the_files_count_and_not_their_place(tmp_path):
    head, pool = HEADS["reranker"], ModelPool()
    first = head.make(models=pool)
    folder = copy_of(whole(), tmp_path / "copy")
    assert head.make(folder, models=pool).engine is first.engine
    damage(folder, lambda tensors: tensors["relevance.bias"].add_(1))
    changed = head.make(folder, models=pool)
    assert changed.engine is not first.engine
    np.testing.assert_allclose(head.of(changed), head.of(first) + 1, atol=1e-5)
    plain = [head.make(tiny(), models=pool) for _ in range(2)]  # no joint model
    assert plain[0].engine is not plain[1].engine


# --- settings

SETTINGS = ModelSettings(device="cpu", precision="bf16", token_budget=77, max_length=70, stride=9, key="mine")


@each_head()
def test_a_head_computes_as_its_settings_and_keyword_arguments_say(head):
    model = head.kind(whole(), settings=SETTINGS)
    engine = model.engine
    assert (engine.backend.device, engine.precision, engine.token_budget) == ("cpu", "bf16", 77)
    assert model.tokenizer.max_length == 70
    model = head.kind(whole(), device="cpu", settings=SETTINGS, precision="fp32", max_length=40)
    assert (model.engine.precision, model.engine.token_budget, model.tokenizer.max_length) == ("fp32", 77, 40)
    with pytest.raises(TypeError, match="precison"):
        head.kind(whole(), precison="fp32")


@pytest.mark.parametrize("precision", ["precision", "evs_precision"])
def test_a_configuration_says_how_all_its_models_compute(precision):
    keys = {"device": "cpu", precision: "bf16", "token_budget": 99}
    config = parse_config({"ers_use_cache": False, "evs_model": str(joint()), "ha_model": str(joint()), **keys})
    resources = Resources(config)
    bi_encoder = resources.embeddings(config.evs_model, "evs_bi_encoder").bi_encoder
    reranker, reader = resources.reranker(), resources.reader(config.ha_model)
    for model in (reranker, bi_encoder, reader):
        assert (model.engine.precision, model.engine.token_budget) == ("bf16", 99)
    refused(ModelError, lambda: Resources(load_config("lexical.yml")).reader("./nowhere"), "ha_model: ./nowhere")


# --- kept results


@each_head("yes_no", "answer_type")
def test_cached_results_equal_computed_results(head, tmp_path):
    def cached(folder, **options):
        model = head.make(folder, **options)
        size = 1 if head.kind.__name__ == "YesNoReader" else 3
        model.use_cache(VectorCache(Cache(tmp_path / "cache"), model.model_id, size, precision="float32"))
        return model, Counted(model.engine)

    first, counted = cached(exported(), backend="onnx")
    found = head.of(first, PAIRS[:2])
    assert counted.sequences == 2
    again, counted = cached(exported(), backend="onnx")
    assert (head.of(again, PAIRS[1::-1]) == found[::-1]).all() and not counted.batches
    np.testing.assert_allclose(head.of(again), head.of(head.make(exported(), backend="onnx")), atol=1e-6)
    assert counted.sequences == len(PAIRS) - 2
    other_head = save_heads(copy_of(whole(), tmp_path / "head"), YesNoHead, AnswerTypeHead, seed=2)
    for model, counted in (cached(exported(), backend="onnx", precision="fp32"), cached(other_head, backend="torch")):
        head.of(model, PAIRS[:2])
        assert counted.sequences == 2


def test_equal_pairs_are_computed_once_when_cached_and_the_end_of_the_question_counts(tmp_path):
    model = HEADS["yes_no"].make()
    model.use_cache(VectorCache(Cache(tmp_path), model.model_id, 1, precision="float32"))
    counted = Counted(model.engine)
    model.probabilities([("was it a film", "the song"), ("was it a filmthe", " song"), ("who", " ")] * 2)
    assert counted.sequences == 2


# --- errors


@pytest.mark.parametrize(
    ("name", "words"), [("yes_no", "yes/no"), ("answer_type", "answer type"), ("rewriter", "rewrite")]
)
def test_a_model_without_the_head_is_refused(name, words):
    words = f"ha_model: {joint()}: has no {words} head; train one"
    refused(ModelError, lambda: HEADS[name].make(joint(), key="ha_model"), words)


@each_head("reranker", "bi_encoder", "reader", "yes_no", "answer_type")
def test_a_result_that_is_not_a_number_names_its_input(head, tmp_path):
    def broken(tensors):
        tensors["bert.embeddings.word_embeddings.weight"][word_pieces().vocab["hobbit"]] = float("nan")

    folder = damage(copy_of(whole(), tmp_path / "model"), broken)
    for precision in ("fp32", "bf16"):
        model = head.make(folder, precision=precision)
        head.of(model, PAIRS[1:])
        shown = "who wrote the hobbit" if head.kind.__name__ == "AnswerTypeReader" else "the hobbit was written by"
        refused(ModelError, lambda model=model: head.of(model, PAIRS[::-1]), shown, "broken")


# --- pairs that are read while they are ranked


TEXTS = ["the hobbit", "город Толстой", "the author of the book " * 30, ""]


def test_relevance_is_the_same_beside_spans():
    pool = ModelPool()
    reranker = BertReranker(whole(), "cpu", models=pool)
    pairs = [(query, text) for query in ("who", "") for text in TEXTS]
    alone = reranker.predict(pairs, logits=True)
    counted = Counted(reranker.engine)
    pool.share_spans()
    np.testing.assert_array_equal(reranker.predict(pairs, logits=True), alone)
    assert counted.sequences == len(pairs) == len(pool.spans)
    pool.share_spans()
    assert len(pool.spans) == len(pairs)
    pool.clear_spans()
    assert len(pool.spans) == 0
    BertReranker(tiny(), "cpu", models=pool).predict(pairs)  # a model that reads no spans
    assert len(pool.spans) == 0


def read(tokens, value=0.0):
    return PairSpans(tokens + 3, np.full((tokens, 2), value, dtype=np.float32))


def test_the_memory_keeps_the_most_recent_pairs():
    memory = SpanCache(most_tokens=100)
    pairs = [("who", f"text {number}") for number in range(30)]
    for number, pair in enumerate(pairs):
        memory.put("model", [pair], [read(10, number)])
    assert len(memory) == 10
    found = memory.get("model", pairs)
    assert [pair is None for pair in found] == [True] * 20 + [False] * 10
    assert [pair.logits[0, 0] for pair in found[20:]] == list(range(20, 30))
    memory.put("model", pairs[20:25], [read(10, 7)] * 5)  # the same again: no more room taken, and young again
    assert len(memory) == 10 and memory.get("model", pairs[20:21])[0].logits[0, 0] == 7
    memory.put("model", [("when", "new")], [read(50)])
    assert [pair is None for pair in memory.get("model", pairs[20:])] == [False] * 5 + [True] * 5
    memory.put("model", [("when", "too long")], [read(101)])
    assert len(memory) == 0
