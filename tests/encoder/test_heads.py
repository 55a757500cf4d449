"""The heads of a joint model that have files of their own: what they compute, their files, and the classes of answers."""

import dataclasses
import json
import struct

import numpy as np
import pytest
from model_heads import MAKE

from convinse.encoder.answer_classes import DATE, OTHER, AnswerClasses, has_answer_type, read_answer_classes, typed_text
from convinse.encoder.checkpoint import ANSWER_TYPE, folder_id, load_checkpoint
from convinse.encoder.heads import AnswerTypeHead, load_heads, states
from convinse.support.errors import ModelError
from refusals import refused
from tiny_models import copy_of, inputs, joint, joint_model, torch

PAIRS = [["did tolkien write the hobbit", "the hobbit was written by tolkien"], ["was it a film", "the song"]]
KINDS = pytest.mark.parametrize("kind", MAKE)


def head_of(kind, layer=1):
    torch.manual_seed(0)
    return MAKE[kind](layer).eval()


def output(head, *pairs):
    tokens = inputs(*pairs)
    with torch.inference_mode():
        return head(states(joint_model(joint()).bert, head.layer, **tokens), tokens["attention_mask"])


@KINDS
@pytest.mark.parametrize(("storage", "tolerance"), [("float32", 0.0), ("float16", 1e-2), ("int8", 6e-2)])
def test_a_stored_head_is_loaded_and_the_model_is_the_same_otherwise(kind, storage, tolerance, tmp_path):
    folder, head = copy_of(joint(), tmp_path / "model"), head_of(kind, layer=2)
    before, with_head = folder_id(folder), folder_id(folder, [kind.file])
    head.save(folder, storage)
    assert folder_id(folder) == before == with_head != folder_id(folder, [kind.file])
    assert load_checkpoint(folder, "question-answering").missing == ()
    (again,) = load_heads(folder, joint_model(folder).config).values()
    assert again.layer == 2 and not again.training
    torch.testing.assert_close(output(again, *PAIRS), output(head, *PAIRS), atol=tolerance, rtol=tolerance)


@KINDS
def test_a_file_without_the_head_is_refused(kind, tmp_path):
    folder = copy_of(joint(), tmp_path / "model")
    path = folder / kind.file

    def fault(*words, config=None):
        refused(ModelError, lambda: kind.load(folder, config or joint_model(folder).config), *words)

    fault(f"{kind.file}: cannot be loaded")
    head_of(kind).save(folder)
    fault("size mismatch", config=joint_model(joint(hidden_size=64)).config)
    content = path.read_bytes()
    for broken in (b"", content[:50], content[:-7]):
        path.write_bytes(broken)
        fault(f"{kind.file}: cannot be loaded", "copy it")
    path.write_bytes((folder / "model.safetensors").read_bytes())
    fault(f"is not a '{kind.format}'")
    head_of(kind, layer=3).save(folder)
    fault("it is for layer 3 of 2")


# --- the classes that an answer type head tells


CLASSES = AnswerClasses(
    {"Q5": "human", "Q6256": "country", DATE: DATE, OTHER: OTHER},
    {"Q5": "Q5", "Q6256": "Q6256", "Q3624078": "Q6256", DATE: DATE, OTHER: OTHER},
    {"layer": "1", "looks": "2"},
)


@pytest.fixture
def folder(tmp_path):
    torch.manual_seed(1)
    AnswerTypeHead(32, 1, CLASSES, 2, 8).save(tmp_path)
    return tmp_path


def test_written_classes_are_read_without_pytorch(folder, run_python):
    assert has_answer_type(folder) and not has_answer_type(folder / "none") and not has_answer_type(None)
    read = read_answer_classes(folder)
    assert read == CLASSES and list(read.names) == list(CLASSES.names)
    assert read.place == {"Q5": 0, "Q6256": 1, DATE: 2, OTHER: 3}
    code = (
        "import sys; from pathlib import Path; from convinse.encoder.answer_classes import read_answer_classes\n"
        "print(read_answer_classes(Path(sys.argv[1])).names['Q5'])\n"
        "print(sorted({'torch', 'transformers', 'safetensors'} & set(sys.modules)))\n"
    )
    assert run_python(code, folder).splitlines() == ["human", "[]"]


@pytest.mark.parametrize(
    ("question", "in_full", "text"),
    [
        ("who wrote it?", "Who wrote it?", "Who wrote it?"),
        ("who wrote it?", "Who wrote it (The Hobbit)?", "Who wrote it (The Hobbit)?"),
        ("When?", "Where was she born?", "Where was she born? When?"),
        ("who?", "Whose?", "Whose? who?"),
    ],
)
def test_the_question_stands_behind_its_full_form_unless_it_is_in_it(question, in_full, text):
    assert typed_text(question, in_full) == text


def test_the_place_of_the_verb_counts_if_the_file_tells_how_often_it_is_first(tmp_path):
    chances = np.array([[0.6, 0.1, 0.2, 0.1], [0.6, 0.1, 0.2, 0.1]])
    assert CLASSES.with_grammar(chances, [True, False]) is chances
    shares = CLASSES.settings | {"verb_first": "0.1 0 0.9 0.2"}
    AnswerTypeHead(32, 1, dataclasses.replace(CLASSES, settings=shares), 2, 8).save(tmp_path)
    first, other = read_answer_classes(tmp_path).with_grammar(chances, [True, False])
    np.testing.assert_allclose(first, np.array([0.06, 0, 0.18, 0.02]) / 0.26)
    np.testing.assert_allclose(other, chances[1])


def header(**metadata):
    content = json.dumps({"__metadata__": metadata}).encode()
    return struct.pack("<Q", len(content)) + content


FORMAT = "convinse answer type head 1"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "cannot be read"),
        (b"\xff" * 40, "cannot be read (ValueError: a header of"),
        (struct.pack("<Q", 4) + b"{not", "cannot be read"),
        (header(), f"is not a '{FORMAT}'"),
        (header(format=FORMAT), "cannot be read (KeyError"),
        (header(format=FORMAT, classes="[[1]]"), "cannot be read (ValidationError"),
        (header(format=FORMAT, classes="[]", verb_first="0.5"), "verb_first: 1 shares for 0 classes"),
        (header(format=FORMAT, classes="[]", verb_first="x"), "could not convert"),
    ],
)
def test_a_file_without_a_head_is_refused(folder, content, words):
    (folder / ANSWER_TYPE).write_bytes(content)
    refused(ModelError, lambda: read_answer_classes(folder), ANSWER_TYPE, words)
