import numpy as np
import pytest

from convinse.encoder.bi_encoder import BiEncoder
from convinse.support.errors import ModelError
from refusals import refused
from tiny_models import Counted, copy_of, damage, own_forward, tiny
from written import write

LONG = "who wrote the lord of the rings " * 30
TEXTS = ["the hobbit", "", LONG, "中文字的", "titanic, director, james cameron", "film " * 40]


def unit(vectors):
    return np.array(vectors) / np.linalg.norm(vectors, axis=1, keepdims=True)


def pooled_by(folder, target, settings, modules=None):
    target = copy_of(folder, target)
    write(target / "1_Pooling/config.json", settings)
    if modules is not None:
        write(target / "modules.json", [{"type": f"sentence_transformers.models.{name}"} for name in modules])
    return target


OLD = {"word_embedding_dimension": 32, "pooling_mode_max_tokens": False, "pooling_mode_mean_sqrt_len_tokens": False}


@pytest.mark.parametrize("kind", ["bert", "roberta", "distilbert"])
def test_the_mean_of_the_tokens_without_padding(kind):
    folder = tiny(kind, "embedding")
    expected = unit([tokens.mean(axis=0) for tokens in own_forward(folder, TEXTS, 64, "embedding")])
    encoder = BiEncoder(folder, "cpu", max_length=64, token_budget=1000)
    found = encoder.embed(TEXTS)
    assert found.dtype == np.float32 and encoder.dimension == 32
    np.testing.assert_allclose(found, expected, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)


@pytest.mark.parametrize(
    "settings",
    [
        {**OLD, "pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False},
        {"pooling_mode": "cls", "embedding_dimension": 32},
    ],
)
def test_the_vector_of_cls(tmp_path, settings):
    folder = pooled_by(tiny("bert", "embedding"), tmp_path / "model", settings, ["Transformer", "Pooling", "Normalize"])
    expected = unit([tokens[0] for tokens in own_forward(folder, TEXTS, 64, "embedding")])
    np.testing.assert_allclose(BiEncoder(folder, "cpu", max_length=64).embed(TEXTS), expected, atol=1e-5)


@pytest.mark.parametrize(
    "settings",
    [{**OLD, "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}, {"pooling_mode": "mean"}, {}],
)
def test_the_mean_by_settings(tmp_path, settings):
    folder = pooled_by(tiny("bert", "embedding"), tmp_path / "model", settings)
    expected = BiEncoder(tiny("bert", "embedding"), "cpu").embed(TEXTS)
    np.testing.assert_array_equal(BiEncoder(folder, "cpu").embed(TEXTS), expected)


@pytest.mark.parametrize(
    ("settings", "modules", "words"),
    [
        ({**OLD, "pooling_mode_max_tokens": True}, None, "pools by max_tokens; mean or cls are supported"),
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True}, None, "pools by cls, mean;"),
        ({"pooling_mode": "lasttoken"}, None, "pools by lasttoken;"),
        ("{", None, "1_Pooling/config.json cannot be read"),
        ("[]", None, "1_Pooling/config.json cannot be read"),
        ({}, ["Transformer", "Pooling", "Dense"], "has a module Dense after its pooling"),
    ],
)
def test_other_folders_are_refused(tmp_path, settings, modules, words):
    folder = pooled_by(tiny("bert", "embedding"), tmp_path / "model", settings, modules)
    message = refused(ModelError, lambda: BiEncoder(folder, "cpu"), words)
    assert message.startswith(f"model: {folder}: ")


def test_equal_texts_are_computed_once():
    encoder = BiEncoder(tiny("bert", "embedding"), "cpu")
    counted = Counted(encoder.engine)
    found = encoder.embed([*TEXTS, *reversed(TEXTS)])
    assert counted.sequences == len(TEXTS)
    np.testing.assert_array_equal(found[: len(TEXTS)], found[len(TEXTS) :][::-1])


def test_nothing_gives_nothing():
    assert BiEncoder(tiny("bert", "embedding"), "cpu").embed([]).shape == (0, 32)


def test_the_id_says_what_changes_the_vectors():
    def model_id(kind="bert", **options):
        return BiEncoder(tiny(kind, "embedding"), "cpu", **options).model_id

    ids = [model_id(), model_id("distilbert"), model_id(max_length=64), model_id(precision="bf16")]
    assert len(set(ids)) == 4
    assert model_id() == model_id(token_budget=77)


def test_an_embedding_that_is_no_number_is_an_error(tmp_path):
    folder = copy_of(tiny("bert", "embedding"), tmp_path / "model")
    damage(folder, lambda tensors: tensors["encoder.layer.0.output.dense.bias"].fill_(float("nan")))
    with pytest.raises(ModelError, match=r"the embedding of 'the hobbit' is not a number \(6 of 6 texts\)"):
        BiEncoder(folder, "cpu").embed(TEXTS)
