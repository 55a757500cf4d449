"""The engine: batches by token budget, over a backend that only counts."""

import logging
import threading

import numpy as np
import pytest

from convinse.encoder import engine as engine_module
from convinse.encoder.engine import DeviceMemoryError, Engine, ModelBackend, prepared
from convinse.encoder.tokens import Sequences
from convinse.support.errors import ModelError

LENGTHS = [length * 7 % 90 + 3 for length in range(60)]


def sequences_of(lengths):
    ids = [np.arange(length, dtype=np.int32) for length in lengths]
    return Sequences(ids, np.array(lengths, dtype=np.int64), np.array(lengths, dtype=np.int64), 0, 0)


class Adding(ModelBackend):
    """Gives the sum of the ids of each sequence; its memory holds so many tokens at once."""

    device, precision, identity, dimension, budget = "cuda:0", "fp32", "fp32", 1, 1024
    outputs = frozenset({"relevance", "embedding"})

    def __init__(self, memory=10**9, ahead=1):
        self.memory, self.ahead = memory, ahead
        self.batches, self.failed, self.freed, self.flying, self.most_flying = [], 0, 0, 0, 0

    def start(self, sequences, places, wanted):
        ids, mask, _ = sequences.padded(places)
        if ids.size > self.memory:
            self.failed += 1
            raise DeviceMemoryError("out of memory")
        self.batches.append(ids)
        self.flying += 1
        self.most_flying = max(self.flying, self.most_flying)

        def finish():
            self.flying -= 1
            return tuple((ids * mask).sum(axis=1).astype(np.float32) + place for place in range(len(wanted)))

        return finish

    def free(self):
        self.freed += 1


def computed(engine, lengths=LENGTHS):
    sums, places = np.full(len(lengths), np.nan, dtype=np.float32), []
    for batch, (values, more) in engine.run(sequences_of(lengths), ["relevance", "embedding"]):
        places.extend(batch.tolist())
        sums[batch] = values
        np.testing.assert_array_equal(more, values + 1)
    assert sorted(places) == list(range(len(lengths)))
    return sums


EXPECTED = np.array([length * (length - 1) / 2 for length in LENGTHS], dtype=np.float32)


@pytest.mark.parametrize("ahead", [1, 2])
@pytest.mark.parametrize("budget", [1, 100, 512, None])
def test_each_sequence_is_computed_once_whatever_the_batches(budget, ahead):
    backend = Adding(ahead=ahead)
    np.testing.assert_array_equal(computed(Engine(backend, budget)), EXPECTED)
    assert backend.most_flying == ahead and backend.flying == 0


def test_the_budget_holds():
    backend = Adding()
    computed(Engine(backend, 300))
    assert all(batch.size <= 300 for batch in backend.batches)
    assert len(backend.batches) < len(LENGTHS) / 2
    widths = [batch.shape[1] for batch in backend.batches]
    assert widths == sorted(widths, reverse=True)
    assert sum(batch.size for batch in backend.batches) < 1.2 * sum(LENGTHS)


def test_a_backend_names_the_budget_unless_told():
    assert Engine(Adding()).token_budget == 1024 and Engine(Adding(), 3).token_budget == 3


def test_nothing_computes_nothing():
    backend = Adding()
    assert list(Engine(backend).run(sequences_of([]), ["relevance"])) == []
    assert not backend.batches


def test_out_of_memory_halves_the_budget_and_goes_on(caplog):
    caplog.set_level(logging.WARNING, "convinse")
    backend = Adding(memory=600)
    engine = Engine(backend, 4000)
    np.testing.assert_array_equal(computed(engine), EXPECTED)
    assert backend.failed == backend.freed == 3 and 300 < engine.token_budget <= 600
    assert len(caplog.messages) == 3 and "cuda:0: out of memory" in caplog.messages[0]
    computed(engine)
    assert backend.failed == 3  # it has learned


def test_out_of_memory_in_the_midst():
    """The memory may shrink while others use the GPU; what is computed stays computed."""
    backend = Adding(memory=10_000, ahead=2)
    sums, places = np.empty(len(LENGTHS), np.float32), []
    for batch, (values,) in Engine(backend, 800).run(sequences_of(LENGTHS), ["relevance"]):
        sums[batch] = values
        places.extend(batch.tolist())
        backend.memory = 200
    assert sorted(places) == list(range(len(LENGTHS))) and backend.failed
    np.testing.assert_array_equal(sums, EXPECTED)


def test_a_sequence_that_does_not_fit_is_an_error():
    with pytest.raises(ModelError, match=rf"cuda:0: .* one sequence of {max(LENGTHS)} tokens; lower evs_max_length"):
        computed(Engine(Adding(memory=50), 400))


def test_a_block_is_prepared_while_the_one_before_is_computed(monkeypatch):
    monkeypatch.setattr(engine_module, "BLOCK", 10)
    began = [threading.Event() for _ in range(4)]

    def prepare(block):
        began[block[0] // 10].set()
        return [threading.current_thread() is threading.main_thread(), *block]

    starts, items = [], []
    for start, (in_main, *block) in prepared(range(35), prepare):
        assert not in_main
        if start + 10 < 35:
            assert began[start // 10 + 1].wait(60)  # while this one is still in use
        starts.append(start)
        items += block
    assert starts == [0, 10, 20, 30] and items == list(range(35))


def test_a_single_block_needs_no_thread():
    assert list(prepared([1, 2], lambda block: threading.current_thread() is threading.main_thread())) == [(0, True)]
    assert list(prepared([], len)) == []


def test_an_error_of_preparing_comes_through(monkeypatch):
    monkeypatch.setattr(engine_module, "BLOCK", 1)

    def prepare(block):
        if block == [2]:
            raise ModelError("no tokens")
        return block

    with pytest.raises(ModelError, match="no tokens"):
        list(prepared([1, 2, 3], prepare))
    assert "tokenising" not in " ".join(thread.name for thread in threading.enumerate())
