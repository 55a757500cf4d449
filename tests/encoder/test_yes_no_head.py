"""The yes/no head: what it computes, and its file."""

import pytest

from convinse.encoder.checkpoint import YES_NO, folder_id, load_checkpoint
from convinse.encoder.yes_no_head import YesNoHead, YesNoModel, load_yes_no, states
from convinse.support.errors import ModelError
from refusals import refused
from tiny_models import copy_of, inputs, joint, joint_model, torch

PAIRS = [["did tolkien write the hobbit", "the hobbit was written by tolkien"], ["was it a film", "the song"]]


def head_of(layer=1, seed=0):
    torch.manual_seed(seed)
    return YesNoHead(32, 2, layer, 64).eval()


def odds(model, head, *pairs):
    with torch.inference_mode():
        return YesNoModel(model, head).eval()(**inputs(*pairs))


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_the_head_reads_the_states_of_its_layer(layer):
    model, head = joint_model(joint()), head_of(layer)
    with torch.inference_mode():
        all_states = model.bert(**inputs(*PAIRS), output_hidden_states=True).hidden_states
        expected = head(all_states[layer], inputs(*PAIRS)["attention_mask"])
    found = odds(model, head, *PAIRS)
    assert found.shape == (2,) and torch.equal(found, expected)
    assert torch.equal(states(model.bert, layer, **inputs(*PAIRS)), all_states[layer])
    others = [odds(model, head_of(other), *PAIRS) for other in {0, 1, 2} - {layer}]
    assert not any(torch.allclose(found, other) for other in others)


def test_padding_changes_nothing():
    model, head = joint_model(joint()), head_of()
    together = odds(model, head, *PAIRS)
    for place, pair in enumerate(PAIRS):
        torch.testing.assert_close(odds(model, head, pair)[0], together[place], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(("storage", "tolerance"), [("float32", 0.0), ("float16", 1e-2), ("int8", 5e-2)])
def test_what_is_stored_is_loaded(storage, tolerance, tmp_path):
    folder = copy_of(joint(), tmp_path / "model")
    model, head = joint_model(folder), head_of(layer=2)
    head.save(folder, storage)
    again = load_yes_no(folder, model.config)
    assert (again.layer, again.heads, again.training) == (2, 2, False)
    torch.testing.assert_close(odds(model, again, *PAIRS), odds(model, head, *PAIRS), atol=tolerance, rtol=tolerance)


def test_a_model_with_the_head_is_the_same_model_otherwise(tmp_path):
    folder = copy_of(joint(), tmp_path / "model")
    before, with_head = folder_id(folder), folder_id(folder, [YES_NO])
    head_of().save(folder)
    assert folder_id(folder) == before == with_head != folder_id(folder, [YES_NO])
    assert load_checkpoint(folder, "question-answering").missing == ()


def test_files_that_are_no_head(tmp_path):
    folder = copy_of(joint(), tmp_path / "model")
    config, path = joint_model(folder).config, folder / YES_NO
    refused(ModelError, lambda: load_yes_no(folder, config), "yes_no.safetensors: cannot be loaded")
    head_of().save(folder)
    whole = path.read_bytes()
    for broken in (b"", whole[:50], whole[:-7]):
        path.write_bytes(broken)
        refused(ModelError, lambda: load_yes_no(folder, config), "yes_no.safetensors: cannot be loaded", "copy it")
    path.write_bytes((folder / "model.safetensors").read_bytes())
    refused(ModelError, lambda: load_yes_no(folder, config), "is no 'convinse yes/no head 1'")
    head_of(layer=3).save(folder)
    refused(ModelError, lambda: load_yes_no(folder, config), "it is for layer 3 of 2")
    YesNoHead(64, 2, 1, 64).save(folder)
    refused(ModelError, lambda: load_yes_no(folder, config), "size mismatch")
