import logging

import numpy as np
import pytest

from convinse.encoder.checkpoint import load_checkpoint
from convinse.encoder.engine import Engine
from convinse.encoder.precision import _Int8Linear, _OneDnnLinear, find_device, find_precision
from convinse.encoder.settings import ModelSettings
from convinse.encoder.tokens import TextTokenizer
from convinse.support.errors import ConfigError, ModelError
from refusals import refused
from tiny_models import Counted, own_forward, tiny, torch

PAIRS = [
    ("who wrote the hobbit", " ".join(["the", "author", "peter", "song"][n % 4] for n in range(length * 7 % 90)))
    for length in range(60)
]


def logits(output, mask):
    assert mask.shape == (len(output.logits), mask.shape[1])
    return output.logits


def parts(kind="bert", budget=None, precision="auto", **options):
    checkpoint = load_checkpoint(tiny(kind, **options), "sequence-classification")
    return Engine(
        checkpoint.model, ModelSettings(device="cpu", precision=precision, token_budget=budget)
    ), TextTokenizer.of(checkpoint, 128)


def computed(engine, sequences):
    found, places = np.full((len(sequences.ids), 1), np.nan, dtype=np.float32), []
    for batch, result in engine.run(sequences, logits):
        assert result.dtype == np.float32
        places.extend(batch.tolist())
        found[batch] = result
    assert sorted(places) == list(range(len(sequences.ids)))
    return found


@pytest.mark.parametrize("kind", ["bert", "roberta", "distilbert"])
def test_results_are_those_of_transformers(kind):
    expected = np.array(own_forward(tiny(kind), PAIRS, 128))
    assert expected.std() > 0.1  # else all would be equal to all
    for budget in (1, 100, 512, None):
        engine, tokenizer = parts(kind, budget)
        np.testing.assert_allclose(computed(engine, tokenizer.pairs(PAIRS)), expected, atol=1e-5)


def test_the_budget_holds():
    engine, tokenizer = parts(budget=300)
    sequences = tokenizer.pairs(PAIRS)
    counted = Counted(engine.model)
    computed(engine, sequences)
    assert all(batch.size <= 300 for batch in counted.batches)
    assert len(counted.batches) < len(PAIRS) / 2
    widths = [batch.shape[1] for batch in counted.batches]
    assert widths == sorted(widths, reverse=True)
    assert sum(batch.size for batch in counted.batches) < 1.2 * sequences.lengths.sum()


def test_nothing_computes_nothing():
    engine, tokenizer = parts()
    counted = Counted(engine.model)
    assert list(engine.run(tokenizer.pairs([]), logits)) == []
    assert not counted.batches


class SmallMemory:
    """A model that holds so many tokens at once."""

    def __init__(self, model, tokens):
        self.tokens = tokens
        model.register_forward_pre_hook(self._check, with_kwargs=True)
        self.failed = 0

    def _check(self, _, __, arguments):
        if arguments["input_ids"].numel() > self.tokens:
            self.failed += 1
            raise torch.OutOfMemoryError("CUDA out of memory")


def test_out_of_memory_halves_the_budget_and_goes_on(caplog):
    caplog.set_level(logging.WARNING, "convinse")
    expected = own_forward(tiny(), PAIRS, 128)
    engine, tokenizer = parts(budget=4000)
    memory = SmallMemory(engine.model, 600)
    sequences = tokenizer.pairs(PAIRS)
    np.testing.assert_allclose(computed(engine, sequences), expected, atol=1e-5)
    assert memory.failed == 3 and 300 < engine.token_budget <= 600
    assert len(caplog.messages) == 3 and "out of memory" in caplog.messages[0]
    computed(engine, sequences)
    assert memory.failed == 3  # it has learned


def test_out_of_memory_in_the_midst():
    """The memory may shrink while others use the GPU; what is computed stays computed."""
    expected = own_forward(tiny(), PAIRS, 128)
    engine, tokenizer = parts(budget=800)
    memory = SmallMemory(engine.model, 10_000)
    sequences = tokenizer.pairs(PAIRS)
    found, places = np.empty((len(PAIRS), 1), np.float32), []
    for batch, result in engine.run(sequences, logits):
        found[batch] = result
        places.extend(batch.tolist())
        memory.tokens = 200
    assert sorted(places) == list(range(len(PAIRS))) and memory.failed
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_one_sequence_that_does_not_fit_is_an_error():
    engine, tokenizer = parts(budget=400)
    SmallMemory(engine.model, 50)
    sequences = tokenizer.pairs(PAIRS)
    with pytest.raises(ModelError, match=rf"one sequence of {sequences.lengths.max()} tokens; lower evs_max_length"):
        computed(engine, sequences)


@pytest.mark.parametrize(("precision", "least"), [("int8", 0.95), ("bf16", 0.98)])
def test_lower_precisions_rank_alike(precision, least):
    engine, tokenizer = parts(precision=precision)
    assert engine.precision == precision
    found = computed(engine, tokenizer.pairs(PAIRS))
    expected = np.array(own_forward(tiny(), PAIRS, 128))
    ranks = [values[:, 0].argsort().argsort() for values in (found, expected)]
    assert np.corrcoef(*ranks)[0, 1] > least
    assert 1e-5 < np.abs(found - expected).max() < 0.6 * expected.std()


def test_fp32_is_what_auto_means_on_a_cpu():
    assert find_precision("auto", torch.device("cpu")) == "fp32"
    assert parts()[0].precision == "fp32"


def test_what_a_device_cannot_do_is_refused():
    refused(ConfigError, lambda: find_precision("fp16", torch.device("cpu")), "precision: fp16 is for GPUs")
    refused(ConfigError, lambda: find_precision("int8", torch.device("cuda")), "precision: int8 is for CPUs")
    with pytest.raises(ConfigError, match=f"device: cuda:99: this PyTorch sees {torch.cuda.device_count()} GPUs"):
        find_device("cuda:99")
    assert find_device("cpu") == torch.device("cpu")


def test_int8_rounds_by_half_a_level():
    """Weights and activations lose half a level of 127 each at most, and errors of many inputs cancel."""
    generator = torch.Generator().manual_seed(0)
    linear = torch.nn.Linear(64, 48)
    torch.nn.init.normal_(linear.weight, generator=generator)
    x = torch.randn(3, 5, 64, generator=generator) * torch.tensor([1e-3, 1, 1e3]).reshape(3, 1, 1)
    with torch.inference_mode():
        found, expected = _Int8Linear(linear)(x), linear(x)
    assert found.shape == (3, 5, 48)
    for one, other in zip(found, expected, strict=True):
        assert (one - other).abs().max() < 0.03 * other.abs().max()


def test_int8_keeps_nan():
    """Else broken weights would give scores."""
    linear = torch.nn.Linear(32, 32)
    x = torch.zeros(2, 32)
    x[1, 3] = torch.nan
    found = _Int8Linear(linear.requires_grad_(False))(x)
    assert not found[0].isnan().any() and found[1].isnan().all()
    linear.weight[4, 0] = torch.nan
    assert _Int8Linear(linear)(torch.ones(1, 32))[0].isnan().nonzero().tolist() == [[4]]


@pytest.mark.parametrize(("kind", "layers", "exact"), [("bert", 12, 2), ("roberta", 6, 1), ("bert", 2, 0)])
def test_int8_leaves_the_first_sixth_of_the_layers_in_fp32(kind, layers, exact):
    engine, _ = parts(kind, precision="int8", num_hidden_layers=layers)
    kinds = [
        {type(one) for one in layer.modules() if isinstance(one, (torch.nn.Linear, _Int8Linear, _OneDnnLinear))}
        for layer in engine.model.base_model.encoder.layer
    ]
    assert kinds == [{_OneDnnLinear}] * exact + [{_Int8Linear}] * (layers - exact)
    exactly, _ = parts(kind, precision="fp32", num_hidden_layers=layers)
    for layer in exactly.model.base_model.encoder.layer:
        assert not any(isinstance(one, _Int8Linear) for one in layer.modules())
