"""What benches of models share: exported folders, tokenizers that know no text, padding, plain ONNX Runtime."""

import numpy as np
import pytest

from bench.exported import Padding, PlainOnnx, exported, tokenizers
from convinse.encoder.reranker import BertReranker
from tiny_models import tiny

PAIRS = [("who directed it", " ".join(["the film"] * (number % 17))) for number in range(40)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return exported(tiny(), tmp_path_factory.mktemp("models") / "exported")


def test_a_model_is_exported_once(folder, monkeypatch, tmp_path):
    from convinse.encoder import onnx_export

    assert (folder / "onnx.json").is_file()
    monkeypatch.delattr(onnx_export, "export_model")
    assert exported(folder, tmp_path / "again") == folder == exported(tiny(), folder)


def test_a_new_tokenizer_knows_no_text(folder):
    new = tokenizers(folder, 64)
    assert new().max_length == 64 and new()._texts is not new()._texts
    own = BertReranker(folder, "cpu", max_length=64).tokenizer.pairs(PAIRS)
    assert all(np.array_equal(*ids) for ids in zip(own.ids, new().pairs(PAIRS).ids, strict=True))


@pytest.mark.parametrize("backend", ["onnx", "torch"])
def test_padding_of_both_backends(folder, backend):
    reranker = BertReranker(folder, "cpu", backend=backend, precision="fp32", token_budget=1000)
    reranker.engine.backend.workers = 1  # no batch is divided
    padding = Padding().of_engine(reranker.engine)
    texts = ["film", "film film film"]
    reranker.predict([("who", text) for text in texts])
    lengths = reranker.tokenizer.pairs([("who", text) for text in texts]).lengths
    assert padding.share == pytest.approx(1 - lengths.sum() / (2 * lengths.max())) and padding.share > 0
    padding.clear()
    assert padding.share == 1


def test_padding_of_a_module_is_counted_meanwhile(folder):
    import torch

    class Module(torch.nn.Module):
        def forward(self, attention_mask):
            return attention_mask

    module, padding = Module(), Padding()
    with padding.of_module(module):
        module(attention_mask=torch.tensor([[1, 1, 1], [1, 0, 0]]))
    module(attention_mask=torch.zeros(9, 9))
    assert padding.share == pytest.approx(2 / 6)


def test_plain_onnx_runtime_scores_as_the_reranker(folder):
    plain = PlainOnnx(folder, "fp32", 64)
    wanted = BertReranker(folder, "cpu", backend="onnx", precision="fp32", max_length=64).predict(PAIRS, logits=True)
    np.testing.assert_allclose(plain.odds(PAIRS), wanted, atol=1e-5)
    assert 0 < plain.padding.share < 0.5 and np.ptp(wanted) > 0.01
