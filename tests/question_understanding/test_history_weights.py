import json
from pathlib import Path

import pytest

from convinse.config import resolve
from convinse.encoder.checkpoint import folder_id
from convinse.question_understanding.history_features import ReferentFeatures
from convinse.question_understanding.history_weights import FILE, read_weights
from convinse.support.errors import ModelError
from convinse.support.weights import model_bytes
from histories import model
from refusals import refused
from written import write

NOTHING = ReferentFeatures(*[0.0] * len(ReferentFeatures._fields))


@pytest.fixture
def written(workdir):
    """Write a model file with some keys replaced; returns its folder."""

    def save(**changes):
        return write(Path("mine", FILE), {**json.loads(model_bytes(model(agrees=2.0))), **changes}).parent

    return save


def fault(folder):
    message = refused(ModelError, lambda: read_weights(folder), FILE, "train it again")
    assert message.startswith("qu_model: ")
    return message


def test_what_is_written_is_read_again(written):
    weights = read_weights(written())
    assert weights == model(agrees=2.0)
    assert model_bytes(weights) == model_bytes(model(agrees=2.0))


def test_a_probability_follows_its_weights():
    weights = model(bias=-1.0, agrees=2.0)
    low, high = weights.probabilities([NOTHING, NOTHING._replace(agrees=1.0)])
    assert (low, high) == (pytest.approx(0.2689, abs=1e-4), pytest.approx(0.7311, abs=1e-4))
    assert weights.probabilities([]) == []


def test_values_are_standardised(written):
    content = json.loads(model_bytes(model(bias=0.0, times=1.0)))
    place = ReferentFeatures._fields.index("times")
    content["features"][place] |= {"mean": 3.0, "scale": 2.0}
    assert read_weights(written(**content)).probabilities([NOTHING._replace(times=3.0)]) == [0.5]


def test_other_features(written):
    features = json.loads(model_bytes(model()))["features"]
    fewer = [feature for feature in features if feature["name"] != "answered_last"]
    more = [*features, {**features[0], "name": "colour"}]
    for given, what in ((fewer, "answered_last"), (more, "colour"), (features[::-1], "their order")):
        assert f"other features ({what})" in fault(written(features=given))


def test_the_one_that_ships_is_of_the_model_that_ships():
    weights = read_weights(resolve("snapshot:history"))
    assert weights.encoder == folder_id(resolve("snapshot:model")), "run scripts/recipes/history.py"
    assert 0 < weights.threshold < 1
