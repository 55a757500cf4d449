"""The training loop over a task that a tiny model learns: its state, its best epoch, its limits."""

import errno
import logging
import math
import signal

import pytest

from convinse.config import FitSettings
from convinse.support.errors import ModelError
from convinse.training import loop
from convinse.training.objective import Objective
from refusals import refused
from tiny_models import torch
from trainings import same
from written import read_json

SETTINGS = FitSettings(epochs=4, learning_rate=1e-2)
INPUTS = torch.linspace(-1, 1, 6)[:, None].repeat(1, 8)


def surprise(odds):
    return torch.nn.functional.binary_cross_entropy_with_logits(odds, torch.tensor([0.0] * 3 + [1.0] * 3))


class Toy:
    """Inputs above 0 are right."""

    def __init__(self, folder):
        torch.manual_seed(3)
        layers = torch.nn.Linear(8, 8), torch.nn.Tanh(), torch.nn.Dropout(0.2), torch.nn.Linear(8, 1)
        self.model, self.folder, self.losses = torch.nn.Sequential(*layers), folder / "state", []
        self.criterion = lambda measures: -measures["loss"]

    @property
    def weights(self):
        return {name: tensor.clone() for name, tensor in self.model.state_dict().items()}

    def odds(self, model):
        return model(INPUTS)[:, 0]

    def loss(self, model, step):
        assert model.training
        loss = surprise(self.odds(model))
        self.losses.append(loss.item())
        return loss * step

    def validate(self, model):
        assert not model.training
        with torch.inference_mode():
            return {"loss": surprise(self.odds(model)).item()}

    def run(self, data="one", settings=SETTINGS, **options):
        learning = Objective(lambda epoch: [1.0] * 5, self.loss, self.validate, self.criterion)
        options = {"device": "cpu", "seed": 7, "quiet": True, **options}
        return loop.fit(self.model, learning, settings, self.folder, {"data": data}, **options)


def test_the_loss_falls_and_seeded_runs_are_equal(tmp_path):
    toy, again, other = Toy(tmp_path / "1"), Toy(tmp_path / "2"), Toy(tmp_path / "3")
    result = toy.run()
    assert len(result.history) == 5 and len(toy.losses) == 20
    assert result.history[-1]["loss"] < 0.7 * result.history[0]["loss"]
    assert toy.odds(toy.model)[:3].max() < toy.odds(toy.model)[3:].min()
    assert not toy.model.training
    assert again.run() == result and again.losses == toy.losses and same(again.weights, toy.weights)
    other.run(seed=8)
    assert not same(other.weights, toy.weights)  # dropout differs


# --- the state of a stopped run


def test_a_finished_run_is_not_run_again_and_another_one_is_refused(tmp_path):
    first, again, other = Toy(tmp_path), Toy(tmp_path), Toy(tmp_path)
    assert first.run() == again.run()
    assert again.losses == [] and same(first.weights, again.weights)
    assert {path.suffix for path in first.folder.iterdir()} == {".json", ".safetensors"}  # no pickle
    refused(ModelError, lambda: other.run("two"), str(first.folder), "stopped with other data; go on with the same")


class KilledError(Exception):
    """A kill between two steps."""


@pytest.mark.parametrize("steps", [1, 4, 5, 7, 13])
def test_a_killed_run_has_the_losses_of_an_unbroken_one(tmp_path, monkeypatch, steps):
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", -1.0)  # after every step
    whole, parts, rest = Toy(tmp_path / "whole"), Toy(tmp_path / "parts"), Toy(tmp_path / "parts")
    whole_loss = parts.loss
    expected = whole.run()

    def loss(model, step):
        if len(parts.losses) == steps:
            raise KilledError
        return whole_loss(model, step)

    parts.loss = loss
    with pytest.raises(KilledError):
        parts.run()
    assert rest.run() == expected and parts.losses + rest.losses == whole.losses and same(rest.weights, whole.weights)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTSTP])
def test_signals_are_obeyed_between_two_steps(tmp_path, monkeypatch, number):
    toy, again, whole = Toy(tmp_path / "toy"), Toy(tmp_path / "toy"), Toy(tmp_path / "whole")
    sent, loss = [], toy.loss

    def signalled(model, step):
        if len(toy.losses) == 7:
            signal.raise_signal(number)
        return loss(model, step)

    toy.loss = signalled
    monkeypatch.setattr(loop.os, "kill", lambda process, stop: sent.append(stop))
    expected = whole.run()
    if number == signal.SIGTSTP:  # it stops itself; SIGCONT goes on behind the call
        assert toy.run() == expected and sent == [signal.SIGSTOP]
        return
    with pytest.raises(KeyboardInterrupt):
        toy.run()
    assert len(toy.losses) == 8, "the step under way is finished and kept"
    assert again.run() == expected and toy.losses + again.losses == whole.losses


def test_a_full_disk_keeps_the_last_checkpoint_and_the_training(tmp_path, monkeypatch, caplog):
    toy, whole, save = Toy(tmp_path / "toy"), Toy(tmp_path / "whole"), loop.save_file

    def full(*arguments, **options):
        if len(toy.losses) > 5:
            raise OSError(errno.ENOSPC, "No space left on device")
        save(*arguments, **options)

    expected = whole.run()
    monkeypatch.setattr(loop, "save_file", full)
    with caplog.at_level(logging.WARNING):
        assert toy.run() == expected
    lines = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert len(lines) == 3 and all("training goes on, the last checkpoint stays" in line for line in lines)
    assert len(read_json(toy.folder / "state.json")["fitted"]["history"]) == 2


FILES = ["state.json", "last.safetensors", "best.safetensors", "optimizer.safetensors"]


@pytest.mark.parametrize("file", FILES)
def test_a_damaged_state_is_an_error(tmp_path, file):
    toy, again = Toy(tmp_path), Toy(tmp_path)
    toy.run(settings=FitSettings(epochs=1))
    path = toy.folder / file
    path.write_bytes(path.read_bytes()[:-10])
    words = ("the checkpoint of a stopped training is damaged ", "; delete it", str(toy.folder))
    refused(ModelError, lambda: again.run(settings=FitSettings(epochs=1)), *words)


# --- epochs


@pytest.mark.parametrize(
    ("values", "keep", "best"),
    [
        ([0.9, 0.1, 0.5, 0.5, 0.2], False, 2),
        ([0.9, 0.1, 0.5, 0.5, 0.2], True, 0),  # the untrained model
        ([0.3, 0.1, 0.5, 0.5, 0.2], True, 2),
        ([0.0, 0.5, 0.4, 0.6, 0.2], False, 3),
    ],
)
def test_the_best_of_all_epochs_stays(tmp_path, values, keep, best):
    toy, seen, script = Toy(tmp_path), [], iter(values)

    def validate(model):
        seen.append(toy.weights)
        return {"value": next(script)}

    toy.validate, toy.criterion = validate, lambda measures: measures["value"]
    result = toy.run(settings=FitSettings(epochs=4), keep_untrained=keep)
    assert result.best == best and [measures["value"] for measures in result.history] == values
    assert same(toy.weights, seen[best])


def test_after_the_minutes_the_epoch_is_cut_short_and_is_the_last(tmp_path, monkeypatch):
    """A clock that goes one second further with each look at it."""
    seconds = iter(range(10_000))
    monkeypatch.setattr(loop.time, "monotonic", lambda: float(next(seconds)))
    toy = Toy(tmp_path)
    result = toy.run(settings=FitSettings(epochs=4, minutes=8 / 60))
    assert len(result.history) == 3 and 5 < len(toy.losses) < 10


def test_an_epoch_that_was_stopped_when_the_minutes_were_over_is_validated(tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", -1.0)  # after every step
    toy, again = Toy(tmp_path), Toy(tmp_path)
    loss = toy.loss

    def killed(model, step):
        if len(toy.losses) == 3:
            raise KilledError
        return loss(model, step)

    toy.loss = killed
    with pytest.raises(KilledError):
        toy.run(settings=FitSettings(epochs=4, minutes=60))
    result = again.run(settings=FitSettings(epochs=4, minutes=1e-9))
    assert len(result.history) == 2 and result.best == 1 and again.losses == []


def test_a_loss_that_is_not_a_number_is_an_error(tmp_path):
    toy = Toy(tmp_path)
    toy.loss = lambda model, step: toy.odds(model).sum() * math.nan
    refused(ModelError, toy.run, "the loss is nan; lower learning_rate")
