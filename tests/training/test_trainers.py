"""The contract of all trainers: a run goes on where it was stopped, replaces nothing else, names errors, and leaves a whole model.

They share one loop and one writer of models, so by default one of them shows most rules, and of the others other tests show that they train; with
--all each keeps every rule.
"""

from functools import partial
from pathlib import Path

import pytest

from case_tables import slow_but
from convinse.cli import main
from convinse.encoder.checkpoint import load_checkpoint
from convinse.encoder.exported import is_exported
from convinse.support.errors import DataError, ModelError, OutputError
from convinse.training import loop
from convinse.training.retriever import RetrieverTraining
from convinse.training.trainer import check_output, identity_of
from refusals import refused
from tiny_models import tiny
from trainings import KINDS, record, same, weights
from written import names, read_json
from written import write as write_file


@pytest.fixture
def kind(request, workdir):
    return KINDS[request.param]()


def each(*kinds):
    """Run a test with each of these kinds, all if none is named."""
    return pytest.mark.parametrize("kind", kinds or KINDS, indirect=True)


def one_of(*kinds):
    """Run a test with the first of these kinds, with --all with each; all if none is named."""
    first, *others = kinds or KINDS
    return each(first, *(pytest.param(kind, marks=pytest.mark.slow) for kind in others))


@pytest.fixture
def saved(monkeypatch):
    """The epochs whose state was saved; `stop_at` raises as Ctrl-C would when so many are."""
    save, epochs = loop.save_state, []

    def saving(*arguments):
        save(*arguments)
        epochs.append(1)
        if len(epochs) == saving.stop_at:
            raise KeyboardInterrupt

    saving.stop_at = None
    monkeypatch.setattr(loop, "save_state", saving)

    def stop_at(number):
        epochs.clear()
        saving.stop_at = number
        return epochs

    return stop_at


@one_of()
def test_a_stopped_training_goes_on_to_the_same_bytes(kind, saved):
    before = set(names())
    kind.run("whole", epochs=3)
    saved(2)
    with pytest.raises(KeyboardInterrupt):
        kind.run("parts", epochs=3)
    assert set(names()) - before == {"whole", ".parts.training"}
    epochs = saved(None)
    kind.run("parts", epochs=3)
    assert len(epochs) == 1, "only the last epoch was left"
    assert set(names()) - before == {"whole", "parts"}
    assert same(weights("parts", kind.task), weights("whole", kind.task))
    assert Path("parts/training.json").read_bytes() == Path("whole/training.json").read_bytes()
    assert not list(Path("parts").glob("*.bin"))


@one_of()
@pytest.mark.parametrize("changed", slow_but(["data"], ["data", "settings"]))
def test_a_stopped_training_refuses_other_data_and_settings(kind, saved, changed):
    saved(1)
    with pytest.raises(KeyboardInterrupt):
        kind.run("new", epochs=2)
    if changed == "data":
        path = Path(kind.input)
        path.write_text(path.read_text() + "\n")
    saved(None)
    other = {"learning_rate": 1e-4} if changed == "settings" else {}
    words = f"this training was stopped with other {changed}; go on with the same, or delete it to begin anew"
    refused(ModelError, lambda: kind.run("new", epochs=2, **other), words)


@one_of()
def test_a_trained_model_is_replaced_and_nothing_else(kind):
    kind.run("new", epochs=1)
    assert len(record("new")["epochs"]) == 2
    kind.run("new", epochs=2)
    assert len(record("new")["epochs"]) == 3
    write_file("precious/thesis.tex", "mine")
    message = f"precious: is not a model that was trained here, so it is not replaced; name another {kind.output_key}"
    assert refused(OutputError, lambda: kind.run("precious")) == message
    assert names("precious") == ["thesis.tex"]


@each()
def test_missing_checkpoint_names_its_key(kind):
    refused(ModelError, lambda: kind.run("new", "./none"), f"{kind.base_key}: ./none: no such folder")
    if hasattr(kind, "model_key"):  # the model of a stage is its base unless another is named
        refused(ModelError, lambda: kind.run("new", "", model="./none"), f"{kind.model_key}: ./none: no such folder")


@each()
def test_data_that_teach_nothing_are_named(kind):
    kind.empty()
    refused(DataError, lambda: kind.run("new"), kind.nothing)
    assert "new" not in names()


@one_of("ers", "ha", "mrqa", "retriever")
def test_an_encoder_gets_a_head(kind):
    kind.run("new", tiny("bert", "embedding"), epochs=1)
    assert record("new")["best_epoch"] == 1  # a random head is not an epoch
    assert load_checkpoint("new", kind.task).missing == ()
    if kind.task == "sequence-classification":
        assert load_checkpoint("new", kind.task).model.config.num_labels == 1
    assert is_exported(Path("new"))  # PyTorch has trained it, who uses it needs none


@each("ha")
def test_a_model_that_does_not_export_is_kept_for_pytorch(kind, monkeypatch, caplog):
    def refuse(*_, **__):
        raise ModelError("model: new: BertForQuestionAnswering does not export to ONNX; compute it with backend: torch")

    monkeypatch.setattr("convinse.encoder.onnx_export.write_graphs", refuse)
    kind.run("new", epochs=1)
    assert not is_exported(Path("new")) and load_checkpoint("new", "question-answering")
    assert any("no ONNX files" in message and "does not export" in message for message in caplog.messages)


@each("ers", pytest.param("ha", marks=pytest.mark.slow), "fusion")
def test_the_command_writes_a_model_that_the_pipeline_takes(kind, capfd):
    settings = kind.configuration("models/new", epochs=3)
    write_file("my.yml", settings)
    stage, base = kind.base_key.split("_")[0], settings[kind.base_key.split(".")[0]]["base"]
    assert main(["train", "ers" if stage == "evs" else stage, "kb_text", "my.yml", "--quiet"]) == 0
    assert capfd.readouterr() == ("", "")
    assert names("models") == ["new"] and not list(Path("models/new").glob("*.bin"))
    written = record("models/new")
    epochs, best = written["epochs"], written["best_epoch"]
    assert len(epochs) == 4 and set(epochs[0]) == kind.measures
    scores = [sum(measures[measure] for measure in kind.criterion) for measures in epochs]
    assert scores[best] == (min(scores) if "loss" in epochs[0] else max(scores)) and best == scores.index(scores[best])
    assert "loss" not in epochs[0] or scores[best] < 0.9 * scores[0]
    assert same(weights("models/new", kind.task), weights(base, kind.task)) == (best == 0)
    card = Path("models/new/README.md").read_text()
    for words in ("Benchmark `embedded`", "seed 42", base, "kb_text", f"| {best} (kept) |", *kind.card,
                  *(f"{value:.4f}" for value in epochs[2].values())):  # fmt: skip
        assert words in card, words
    write_file("my.yml", kind.configuration(model="models/new"))
    assert main(["pipeline", "kb_text", "my.yml", "--part", "dev", "--quiet"]) == 0
    metrics = read_json("results/mine/kb_text-dev/metrics.json")
    if "p_at_1" in epochs[best]:  # its validation is what the pipeline answers
        assert {measure: metrics[measure] for measure in epochs[best]} == {
            measure: round(value, 4) for measure, value in epochs[best].items()
        }


# --- the model folder


def test_only_models_that_were_trained_here_are_replaced(workdir):
    write_file("model/training.json", "{}")
    Path("empty").mkdir()
    for name in ("missing", "empty", "model"):
        check_output(Path(name), "my_key")
    write_file("file", "mine")
    write_file("folder/file", "mine")
    for name in ("file", "folder", tiny()):
        message = f"{name}: is not a model that was trained here, so it is not replaced; name another my_key"
        assert refused(OutputError, partial(check_output, Path(name), "my_key")) == message


def test_id_of_a_run_changes_with_all_that_its_result_depends_on(workdir):
    Path("data").write_text("x")

    def run(model="model", others=(), without=(), **keys):
        settings = RetrieverTraining(**{"base": "base", "output": "new", **keys})
        return identity_of(settings, model, [Path("data")], *others, without=without)

    first = run()
    assert run(output="other", device="cpu") == first == run(output="elsewhere")
    assert run(seed=7, without=["seed"]) == run(without=["seed"])
    changed = {
        "settings": [run(candidates=7), run(seed=7), run(max_length=7)],
        "base": [run("other")],
        "data": [run(others=["kb"])],
    }
    Path("data").write_text("y")
    changed["data"].append(run())
    for part, others in changed.items():
        assert all({name for name in first if other[name] != first[name]} == {part} for other in others)
