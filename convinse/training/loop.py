"""A training loop for every model of the project: seeded, resumable, the best epoch kept."""

from __future__ import annotations

import logging
import math
import os
import signal
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from ..config import FitSettings
from ..encoder.devices import autocast, find_device
from ..support.errors import ModelError, OutputError, one_line
from ..support.files import recover, replacing
from ..support.progress import progress
from .objective import FitResult, Objective, shown

LOGGER = logging.getLogger(__name__)
_LARGEST_NORM = 1.0  # of the gradient of a step
_WEIGHT_DECAY = 0.01  # the value that BERT was trained with, and that CONVINSE's configuration has
_NO_DECAY = ("bias", "LayerNorm.weight", "layer_norm.weight")

CHECKPOINT_SECONDS = 600.0  # a kill loses ten minutes; a checkpoint of 45 million weights takes one to two seconds

Weights = dict[str, torch.Tensor]


class Signals:
    """Signals that a training obeys between two steps; outside of the main thread none are caught."""

    def __init__(self) -> None:
        self.arrived: int | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Signals:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGTSTP):
                self._before[number] = signal.signal(number, self._arrive)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _arrive(self, number: int, _: Any) -> None:
        if number == signal.SIGINT == self.arrived:  # a second Ctrl-C does not wait for the step
            raise KeyboardInterrupt
        self.arrived = number

    def obey(self, title: str) -> None:
        """Pause until SIGCONT, or end, as the signal that arrived asks; do nothing if none did."""
        number, self.arrived = self.arrived, None
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        if number == signal.SIGTERM:
            self.__exit__()
            os.kill(os.getpid(), signal.SIGTERM)
        if number == signal.SIGTSTP:
            LOGGER.info("%s: paused; SIGCONT goes on", title)
            os.kill(os.getpid(), signal.SIGSTOP)
            LOGGER.info("%s: goes on", title)


def fit(
    model: Any,
    objective: Objective[Any],
    settings: FitSettings,
    state: Path,
    identity: Mapping[str, str],
    *,
    device: str = "auto",
    seed: int = 42,
    title: str = "training",
    quiet: bool = False,
    keep_untrained: bool = False,
) -> FitResult:
    """Train a torch module in place; it ends with the weights of its best epoch, on the CPU.

    Every ten minutes, and after every validation, a checkpoint is written from which a later call goes on with the next step, as an
    unbroken run would. SIGTSTP (Ctrl-Z) pauses after the step under way until SIGCONT; Ctrl-C and SIGTERM write a checkpoint and end.

    Args:
        state: the folder of the checkpoint; the caller removes it.
        identity: what the result depends on, such as data and settings, each as a hash: a checkpoint of another is refused.
        seed: of dropout; each step derives its own, so that no random state has to be kept.
        keep_untrained: whether the untrained model counts as an epoch that may be the best.

    Raises:
        ModelError: the loss is not a number, or the checkpoint is damaged or of another training.
    """
    model.to(place := find_device(device))
    training = _Training(model, objective, settings, place, seed, title)
    if _load_state(state, identity, training):
        LOGGER.info("%s: goes on after epoch %d and %d steps", title, len(training.result.history) - 1, training.step)
    else:
        training.begin(keep_untrained)

    def write_state() -> None:
        try:
            save_state(state, identity, training)
        except OutputError as error:
            LOGGER.warning("%s: %s; training goes on, the last checkpoint stays", title, error)

    result = training.result
    for epoch in range(len(result.history), settings.epochs + 1):
        if training.is_over and not training.step:
            break
        steps = objective.steps(epoch)
        model.train()
        shown_progress = progress(f"{title}, epoch {epoch}", len(steps), "steps", quiet, training.step, training.note)
        with shown_progress as advance, Signals() as signals:
            written = time.monotonic()
            for step in objective.made(epoch, steps[training.step :]):
                if training.is_over:
                    LOGGER.info("%s: %.1f minutes are over after %d steps", title, settings.minutes, training.step)
                    break
                training.learn(epoch, step)
                advance()
                if signals.arrived or time.monotonic() - written > CHECKPOINT_SECONDS:
                    write_state()
                    signals.obey(title)
                    written = time.monotonic()
        training.end(epoch)
        write_state()
    if training.weights:
        model.load_state_dict(training.weights)
    model.to("cpu").eval()
    return result


class _Training:
    """A training under way, and how far it is."""

    def __init__(
        self, model: Any, objective: Objective[Any], settings: FitSettings, device: torch.device, seed: int, title: str
    ) -> None:
        self.model, self.optimizer = model, _optimizer(model, settings)
        self._objective, self._settings, self._device, self._seed, self._title = (
            objective,
            settings,
            device,
            seed,
            title,
        )
        self._budget = math.inf if settings.minutes is None else 60 * settings.minutes
        self._steps = len(objective.steps(1))
        self._loss = math.nan
        self.result = FitResult()
        self.weights: Weights = {}  # of the best epoch
        self.step = 0  # steps of the epoch under way that are done
        self.seconds = 0.0  # of all steps

    @property
    def is_over(self) -> bool:
        """True if the minutes of the settings have passed."""
        return self.seconds >= self._budget

    def begin(self, keep_untrained: bool) -> None:
        """Validate the untrained model."""
        self.result.history.append(self._objective.validate(self.model.eval()))
        self.weights = copied(self.model) if keep_untrained else {}
        LOGGER.info("%s: before training: %s", self._title, shown(self.result.history[0]))

    def learn(self, epoch: int, step: Any) -> None:
        """Learn from a step of an epoch."""
        begun = time.monotonic()
        torch.manual_seed((self._seed * 1000 + epoch) * 1_000_000 + self.step)
        total = max(1, self._settings.epochs * self._steps)
        # if the minutes end before the steps, the rate falls to 0 with them
        done = max((epoch - 1) * self._steps + self.step, math.floor(total * self.seconds / self._budget))
        rate = _learning_rate(self._settings, total, done)
        self._loss = _train_step(self.model, self.optimizer, self._objective.loss, step, rate, self._device)
        self.step += 1
        self.seconds += time.monotonic() - begun

    def end(self, epoch: int) -> None:
        """Validate the model after an epoch, and keep its weights if it is the best so far."""
        history, criterion = self.result.history, self._objective.criterion
        history.append(self._objective.validate(self.model.eval()))
        LOGGER.info("%s: epoch %d: %s", self._title, epoch, shown(history[-1]))
        best_so_far = criterion(history[self.result.best]) if self.weights else -math.inf
        if criterion(history[-1]) > best_so_far:
            self.result.best, self.weights = epoch, copied(self.model)
        self.step = 0

    def note(self) -> str:
        """Return the loss and the last validation, for the line of progress."""
        headline, last = self._objective.headline, self.result.history[-1]
        measure = last.get(headline, self._objective.criterion(last))
        return f"loss {self._loss:.4f}, held-out {headline or 'criterion'} {measure:.4f}"


def _optimizer(model: Any, settings: FitSettings) -> torch.optim.Optimizer:
    named = list(model.named_parameters())
    groups = [
        {"params": [p for name, p in named if not name.endswith(_NO_DECAY)], "weight_decay": _WEIGHT_DECAY},
        {"params": [p for name, p in named if name.endswith(_NO_DECAY)], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=settings.learning_rate, fused=True)


def _learning_rate(settings: FitSettings, total: int, done: int) -> float:
    # rises over the first of all steps, then falls to 0 at the last one
    warm = max(1, round(settings.warmup * total))
    if done < warm:
        return settings.learning_rate * (done + 1) / warm
    return settings.learning_rate * max(0.0, (total - done) / max(1, total - warm))


def _train_step(model: Any, optimizer: Any, loss_of: Any, step: Any, rate: float, device: torch.device) -> float:
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.zero_grad(set_to_none=True)
    with autocast(device):
        losses = loss_of(model, step)
    summands = iter([losses] if isinstance(losses, torch.Tensor) else losses)
    total = 0.0
    while True:
        with autocast(device):  # a generator computes its next summand here
            loss = next(summands, None)
        if loss is None:
            break
        if not torch.isfinite(loss):
            raise ModelError(f"training: the loss is {loss.item()}; lower learning_rate or look for empty examples")
        loss.backward()
        total += loss.item()
        del loss
    torch.nn.utils.clip_grad_norm_(model.parameters(), _LARGEST_NORM)
    optimizer.step()
    return total


def copied(model: Any) -> Weights:
    """Return a copy of the weights of a model, in memory."""
    return {name: tensor.detach().cpu().clone() for name, tensor in model.state_dict().items()}


def save_state(folder: Path, identity: Mapping[str, str], training: _Training) -> None:
    """Write the checkpoint from which a later process goes on: a folder that appears whole or not at all."""
    moments = {
        f"{name}.{number}": tensor.detach().cpu().contiguous()
        for number, state in training.optimizer.state_dict()["state"].items()
        for name, tensor in state.items()
    }
    done = {"fitted": training.result, "step": training.step, "seconds": training.seconds}
    weights = {"last": copied(training.model), "best": training.weights, "optimizer": moments}
    with replacing(folder) as temporary:
        temporary.mkdir()
        for name, tensors in weights.items():
            contiguous = {key: tensor.contiguous() for key, tensor in tensors.items()}
            save_file(contiguous, temporary / f"{name}.safetensors")
        (temporary / "state.json").write_bytes(msgspec.json.encode({"identity": identity, **done}))


def _load_state(folder: Path, identity: Mapping[str, str], training: _Training) -> bool:
    """Go on from a checkpoint; return False without one."""
    path = folder / "state.json"
    recover(folder)
    if not path.is_file():
        return False
    try:
        saved = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
        if others := [name for name, value in identity.items() if saved["identity"].get(name) != value]:
            raise ModelError(
                f"{folder}: this training was stopped with other {' and '.join(others)}; "
                "go on with the same, or delete it to begin anew"
            )
        training.result = msgspec.convert(saved["fitted"], FitResult)
        training.step, training.seconds = saved["step"], saved["seconds"]
        training.model.load_state_dict(load_file(folder / "last.safetensors"))
        training.weights = load_file(folder / "best.safetensors")
        moments = load_file(folder / "optimizer.safetensors")
        optimizer = training.optimizer
        for number, parameter in enumerate(p for group in optimizer.param_groups for p in group["params"]):
            if f"step.{number}" in moments:
                moved = {name: moments[f"{name}.{number}"].to(parameter.device) for name in ("exp_avg", "exp_avg_sq")}
                optimizer.state[parameter] = {"step": moments[f"step.{number}"], **moved}
        return True
    except (OSError, msgspec.MsgspecError, SafetensorError, RuntimeError, KeyError, AttributeError) as error:
        raise ModelError(
            f"{folder}: the checkpoint of a stopped training is damaged ({one_line(error)}); delete it"
        ) from error
