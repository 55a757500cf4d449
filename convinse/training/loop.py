"""A training loop for every model of the project: seeded, resumable, the best epoch kept."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from ..encoder.precision import find_device
from ..support.errors import ModelError, one_line
from ..support.files import replacing
from ..support.progress import progress

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from ..config import EvsTraining, HaTraining, QuTraining, ReaderTraining

LOGGER = logging.getLogger(__name__)
_LARGEST_NORM = 1.0  # of the gradient of a step
_NO_DECAY = ("bias", "LayerNorm.weight", "layer_norm.weight")


@dataclass(frozen=True)
class FitSettings:
    """How to train.

    Attributes:
        epochs: passes over the steps.
        learning_rate: the highest; it rises over the first `warmup` of all steps and falls to 0 over the others.
        minutes: of training steps, validation not counted; then the epoch is cut short and is the last.
        patience: epochs without a better validation after which training stops.
        device: `auto`, `cpu`, `cuda`, `cuda:1`.
        seed: of dropout; an epoch's is its own, so that a resumed run goes on as an uninterrupted one would.
    """

    epochs: int = 3
    learning_rate: float = 3e-5
    warmup: float = 0.1
    weight_decay: float = 0.01
    minutes: float | None = None
    patience: int = 2
    device: str = "auto"
    seed: int = 42

    @classmethod
    def of(
        cls, settings: EvsTraining | HaTraining | QuTraining | ReaderTraining, device: str, seed: int, parts: int = 1
    ) -> FitSettings:
        """Those of a section of the configuration; its epochs are cut into `parts`, each validated."""
        return cls(
            settings.epochs * parts,
            settings.learning_rate,
            settings.warmup,
            settings.weight_decay,
            settings.minutes,
            settings.patience,
            device,
            seed,
        )


@dataclass
class FitResult:
    """What training gave: the validation of every epoch (0: before training) and the number of the best."""

    history: list[dict[str, float]] = field(default_factory=list)
    best: int = 0


def fit(
    model: PreTrainedModel,
    steps_of: Callable[[int], Sequence[Any]],
    loss_of: Callable[[PreTrainedModel, Any], torch.Tensor | Iterable[torch.Tensor]],
    validate: Callable[[PreTrainedModel], dict[str, float]],
    criterion: Callable[[dict[str, float]], float],
    settings: FitSettings,
    state: Path,
    run_id: str,
    *,
    title: str = "training",
    quiet: bool = False,
    keep_untrained: bool = False,
) -> FitResult:
    """Train a model in place; it ends with the weights of its best epoch.

    Args:
        model: to be trained; it is moved to the device, and back to the CPU at the end.
        steps_of: the steps of an epoch (1, 2, ...); the same for the same number, and as many in each.
        loss_of: the loss of a step, a scalar; or its summands one by one, so that only one is in memory at a time.
        validate: measures of the model as it stands (in evaluation mode).
        criterion: from these measures to the number that the best epoch maximises.
        settings: see there.
        state: a folder for what a stopped run goes on from; removed by the caller when its model is written.
        run_id: changes with data and settings; the state of another run is not used.
        title: of the progress bar.
        quiet: no progress.
        keep_untrained: whether the model as given counts as an epoch that may be the best.

    Raises:
        ModelError: the loss is not a number, or the state is damaged.
    """
    device = find_device(settings.device)
    model.to(device)
    optimizer = _optimizer(model, settings)
    result, weights = FitResult(), {}
    saved = _load_state(state, run_id, model, optimizer)
    if saved is None:
        before = validate(model.eval())
        result.history.append(before)
        LOGGER.info("%s: before training: %s", title, _shown(before))
        if keep_untrained:
            weights = _copy(model)
    else:
        result, weights = saved
        LOGGER.info("%s: goes on after epoch %d", title, len(result.history) - 1)
    budget = math.inf if settings.minutes is None else 60 * settings.minutes
    total = max(1, settings.epochs * len(steps_of(1)))
    for epoch in range(len(result.history), settings.epochs + 1):
        if epoch - result.best > settings.patience or budget <= 0:
            break
        steps = steps_of(epoch)
        torch.manual_seed(settings.seed * 1000 + epoch)
        model.train()
        start = time.monotonic()
        with progress(f"{title}, epoch {epoch}", len(steps), "steps", quiet) as advance:
            for number, step in enumerate(steps):
                if time.monotonic() - start > budget:
                    LOGGER.info("%s: %.1f minutes are over after %d steps", title, settings.minutes, number)
                    break
                rate = _rate((epoch - 1) * len(steps) + number, total, settings)
                _train_step(model, optimizer, loss_of, step, rate, device)
                advance()
        budget -= time.monotonic() - start
        measures = validate(model.eval())
        result.history.append(measures)
        LOGGER.info("%s: epoch %d: %s", title, epoch, _shown(measures))
        best_so_far = criterion(result.history[result.best]) if weights else -math.inf
        if criterion(measures) > best_so_far:
            result.best, weights = epoch, _copy(model)
        _save_state(state, run_id, model, optimizer, result, weights)
    if weights:
        model.load_state_dict(weights)
    model.to("cpu").eval()
    return result


def autocast(device: torch.device) -> AbstractContextManager[Any]:
    """Mixed precision: bf16 where the device computes it faster, else nothing."""
    if device.type == "cuda":
        return torch.autocast("cuda", dtype=torch.bfloat16)
    if torch.backends.mkldnn.is_available() and torch.ops.mkldnn._is_mkldnn_bf16_supported():
        return torch.autocast("cpu", dtype=torch.bfloat16)
    return nullcontext()


def _optimizer(model: PreTrainedModel, settings: FitSettings) -> torch.optim.Optimizer:
    named = list(model.named_parameters())
    groups = [
        {"params": [p for name, p in named if not name.endswith(_NO_DECAY)], "weight_decay": settings.weight_decay},
        {"params": [p for name, p in named if name.endswith(_NO_DECAY)], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=settings.learning_rate, fused=True)


def _rate(step: int, total: int, settings: FitSettings) -> float:
    warm = max(1, round(settings.warmup * total))
    share = (step + 1) / warm if step < warm else max(0.0, (total - step) / max(1, total - warm))
    return settings.learning_rate * min(1.0, share)


def _train_step(model: Any, optimizer: Any, loss_of: Any, step: Any, rate: float, device: torch.device) -> None:
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.zero_grad(set_to_none=True)
    with autocast(device):
        found = loss_of(model, step)
    summands = iter([found] if isinstance(found, torch.Tensor) else found)
    while True:
        with autocast(device):  # what makes the summands computes when asked for the next
            loss = next(summands, None)
        if loss is None:
            break
        if not torch.isfinite(loss):
            raise ModelError(f"training: the loss is {loss.item()}; lower learning_rate or look for empty examples")
        loss.backward()
        del loss
    torch.nn.utils.clip_grad_norm_(model.parameters(), _LARGEST_NORM)
    optimizer.step()


def _copy(model: PreTrainedModel) -> dict[str, torch.Tensor]:
    return {name: tensor.detach().cpu().clone() for name, tensor in model.state_dict().items()}


def _shown(measures: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.4f}" for name, value in measures.items())


class _State(msgspec.Struct):
    run_id: str
    history: list[dict[str, float]]
    best: int


def _save_state(
    folder: Path, run_id: str, model: Any, optimizer: Any, result: FitResult, weights: dict[str, torch.Tensor]
) -> None:
    """All that a later process needs, in one folder that appears whole or not at all; safetensors and JSON only."""
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    moments = {
        f"{name}.{number}": optimizer.state[parameter][name].detach().cpu().contiguous()
        for number, parameter in enumerate(parameters)
        for name in ("step", "exp_avg", "exp_avg_sq")
        if parameter in optimizer.state
    }
    with replacing(folder) as temporary:
        temporary.mkdir()
        save_file({name: tensor.contiguous() for name, tensor in _copy(model).items()}, temporary / "last.safetensors")
        save_file({name: tensor.contiguous() for name, tensor in weights.items()}, temporary / "best.safetensors")
        save_file(moments, temporary / "optimizer.safetensors")
        (temporary / "state.json").write_bytes(msgspec.json.encode(_State(run_id, result.history, result.best)))


def _load_state(
    folder: Path, run_id: str, model: Any, optimizer: Any
) -> tuple[FitResult, dict[str, torch.Tensor]] | None:
    path = folder / "state.json"
    if not path.is_file():
        return None
    try:
        state = msgspec.json.decode(path.read_bytes(), type=_State)
        if state.run_id != run_id:
            LOGGER.info("%s: of other data or settings; training begins anew", folder)
            return None
        model.load_state_dict(load_file(folder / "last.safetensors"))
        best = load_file(folder / "best.safetensors")
        moments = load_file(folder / "optimizer.safetensors")
        parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        for number, parameter in enumerate(parameters):
            if f"step.{number}" in moments:
                optimizer.state[parameter] = {
                    "step": moments[f"step.{number}"],
                    "exp_avg": moments[f"exp_avg.{number}"].to(parameter.device),
                    "exp_avg_sq": moments[f"exp_avg_sq.{number}"].to(parameter.device),
                }
    except (OSError, msgspec.MsgspecError, SafetensorError, RuntimeError, KeyError) as error:
        raise ModelError(
            f"{folder}: the state of a stopped training is damaged ({one_line(error)}); delete it"
        ) from error
    return FitResult(state.history, state.best), best
