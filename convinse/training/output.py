"""What training leaves behind: a model folder with a card and a record, which appears when it is complete."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ..encoder.checkpoint import Checkpoint, save_checkpoint
from ..support.errors import NothingToTrainError, OutputError
from ..support.files import remove, replacing

if TYPE_CHECKING:
    from ..config import Config, EvsTraining, HaTraining, QuTraining
    from .loop import FitResult

_RECORD = "training.json"


def check_output(output: Path, key: str) -> None:
    """Raise `OutputError` unless `output` (named by `key`) is free, or holds a model that was trained here."""
    if not output.exists() or (output / _RECORD).is_file() or (output.is_dir() and not any(output.iterdir())):
        return
    raise OutputError(f"{output}: is no model that was trained here, so it is not replaced; name another {key}")


class Start(NamedTuple):
    """What a training begins with: the checkpoint's name, the configuration key that named it, the folder to write."""

    base: str
    key: str
    output: Path


def start_of(
    config: Config,
    stage: str,
    settings: EvsTraining | HaTraining | QuTraining,
    model: str | None,
    name: str,
    kind: str = "",
) -> Start:
    """The start of a stage's training: `STAGE_training.base`, else the configured model.

    Args:
        config: names the run's folder.
        stage: as the configuration's keys have it: `evs`, `ha`, `qu`.
        settings: of the training.
        model: the configured one.
        name: of the stage for `train`.
        kind: what a checkpoint must be, for the message.

    Raises:
        NothingToTrainError: neither is named.
        OutputError: at the output is something else than a model that was trained here.
    """
    base, key = settings.base or model, f"{stage}_training"
    if base is None:
        raise NothingToTrainError(
            f"train {name} needs a checkpoint to start from: set {key}: {{base: FOLDER or hub name}}{kind}"
        )
    return Start(base, f"{key}.base" if settings.base else f"{stage}_model", output_of(config, stage, settings))


def output_of(config: Config, stage: str, settings: EvsTraining | HaTraining | QuTraining) -> Path:
    """The folder that a stage's training writes; see `start_of`."""
    output = Path(settings.output or Path(config.output_path) / config.name / f"{stage}_model").expanduser()
    check_output(output, f"{stage}_training.output")
    return output


def state_of(output: Path) -> Path:
    """Where a training that writes to `output` keeps what a stopped run goes on from."""
    return output.with_name(f".{output.name}.training")


def write_trained(
    checkpoint: Checkpoint,
    output: Path,
    card: str,
    fitted: FitResult,
    record: Mapping[str, Any] | None = None,
    more: Callable[[Path], None] | None = None,
    **options: Any,
) -> None:
    """Write model, tokenizer, card (`README.md`) and record (`training.json`); then the state of the run goes.

    Args:
        checkpoint: with the weights of the best epoch.
        output: the folder; an older model there is replaced.
        card: Markdown.
        fitted: the measures of all epochs go into the record.
        record: what else goes into it.
        more: writes further files into the folder.
        options: go to the model's `save_pretrained`.
    """
    with replacing(output) as temporary:
        save_checkpoint(checkpoint, temporary, **options)
        if more is not None:
            more(temporary)
        (temporary / "README.md").write_text(card, encoding="utf-8")
        content = {"best_epoch": fitted.best, "epochs": fitted.history, **(record or {})}
        (temporary / _RECORD).write_bytes(msgspec.json.format(msgspec.json.encode(content)))
    remove(state_of(output))


def settings_list(settings: Mapping[str, Any]) -> str:
    """Settings as a Markdown list."""
    return "\n".join(f"- {key}: {value}" for key, value in settings.items())


def validation_table(
    fitted: FitResult, names: Sequence[str] | None = None, others: Mapping[str, Mapping[str, float]] | None = None
) -> str:
    """The measures of every epoch as a Markdown table.

    Args:
        fitted: the epochs; epoch 0 is the model before training.
        names: the measures to show; None: all.
        others: rows before those of the epochs, by their name.
    """
    names = list(fitted.history[0]) if names is None else names
    kept = {
        f"{epoch}{' (kept)' if epoch == fitted.best else ''}": measures for epoch, measures in enumerate(fitted.history)
    }
    rows = [
        f"| {name} | " + " | ".join(f"{measures[measure]:.4f}" for measure in names) + " |"
        for name, measures in {**(others or {}), **kept}.items()
    ]
    return "\n".join([f"| epoch | {' | '.join(names)} |", f"|---|{'---|' * len(names)}", *rows])
