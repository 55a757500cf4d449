"""A training loop for every model of the project: seeded, resumable, the best epoch kept."""

from __future__ import annotations

import logging
import math
import time
from pathlib import Path
from typing import Any

import msgspec
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from ..config import FitSettings
from ..encoder.devices import autocast, find_device
from ..support.errors import ModelError, one_line
from ..support.files import recover, replacing
from ..support.progress import progress
from .objective import FitResult, Objective, shown

LOGGER = logging.getLogger(__name__)
_LARGEST_NORM = 1.0  # of the gradient of a step
_NO_DECAY = ("bias", "LayerNorm.weight", "layer_norm.weight")

Weights = dict[str, torch.Tensor]


def fit(
    model: Any,
    objective: Objective[Any],
    settings: FitSettings,
    state: Path,
    run_id: str,
    *,
    device: str = "auto",
    seed: int = 42,
    title: str = "training",
    quiet: bool = False,
    keep_untrained: bool = False,
) -> FitResult:
    """Train a torch module in place; it ends with the weights of its best epoch, on the CPU.

    Args:
        state: a folder from which a stopped run with the same `run_id` goes on; the caller removes it.
        seed: of dropout; each epoch derives its own, so that a resumed run goes on as an uninterrupted one would.
        keep_untrained: whether the untrained model counts as an epoch that may be the best.

    Raises:
        ModelError: the loss is not a number, or the state is damaged.
    """
    model.to(place := find_device(device))
    optimizer = _optimizer(model, settings)
    saved = _load_state(state, run_id, model, optimizer)
    if saved is None:
        result, weights = FitResult([objective.validate(model.eval())]), _copy(model) if keep_untrained else {}
        LOGGER.info("%s: before training: %s", title, shown(result.history[0]))
    else:
        result, weights = saved
        LOGGER.info("%s: goes on after epoch %d", title, len(result.history) - 1)
    budget = math.inf if settings.minutes is None else 60 * settings.minutes
    number_of_steps = len(objective.steps(1))
    for epoch in range(len(result.history), settings.epochs + 1):
        if epoch - result.best > settings.patience or budget <= 0:
            break
        steps = objective.steps(epoch)
        torch.manual_seed(seed * 1000 + epoch)
        model.train()
        start = time.monotonic()
        with progress(f"{title}, epoch {epoch}", len(steps), "steps", quiet) as advance:
            for number, step in enumerate(objective.made(epoch, steps)):
                if time.monotonic() - start > budget:
                    LOGGER.info("%s: %.1f minutes are over after %d steps", title, settings.minutes, number)
                    break
                rate = _learning_rate(settings, number_of_steps, (epoch - 1) * number_of_steps + number)
                _train_step(model, optimizer, objective.loss, step, rate, place)
                advance()
        budget -= time.monotonic() - start
        result.history.append(objective.validate(model.eval()))
        LOGGER.info("%s: epoch %d: %s", title, epoch, shown(result.history[-1]))
        best_so_far = objective.criterion(result.history[result.best]) if weights else -math.inf
        if objective.criterion(result.history[-1]) > best_so_far:
            result.best, weights = epoch, _copy(model)
        save_state(state, run_id, model, optimizer, result, weights)
    if weights:
        model.load_state_dict(weights)
    model.to("cpu").eval()
    return result


def _optimizer(model: Any, settings: FitSettings) -> torch.optim.Optimizer:
    named = list(model.named_parameters())
    groups = [
        {"params": [p for name, p in named if not name.endswith(_NO_DECAY)], "weight_decay": settings.weight_decay},
        {"params": [p for name, p in named if name.endswith(_NO_DECAY)], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=settings.learning_rate, fused=True)


def _learning_rate(settings: FitSettings, steps: int, done: int) -> float:
    # rises over the first steps, then falls to 0 at the end of the last epoch
    total = max(1, settings.epochs * steps)
    warm = max(1, round(settings.warmup * total))
    if done < warm:
        return settings.learning_rate * (done + 1) / warm
    return settings.learning_rate * max(0.0, (total - done) / max(1, total - warm))


def _train_step(model: Any, optimizer: Any, loss_of: Any, step: Any, rate: float, device: torch.device) -> None:
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.zero_grad(set_to_none=True)
    with autocast(device):
        losses = loss_of(model, step)
    summands = iter([losses] if isinstance(losses, torch.Tensor) else losses)
    while True:
        with autocast(device):  # a generator computes its next summand here
            loss = next(summands, None)
        if loss is None:
            break
        if not torch.isfinite(loss):
            raise ModelError(f"training: the loss is {loss.item()}; lower learning_rate or look for empty examples")
        loss.backward()
        del loss
    torch.nn.utils.clip_grad_norm_(model.parameters(), _LARGEST_NORM)
    optimizer.step()


def _copy(model: Any) -> Weights:
    return {name: tensor.detach().cpu().clone() for name, tensor in model.state_dict().items()}


def save_state(folder: Path, run_id: str, model: Any, optimizer: Any, result: FitResult, weights: Weights) -> None:
    """Write the state from which a later process goes on: a folder that appears whole or not at all."""
    moments = {
        f"{name}.{number}": tensor.detach().cpu().contiguous()
        for number, state in optimizer.state_dict()["state"].items()
        for name, tensor in state.items()
    }
    with replacing(folder) as temporary:
        temporary.mkdir()
        save_file({name: tensor.contiguous() for name, tensor in _copy(model).items()}, temporary / "last.safetensors")
        save_file({name: tensor.contiguous() for name, tensor in weights.items()}, temporary / "best.safetensors")
        save_file(moments, temporary / "optimizer.safetensors")
        (temporary / "state.json").write_bytes(msgspec.json.encode({"run_id": run_id, "fitted": result}))


def _load_state(folder: Path, run_id: str, model: Any, optimizer: Any) -> tuple[FitResult, Weights] | None:
    path = folder / "state.json"
    recover(folder)
    if not path.is_file():
        return None
    try:
        saved = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
        if saved["run_id"] != run_id:
            LOGGER.info("%s: of other data or settings; training begins anew", folder)
            return None
        fitted = msgspec.convert(saved["fitted"], FitResult)
        model.load_state_dict(load_file(folder / "last.safetensors"))
        best = load_file(folder / "best.safetensors")
        moments = load_file(folder / "optimizer.safetensors")
        for number, parameter in enumerate(p for group in optimizer.param_groups for p in group["params"]):
            if f"step.{number}" in moments:
                moved = {name: moments[f"{name}.{number}"].to(parameter.device) for name in ("exp_avg", "exp_avg_sq")}
                optimizer.state[parameter] = {"step": moments[f"step.{number}"], **moved}
    except (OSError, msgspec.MsgspecError, SafetensorError, RuntimeError, KeyError) as error:
        raise ModelError(
            f"{folder}: the state of a stopped training is damaged ({one_line(error)}); delete it"
        ) from error
    return fitted, best
