"""Logits: probabilities of candidates and of "none", of classes, and their files."""

import math
from pathlib import Path

import msgspec
import numpy as np
import pytest

from convinse.support.errors import ModelError
from convinse.support.logit import Logit, feature_names, read_logit
from convinse.support.manifest import seal
from refusals import refused
from written import write

NAMES = feature_names(["height", "depth"], ["size"])
LOGIT = Logit(
    features={"height": (10.0, 2.0), "none size": (1.0, 0.5)},
    weights={"height": [3.0], "depth": [-1.0], "none size": [2.0], "none": [0.5]},
    trained_on={"Größe": {"questions": 3, "weight": 0.5}},
)
ACTS = Logit(
    features={},
    weights={"bias": [0.0, 1.0], "w hi": [2.0, 0.0]},
    trained_on={"greeting": {"examples": 1}, "question": {"examples": 9}},
)


def read(path, names=NAMES):
    return read_logit(path, "my_key", "make it again", names)


def test_odds_are_the_exponential_of_standardised_weighted_features():
    odds = np.exp([0.0, 3.0, -2.0, 2.0 + 0.5])
    likely = LOGIT.probabilities([(10.0, 0.0), (12.0, 0.0), (10.0, 2.0)], (1.5,))
    assert likely.tolist() == pytest.approx((odds / odds.sum()).tolist())
    assert LOGIT.probabilities([], (1.5,)).tolist() == [1.0]
    far = LOGIT.probabilities(np.array([(1e6, 0.0), (10.0, 0.0)]), (0.0,))
    assert far.tolist() == pytest.approx([1.0, 0.0, 0.0])


def test_features_that_are_present_count_for_each_class():
    assert ACTS.class_probabilities(["w hi", "w who"]).tolist() == pytest.approx(
        [math.e / (1 + math.e), 1 / (1 + math.e)]
    )
    assert ACTS.class_probabilities([])[1] == pytest.approx(math.e / (1 + math.e))


def test_weights_in_hundredths_give_the_same_odds():
    for logit, odds in (
        (LOGIT, lambda each: each.log_odds([(10.0, 2.0)], (1.5,))),
        (ACTS, lambda each: each.class_probabilities(["w hi"])),
    ):
        hundredths = {name: [100 * weight for weight in row] for name, row in logit.weights.items()}
        smaller = msgspec.structs.replace(logit, weights=hundredths, unit=0.01)
        assert odds(smaller).tolist() == pytest.approx(odds(logit).tolist())
        assert msgspec.json.decode(smaller.content())["unit"] == 0.01


def test_a_written_logit_is_read_again_and_written_the_same():
    path = write(Path("model.json"), LOGIT.content())
    again = read(path)
    assert again == LOGIT and again.content() == path.read_bytes()
    assert path.read_bytes().count(b"\n") > len(LOGIT.weights)  # a person can read it
    path = write(Path("acts.json"), ACTS.content())
    assert read_logit(path, "talk", "", classes=("greeting", "question")) == ACTS


def test_a_missing_file_says_which_key_names_it_and_what_to_do():
    message = refused(ModelError, lambda: read(Path("none.json")), "No such file", "make it again")
    assert message.startswith("my_key: none.json: ")
    refused(ModelError, lambda: read(Path()), "cannot be read", "make it again")


DAMAGED = [
    b"", b"[]", b"\xff\xfe", b"[" * 5000, b'{"version": "3", "features": {}, "weights": {}, "trained_on": {}}',
    b'{"version": 3, "features": {}, "weights": {}}',
    b'{"version": 3, "features": {}, "weights": {}, "trained_on": {}, "more": 1}',
    b'{"version": 3, "features": {"height": [0, 0]}, "weights": {}, "trained_on": {}}',
]  # fmt: skip
BEFORE = [
    (b'{"format": %d, "features": []}' % number, f"has format {number}, this version reads 3") for number in (1, 2)
]


@pytest.mark.parametrize(("content", "fault"), [*((content, "is damaged") for content in DAMAGED), *BEFORE])
def test_damaged_files_and_those_of_other_versions_are_refused(content, fault):
    message = refused(ModelError, lambda: read(write(Path("model.json"), content)), fault, "make it again")
    assert message.startswith("my_key: model.json: ")


@pytest.mark.parametrize("names", [NAMES[:1], [*NAMES, "colour"], NAMES[::-1]])
def test_other_features_or_classes_or_another_order_are_refused(names):
    path = write(Path("model.json"), LOGIT.content())
    refused(ModelError, lambda: read(path, names), "other features, or in another order", "make it again")
    refused(ModelError, lambda: read_logit(path, "talk", "train it", classes=names), "other classes")
    wide = msgspec.structs.replace(LOGIT, weights={**LOGIT.weights, "depth": [1.0, 2.0]})
    refused(ModelError, lambda: read(write(path, wide.content())), "other features")


def test_weights_that_were_altered_are_refused(workdir):
    path = write(workdir / "model.json", LOGIT.content())
    seal(workdir, "model")
    assert read(path) == LOGIT
    path.write_bytes(path.read_bytes().replace(b"10.0", b"110.0"))
    assert "my_key: " in (text := refused(ModelError, lambda: read(path))) and "bytes where the manifest says" in text
    (workdir / "manifest.json").unlink()
    assert read(path) != LOGIT
