"""The heads of a joint model that have files of their own: what they compute, and their files."""

import pytest
from model_heads import MAKE, classes

from convinse.encoder.checkpoint import folder_id, load_checkpoint
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
    given = inputs(*pairs)
    with torch.inference_mode():
        return head(states(joint_model(joint()).bert, head.layer, **given), given["attention_mask"])


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_states_are_those_of_a_layer(layer):
    model = joint_model(joint())
    with torch.inference_mode():
        all_states = model.bert(**inputs(*PAIRS), output_hidden_states=True).hidden_states
        assert torch.equal(states(model.bert, layer, **inputs(*PAIRS)), all_states[layer])


@KINDS
def test_padding_changes_nothing(kind):
    together = output(head_of(kind), *PAIRS)
    for place, pair in enumerate(PAIRS):
        alone = output(head_of(kind), pair)[0]
        both = together[place] if alone.dim() < 2 else together[place, : len(alone)]
        torch.testing.assert_close(alone, both, atol=1e-5, rtol=1e-5)


def test_each_look_sees_numbers_of_its_own():
    head = AnswerTypeHead(32, 1, classes(), 2, 8).eval()
    with torch.no_grad():
        head.attention.weight.zero_()
        # the first look sees the token whose first number is greatest, the second all
        head.attention.weight[0, 0] = 50.0
        head.value.bias.zero_()
    hidden, mask = torch.randn(1, 4, 32), torch.ones(1, 4, dtype=torch.int64)
    hidden[0, :, 0] = torch.tensor([0.0, 3.0, 0.0, 0.0])
    values = torch.nn.functional.gelu(head.value(hidden))[0]
    expected = head.classes(head.seen(torch.cat((values[1, :4], values[:, 4:].mean(dim=0)))))
    torch.testing.assert_close(head(hidden, mask)[0], expected, atol=1e-4, rtol=1e-4)
    with pytest.raises(ValueError, match="3 looks do not divide 8 numbers"):
        AnswerTypeHead(32, 1, classes(), 3, 8)


@KINDS
@pytest.mark.parametrize(("storage", "tolerance"), [("float32", 0.0), ("float16", 1e-2), ("int8", 6e-2)])
def test_a_stored_head_is_loaded_and_the_model_is_the_same_otherwise(kind, storage, tolerance, tmp_path):
    folder, head = copy_of(joint(), tmp_path / "model"), head_of(kind, layer=2)
    before, with_head = folder_id(folder), folder_id(folder, [kind.file])
    head.save(folder, storage)
    assert folder_id(folder) == before == with_head != folder_id(folder, [kind.file])
    assert load_checkpoint(folder, "question-answering").missing == ()
    (again,) = load_heads(folder, joint_model(folder).config).values()
    assert again.layer == 2 and not again.training and head.settings().items() <= again.settings().items()
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
    fault(f"is no '{kind.format}'")
    head_of(kind, layer=3).save(folder)
    fault("it is for layer 3 of 2")
