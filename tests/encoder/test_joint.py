"""The joint model: its heads, and how it is stored, loaded and named."""

import pytest

from convinse.encoder.checkpoint import folder_id, load_checkpoint, quiet
from convinse.encoder.joint import JointConfig, JointModel, register
from convinse.encoder.pool import JOINT
from convinse.support.errors import ModelError
from refusals import refused
from tiny_models import copy_of, damage, inputs, joint, joint_model, torch, transformers

TASKS = ["sequence-classification", "question-answering", "embedding"]
STORAGES = ["float32", "float16", "int8"]
LARGE = {"hidden_size": 64, "intermediate_size": 128}  # so large that each kind of matrix is worth rounding
PAIRS = [["who wrote the hobbit", "the author"], ["when", "the film was written in one country of the united kingdom"]]


def outputs(model, *pairs):
    with torch.inference_mode():
        return model(**inputs(*pairs))


def weights(folder):
    from safetensors.torch import load_file

    return load_file(folder / "model.safetensors")


def test_with_distances_the_trunk_is_that_of_mpnet():
    """Also where tokens are farther apart than buckets tell."""
    from recipes.embedded.mpnet import renamed

    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    with torch.random.fork_rng(devices=[]), quiet():
        torch.manual_seed(0)
        of_mpnet = transformers.MPNetConfig(**sizes, vocab_size=60, max_position_embeddings=302, initializer_range=0.4)
        theirs = transformers.MPNetModel(of_mpnet).eval()
        lengths = {"max_position_embeddings": 300, "distances": 32, "layer_norm_eps": of_mpnet.layer_norm_eps}
        model = JointModel(JointConfig(**sizes, vocab_size=56, **lengths)).eval()
        vocabulary = {"[PAD]": 0, "[CLS]": 1, "[SEP]": 2} | {f"word{number}": number for number in range(3, 56)}
        model.bert.load_state_dict(renamed(theirs.state_dict(), vocabulary))
        ids = torch.randint(3, 56, (2, 290))
    ids[:, 0], ids[:, -1], mask = 1, 2, torch.ones_like(ids)
    ids[1, 200:], mask[1, 200:] = 0, 0
    special = torch.tensor([1, 0, 2])  # where MPNet has what pads, begins and separates
    with torch.inference_mode():
        expected = theirs(torch.where(ids < 3, special[ids.clamp_max(2)], ids + 4), mask).last_hidden_state
        for attention in ("eager", "sdpa"):
            model.set_attn_implementation(attention)
            found = model(ids, mask).last_hidden_state
            torch.testing.assert_close(found[mask.bool()], expected[mask.bool()], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("storage", STORAGES)
def test_stored_weights_have_the_type_size_and_rounding_of_their_storage(storage, tmp_path):
    exact = joint_model(joint(**LARGE))
    exact.save_pretrained(tmp_path, storage=storage)
    rough = joint_model(tmp_path)
    assert {parameter.dtype for parameter in rough.parameters()} == {torch.float32}
    rounded = 0
    for (name, one), (_, other) in zip(exact.named_parameters(), rough.named_parameters(), strict=True):
        error = (one - other).abs()
        if storage == "float32" or one.dim() != 2 or one.numel() < 4096:
            assert torch.equal(one, other), name
        elif storage == "float16":
            assert (error <= one.abs() * 2**-11 + 2**-24).all(), name
            rounded += 1
        else:  # half a level of its row's 127
            assert (error <= one.abs().amax(dim=1, keepdim=True) / 127 * 0.5001).all(), name
            rounded += 1
    assert storage == "float32" or rounded == 15  # 6 of each layer, words, positions, the head's hidden layer
    stored, exact_size = weights(tmp_path), (joint(**LARGE) / "model.safetensors").stat().st_size
    assert stored["bert.encoder.layer.0.output.dense.weight"].dtype == getattr(torch, storage)
    for name in ("bert.encoder.layer.0.output.dense.bias", "relevance.weight", "span.weight"):
        assert stored[name].dtype == torch.float32
    share = {"float32": 1.0, "float16": 0.6, "int8": 0.4}[storage]
    assert (tmp_path / "model.safetensors").stat().st_size <= share * exact_size
    found, expected = (outputs(model, *PAIRS) for model in (rough, exact))
    limit = {"float32": 0, "float16": 0.02, "int8": 0.3}[storage]
    for name in ("logits", "start_logits", "end_logits"):
        assert (found[name] - expected[name]).abs().max() <= limit * expected[name].abs().max()


AUTO = ["AutoModel", "AutoModelForSequenceClassification", "AutoModelForQuestionAnswering"]


@pytest.mark.parametrize("storage", STORAGES)
def test_it_is_a_checkpoint_for_each_task_and_hugging_face_finds_it_by_its_configuration(storage, tmp_path):
    folder = joint(**LARGE, storage=storage)
    expected = outputs(joint_model(folder), *PAIRS)
    for task in TASKS:
        checkpoint = load_checkpoint(folder, task)
        assert type(checkpoint.model) is JointModel and checkpoint.missing == () and checkpoint.max_length == 512
        assert checkpoint.model_id == folder_id(folder)
        assert torch.equal(outputs(checkpoint.model.eval(), *PAIRS).logits, expected.logits)
    register()
    with quiet():
        config = transformers.AutoConfig.from_pretrained(folder)
        models = [getattr(transformers, name).from_pretrained(folder).eval() for name in AUTO]
    assert type(config) is JointConfig and config.model_type == JOINT and config.num_labels == 1
    for model in models:
        assert type(model) is JointModel
        assert torch.equal(outputs(model, *PAIRS).end_logits, expected.end_logits)
    folder = damage(copy_of(folder, tmp_path / "model"), lambda tensors: tensors.pop("span.bias"))
    for task in TASKS:
        refused(
            ModelError,
            lambda task=task: load_checkpoint(folder, task),
            f"is not a checkpoint for {task}: span.bias missing",
        )
    name = "bert.encoder.layer.1.output.dense.bias"
    damage(folder, lambda tensors: tensors.pop(name))
    refused(ModelError, lambda: load_checkpoint(folder, "embedding", new_head=True), f"{name} missing")
