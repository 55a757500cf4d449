"""A joint model with an answer type head reads questions."""

import numpy as np
import pytest

from convinse.encoder.answer_classes import DATE, OTHER, AnswerClasses
from convinse.encoder.answer_type_reader import AnswerTypeReader
from convinse.encoder.checkpoint import ANSWER_TYPE
from convinse.encoder.extractive_reader import ExtractiveReader
from convinse.encoder.heads import AnswerTypeHead
from convinse.encoder.onnx_backend import OnnxBackend
from convinse.encoder.onnx_export import write_graphs
from convinse.encoder.pool import ModelPool
from convinse.support.cache import Cache
from convinse.support.errors import ModelError
from convinse.support.vectors import VectorCache
from tiny_models import copy_of, joint, torch

NAMES = {"Q5": "human", DATE: DATE, OTHER: OTHER}
QUESTIONS = ["who wrote the hobbit", "when was the song of the year", ""]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = copy_of(joint(), tmp_path_factory.mktemp("answer type") / "model")
    torch.manual_seed(1)
    classes = AnswerClasses(NAMES, {name: name for name in NAMES}, {})
    AnswerTypeHead(32, 1, classes, 2, 8).save(folder, "float32")
    return folder


def test_probabilities(folder):
    reader = AnswerTypeReader(folder, "cpu")
    chances = reader.probabilities(QUESTIONS)
    assert reader.classes.names == NAMES and chances.shape == (3, 3) and reader.probabilities([]).shape == (0, 3)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    assert len(set(chances[:, 0].round(6))) == 3
    alone = [reader.probabilities([question])[0] for question in QUESTIONS]
    np.testing.assert_allclose(chances, alone, atol=1e-5)


def test_the_place_of_the_verb_counts_where_it_is_given(folder, tmp_path):
    counting = copy_of(folder, tmp_path / "counting")
    head = AnswerTypeReader(counting, "cpu")
    alone = head.probabilities(QUESTIONS)
    np.testing.assert_array_equal(head.probabilities(QUESTIONS, [True] * 3), alone)  # its file says nothing of verbs
    head.classes = AnswerClasses(NAMES, {}, {"verb_first": "0.5 1 0"})
    together = head.probabilities(QUESTIONS, [False, True, True])
    np.testing.assert_allclose(together[0], alone[0])
    np.testing.assert_allclose(together[1:], [[0.5 * a / (0.5 * a + b), b / (0.5 * a + b), 0] for a, b, _ in alone[1:]])


def test_by_onnx_runtime_as_by_pytorch(folder, tmp_path):
    exported = copy_of(folder, tmp_path / "exported")
    write_graphs(exported)
    expected = AnswerTypeReader(folder, "cpu", backend="torch").probabilities(QUESTIONS)
    fp32, int8 = (
        AnswerTypeReader(exported, "cpu", backend="onnx", precision=precision) for precision in ("fp32", "int8")
    )
    np.testing.assert_allclose(fp32.probabilities(QUESTIONS), expected, atol=1e-5)
    np.testing.assert_allclose(int8.probabilities(QUESTIONS), expected, atol=0.1)


def test_the_trunk_is_shared_and_reads_as_before(folder):
    pool = ModelPool()
    span_reader = ExtractiveReader(folder, "cpu", models=pool)
    reader = AnswerTypeReader(folder, "cpu", models=pool)
    assert reader.engine is span_reader.engine
    question, text = QUESTIONS[0], "the hobbit was written by tolkien"
    assert span_reader.read(question, [text]) == ExtractiveReader(joint(), "cpu").read(question, [text])


SEVERAL = [*QUESTIONS, "who wrote the song", "when was the hobbit of the year"]


@pytest.fixture
def counted(monkeypatch):
    """The lengths of the questions of each batch."""
    batches, start = [], OnnxBackend.start

    def noted(self, sequences, places, wanted):
        batches.append(sequences.lengths[places].tolist())
        return start(self, sequences, places, wanted)

    monkeypatch.setattr(OnnxBackend, "start", noted)
    return batches


@pytest.fixture(scope="module")
def exported(folder, tmp_path_factory):
    exported = copy_of(folder, tmp_path_factory.mktemp("exported") / "model")
    write_graphs(exported)
    return exported


def kept_reader(folder, path, **settings):
    """A reader as of another run over the same cache folder."""
    reader = AnswerTypeReader(folder, "cpu", backend="onnx", **settings)
    reader.keep_in(VectorCache(Cache(path), reader.model_id, 3, precision="float32"))
    return reader


def test_questions_of_different_lengths_are_not_computed_together(exported, counted):
    AnswerTypeReader(exported, "cpu", backend="onnx").probabilities([*SEVERAL, *SEVERAL])
    assert all(len(set(lengths)) == 1 for lengths in counted) and max(map(len, counted)) > 1
    assert sum(map(len, counted)) == 2 * len(SEVERAL)


def test_what_is_kept_is_what_was_computed(exported, counted, tmp_path):
    alone = AnswerTypeReader(exported, "cpu", backend="onnx").probabilities(SEVERAL)
    first = kept_reader(exported, tmp_path).probabilities(SEVERAL[:2], [True, False])
    counted.clear()
    again = kept_reader(exported, tmp_path)
    assert (again.probabilities(SEVERAL[1::-1]) == first[::-1]).all() and not counted
    np.testing.assert_allclose(again.probabilities(SEVERAL), alone, atol=1e-7)
    assert sum(map(len, counted)) == len(SEVERAL) - 2
    again.classes = AnswerClasses(NAMES, {}, {"verb_first": "0 1 0"})  # the grammar is no part of what is kept
    assert (again.probabilities(SEVERAL[:1], [True]) == [[0, 1, 0]]).all()
    np.testing.assert_allclose(again.probabilities(SEVERAL[:1], [False]), first[:1])


def test_another_head_another_precision_and_another_model_find_nothing(exported, counted, tmp_path):
    kept_reader(exported, tmp_path, precision="fp32").probabilities(QUESTIONS)
    same = copy_of(exported, tmp_path / "same")
    with_other_head = copy_of(exported, tmp_path / "head")
    AnswerTypeHead(32, 1, AnswerClasses(NAMES, {}, {}), 2, 8).save(with_other_head, "float32")
    write_graphs(with_other_head)
    with_other_words = copy_of(exported, tmp_path / "words")
    (with_other_words / "1_Pooling").mkdir()
    (with_other_words / "1_Pooling" / "config.json").write_text("{}")  # a file of the model's id
    counted.clear()
    kept_reader(same, tmp_path, precision="fp32").probabilities(QUESTIONS)
    assert not counted
    for folder, precision in ((exported, "int8"), (with_other_head, "fp32"), (with_other_words, "fp32")):
        counted.clear()
        reader = AnswerTypeReader(folder, "cpu", backend="onnx", precision=precision)
        reader.keep_in(VectorCache(Cache(tmp_path), reader.model_id, 3, precision="float32"))
        reader.probabilities(QUESTIONS)
        assert sum(map(len, counted)) == len(QUESTIONS)


def test_a_model_without_the_head():
    with pytest.raises(ModelError, match="ha_model: .*: has no answer type head; train one"):
        AnswerTypeReader(joint(), key="ha_model")


def test_a_probability_that_is_no_number(folder, tmp_path):
    from safetensors import safe_open
    from safetensors.torch import load_file, save_file

    broken = copy_of(folder, tmp_path / "broken")
    with safe_open(broken / ANSWER_TYPE, "pt") as file:
        metadata = file.metadata()
    tensors = load_file(broken / ANSWER_TYPE)
    tensors["classes.bias"][:] = float("nan")
    save_file(tensors, broken / ANSWER_TYPE, metadata)
    with pytest.raises(ModelError, match="the answer type of 'who wrote the hobbit' is not a number"):
        AnswerTypeReader(broken, "cpu").probabilities(QUESTIONS)
