"""What training leaves behind: a model folder with a card and a record, which appears when it is complete."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ..encoder.checkpoint import Checkpoint, save_checkpoint
from ..support.errors import OutputError
from ..support.files import remove, replacing, sha256
from .learning import FitResult, Measures

_RECORD = "training.json"
_PLACES = ("name", "output_path", "output", "device")  # settings that say where something lies or is computed


def check_output(output: Path, key: str) -> None:
    """Raise `OutputError` unless `output` (named by `key`) is free, or holds a model that was trained here."""
    if not output.exists() or (output / _RECORD).is_file() or (output.is_dir() and not any(output.iterdir())):
        return
    raise OutputError(f"{output}: is no model that was trained here, so it is not replaced; name another {key}")


def state_of(output: Path) -> Path:
    """Where a training that writes to `output` keeps what a stopped run goes on from."""
    return output.with_name(f".{output.name}.training")


def run_id(
    settings: msgspec.Struct, model_id: str, files: Iterable[Path], *others: Any, without: Collection[str] = ()
) -> str:
    """What a stopped training is known by: it goes on only where all that its result depends on is the same.

    That is the settings (but for where it is written, what computes it, and the keys `without`), the checkpoint it starts
    from, the content of the files that it reads, and `others`, as JSON has it.
    """
    values = {key: value for key, value in msgspec.to_builtins(settings).items() if key not in (*_PLACES, *without)}
    parts = [values, model_id, [sha256(file) for file in files], *others]
    return hashlib.sha256(msgspec.json.encode(parts, order="sorted")).hexdigest()[:32]


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

    The measures of all epochs go into the record, besides what is given. `more` writes further files into the folder;
    `options` go to the model's `save_pretrained`. An older model at the output is replaced.
    """

    def write(folder: Path) -> None:
        save_checkpoint(checkpoint, folder, **options)
        if more is not None:
            more(folder)

    write_folder(output, write, card, {"best_epoch": fitted.best, "epochs": fitted.history, **(record or {})})
    remove(state_of(output))


def write_folder(output: Path, write: Callable[[Path], object], card: str, record: Mapping[str, Any]) -> None:
    """Write a model folder: what `write` puts into it, card and record. It appears when it is complete."""
    with replacing(output) as temporary:
        temporary.mkdir()
        write(temporary)
        (temporary / "README.md").write_text(card, encoding="utf-8")
        (temporary / _RECORD).write_bytes(msgspec.json.format(msgspec.json.encode(record)))


def model_card(title: str, about: str, sections: Mapping[str, str], front: Mapping[str, str | None]) -> str:
    """A model card in Markdown: what the model is, its input, output and origin, and sections by their headings.

    `front` has the keys that Hugging Face reads, such as `pipeline_tag`; those without a value are left out.
    """
    keys = "".join(f"{key}: {value}\n" for key, value in front.items() if value)
    head = f"---\n{keys}---\n" if keys else ""
    body = "".join(f"\n## {heading}\n{text.strip()}\n" for heading, text in sections.items())
    return f"{head}# {title}\n\n{about.strip()}\n{body}"


def settings_list(settings: Mapping[str, Any]) -> str:
    """Settings as a Markdown list."""
    return "\n".join(f"- {key}: {value}" for key, value in settings.items())


def validation_table(
    fitted: FitResult, names: Sequence[str] | None = None, others: Mapping[str, Measures] | None = None
) -> str:
    """The measures of every epoch (0: before training) as a Markdown table.

    `names` are the measures to show (None: all), `others` rows before those of the epochs, by their name.
    """
    names = list(fitted.history[0]) if names is None else names
    rows = [
        f"| {name} | " + " | ".join(f"{measures[measure]:.4f}" for measure in names) + " |"
        for name, measures in {**(others or {}), **fitted.rows()}.items()
    ]
    return "\n".join([f"| epoch | {' | '.join(names)} |", f"|---|{'---|' * len(names)}", *rows])
