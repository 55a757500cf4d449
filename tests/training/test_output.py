"""A model folder with its card and record: whole or not at all, and nothing of the user's is replaced."""

import json
from pathlib import Path

import pytest

from convinse.config import RetrieverTraining, parse_config
from convinse.encoder.checkpoint import load_checkpoint
from convinse.support.errors import OutputError
from convinse.training import trainer as trained
from convinse.training.learning import FitResult
from convinse.training.trainer import check_output, model_card, run_id, state_of, validation_table, write_trained
from tiny_models import tiny, torch


def names(folder="."):
    return sorted(path.name for path in Path(folder).iterdir())


FITTED = FitResult([{"f1": 0.5, "em": 0.25}, {"f1": 0.75, "em": 0.5}], best=1)


def write(folder="models/new"):
    write_trained(load_checkpoint(tiny(), "sequence-classification"), Path(folder), "# A card\n", FITTED, {"more": 7})


def test_what_is_written(workdir):
    state_of(Path("models/new")).mkdir(parents=True)
    write()
    assert names("models") == ["new"]
    assert json.loads(Path("models/new/training.json").read_text()) == {
        "best_epoch": 1,
        "epochs": FITTED.history,
        "more": 7,
    }
    assert Path("models/new/README.md").read_text() == "# A card\n"
    one, other = (
        load_checkpoint(folder, "sequence-classification").model.state_dict() for folder in ("models/new", tiny())
    )
    assert all(torch.equal(one[name], other[name]) for name in other)


def test_a_failed_write_keeps_state_and_older_model(workdir, monkeypatch):
    write()
    state_of(Path("models/new")).mkdir()
    before = Path("models/new/README.md").stat().st_mtime_ns

    def fail(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(trained, "save_checkpoint", fail)
    with pytest.raises(OutputError, match="models/new: cannot be written: No space left"):
        write()
    assert names("models") == [".new.training", "new"]
    assert Path("models/new/README.md").stat().st_mtime_ns == before


def test_only_models_that_were_trained_here_are_replaced(workdir):
    check_output(Path("nothing"), "my_key")
    Path("empty").mkdir()
    check_output(Path("empty"), "my_key")
    write("model")
    check_output(Path("model"), "my_key")
    Path("file").write_text("mine")
    Path("folder").mkdir()
    Path("folder/file").write_text("mine")
    for name in ("file", "folder", tiny()):
        with pytest.raises(
            OutputError, match="is no model that was trained here, so it is not replaced; name another my_key"
        ):
            check_output(Path(name), "my_key")


def test_the_table():
    assert (
        validation_table(FITTED)
        == "| epoch | f1 | em |\n|---|---|---|\n| 0 | 0.5000 | 0.2500 |\n| 1 (kept) | 0.7500 | 0.5000 |"
    )
    assert validation_table(FITTED, ["em"], {"other": {"em": 1.0}}).splitlines()[2:] == [
        "| other | 1.0000 |",
        "| 0 | 0.2500 |",
        "| 1 (kept) | 0.5000 |",
    ]


def test_a_run_is_known_by_all_that_its_result_depends_on(workdir):
    Path("data").write_text("x")

    def known(model="model", others=(), without=(), **keys):
        settings = RetrieverTraining(**{"base": "base", "output": "new", **keys})
        return run_id(settings, model, [Path("data")], *others, without=without)

    first = known()
    assert known(output="other", device="cpu") == first == known(output="elsewhere")
    assert known(seed=7, without=["seed"]) == known(without=["seed"])
    changed = [known(candidates=7), known(seed=7), known(max_length=7), known("other"), known(others=["kb"])]
    Path("data").write_text("y")
    assert len({first, known(), *changed}) == 7
    configs = (parse_config({"name": name, "output_path": name, "device": "cpu"}) for name in "ab")
    assert len({run_id(config, "model", []) for config in configs}) == 1


def test_a_card():
    card = model_card(
        "A model", "\nReads.\n", {"Data": "all\n", "Settings": "- seed: 1"}, {"license": "mit", "task": None}
    )
    assert card == "---\nlicense: mit\n---\n# A model\n\nReads.\n\n## Data\nall\n\n## Settings\n- seed: 1\n"
    assert model_card("A model", "Reads.", {}, {}) == "# A model\n\nReads.\n"
