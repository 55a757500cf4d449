"""The frame of all trainings of a neural model: from a checkpoint to a model folder with its card.

A trainer adds its objective and the texts of its card. Every training goes on where it was stopped, keeps its best epoch,
and replaces an older model at its output when the new one is written. Trainers raise `NothingToTrainError`, `DataError`,
`ModelError` (also if training diverges) or `OutputError` (at the output is something else than a model that was trained here).
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import msgspec

from ..config import Config, FitSettings, StageTraining
from ..encoder.checkpoint import Checkpoint, save_checkpoint
from ..support.checksums import sha256
from ..support.errors import DependencyError, ModelError, NothingToTrainError, OutputError
from ..support.files import remove, replacing
from ..support.manifest import seal
from .objective import FitResult, Measures, Objective, shown

LOGGER = logging.getLogger(__name__)
_RECORD = "training.json"
_PLACES = ("name", "output_path", "output", "device")  # settings that change no result


@dataclass
class Run:
    """A training of a checkpoint, in place, which goes on from a stopped run of the same identity (`identity_of`)."""

    name: str  # the command, such as `train ers`
    base: str  # the name of the checkpoint
    output: Path  # the folder to write
    checkpoint: Checkpoint
    settings: FitSettings
    identity: Mapping[str, str]
    device: str
    seed: int
    quiet: bool | None = None  # no progress (None: if nothing is logged)
    _begun: float = 0.0

    def log_sizes(self, kind: str, train: int, dev: int, lexical: Measures | None = None) -> None:
        """Log the numbers of examples, and the measures of BM25, which needs no training."""
        LOGGER.info("%s: %d %s to train on, %d to validate on", self.name, train, kind, dev)
        if lexical is not None:
            LOGGER.info("%s: BM25 alone: %s", self.name, shown(lexical))

    def fit(self, objective: Objective[Any]) -> FitResult:
        """Train; the checkpoint ends with the weights of the best epoch. See `loop.fit`."""
        from .loop import fit

        self._begun = time.perf_counter()
        return fit(
            self.checkpoint.model,
            objective,
            self.settings,
            state_of(self.output),
            self.identity,
            device=self.device,
            seed=self.seed,
            title=self.name,
            quiet=not LOGGER.isEnabledFor(logging.INFO) if self.quiet is None else self.quiet,
            keep_untrained=not self.checkpoint.missing,  # a random head is not a model
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
            title, use: the head of the card: the kind of the model, its input and output.
            data, measured, settings, sections: of the card, on the training data and on the validation.
            task, library: Hugging Face's `pipeline_tag` and `library_name`.
            rows, names: see `validation_table`.
            record, more: see `write_trained`.
            unit, remark: the log's word for an epoch, and the end of its line.
        """
        command = " ".join(["convinse", self.name, *arguments])
        seconds = time.perf_counter() - self._begun
        card = model_card(
            title,
            f"{use}\nTrained by `{command}` from `{self.base}` in {seconds:.0f} s, seed {self.seed}.",
            {
                "Data": data,
                "Settings": settings_list(msgspec.to_builtins(settings or self.settings)),
                **(sections or {}),
                "Validation": f"{measured}\n\n{validation_table(fitted, names, rows)}",
            },
            {"library_name": library, "pipeline_tag": task},
        )
        write_trained(self.checkpoint, self.output, card, fitted, record, partial(self._with_graphs, more))
        LOGGER.info("%s: %s %d is in %s%s", self.name, unit, fitted.best, self.output, remark)
        return self.output

    def _with_graphs(self, more: Callable[[Path], None] | None, folder: Path) -> None:
        if more is not None:
            more(folder)
        if self.checkpoint.model.config.is_encoder_decoder:
            return
        from ..encoder.onnx_export import write_graphs

        try:
            write_graphs(folder, name=str(self.output))
        except (ModelError, DependencyError) as error:
            LOGGER.warning("%s: no ONNX files: %s", self.name, error)


def start_of(config: Config, stage: Literal["qu", "evs", "ha"], kind: str = "") -> tuple[str, str, Path]:
    """Return the checkpoint that a stage's training starts from, the setting that names it (for messages), and the folder to write.

    The setting is `STAGE_training.base`, else `STAGE_model`; `kind` ends the error's remedy.
    """
    settings: StageTraining = config[f"{stage}_training"]
    base = settings.base or config[f"{stage}_model"]
    if base is None:
        raise NothingToTrainError(
            f"train {'ers' if stage == 'evs' else stage} needs a checkpoint to start from: "
            f"set {stage}_training: {{base: FOLDER or hub name}}{kind}"
        )
    key = f"{stage}_training.base" if settings.base else f"{stage}_model"
    return base, key, output_of(config, stage)


def stage_run(
    name: str,
    base: str,
    output: Path,
    checkpoint: Checkpoint,
    settings: FitSettings,
    config: Config,
    sources: Sequence[str],
) -> Run:
    """Return the training of a stage on the configured conversations with evidences of some sources."""
    identity = identity_of(config, checkpoint.model_id, map(config.input_path, ("train", "dev")), list(sources))
    return Run(name, base, output, checkpoint, settings, identity, config.device, config.seed)


def output_of(config: Config, stage: Literal["qu", "evs", "ha"]) -> Path:
    """Return the folder that a stage's training writes, if it may be written; see `start_of`."""
    named = config[f"{stage}_training"].output
    output = Path(named or Path(config.output_path) / config.name / f"{stage}_model").expanduser()
    check_output(output, f"{stage}_training.output")
    return output


def check_output(output: Path, key: str) -> None:
    """Raise `OutputError` unless `output` (named by `key`) is free, or holds a model that was trained here."""
    if not output.exists() or (output / _RECORD).is_file() or (output.is_dir() and not any(output.iterdir())):
        return
    raise OutputError(f"{output}: is not a model that was trained here, so it is not replaced; name another {key}")


def state_of(output: Path) -> Path:
    """Return the folder for the state of a stopped training that writes to `output`."""
    return output.with_name(f".{output.name}.training")


def identity_of(
    settings: msgspec.Struct, model_id: str, files: Iterable[Path], *more: Any, without: Collection[str] = ()
) -> dict[str, str]:
    """Return what the result of a training depends on, each part as a hash: only under the same identity a stopped run goes on.

    The parts are the settings (without those of output and device and the keys `without`), the checkpoint to start from,
    the data (the content of the files that the training reads, and `more`, as JSON), and the code of this package.
    """
    values = {key: value for key, value in msgspec.to_builtins(settings).items() if key not in (*_PLACES, *without)}
    data = [[sha256(file) for file in files], *more]
    parts = {"settings": values, "base": model_id, "data": data}
    return {**{name: hash_of(part) for name, part in parts.items()}, "code": code_of()}


def code_of(*folders: Path) -> str:
    """Return the hash of the code of the trainers, and of more folders of modules."""
    trainers = Path(__file__).parent
    return hash_of([sha256(file) for folder in (trainers, *folders) for file in sorted(folder.glob("*.py"))])


def hash_of(value: Any) -> str:
    """Return the hash of a value that JSON can hold."""
    return hashlib.sha256(msgspec.json.encode(value, order="sorted")).hexdigest()[:32]


def write_trained(
    checkpoint: Checkpoint,
    output: Path,
    card: str,
    fitted: FitResult,
    record: Mapping[str, Any] | None = None,
    more: Callable[[Path], None] | None = None,
    **options: Any,
) -> None:
    """Write model, tokenizer, card (`README.md`) and record (`training.json`); then remove the state of the run.

    The measures of all epochs are added to `record`. `more` writes further files into the folder; `options` go to the
    model's `save_pretrained`. An older model at the output is replaced.
    """

    def write(folder: Path) -> None:
        save_checkpoint(checkpoint, folder, **options)
        if more is not None:
            more(folder)

    write_folder(output, write, card, {"best_epoch": fitted.best, "epochs": fitted.history, **(record or {})})
    remove(state_of(output))


def write_folder(output: Path, write: Callable[[Path], object], card: str, record: Mapping[str, Any]) -> None:
    """Write a model folder with the files of `write`, card and record; the folder appears when it is complete."""
    with replacing(output) as temporary:
        temporary.mkdir()
        write(temporary)
        (temporary / "README.md").write_text(card, encoding="utf-8")
        (temporary / _RECORD).write_bytes(msgspec.json.format(msgspec.json.encode(record)))
        seal(temporary, "model")


def model_card(title: str, about: str, sections: Mapping[str, str], front: Mapping[str, str | None]) -> str:
    """Return a model card in Markdown, with its sections by their headings.

    `front` has the keys that Hugging Face reads, such as `pipeline_tag`; keys without a value are left out.
    """
    keys = "".join(f"{key}: {value}\n" for key, value in front.items() if value)
    head = f"---\n{keys}---\n" if keys else ""
    body = "".join(f"\n## {heading}\n{text.strip()}\n" for heading, text in sections.items())
    return f"{head}# {title}\n\n{about.strip()}\n{body}"


def settings_list(settings: Mapping[str, Any]) -> str:
    """Return settings as a Markdown list."""
    return "\n".join(f"- {key}: {value}" for key, value in settings.items())


def validation_table(
    fitted: FitResult, names: Sequence[str] | None = None, before: Mapping[str, Measures] | None = None
) -> str:
    """Return the measures of every epoch (0: before training) as a Markdown table.

    `names` are the measures to show (None: all), `before` the rows before those of the epochs, by their name.
    """
    return table_of("epoch", {**(before or {}), **fitted.rows()}, names)


def table_of(title: str, rows: Mapping[str, Measures], names: Sequence[str] | None = None, digits: int = 4) -> str:
    """Return measures (of `names`; None: all) by the names of their rows as a Markdown table."""
    names = list(next(iter(rows.values()))) if names is None else names
    lines = [
        f"| {name} | " + " | ".join(f"{measures[measure]:.{digits}f}" for measure in names) + " |"
        for name, measures in rows.items()
    ]
    return "\n".join([f"| {title} | {' | '.join(names)} |", f"|---|{'---|' * len(names)}", *lines])
