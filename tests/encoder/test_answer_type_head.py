"""The answer type head: what it computes, and its file."""

import pytest

from convinse.encoder.answer_classes import DATE, OTHER, AnswerClasses
from convinse.encoder.answer_type_head import AnswerTypeHead, load_answer_type
from convinse.encoder.checkpoint import ANSWER_TYPE, folder_id, load_checkpoint
from convinse.support.errors import ModelError
from refusals import refused
from tiny_models import copy_of, joint, joint_model, torch

NAMES = {"Q5": "human", DATE: DATE, OTHER: OTHER}
CLASSES = AnswerClasses(NAMES, {name: name for name in NAMES}, {})


def head_of(layer=1, classes=3, looks=2, inner=8):
    torch.manual_seed(0)
    return AnswerTypeHead(32, layer, classes, looks, inner).eval()


def logits(head, hidden, mask):
    with torch.inference_mode():
        return head(hidden, mask)


def test_padding_changes_nothing():
    hidden, mask = torch.randn(2, 7, 32), torch.tensor([[1] * 7, [1] * 3 + [0] * 4])
    together = logits(head_of(), hidden, mask)
    assert together.shape == (2, 3)
    torch.testing.assert_close(logits(head_of(), hidden[1:, :3], mask[1:, :3]), together[1:])
    hidden[1, 3:] = 99.0
    torch.testing.assert_close(logits(head_of(), hidden, mask), together)


def test_each_look_sees_numbers_of_its_own():
    head = head_of()
    with torch.no_grad():
        head.attention.weight.zero_()
        head.attention.weight[0, 0] = (
            50.0  # the first look sees the token whose first number is greatest, the second all
        )
        head.value.bias.zero_()
    hidden, mask = torch.randn(1, 4, 32), torch.ones(1, 4, dtype=torch.int64)
    hidden[0, :, 0] = torch.tensor([0.0, 3.0, 0.0, 0.0])
    values = torch.nn.functional.gelu(head.value(hidden))[0]
    seen = torch.cat((values[1, :4], values[:, 4:].mean(dim=0)))
    expected = head.classes(head.seen(seen))
    torch.testing.assert_close(logits(head, hidden, mask)[0], expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(("storage", "tolerance"), [("float32", 0.0), ("float16", 1e-2), ("int8", 5e-2)])
def test_what_is_stored_is_loaded(storage, tolerance, tmp_path):
    folder = copy_of(joint(), tmp_path / "model")
    head = head_of(layer=2, looks=4, inner=256)  # large enough to be rounded
    head.save(folder, CLASSES, storage)
    again = load_answer_type(folder, joint_model(folder).config)
    assert (again.layer, again.looks, again.training) == (2, 4, False)
    hidden, mask = torch.randn(2, 5, 32), torch.ones(2, 5, dtype=torch.int64)
    torch.testing.assert_close(logits(again, hidden, mask), logits(head, hidden, mask), atol=tolerance, rtol=tolerance)


def test_a_model_with_the_head_is_the_same_model_otherwise(tmp_path):
    folder = copy_of(joint(), tmp_path / "model")
    before, with_head = folder_id(folder), folder_id(folder, [ANSWER_TYPE])
    head_of().save(folder, CLASSES)
    assert folder_id(folder) == before == with_head != folder_id(folder, [ANSWER_TYPE])
    assert load_checkpoint(folder, "question-answering").missing == ()


def test_files_that_are_no_head(tmp_path):
    folder = copy_of(joint(), tmp_path / "model")
    config, path = joint_model(folder).config, folder / ANSWER_TYPE
    head_of().save(folder, CLASSES)
    path.write_bytes(path.read_bytes()[:-7])
    refused(
        ModelError, lambda: load_answer_type(folder, config), "answer_type.safetensors: cannot be loaded", "copy it"
    )
    head_of(layer=3).save(folder, CLASSES)
    refused(ModelError, lambda: load_answer_type(folder, config), "it is for layer 3 of 2")
    head_of(classes=5).save(folder, CLASSES)
    refused(ModelError, lambda: load_answer_type(folder, config), "size mismatch")
    with pytest.raises(ValueError, match="3 looks do not divide 8 numbers"):
        AnswerTypeHead(32, 1, 3, 3, 8)
