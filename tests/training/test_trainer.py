"""What holds for every training: it goes on where it was stopped, replaces nothing else, and names what is wrong."""

from pathlib import Path

import pytest

from convinse.encoder.checkpoint import load_checkpoint
from convinse.support.errors import ModelError, OutputError
from convinse.training import loop
from tiny_models import tiny
from trainings import KINDS, files, record, same, weights


@pytest.fixture
def kind(request, workdir):
    return KINDS[request.param]()


every = pytest.mark.parametrize("kind", KINDS, indirect=True)


@pytest.fixture
def saved(monkeypatch):
    """The epochs whose state was saved; `stop_at` raises as Ctrl-C would when so many are."""
    save, epochs = loop._save_state, []

    def saving(*arguments):
        save(*arguments)
        epochs.append(1)
        if len(epochs) == saving.stop_at:
            raise KeyboardInterrupt

    saving.stop_at = None
    monkeypatch.setattr(loop, "_save_state", saving)

    def stop_at(number):
        epochs.clear()
        saving.stop_at = number
        return epochs

    return stop_at


@every
def test_a_stopped_training_goes_on(kind, saved):
    before = set(files())
    kind.run("whole", epochs=3, patience=3)
    saved(2)
    with pytest.raises(KeyboardInterrupt):
        kind.run("parts", epochs=3, patience=3)
    assert set(files()) - before == {"whole", ".parts.training"}
    epochs = saved(None)
    kind.run("parts", epochs=3, patience=3)
    assert len(epochs) == 1, "only the last epoch was left"
    assert set(files()) - before == {"whole", "parts"}
    assert same(weights("parts", kind.task), weights("whole", kind.task))
    assert Path("parts/training.json").read_bytes() == Path("whole/training.json").read_bytes()
    assert not list(Path("parts").glob("*.bin"))


@every
@pytest.mark.parametrize("changed", ["data", "settings"])
def test_other_data_and_settings_begin_anew(kind, saved, changed):
    saved(1)
    with pytest.raises(KeyboardInterrupt):
        kind.run("new", epochs=2)
    if changed == "data":
        path = Path(kind.input)
        path.write_text(path.read_text() + "\n")
    epochs = saved(None)
    kind.run("new", epochs=2, **({"learning_rate": 1e-4} if changed == "settings" else {}))
    assert len(epochs) == 2


@every
def test_a_trained_model_is_replaced_and_nothing_else(kind):
    kind.run("new", epochs=1)
    assert len(record("new")["epochs"]) == 2
    kind.run("new", epochs=2)
    assert len(record("new")["epochs"]) == 3
    Path("precious").mkdir()
    Path("precious/thesis.tex").write_text("mine")
    message = rf"precious: is no model that was trained here, so it is not replaced; name another {kind.output_key}$"
    with pytest.raises(OutputError, match=message):
        kind.run("precious")
    assert files("precious") == ["thesis.tex"]


@every
def test_a_missing_checkpoint_names_its_key(kind):
    with pytest.raises(ModelError, match=rf"^{kind.base_key}: \./none: no such folder"):
        kind.run("new", "./none")


@pytest.mark.parametrize("kind", ["ers", "ha", "mrqa", "retriever"], indirect=True)
def test_an_encoder_gets_a_head(kind):
    kind.run("new", tiny("bert", "embedding"), epochs=1)
    assert record("new")["best_epoch"] == 1  # a random head is no epoch
    assert load_checkpoint("new", kind.task).missing == ()
    if kind.task == "sequence-classification":
        assert load_checkpoint("new", kind.task).model.config.num_labels == 1
