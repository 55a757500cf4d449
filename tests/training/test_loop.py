"""Training: a task that a tiny model can learn, stopped and gone on with."""

import math
from itertools import product

import pytest

from convinse.config import FitSettings
from convinse.encoder.checkpoint import load_checkpoint
from convinse.encoder.tokens import TextTokenizer
from convinse.encoder.torch_backend import model_inputs
from convinse.support.errors import ModelError
from convinse.training import loop as module
from convinse.training.learning import Learning
from convinse.training.loop import fit
from refusals import refused
from tiny_models import tiny, torch
from trainings import same

SETTINGS = FitSettings(epochs=4, learning_rate=1e-2, patience=10)
RIGHT, WRONG = ["the author wrote a book", "author", "one author two"], ["the film", "a city in france", "three song"]


class Stopped(BaseException):
    """As if the process were killed."""


def surprise(odds):
    return torch.nn.functional.binary_cross_entropy_with_logits(odds, torch.tensor([1.0] * 3 + [0.0] * 3))


class Toy:
    """Texts with "author" are right."""

    def __init__(self, folder, kind="bert", **config):
        checkpoint = load_checkpoint(tiny(kind, initializer_range=0.05, **config), "sequence-classification")
        self.model = checkpoint.model
        self.tokenizer = TextTokenizer.of(checkpoint, 64)
        self.folder = folder / "state"
        self.losses, self.validated, self.stop_at = [], 0, None
        self.criterion = lambda measures: -measures["loss"]

    def odds(self, model):
        sequences = self.tokenizer.singles(RIGHT + WRONG)
        import numpy as np

        return model(**model_inputs(model, sequences, np.arange(6), model.device)).logits[:, 0].float()

    def loss(self, model, step):
        assert model.training
        loss = surprise(self.odds(model))
        self.losses.append(loss.item())
        return loss * step

    def validate(self, model):
        assert not model.training
        if self.validated == self.stop_at:
            raise Stopped
        self.validated += 1
        with torch.inference_mode():
            odds = self.odds(model)
        return {"loss": surprise(odds).item(), "gap": (odds[:3].mean() - odds[3:].mean()).item()}

    def run(self, run_id="one", settings=SETTINGS, **options):
        learning = Learning(lambda epoch: [1.0] * 5, self.loss, self.validate, self.criterion)
        given = {"device": "cpu", "seed": 7, "quiet": True, **options}
        return fit(self.model, learning, settings, self.folder, run_id, **given)


def weights(toy):
    return {name: tensor.clone() for name, tensor in toy.model.state_dict().items()}


def test_the_loss_falls(tmp_path):
    toy = Toy(tmp_path)
    result = toy.run()
    assert len(result.history) == 5 and len(toy.losses) == 20
    assert result.history[-1]["loss"] < 0.7 * result.history[0]["loss"]
    assert toy.odds(toy.model)[:3].min() > toy.odds(toy.model)[3:].max()
    assert not toy.model.training


def test_seeded_runs_are_equal(tmp_path):
    one, two, other = Toy(tmp_path / "1"), Toy(tmp_path / "2"), Toy(tmp_path / "3")
    assert one.run() == two.run()
    assert one.losses == two.losses and same(weights(one), weights(two))
    other.run(settings=SETTINGS, seed=8)
    assert not same(weights(one), weights(other))  # dropout differs


@pytest.mark.parametrize("stop_at", [1, 2, 3, 4])
def test_a_resumed_run_ends_as_an_uninterrupted_one(tmp_path, stop_at):
    """Stopped while epoch `stop_at` is validated, it begins that epoch again."""
    whole = Toy(tmp_path / "whole")
    expected = whole.run()
    first = Toy(tmp_path / "parts")
    first.stop_at = stop_at
    with pytest.raises(Stopped):
        first.run()
    second = Toy(tmp_path / "parts")
    torch.rand(100)  # what happened in the process before does not matter
    assert second.run() == expected
    assert len(second.losses) == 5 * (4 - stop_at + 1)
    assert second.losses == whole.losses[5 * (stop_at - 1) :]
    assert same(weights(second), weights(whole))


def test_a_finished_run_is_not_run_again(tmp_path):
    one, two = Toy(tmp_path), Toy(tmp_path)
    assert one.run() == two.run()
    assert two.losses == [] and same(weights(one), weights(two))


def test_a_stop_in_the_midst_of_writing_leaves_the_last_epoch(tmp_path, monkeypatch):
    first = Toy(tmp_path)
    saved = []

    def save(tensors, path):
        saved.append(path)
        if len(saved) == 5:  # the second file of the second epoch
            raise Stopped
        return original(tensors, path)

    original = module.save_file
    monkeypatch.setattr(module, "save_file", save)
    with pytest.raises(Stopped):
        first.run()
    monkeypatch.undo()
    whole, second = Toy(tmp_path / "whole"), Toy(tmp_path)
    assert second.run() == whole.run()
    assert len(second.losses) == 15 and same(weights(second), weights(whole))


def test_the_state_of_another_run_is_not_used(tmp_path):
    first = Toy(tmp_path)
    first.run("one")
    second = Toy(tmp_path)
    second.run("two")
    assert len(second.losses) == 20 and second.losses == first.losses
    assert Toy(tmp_path).run("two") == second.run("two")


_FILES = ["state.json", "last.safetensors", "best.safetensors", "optimizer.safetensors"]


@pytest.mark.parametrize(("file", "change"), [*product(_FILES, ["cut", "noise"]), *product(_FILES[1:], ["gone"])])
def test_a_damaged_state_is_an_error(tmp_path, file, change):
    Toy(tmp_path).run(settings=FitSettings(epochs=1))
    path = tmp_path / "state" / file
    if change == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-10] if change == "cut" else b"\x00\xff" * 99)
    words = ("the state of a stopped training is damaged ", "; delete it", str(tmp_path / "state"))
    refused(ModelError, lambda: Toy(tmp_path).run(settings=FitSettings(epochs=1)), *words)


def test_a_state_that_does_not_fit_is_an_error(tmp_path):
    from safetensors.torch import load_file, save_file

    Toy(tmp_path).run()
    refused(ModelError, lambda: Toy(tmp_path, kind="distilbert").run(), "damaged")
    path = tmp_path / "state/optimizer.safetensors"
    tensors = load_file(path)
    del tensors["exp_avg_sq.3"]
    save_file(tensors, path)
    refused(ModelError, lambda: Toy(tmp_path).run(), "damaged")


def scripted(toy, values):
    """Validation as told: the first is that before training."""
    script = iter(values)
    seen = []

    def validate(model):
        seen.append(weights(toy))
        return {"value": next(script)}

    toy.validate, toy.criterion = validate, lambda measures: measures["value"]
    return seen


@pytest.mark.parametrize(("before", "keep", "best"), [(0.9, False, 2), (0.9, True, 0), (0.3, True, 2)])
def test_the_best_epoch_is_kept(tmp_path, before, keep, best):
    """The model as given is one only where it is told to be."""
    toy = Toy(tmp_path)
    seen = scripted(toy, [before, 0.1, 0.5, 0.5, 0.2])
    result = toy.run(keep_untrained=keep)
    assert result.best == best and [measures["value"] for measures in result.history] == [before, 0.1, 0.5, 0.5, 0.2]
    assert same(weights(toy), seen[best])


@pytest.mark.parametrize(
    ("values", "keep", "epochs"),
    [
        ([0.0, 0.5, 0.4, 0.3, 0.2], False, 3),
        ([0.0, 0.5, 0.4, 0.6, 0.2], False, 4),
        ([0.9, 0.5, 0.4, 0.3, 0.2], True, 2),
        ([0.9, 0.5, 0.4, 0.3, 0.2], False, 3),
    ],
)
def test_training_stops_after_so_many_epochs_without_a_better_one(tmp_path, values, keep, epochs):
    toy = Toy(tmp_path)
    scripted(toy, values)
    settings = FitSettings(epochs=4, patience=2)
    assert len(toy.run(settings=settings, keep_untrained=keep).history) - 1 == epochs


def test_after_the_minutes_the_epoch_is_cut_short_and_is_the_last(tmp_path, monkeypatch):
    """A clock that goes one second further with each look at it."""
    seconds = iter(range(10_000))
    monkeypatch.setattr(module.time, "monotonic", lambda: float(next(seconds)))
    toy = Toy(tmp_path)
    result = toy.run(settings=FitSettings(epochs=4, minutes=8 / 60))
    assert len(result.history) == 3 and 5 < len(toy.losses) < 10
    assert toy.validated == 3


def test_each_epoch_has_dropout_of_its_own(tmp_path):
    toy, seeds = Toy(tmp_path), []
    loss = toy.loss
    toy.loss = lambda model, step: seeds.append(torch.initial_seed()) or loss(model, step)
    toy.run()
    assert [len(set(seeds[start : start + 5])) for start in range(0, 20, 5)] == [1] * 4 and len(set(seeds)) == 4


def test_a_loss_that_is_no_number_is_an_error(tmp_path):
    toy = Toy(tmp_path)
    toy.loss = lambda model, step: toy.odds(model).sum() * math.nan
    refused(ModelError, toy.run, "the loss is nan; lower learning_rate")


def test_the_state_holds_no_pickle(tmp_path):
    Toy(tmp_path).run()
    assert {path.suffix for path in (tmp_path / "state").iterdir()} == {".json", ".safetensors"}
