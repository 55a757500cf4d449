"""PyTorch as the backend."""

import numpy as np
import pytest

from convinse.encoder.checkpoint import load_checkpoint
from convinse.encoder.devices import find_device, find_precision
from convinse.encoder.engine import Engine
from convinse.encoder.settings import ModelSettings
from convinse.encoder.tokens import TextTokenizer
from convinse.encoder.torch_backend import TorchBackend
from convinse.support.errors import ConfigError, ModelError
from refusals import refused
from tiny_models import joint, own_forward, tiny, torch

PAIRS = [
    ("who wrote the hobbit", " ".join(["the", "author", "peter", "song"][n % 4] for n in range(length * 7 % 90)))
    for length in range(60)
]
CLASSIFYING = "sequence-classification"


def parts(kind="bert", budget=None, precision="auto", **options):
    checkpoint = load_checkpoint(tiny(kind, **options), CLASSIFYING)
    settings = ModelSettings(device="cpu", precision=precision, token_budget=budget)
    backend = TorchBackend(checkpoint, CLASSIFYING, settings, "tiny")
    return Engine(backend, budget), TextTokenizer.of(checkpoint, 128)


def computed(engine, sequences):
    odds = np.full((len(sequences.ids), 1), np.nan, dtype=np.float32)
    for batch, (values,) in engine.run(sequences, ["relevance"]):
        assert values.dtype == np.float32
        odds[batch, 0] = values
    return odds


@pytest.mark.parametrize("kind", ["bert", "roberta", "distilbert"])
def test_results_are_those_of_transformers(kind):
    expected = np.array(own_forward(tiny(kind), PAIRS, 128))
    assert expected.std() > 0.1  # else all would be equal to all
    for budget in (1, 512, None):
        engine, tokenizer = parts(kind, budget)
        np.testing.assert_allclose(computed(engine, tokenizer.pairs(PAIRS)), expected, atol=1e-5)


def test_out_of_memory_halves_the_budget():
    engine, tokenizer = parts(budget=400)

    def check(_, __, arguments):
        if arguments["input_ids"].numel() > 200:
            raise torch.OutOfMemoryError("CUDA out of memory")

    engine.backend.model.register_forward_pre_hook(check, with_kwargs=True)
    expected = own_forward(tiny(), PAIRS, 128)
    np.testing.assert_allclose(computed(engine, tokenizer.pairs(PAIRS)), expected, atol=1e-5)
    assert engine.token_budget <= 200


def test_half_precision_ranks_alike():
    engine, tokenizer = parts(precision="bf16")
    assert engine.precision == "bf16"
    odds = computed(engine, tokenizer.pairs(PAIRS))
    expected = np.array(own_forward(tiny(), PAIRS, 128))
    ranks = [values[:, 0].argsort().argsort() for values in (odds, expected)]
    assert np.corrcoef(*ranks)[0, 1] > 0.98
    assert 1e-5 < np.abs(odds - expected).max() < 0.6 * expected.std()


def test_fp32_is_what_auto_means_on_a_cpu():
    assert find_precision("auto", torch.device("cpu")) == "fp32"
    assert parts()[0].precision == "fp32"


def test_what_a_device_cannot_do_is_refused():
    refused(ConfigError, lambda: find_precision("fp16", torch.device("cpu")), "precision: fp16 is for GPUs")
    for device in ("cpu", "cuda"):
        refused(
            ConfigError, lambda d=device: find_precision("int8", torch.device(d)), "int8 needs ONNX Runtime", "export"
        )
    with pytest.raises(ConfigError, match=f"device: cuda:99: this PyTorch sees {torch.cuda.device_count()} GPUs"):
        find_device("cuda:99")
    assert find_device("cpu") == torch.device("cpu")


def test_a_model_offers_what_its_heads_compute():
    def outputs(folder, task):
        return TorchBackend(load_checkpoint(folder, task), task, ModelSettings(device="cpu"), "tiny").outputs

    assert outputs(tiny(), CLASSIFYING) == {"relevance"}
    assert outputs(tiny("bert", "question-answering"), "question-answering") == {"spans"}
    assert outputs(tiny("bert", "embedding"), "embedding") == {"embedding"}
    assert outputs(joint(), "embedding") == {"relevance", "spans", "embedding"}


def test_a_classifier_of_three_is_no_reranker():
    with pytest.raises(ModelError, match="tiny: has 3 outputs; a reranker has one"):
        parts(labels=3)
