"""The trained ranking of answers: probabilities, and its file."""

import json
from math import exp
from pathlib import Path

import pytest
from answer_models import answer_model, candidates_of, weights_of

from convinse.config import parse_config, resolve
from convinse.heterogeneous_answering.answer_weights import FILE, SHIPPED, read_answer_weights
from convinse.heterogeneous_answering.candidate_features import Features
from convinse.heterogeneous_answering.yes_no import YesNoFeatures
from convinse.support.errors import ModelError
from convinse.support.weights import model_bytes
from refusals import refused
from written import write


def test_probabilities_follow_the_weights_and_leave_a_rest_for_none():
    model = answer_model({"read": 2.0, "fit": 1.0}, {"unknown": 3.0}, bias=-1.0)
    given = candidates_of({"read": 1.0}, {"fit": 1.0}, {"support": 9.0})
    odds = [exp(2.0), exp(1.0), 1.0, exp(-1.0)]
    assert model.probabilities(given) == pytest.approx([own / sum(odds) for own in odds[:3]])
    given = candidates_of({"read": 1.0}, unknown=2.0)
    assert model.probabilities(given) == pytest.approx([exp(2.0) / (exp(2.0) + exp(6.0 - 1.0))])


def test_probabilities_of_nothing_and_of_very_large_odds():
    model = answer_model({"read": 2000.0})
    assert model.probabilities(candidates_of()).tolist() == []
    assert model.probabilities(candidates_of({"read": 1.0}, {})).tolist() == [1.0, 0.0]


def test_features_are_standardised_as_in_training():
    content = json.loads(model_bytes(answer_model({"read": 2.0})))
    content["features"][Features._fields.index("read")] |= {"mean": 3.0, "scale": 4.0}
    write(Path("mine", FILE), content)
    read = read_answer_weights(Path("mine"))
    assert read.probabilities(candidates_of({"read": 3.0})).tolist() == [0.5]
    assert read.probabilities(candidates_of({"read": 7.0})) == pytest.approx([exp(2) / (exp(2) + 1)])


@pytest.mark.parametrize(
    ("features", "odds"),
    [({}, 0.5), ({"stated": 2.0}, 2.5), ({"worded": 1.0}, -2.5), ({"read": -4.0, "stated": 1.0}, -3.0)],
)
def test_yes_follows_its_weights(features, odds):
    model = answer_model(yes_no={"stated": 1.0, "worded": -3.0, "read": 1.125}, no_bias=-0.5)
    assert model.yes(YesNoFeatures(**features)) == pytest.approx(1 / (1 + exp(-odds)))


# -- the file ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def written(workdir):
    """Write a model's file with some keys replaced; returns its folder."""

    def save(**changes):
        return write(Path("mine", FILE), {**json.loads(model_bytes(answer_model({"fit": 2.0}))), **changes}).parent

    return save


def fault(folder, *words):
    message = refused(
        ModelError, lambda: read_answer_weights(folder), FILE, "recipes/answers.py", "leave ha_ranker out"
    )
    assert message.startswith("ha_ranker: ") and all(word in message for word in words), message


def test_what_is_written_is_read_again(written):
    assert read_answer_weights(written()) == answer_model({"fit": 2.0})


@pytest.mark.parametrize(("key", "name"), [("features", "fit"), ("nothing", "linked"), ("yes_no", "worded")])
def test_other_features_are_refused(written, key, name):
    own = json.loads(model_bytes(answer_model()))[key]
    fault(written(**{key: [feature for feature in own if feature["name"] != name]}), f"other features ({name})")
    fault(written(**{key: [*own, {**own[0], "name": "colour"}]}), "other features (colour)")
    fault(written(**{key: own[::-1]}), "other features (their order)")


def test_the_one_that_ships_is_the_default_and_can_be_read():
    assert parse_config({}).ha_ranker == SHIPPED
    weights = read_answer_weights(resolve(SHIPPED))
    assert sum(own.questions for own in weights.trained_on) > 100
    assert [own.name for own in weights.features] == [own.name for own in weights_of(Features, {})]
