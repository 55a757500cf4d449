"""The campaign's part of damage notices what does not hold."""

import pytest

from bench.faults import flips
from bench.faults.campaign import Trial
from convinse.support.block_sums import BlockFile
from convinse.support.evidence_cache import EvidenceCache


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    return tmp_path_factory.mktemp("kept")


def tried(name, kept, tmp_path, seeds):
    reasons = []
    for seed in seeds:
        (tmp_path / f"{seed}").mkdir()
        reasons.append(flips._tried(name, flips.FORMATS[name], Trial(name, seed, tmp_path / f"{seed}", kept)))
    return [reason for reason in reasons if reason]


@pytest.mark.parametrize(
    "name", ["Wikipedia dump", "passages", "passages, large", "weights", "vector cache", "results"]
)
def test_damage_is_noticed(name, kept, tmp_path):
    assert tried(name, kept, tmp_path, range(4)) == []


def test_a_block_that_nobody_compares_is_a_failure(kept, tmp_path, monkeypatch):
    monkeypatch.setattr(BlockFile, "compare", lambda file, block: None)
    reasons = tried("passages, large", kept, tmp_path, range(6))
    assert any("verify names []" in reason for reason in reasons)


def test_another_answer_and_an_error_of_the_wrong_kind_are_failures(kept, tmp_path, monkeypatch):
    assert tried("evidence cache", kept, tmp_path, [0]) == []
    monkeypatch.setattr(EvidenceCache, "get", lambda cache, *key: [-1])
    (reason,) = tried("evidence cache", kept, tmp_path, [1])
    assert reason.endswith(": another answer")
    monkeypatch.setattr(EvidenceCache, "get", lambda cache, *key: 1 / 0)
    (reason,) = tried("evidence cache", kept, tmp_path, [2])
    assert reason.endswith(": ZeroDivisionError: division by zero")
