"""The part `memory` of the campaign: what counts as growth, questions that are new, and a server in a process."""

import random
from argparse import Namespace

import pytest

from bench.faults import memory
from bench.faults.served import running
from bench.harness import Bench


@pytest.mark.parametrize(
    ("samples", "grows"),
    [
        ([50, 100, 100, 101], False),
        ([50, 100, 100, 104], True),
        ([100, 100, 100, 104, 100], True),
        ([300, 100, 100, 100], False),
    ],
)
def test_growth_is_that_of_the_second_half(samples, grows):
    assert (memory.in_halves([sample * 10**6 for sample in samples])["growth"] > 0.02) == grows


def test_questions_are_new(workdir):
    chance = random.Random(0)
    questions = [memory._question(chance) for _ in range(200)]
    assert len(set(questions)) > 190


@pytest.mark.parametrize("name", ["kb serve", "serve api"])
def test_a_server_is_asked_and_looked_at(workdir, monkeypatch, tmp_path, capsys, name):
    monkeypatch.setattr(memory, "_AMOUNTS", (memory._Amount(30, 12, 3, 10.0),))
    bench = Bench(Namespace(group=name, seed=None), 0, 1, tmp_path, tmp_path)
    figures = memory.memory(bench)
    assert figures["groups"] == {name: {"tried": 1, "held": 1, "failed": 0}}
    assert figures["failures"] == []
    assert len(figures["megabytes"][name]) > 10
    over_time = bench.tables[-1]["rows"]
    assert [row[0] for row in over_time] == [name]


def test_a_server_that_grows_is_noticed(monkeypatch, tmp_path, capsys):
    sizes = iter(range(10**6, 10**9, 10**6))
    monkeypatch.setattr("bench.faults.served.RunningServer.memory", lambda _: next(sizes))
    monkeypatch.setattr(memory, "_AMOUNTS", (memory._Amount(20, 1, 1, 0.02),))
    bench = Bench(Namespace(group="kb serve", seed=None), 0, 1, tmp_path, tmp_path)
    (failure,) = memory.memory(bench)["failures"]
    assert "memory grew" in failure["reason"]


def test_turns_are_answered(workdir):
    samples = memory.turns(2, 0, str(workdir))
    assert len(samples) == 2 and min(samples) > 10**6


def test_a_server_that_does_not_start(tmp_path, monkeypatch):
    with pytest.raises(Exception, match="did not start"), running("kb", tmp_path, wrong=1):
        pass
