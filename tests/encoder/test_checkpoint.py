"""Checkpoints: loaded for each task, their faults, their heads and their ids."""

import shutil

import pytest

from convinse.encoder.checkpoint import RANKINGS, folder_id, load_checkpoint, row_form_of
from convinse.support.errors import ModelError
from refusals import refused
from tiny_models import CHANGES, copy_of, damage, save_model, tiny, torch
from written import read_json, write

CLASSIFYING, READING = "sequence-classification", "question-answering"


def fault(folder, task=CLASSIFYING, **options):
    """The message about a folder that is no such checkpoint, without its place."""
    message = refused(ModelError, lambda: load_checkpoint(folder, task, "evs_model", **options))
    assert message.startswith(f"evs_model: {folder}: ")
    return message.removeprefix(f"evs_model: {folder}: ")


@pytest.fixture
def folder(tmp_path):
    return copy_of(tiny(), tmp_path / "model")


# --- faults


def test_a_missing_folder_file_or_tokenizer_is_named(folder, tmp_path):
    assert fault(tmp_path / "none").startswith("no such folder; train a model first")
    assert fault("./none").startswith("no such folder")
    (tmp_path / "file").write_text("")
    assert fault(tmp_path / "file").startswith("no such folder")
    (folder / "tokenizer.json").unlink()
    assert fault(folder).startswith("no tokenizer.json or vocabulary there")
    (folder / "config.json").unlink()
    assert fault(folder).startswith("no config.json there")


def test_pickled_weights_are_not_loaded(folder):
    class Trap:
        def __reduce__(self):
            return open, (str(folder / "opened"), "w")

    (folder / "model.safetensors").unlink()
    torch.save({"classifier.weight": Trap()}, folder / "pytorch_model.bin")
    assert fault(folder).startswith("no model.safetensors there; pickled weights are not loaded")
    shutil.copy(tiny() / "model.safetensors", folder / "model_old.safetensors")  # a name that is not a checkpoint's
    assert fault(folder).startswith("cannot be loaded (OSError")
    assert not (folder / "opened").exists()


def test_code_of_a_folder_is_not_run(folder):
    classes = {"AutoConfig": "mine.Config", "AutoModelForSequenceClassification": "mine.Model"}
    write(folder / "config.json", {**read_json(folder / "config.json"), "model_type": "mine", "auto_map": classes})
    write(folder / "mine.py", f"open({str(folder / 'opened')!r}, 'w')\n")
    assert "cannot be loaded" in fault(folder)
    assert not (folder / "opened").exists()


@pytest.mark.parametrize("file", ["config.json", "tokenizer.json", "model.safetensors"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_damaged_file_cannot_be_loaded(folder, file, change):
    (folder / file).write_bytes(CHANGES[change]((folder / file).read_bytes()))
    assert fault(folder).startswith("cannot be loaded (")


def test_files_of_another_model_do_not_fit(folder):
    other = tiny("bert", vocab_size=100)
    for name in ("config.json", "model.safetensors"):
        shutil.copy(other / name, folder)
    assert "but the model has 100; they do not belong together" in fault(folder)


@pytest.mark.parametrize("new_head", [False, True])
def test_weights_that_do_not_fit_the_configuration_are_named(folder, new_head):
    shutil.copy(tiny("bert", intermediate_size=48) / "model.safetensors", folder)
    assert "not those of its config.json: bert.encoder.layer.0.intermediate" in fault(folder, new_head=new_head)
    copy = copy_of(tiny(), folder.parent / "other")
    damage(copy, lambda tensors: tensors.pop("bert.encoder.layer.1.output.dense.weight"))
    assert "bert.encoder.layer.1.output.dense.weight missing" in fault(copy, new_head=new_head)
    shutil.copy(tiny(labels=3) / "model.safetensors", folder)
    assert new_head or "not those of its config.json: classifier.bias, classifier.weight" in fault(folder)


# --- heads


@pytest.mark.parametrize(
    ("task", "requested", "name"),
    [
        (READING, CLASSIFYING, "classifier.bias"),
        ("embedding", CLASSIFYING, "classifier.bias"),
        ("embedding", READING, "qa_outputs.bias"),
        (CLASSIFYING, READING, "qa_outputs.bias"),
    ],
)
def test_missing_head_is_named_or_made_anew(task, requested, name):
    folder = tiny("bert", task)
    message = fault(folder, requested)
    assert message.startswith(f"is not a checkpoint for {requested}: ") and name in message
    assert name in load_checkpoint(folder, requested, new_head=True).missing


def test_a_new_head_depends_on_its_seed_only_and_replaces_one_of_another_size():
    def made(seed, folder=None):
        state = torch.get_rng_state()
        folder = folder or tiny("bert", "embedding")
        checkpoint = load_checkpoint(folder, CLASSIFYING, new_head=True, labels=1, seed=seed)
        assert torch.equal(state, torch.get_rng_state())
        assert checkpoint.missing == ("classifier.bias", "classifier.weight")
        return checkpoint.model.classifier.weight

    assert made(1).shape == made(1, tiny(labels=3)).shape == (1, 32)
    assert torch.equal(made(1), made(1)) and not torch.equal(made(1), made(2))


# --- ids and forms


def test_the_id_changes_with_the_weights_and_not_with_files_learned_over_them(folder, tmp_path):
    assert load_checkpoint(folder, CLASSIFYING).model_id == folder_id(folder) == folder_id(tiny())
    assert folder_id(save_model(tmp_path / "other", seed=1)) != folder_id(folder)
    write(folder / "referents.json", "{}")
    assert folder_id(folder) == folder_id(tiny()) != folder_id(folder, RANKINGS)
    write(folder / "1_Pooling/config.json", "{}")
    assert folder_id(folder) != folder_id(tiny())


def test_the_form_of_rows_is_that_of_the_configuration(tmp_path):
    assert row_form_of(tiny(row_form="ranked")) == "ranked"
    assert row_form_of(tiny()) == row_form_of("some/hub-name") == row_form_of(tmp_path) == "plain"
    write(tmp_path / "config.json", '{"row_form": "sorted"}')
    refused(ModelError, lambda: row_form_of(tmp_path), "row_form", "sorted", "plain and ranked")
