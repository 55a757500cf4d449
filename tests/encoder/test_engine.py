"""The engine over a backend that only counts, over PyTorch, and its batches by token budget."""

import logging
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convinse.encoder import engine as engine_module
from convinse.encoder.batches import shared_batches, token_batches
from convinse.encoder.checkpoint import load_checkpoint
from convinse.encoder.devices import find_device, find_precision
from convinse.encoder.engine import DeviceMemoryError, Engine, ModelBackend, prepare_blocks
from convinse.encoder.settings import ModelSettings
from convinse.encoder.tokens import Sequences, TextTokenizer
from convinse.encoder.torch_backend import TorchBackend
from convinse.support.errors import ConfigError, ModelError
from patience import PATIENCE
from refusals import refused
from tiny_models import reference_outputs, tiny, torch

# --- batches

LENGTHS = st.lists(st.integers(0, 300), max_size=80)
BUDGETS = st.integers(1, 2000)


@given(LENGTHS, BUDGETS, st.booleans(), st.none() | st.integers(0, 60))
def test_batches_are_full_stable_longest_first_and_within_their_padding(lengths, budget, padded, most):
    batches = [batch.tolist() for batch in token_batches(lengths, budget, padded, most)]
    assert sum(batches, []) == sorted(range(len(lengths)), key=lambda place: -lengths[place])  # equal ones in order
    most = most if padded else 0
    for batch, after in zip(batches, [*batches[1:], []], strict=False):
        longest = lengths[batch[0]]
        padding = sum(longest - lengths[place] for place in batch)
        assert (len(batch) == 1 or len(batch) * longest <= budget) and (most is None or padding <= most)
        if after:  # it could not take the next one
            is_wide = (len(batch) + 1) * max(1, longest) > budget
            assert is_wide or (most is not None and padding + longest - lengths[after[0]] > most)


@given(LENGTHS, st.integers(1, 4))
def test_shared_batches_give_each_worker_work_the_most_first(lengths, workers):
    batches = [batch.tolist() for batch in shared_batches(np.array(lengths, dtype=np.int64), 512, workers, 20)]
    assert sorted(sum(batches, [])) == list(range(len(lengths)))
    work = [len(batch) * lengths[batch[0]] for batch in batches]
    assert work == sorted(work, reverse=True)
    share = -(-sum(lengths) // workers) if workers > 1 else 512
    assert all(len(batch) == 1 or size <= min(512, max(1, share)) for batch, size in zip(batches, work, strict=True))
    assert [len(batch) for batch in shared_batches(np.full(20, 10), 512, 2, 20)] == [10, 10]


# --- the engine

SIZES = [length * 7 % 90 + 3 for length in range(60)]
SUMS = np.array([length * (length - 1) / 2 for length in SIZES], dtype=np.float32)


def sequences_of(lengths=SIZES):
    ids = [np.arange(length, dtype=np.int32) for length in lengths]
    return Sequences(ids, np.array(lengths, dtype=np.int64), np.array(lengths, dtype=np.int64), 0, 0)


class Adding(ModelBackend):
    """Gives the sum of the ids of each sequence; its memory holds so many tokens at once."""

    device, precision, identity, dimension, budget = "cuda:0", "fp32", "fp32", 1, 1024
    outputs = frozenset({"relevance", "embedding"})

    def __init__(self, memory=10**9, max_in_flight=1):
        self.memory, self.max_in_flight = memory, max_in_flight
        self.batches, self.failed, self.freed, self.flying, self.most_flying = [], 0, 0, 0, 0

    def start(self, sequences, places, outputs):
        ids, mask, _ = sequences.padded(places)
        if ids.size > self.memory:
            self.failed += 1
            raise DeviceMemoryError("out of memory")
        self.batches.append(ids)
        self.flying += 1
        self.most_flying = max(self.flying, self.most_flying)

        def finish():
            self.flying -= 1
            return tuple((ids * mask).sum(axis=1).astype(np.float32) + place for place in range(len(outputs)))

        return finish

    def free(self):
        self.freed += 1


def check_sums(engine):
    sums, places = np.full(len(SIZES), np.nan, dtype=np.float32), []
    for batch, (values, more) in engine.run(sequences_of(), ["relevance", "embedding"]):
        places.extend(batch.tolist())
        sums[batch] = values
        np.testing.assert_array_equal(more, values + 1)
    assert sorted(places) == list(range(len(SIZES)))
    np.testing.assert_array_equal(sums, SUMS)


@pytest.mark.parametrize("max_in_flight", [1, 2])
@pytest.mark.parametrize("budget", [1, 100, 300, None])
def test_each_sequence_is_computed_once_within_the_budget(budget, max_in_flight):
    backend = Adding(max_in_flight=max_in_flight)
    engine = Engine(backend, budget)
    assert engine.token_budget == (budget or 1024)
    check_sums(engine)
    assert list(engine.run(sequences_of([]), ["relevance"])) == []
    assert backend.most_flying == max_in_flight and backend.flying == 0
    assert all(len(batch) == 1 or batch.size <= (budget or 1024) for batch in backend.batches)
    widths = [batch.shape[1] for batch in backend.batches]
    assert widths == sorted(widths, reverse=True)
    if budget == 300:
        assert len(backend.batches) < len(SIZES) / 2
        assert sum(batch.size for batch in backend.batches) < 1.2 * sum(SIZES)


def test_out_of_memory_halves_the_budget_and_goes_on(caplog):
    caplog.set_level(logging.WARNING, "convinse")
    backend = Adding(memory=600)
    engine = Engine(backend, 4000)
    check_sums(engine)
    assert backend.failed == backend.freed == 3 and 300 < engine.token_budget <= 600
    assert len(caplog.messages) == 3 and "cuda:0: out of memory" in caplog.messages[0]
    check_sums(engine)
    assert backend.failed == 3  # it has learned


def test_a_sequence_that_does_not_fit_is_an_error():
    with pytest.raises(ModelError, match=rf"cuda:0: .* one sequence of {max(SIZES)} tokens; use device: cpu"):
        check_sums(Engine(Adding(memory=50), 400))


def test_a_block_is_prepared_while_the_one_before_is_computed(monkeypatch):
    monkeypatch.setattr(engine_module, "BLOCK", 10)
    began = [threading.Event() for _ in range(4)]

    def prepare(block):
        began[block[0] // 10].set()
        return [threading.current_thread() is threading.main_thread(), *block]

    starts, items = [], []
    for start, (in_main, *block) in prepare_blocks(range(35), prepare):
        assert not in_main
        if start + 10 < 35:
            assert began[start // 10 + 1].wait(PATIENCE)  # while this one is still in use
        starts.append(start)
        items += block
    assert starts == [0, 10, 20, 30] and items == list(range(35))
    single = list(prepare_blocks([1, 2], lambda block: threading.current_thread() is threading.main_thread()))
    assert single == [(0, True)] and list(prepare_blocks([], len)) == []  # which needs no thread


# --- PyTorch

TASK = "sequence-classification"


def backend_of(folder, task=TASK, **settings):
    checkpoint = load_checkpoint(folder, task)
    return checkpoint, TorchBackend(checkpoint, task, ModelSettings(device="cpu", **settings), "tiny")


def test_pytorch_out_of_memory_halves_the_budget():
    pairs = [("who wrote the hobbit", "the author peter song " * (length * 7 % 23)) for length in range(60)]
    checkpoint, backend = backend_of(tiny(), token_budget=400)
    engine, odds = Engine(backend, 400), np.full(len(pairs), np.nan, dtype=np.float32)

    def check(_, __, arguments):
        if arguments["input_ids"].numel() > 200:
            raise torch.OutOfMemoryError("CUDA out of memory")

    backend.model.register_forward_pre_hook(check, with_kwargs=True)
    for batch, (values,) in engine.run(TextTokenizer.of(checkpoint, 128).pairs(pairs), ["relevance"]):
        assert values.dtype == np.float32
        odds[batch] = values
    expected = np.array(reference_outputs(tiny(), pairs, 128))[:, 0]
    assert expected.std() > 0.1  # else all would be equal to all
    np.testing.assert_allclose(odds, expected, atol=1e-5)
    assert engine.token_budget <= 200


def test_missing_devices_and_precisions_are_refused():
    assert find_precision("auto", torch.device("cpu")) == "fp32"
    refused(ConfigError, lambda: find_precision("fp16", torch.device("cpu")), "precision: fp16 is for GPUs")
    for device in ("cpu", "cuda"):
        words = "int8 needs ONNX Runtime", "export"
        refused(ConfigError, lambda device=device: find_precision("int8", torch.device(device)), *words)
    refused(ConfigError, lambda: find_device("cuda:99"), f"cuda:99: this PyTorch sees {torch.cuda.device_count()} GPUs")
    assert find_device("cpu") == torch.device("cpu")
