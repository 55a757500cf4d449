import math
import sys
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convinse.scoring.convqa import MEASURES
from convinse.scoring.significance import compare, p_value
from convinse.support.errors import DataError, DependencyError, ScoringError
from finished import conversation, turn
from written import write_lines

pytest.importorskip("scipy")


def by_enumeration(differences):
    """Both signs of all: twice the part whose sum is at least as far on the side of the observed one."""
    sums = [sum(s * d for s, d in zip(signs, differences, strict=True)) for signs in product((1, -1), repeat=len(differences))]  # fmt: skip
    observed = abs(sum(differences))
    return min(1.0, 2 * sum(value >= observed for value in sums) / len(sums))


@settings(max_examples=25)
@given(st.lists(st.integers(-3, 3), max_size=8))
def test_few_differences_are_tested_exactly(differences):
    assert p_value(differences) == pytest.approx(by_enumeration(differences), abs=1e-6)


def test_many_differences_come_close_to_the_sign_test():
    better, worse = 62, 38
    tail = sum(math.comb(100, k) for k in range(better, 101)) / 2**100
    assert p_value([1.0] * better + [-1.0] * worse) == pytest.approx(2 * tail, abs=0.003)


def test_no_value_is_0_and_equal_runs_give_equal_values():
    assert p_value([1.0] * 40) == 0.00002
    mixed = [0.5, -0.25, 1.0] * 8
    assert p_value(mixed) == p_value(mixed)


def test_questions_without_a_difference_change_nothing():
    assert p_value([1, 1, 1, -1]) == p_value([1, 0, 1, 0, 0, 1, -1, 0.1 + 0.2 - 0.3])
    assert p_value([]) == p_value([0.0] * 9) == p_value([1.0, 0.0]) == 1.0


def runs(ranks_a, ranks_b, turns=1, **more):
    """Two runs whose right answers have the ranks, so many turns a conversation."""

    def run(name, ranks):
        asked = [turn(f"q{n}", rank=rank) for n, rank in enumerate(ranks)]
        starts = range(0, len(ranks), turns)
        return write_lines(name, *(conversation(str(n), *asked[n : n + turns], **more) for n in starts))

    return [run("a.jsonl", ranks_a), run("b.jsonl", ranks_b)]


def test_means_difference_and_the_questions_behind_it():
    result = compare(*runs([1, 2, 0, 1, 0, 3], [1, 1, 1, 1, 4, 0]))
    assert (result["num_questions"], result["num_groups"]) == (6, 6)
    assert result["p_at_1"] == {
        "first": 0.3333, "second": 0.6667, "difference": 0.3333, "better": 2, "worse": 0, "p_value": 0.5,
        "p_value_groups": 0.5,
    }  # fmt: skip
    reciprocal = [1, 0.5, 0, 1, 0, 1 / 3], [1, 1, 1, 1, 0.25, 0]
    assert result["mrr"]["first"] == round(sum(reciprocal[0]) / 6, 4)
    assert result["mrr"]["difference"] == round((sum(reciprocal[1]) - sum(reciprocal[0])) / 6, 4)
    assert (result["mrr"]["better"], result["mrr"]["worse"]) == (3, 1)
    assert result["mrr"]["p_value"] == pytest.approx(by_enumeration([6, 12, 3, -4]))  # twelfths
    assert result["answer_presence"]["p_value"] == 1.0
    assert list(result)[2:] == list(MEASURES)


def test_questions_are_paired_by_their_ids_in_any_order():
    first, second = runs([1, 0, 2], [0, 1, 1])
    before = compare(first, second)
    second.write_text("".join(reversed(second.read_text().splitlines(keepends=True))))
    assert compare(first, second) == before
    turned = compare(second, first)
    assert turned["mrr"]["difference"] == -before["mrr"]["difference"]
    assert turned["mrr"]["p_value"] == before["mrr"]["p_value"]


def test_questions_of_one_conversation_do_not_make_a_difference_certain():
    """Ten better answers to one conversation are one piece of luck; to ten conversations they are ten."""
    within = compare(*runs([0] * 10, [1] * 10, turns=5))["p_at_1"]
    assert (within["p_value"], within["p_value_groups"]) == (pytest.approx(2 / 2**10, abs=1e-6), 0.5)
    wordings = compare(*runs([0] * 10, [1] * 10, group=3))["p_at_1"]
    assert (wordings["p_value"], wordings["p_value_groups"]) == (within["p_value"], 1.0)
    apart = compare(*runs([0] * 10, [1] * 10))["p_at_1"]
    assert apart["p_value"] == apart["p_value_groups"] == within["p_value"]


def test_runs_that_cannot_be_compared():
    first, second = runs([1, 2], [1, 2])
    short = write_lines("short.jsonl", conversation("0", turn("q0")))
    with pytest.raises(ScoringError, match="short.jsonl: 1 of the 2 questions of a.jsonl are missing"):
        compare(first, short)
    unmeasured = turn("q0")
    del unmeasured["pred_answers"]
    with pytest.raises(DataError, match="raw.jsonl:1: conversation '0', turn 0: .*`pred_answers`"):
        compare(short, write_lines("raw.jsonl", conversation("0", unmeasured)))


def test_scipy_is_asked_for_by_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    with pytest.raises(DependencyError, match=r"evaluate compare needs scipy .* pip install 'convinse\[ir\]'"):
        compare(*runs([1, 2], [2, 1]))
