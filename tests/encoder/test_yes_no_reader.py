"""A joint model with a yes/no head reads texts."""

import numpy as np
import pytest

from convinse.encoder.checkpoint import YES_NO
from convinse.encoder.extractive_reader import ExtractiveReader
from convinse.encoder.heads import YesNoHead
from convinse.encoder.pool import ModelPool
from convinse.encoder.yes_no_reader import YesNoReader, has_yes_no
from convinse.support.cache import Cache
from convinse.support.errors import ModelError
from convinse.support.vectors import VectorCache
from tiny_models import Counted, copy_of, joint, torch

PAIRS = [
    ("did tolkien write the hobbit", "the hobbit was written by tolkien"),
    ("was it a film", "the song of the year " * 90),
    ("was it a film", ""),
    ("", "a novel"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = copy_of(joint(), tmp_path_factory.mktemp("yes or no") / "model")
    torch.manual_seed(1)
    YesNoHead(32, 2, 1, 64).save(folder, "float32")
    return folder


def test_probabilities(folder):
    reader = YesNoReader(folder)
    found = reader.probabilities(PAIRS)
    assert found.shape == (4,) and ((found > 0) & (found < 1)).all() and found[2] == 0.5
    assert len(set(found.round(6))) == 4
    one_by_one = [reader.probabilities([pair])[0] for pair in PAIRS]
    np.testing.assert_allclose(found, one_by_one, atol=1e-5)
    np.testing.assert_allclose(reader.probabilities(PAIRS[::-1])[::-1], found, atol=1e-5)
    assert reader.probabilities([]).shape == (0,)


def test_what_is_kept_is_what_was_computed(folder, tmp_path):
    def kept(model):
        reader = YesNoReader(model)
        reader.keep_in(VectorCache(Cache(tmp_path / "cache"), reader.model_id, 1, precision="float32"))
        return reader, Counted(reader.engine)

    alone, twice = YesNoReader(folder).probabilities(PAIRS), [*PAIRS, *PAIRS[::-1]]
    first, counted = kept(folder)
    found = first.probabilities(twice)
    assert counted.sequences == 3 and (found[:4] == found[:3:-1]).all()
    np.testing.assert_allclose(found[:4], alone, atol=1e-6)
    again, counted = kept(folder)
    assert (again.probabilities(PAIRS[::-1]) == found[4:]).all() and counted.sequences == 0
    again.probabilities([("did tolkien write the hobbitthe", PAIRS[0][1].removeprefix("the"))])
    assert counted.sequences == 1, "where the question ends counts"
    other = copy_of(folder, tmp_path / "other")
    YesNoHead(32, 2, 1, 64).save(other, "float32")
    reader, counted = kept(other)
    assert not np.allclose(reader.probabilities(PAIRS)[:2], found[:2]) and counted.sequences == 3


def test_a_long_text_is_cut(folder):
    question, text = PAIRS[1]
    reader = YesNoReader(folder, max_length=64)
    assert reader.probabilities([(question, text)]) == reader.probabilities([(question, text + " and the end")])


def test_half_precision_is_near(folder):
    exact, rounded = (YesNoReader(folder, precision=one).probabilities(PAIRS) for one in ("fp32", "bf16"))
    np.testing.assert_allclose(exact, rounded, atol=0.1)


def test_the_trunk_is_shared_and_reads_as_before(folder):
    pool = ModelPool()
    span_reader = ExtractiveReader(folder, models=pool)
    before = span_reader.read("who wrote the hobbit", [PAIRS[0][1]])
    reader = YesNoReader(folder, models=pool)
    counted = Counted(reader.engine)
    alone = YesNoReader(folder).probabilities(PAIRS)
    np.testing.assert_allclose(reader.probabilities(PAIRS), alone, atol=1e-5)
    assert counted.sequences == 3  # those with a text, by the shared weights
    assert span_reader.read("who wrote the hobbit", [PAIRS[0][1]]) == before


def test_a_model_without_the_head():
    assert not has_yes_no(None) and not has_yes_no(joint())
    with pytest.raises(ModelError, match="ha_model: .*: has no yes/no head; train one"):
        YesNoReader(joint(), key="ha_model")


def test_a_score_that_is_no_number(folder, tmp_path):
    from safetensors import safe_open
    from safetensors.torch import load_file, save_file

    broken = copy_of(folder, tmp_path / "broken")
    with safe_open(broken / YES_NO, "pt") as file:
        metadata = file.metadata()
    tensors = load_file(broken / YES_NO)
    tensors["odds.bias"][:] = float("nan")
    save_file(tensors, broken / YES_NO, metadata)
    with pytest.raises(ModelError, match="the score of 'the hobbit was written by tolkien' is not a number"):
        YesNoReader(broken).probabilities(PAIRS)
