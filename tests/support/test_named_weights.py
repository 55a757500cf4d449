"""Models of named weights: what they sum up, and their files."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from convinse.support.errors import ModelError
from convinse.support.manifest import seal
from convinse.support.weights import FeatureWeight, check_names, model_bytes, read_model, scores
from refusals import refused
from written import write


class Model(msgspec.Struct, forbid_unknown_fields=True):
    format: int
    title: str
    features: list[FeatureWeight]


WEIGHTS = [FeatureWeight("height", 10.0, 2.0, 3.0), FeatureWeight("depth", 0.0, 0.5, -1.0)]
MODEL = Model(3, "Größe", WEIGHTS)


def read(path):
    return read_model(path, Model, 3, "my_key", "make it again")


def test_a_score_is_the_sum_of_standardised_weighted_features():
    rows = [[10.0, 0.0], [14.0, 0.0], [10.0, 1.0], [8.0, -1.0]]
    assert scores(WEIGHTS, rows).tolist() == scores(WEIGHTS, np.array(rows)).tolist() == [0.0, 6.0, -2.0, -1.0]
    assert scores(WEIGHTS, []).shape == (0,)


def test_written_model_is_read_again_and_written_the_same():
    path = write(Path("model.json"), model_bytes(MODEL))
    again = read(path)
    assert again == MODEL and model_bytes(again) == path.read_bytes()
    assert path.read_bytes().count(b"\n") > len(WEIGHTS) * 4  # a person can read it


def test_a_missing_model_says_which_key_names_it_and_what_to_do():
    message = refused(ModelError, lambda: read(Path("none.json")), "No such file", "make it again")
    assert message.startswith("my_key: none.json: ")
    refused(ModelError, lambda: read(Path()), "cannot be read", "make it again")


DAMAGED = [
    b"", b"[]", b"\xff\xfe", b"[" * 5000, b'{"format": "3", "title": "", "features": []}', b'{"title": "", "features": []}',
    b'{"format": 3, "title": "", "features": [], "more": 1}',
    b'{"format": 3, "title": "", "features": [{"name": "height", "mean": 0, "scale": 0, "weight": 1}]}',
    b'{"format": 3, "title": "", "features": [{"name": "height", "mean": 0, "scale": 1}]}',
]  # fmt: skip
OTHER_FORMAT = b'{"format": 2, "weights": {}}', "has format 2, this version reads 3"


@pytest.mark.parametrize(("content", "fault"), [*((content, "is damaged") for content in DAMAGED), OTHER_FORMAT])
def test_damaged_model_and_other_format_are_named(content, fault):
    message = refused(ModelError, lambda: read(write(Path("model.json"), content)), fault, "make it again")
    assert message.startswith("my_key: model.json: ")


@pytest.mark.parametrize("names", [["height"], ["height", "depth", "colour"], ["depth", "height"]])
def test_features_of_another_name_or_order_are_refused(names):
    check_names(WEIGHTS, ("height", "depth"), "here", "make it again")
    refused(ModelError, lambda: check_names(WEIGHTS, names, "here", "make it again"), "here: ", "make it again")


def test_weights_that_were_altered_are_refused(workdir):
    path = write(workdir / "model.json", model_bytes(MODEL))
    seal(workdir, "model")
    assert read(path) == MODEL
    path.write_bytes(path.read_bytes().replace(b"10.0", b"110.0"))
    assert "my_key: " in (text := refused(ModelError, lambda: read(path))) and "bytes where the manifest says" in text
    (workdir / "manifest.json").unlink()
    assert read(path) != MODEL
