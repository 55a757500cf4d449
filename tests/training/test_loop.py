"""The training loop over a task that a tiny model learns: stopped and resumed, its best epoch, its limits."""

import math
from itertools import product

import numpy as np
import pytest
from safetensors.torch import load_file, save_file

from convinse.config import FitSettings
from convinse.encoder.checkpoint import load_checkpoint
from convinse.encoder.tokens import TextTokenizer
from convinse.encoder.torch_backend import model_inputs
from convinse.support.errors import ModelError
from convinse.training import loop
from convinse.training.objective import Objective
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

    def __init__(self, folder, kind="bert"):
        checkpoint = load_checkpoint(tiny(kind, initializer_range=0.05), "sequence-classification")
        self.model = checkpoint.model
        self.tokenizer = TextTokenizer.of(checkpoint, 64)
        self.folder = folder / "state"
        self.losses, self.validated, self.stop_at = [], 0, None
        self.criterion = lambda measures: -measures["loss"]

    @property
    def weights(self):
        return {name: tensor.clone() for name, tensor in self.model.state_dict().items()}

    def odds(self, model):
        sequences = self.tokenizer.singles(RIGHT + WRONG)
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
            return {"loss": surprise(self.odds(model)).item()}

    def script(self, values):
        """Validate with these values, the first before training; returns the weights of each epoch."""
        seen, script = [], iter(values)

        def validate(model):
            seen.append(self.weights)
            return {"value": next(script)}

        self.validate, self.criterion = validate, lambda measures: measures["value"]
        return seen

    def run(self, run_id="one", settings=SETTINGS, **options):
        learning = Objective(lambda epoch: [1.0] * 5, self.loss, self.validate, self.criterion)
        options = {"device": "cpu", "seed": 7, "quiet": True, **options}
        return loop.fit(self.model, learning, settings, self.folder, run_id, **options)


def test_the_loss_falls_and_seeded_runs_are_equal(tmp_path):
    toy, again, other = Toy(tmp_path / "1"), Toy(tmp_path / "2"), Toy(tmp_path / "3")
    result = toy.run()
    assert len(result.history) == 5 and len(toy.losses) == 20
    assert result.history[-1]["loss"] < 0.7 * result.history[0]["loss"]
    assert toy.odds(toy.model)[:3].min() > toy.odds(toy.model)[3:].max()
    assert not toy.model.training
    assert again.run() == result and again.losses == toy.losses and same(again.weights, toy.weights)
    other.run(seed=8)
    assert not same(other.weights, toy.weights)  # dropout differs


# --- the state of a stopped run


@pytest.mark.parametrize("stop_at", [1, 2, 3, 4])
def test_a_resumed_run_ends_as_an_uninterrupted_one(tmp_path, stop_at):
    """Stopped while epoch `stop_at` is validated, it begins that epoch again."""
    whole, first, second = Toy(tmp_path / "whole"), Toy(tmp_path / "parts"), Toy(tmp_path / "parts")
    expected = whole.run()
    first.stop_at = stop_at
    with pytest.raises(Stopped):
        first.run()
    torch.rand(100)  # what happened in the process before does not matter
    assert second.run() == expected
    assert second.losses == whole.losses[5 * (stop_at - 1) :]
    assert same(second.weights, whole.weights)


def test_a_stop_in_the_midst_of_writing_leaves_the_last_epoch(tmp_path, monkeypatch):
    first, whole, second = Toy(tmp_path), Toy(tmp_path / "whole"), Toy(tmp_path)
    original, saved = loop.save_file, []

    def save(tensors, path):
        saved.append(path)
        if len(saved) == 5:  # the second file of the second epoch
            raise Stopped
        return original(tensors, path)

    monkeypatch.setattr(loop, "save_file", save)
    with pytest.raises(Stopped):
        first.run()
    monkeypatch.undo()
    assert second.run() == whole.run()
    assert len(second.losses) == 15 and same(second.weights, whole.weights)


def test_a_finished_run_is_not_run_again_and_another_run_begins_anew(tmp_path):
    first, again, other = Toy(tmp_path), Toy(tmp_path), Toy(tmp_path)
    assert first.run() == again.run()
    assert again.losses == [] and same(first.weights, again.weights)
    assert {path.suffix for path in first.folder.iterdir()} == {".json", ".safetensors"}  # no pickle
    other.run("two")
    assert len(other.losses) == 20 and other.losses == first.losses


FILES = ["state.json", "last.safetensors", "best.safetensors", "optimizer.safetensors"]


@pytest.mark.parametrize(("file", "change"), [*product(FILES, ["cut", "noise"]), *product(FILES[1:], ["gone"])])
def test_a_damaged_state_is_an_error(tmp_path, file, change):
    toy, again = Toy(tmp_path), Toy(tmp_path)
    toy.run(settings=FitSettings(epochs=1))
    path = toy.folder / file
    if change == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-10] if change == "cut" else b"\x00\xff" * 99)
    words = ("the state of a stopped training is damaged ", "; delete it", str(toy.folder))
    refused(ModelError, lambda: again.run(settings=FitSettings(epochs=1)), *words)


def test_a_state_that_does_not_fit_is_an_error(tmp_path):
    toy = Toy(tmp_path)
    toy.run()
    refused(ModelError, lambda: Toy(tmp_path, kind="distilbert").run(), "damaged")
    tensors = load_file(toy.folder / "optimizer.safetensors")
    del tensors["exp_avg_sq.3"]
    save_file(tensors, toy.folder / "optimizer.safetensors")
    refused(ModelError, lambda: Toy(tmp_path).run(), "damaged")


# --- epochs


@pytest.mark.parametrize(
    ("values", "keep", "patience", "epochs", "best"),
    [
        ([0.9, 0.1, 0.5, 0.5, 0.2], False, 10, 4, 2),
        ([0.9, 0.1, 0.5, 0.5, 0.2], True, 10, 4, 0),  # the untrained model
        ([0.3, 0.1, 0.5, 0.5, 0.2], True, 10, 4, 2),
        ([0.0, 0.5, 0.4, 0.3, 0.2], False, 2, 3, 1),
        ([0.0, 0.5, 0.4, 0.6, 0.2], False, 2, 4, 3),
        ([0.9, 0.5, 0.4, 0.3, 0.2], True, 2, 2, 0),
        ([0.9, 0.5, 0.4, 0.3, 0.2], False, 2, 3, 1),
    ],
)
def test_best_epoch_stays_and_training_stops_after_epochs_without_a_better_one(
    tmp_path, values, keep, patience, epochs, best
):
    toy = Toy(tmp_path)
    seen = toy.script(values)
    result = toy.run(settings=FitSettings(epochs=4, patience=patience), keep_untrained=keep)
    assert result.best == best and [measures["value"] for measures in result.history] == values[: epochs + 1]
    assert same(toy.weights, seen[best])


def test_after_the_minutes_the_epoch_is_cut_short_and_is_the_last(tmp_path, monkeypatch):
    """A clock that goes one second further with each look at it."""
    seconds = iter(range(10_000))
    monkeypatch.setattr(loop.time, "monotonic", lambda: float(next(seconds)))
    toy = Toy(tmp_path)
    result = toy.run(settings=FitSettings(epochs=4, minutes=8 / 60))
    assert len(result.history) == 3 == toy.validated and 5 < len(toy.losses) < 10


def test_each_epoch_has_a_seed_of_its_own(tmp_path):
    toy, seeds = Toy(tmp_path), []
    loss = toy.loss
    toy.loss = lambda model, step: seeds.append(torch.initial_seed()) or loss(model, step)
    toy.run()
    assert [len(set(seeds[start : start + 5])) for start in range(0, 20, 5)] == [1] * 4 and len(set(seeds)) == 4


def test_a_loss_that_is_not_a_number_is_an_error(tmp_path):
    toy = Toy(tmp_path)
    toy.loss = lambda model, step: toy.odds(model).sum() * math.nan
    refused(ModelError, toy.run, "the loss is nan; lower learning_rate")
