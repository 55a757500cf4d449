"""Acts of talk and questions, in wording outside of the training examples."""

from pathlib import Path

import pytest

from case_tables import cases, each_case
from convinse.config import resolve
from convinse.dialogue.acts import FILE, QUESTION, TALK_MODEL, act_of, read_acts
from convinse.support.errors import ModelError
from places import ROOT


@pytest.fixture(scope="module")
def acts():
    return read_acts(Path(resolve(TALK_MODEL)))


def test_unseen_utterances(acts):
    right = [act_of(acts, text) == case["act"] for case in cases("acts") for text in case["utterances"]]
    assert sum(right) / len(right) >= 0.95


@each_case("acts")
def test_most_utterances_of_an_act_are_recognised(acts, case):
    found = [act_of(acts, text) for text in case["utterances"]]
    assert found.count(case["act"]) / len(found) >= 0.85


def test_keywords_and_requests_are_questions(acts):
    lines = (ROOT / "tests" / "cases" / "requests_typed.txt").read_text(encoding="utf-8").splitlines()
    assert len([line for line in lines if act_of(acts, line) != QUESTION]) <= 2


@pytest.mark.parametrize("utterance", ["", "?!", "thanks " * 30, "\u200b", "Wer hat Titanic gedreht?"])
def test_in_doubt_it_is_a_question(acts, utterance):
    assert act_of(acts, utterance) == QUESTION


def test_a_classifier_of_other_acts_is_refused(tmp_path):
    (tmp_path / FILE).write_text(
        '{"version": 3, "features": {}, "weights": {"bias": [0]}, "trained_on": {"hum": {"examples": 1}}}'
    )
    with pytest.raises(ModelError, match="trained with other classes"):
        read_acts(tmp_path)
