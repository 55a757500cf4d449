"""What all trainings of a neural model share: from a checkpoint to a model folder with its card.

A trainer adds what is its own: what is learned, and what the card says of it. Every training goes on where it was stopped,
keeps its best epoch, and replaces an older model at its output when the new one is written. It raises
`NothingToTrainError` (no checkpoint to start from is named), `DataError` (a file is missing or wrong, or there is nothing to
learn from), `ModelError` (the checkpoint cannot be loaded, or training diverges) or `OutputError` (at the output is something
else than a model that was trained here).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from ..config import Config, FitSettings, StageTraining
from ..encoder.checkpoint import Checkpoint
from ..support.errors import NothingToTrainError
from .learning import FitResult, Learning, Measures, shown
from .output import check_output, model_card, settings_list, state_of, validation_table, write_trained

LOGGER = logging.getLogger(__name__)


class Start(NamedTuple):
    """What a training begins with: the checkpoint's name, what named it (for messages), the folder to write."""

    base: str
    key: str
    output: Path


@dataclass
class Run:
    """A training of a checkpoint, in place. It goes on where an earlier run of the same `run_id` was stopped.

    name: the command, such as `train ers`; run_id: see `output.run_id`; quiet: no progress (None: where nothing is logged).
    """

    name: str
    start: Start
    checkpoint: Checkpoint
    settings: FitSettings
    run_id: str
    device: str
    seed: int
    quiet: bool | None = None
    _begun: float = 0.0

    def log_sizes(self, kind: str, train: int, dev: int, lexical: Measures | None = None) -> None:
        """Log how many examples there are, and the measures of BM25, which needs no training."""
        LOGGER.info("%s: %d %s to train on, %d to validate on", self.name, train, kind, dev)
        if lexical is not None:
            LOGGER.info("%s: BM25 alone: %s", self.name, shown(lexical))

    def fit(self, learning: Learning[Any]) -> FitResult:
        """Train; the checkpoint ends with the weights of the best epoch.

        Raises:
            ModelError: the loss is not a number, or what a stopped run left is damaged.
        """
        from .loop import fit

        self._begun = time.perf_counter()
        return fit(
            self.checkpoint.model,
            learning,
            self.settings,
            state_of(self.start.output),
            self.run_id,
            device=self.device,
            seed=self.seed,
            title=self.name,
            quiet=not LOGGER.isEnabledFor(logging.INFO) if self.quiet is None else self.quiet,
            keep_untrained=not self.checkpoint.missing,  # a random head is no model
        )

    def write(
        self,
        fitted: FitResult,
        title: str,
        use: str,
        data: str,
        measured: str,
        *,
        task: str | None = None,
        library: str = "transformers",
        arguments: Sequence[str] = (),
        settings: msgspec.Struct | Mapping[str, Any] | None = None,
        sections: Mapping[str, str] | None = None,
        rows: Mapping[str, Measures] | None = None,
        names: Sequence[str] | None = None,
        record: Mapping[str, Any] | None = None,
        more: Callable[[Path], None] | None = None,
        unit: str = "epoch",
        remark: str = "",
    ) -> Path:
        """Write the model folder and log where it is; an older model there is replaced.

        Args:
            title, use: of the card: what the model is, its input and output.
            data, measured: what it learned from, and what the measures of the validation mean.
            task, library: what Hugging Face calls `pipeline_tag` and `library_name`.
            settings: those that the card shows (None: those of the run).
            rows, names: see `validation_table`.
            record, more: see `write_trained`.
            unit, remark: what the log calls an epoch, and the end of its line.
        """
        command = " ".join(["convinse", self.name, *arguments])
        seconds = time.perf_counter() - self._begun
        card = model_card(
            title,
            f"{use}\nTrained by `{command}` from `{self.start.base}` in {seconds:.0f} s, seed {self.seed}.",
            {
                "Data": data,
                "Settings": settings_list(msgspec.to_builtins(settings or self.settings)),
                **(sections or {}),
                "Validation": f"{measured}\n\n{validation_table(fitted, names, rows)}",
            },
            {"library_name": library, "pipeline_tag": task},
        )
        write_trained(self.checkpoint, self.start.output, card, fitted, record, more)
        LOGGER.info("%s: %s %d is in %s%s", self.name, unit, fitted.best, self.start.output, remark)
        return self.start.output


def start_of(config: Config, stage: Literal["qu", "evs", "ha"], kind: str = "") -> Start:
    """The start of a stage's training: `STAGE_training.base`, else `STAGE_model`; `kind` says what it must be.

    Raises:
        NothingToTrainError: neither is named.
        OutputError: at the output is something else than a model that was trained here.
    """
    settings: StageTraining = getattr(config, f"{stage}_training")
    base = settings.base or getattr(config, f"{stage}_model")
    if base is None:
        raise NothingToTrainError(
            f"train {'ers' if stage == 'evs' else stage} needs a checkpoint to start from: "
            f"set {stage}_training: {{base: FOLDER or hub name}}{kind}"
        )
    key = f"{stage}_training.base" if settings.base else f"{stage}_model"
    return Start(base, key, output_of(config, stage))


def output_of(config: Config, stage: Literal["qu", "evs", "ha"]) -> Path:
    """The folder that a stage's training writes; see `start_of`."""
    named = getattr(config, f"{stage}_training").output
    output = Path(named or Path(config.output_path) / config.name / f"{stage}_model").expanduser()
    check_output(output, f"{stage}_training.output")
    return output
