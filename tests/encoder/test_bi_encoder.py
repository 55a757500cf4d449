"""Embeddings: pooling, and the id of a model."""

import numpy as np
import pytest

from case_tables import each_case
from convinse.encoder.bi_encoder import BiEncoder
from convinse.support.errors import ModelError
from refusals import refused
from tiny_models import copy_of, reference_outputs, tiny
from written import write

LONG = "who wrote the lord of the rings " * 30
TEXTS = ["the hobbit", "", LONG, "中文字的", "titanic, director, james cameron", "film " * 40]
OLD = {"word_embedding_dimension": 32, "pooling_mode_max_tokens": False, "pooling_mode_mean_sqrt_len_tokens": False}


def pooled_by(target, settings, modules=None):
    copy_of(tiny("bert", "embedding"), target)
    write(target / "1_Pooling/config.json", settings)
    if modules is not None:
        write(target / "modules.json", [{"type": f"sentence_transformers.models.{name}"} for name in modules])
    return target


def unit(vectors):
    return np.array(vectors) / np.linalg.norm(vectors, axis=1, keepdims=True)


CLS = {**OLD, "pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
MEAN = {**OLD, "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}


@pytest.mark.parametrize(
    ("kind", "settings", "first"),
    [("bert", CLS, True), ("bert", {"pooling_mode": "cls", "embedding_dimension": 32}, True),
     ("bert", MEAN, False), ("bert", {"pooling_mode": "mean"}, False), ("bert", {}, False),
     ("bert", None, False), ("roberta", None, False), ("distilbert", None, False)],
)  # fmt: skip
def test_a_vector_is_pooled_as_the_folder_says_and_without_padding(tmp_path, kind, settings, first):
    folder = tiny(kind, "embedding")
    if settings is not None:
        folder = pooled_by(tmp_path / "model", settings, ["Transformer", "Pooling", "Normalize"])
    tokens_of_texts = reference_outputs(folder, TEXTS, 64, "embedding")
    expected = unit([tokens[0] if first else tokens.mean(axis=0) for tokens in tokens_of_texts])
    encoder = BiEncoder(folder, "cpu", max_length=64, token_budget=1000)
    vectors = encoder.embed(TEXTS)
    assert vectors.dtype == np.float32 and encoder.dimension == 32 and encoder.embed([]).shape == (0, 32)
    np.testing.assert_allclose(vectors, expected, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


@each_case("faulty_models", "pooling")
def test_folder_of_another_pooling_is_refused(tmp_path, case):
    folder = pooled_by(tmp_path / "model", case["pooling"], case.get("modules"))
    message = refused(ModelError, lambda: BiEncoder(folder, "cpu"), case["words"])
    assert message.startswith(f"model: {folder}: ")


def test_the_id_changes_with_all_that_changes_the_vectors():
    def model_id(kind="bert", **options):
        return BiEncoder(tiny(kind, "embedding"), "cpu", **options).model_id

    ids = [model_id(), model_id("distilbert"), model_id(max_length=64), model_id(precision="bf16")]
    assert len(set(ids)) == 4
    assert model_id() == model_id(token_budget=77)
