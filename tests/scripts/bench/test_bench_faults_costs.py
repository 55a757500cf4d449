"""The campaign's part on costs: it holds for what is cheap and notices what is not."""

import random

import pytest

from bench.faults import costs
from bench.faults.campaign import Trial

CHEAP = costs.Usage(1.0, 50 << 20, 0, "")


def tried(usage, tmp_path, monkeypatch):
    """An input of 1000 bytes, and what the command is said to have taken for it."""
    taken = iter([CHEAP, usage])
    monkeypatch.setattr(costs.Kind, "usage", lambda *_: next(taken))
    costs._least.cache_clear()
    return costs.attempt("nested JSON", [1000], Trial("nested JSON", 0, tmp_path, tmp_path))


@pytest.mark.parametrize(
    ("usage", "reason"),
    [
        (CHEAP._replace(status=1, told="convinse: refused"), ""),
        (CHEAP._replace(seconds=12.0), "11 s more"),
        (CHEAP._replace(peak=600 << 20), "550 MB more"),
        (CHEAP._replace(status=-9), "status -9"),
        (CHEAP._replace(status=1, told="Traceback"), "status 1, Traceback"),
    ],
)
def test_costs_are_noticed(usage, reason, tmp_path, monkeypatch):
    told = tried(usage, tmp_path, monkeypatch)
    assert reason in told and bool(told) == bool(reason)


def test_a_command_is_measured(tmp_path):
    kind = costs.KINDS["large settings"]
    usage = kind.usage(tmp_path, b"custom: [")
    assert usage.status == 1 and usage.told.startswith("convinse: ") and usage.seconds > 0 and usage.peak > 1 << 20


def test_inputs_have_about_the_size_and_repeat():
    for name, kind in costs.KINDS.items():
        data = kind.make(random.Random(name), 20_000)
        assert 0 < len(data) < 40_000 and data == kind.make(random.Random(name), 20_000)
