"""Model folders that ONNX Runtime computes: their manifest, read and checked without PyTorch.

Beside the files of a Hugging Face checkpoint such a folder has a graph for each precision, whose weights lie in the
checkpoint's safetensors files, and the manifest `onnx.json` (`encoder.onnx_export` writes both).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from ..support.errors import ModelError, one_line
from ..support.jsonlines import JSON_ERRORS
from ..support.manifest import BY_HAND, check_folder, recorded_sha256
from .engine import Output
from .tokens import TextTokenizer

if TYPE_CHECKING:
    from .checkpoint import Task

MANIFEST = "onnx.json"
FORMAT = 2  # 1: levels whose products overflow without VNNI
_AGAIN = "export the model again, or use backend: torch"
OUTPUT_OF: dict[Task, Output] = {
    "sequence-classification": "relevance",
    "question-answering": "spans",
    "embedding": "embedding",
}
HEADS_WITH_ROWS: tuple[Output, ...] = ("yes_no", "answer_type", "rewrite")  # computed for requested rows only


def rows_of(head: Output) -> str:
    """Return the name of a graph's input that has the rows of a batch that a head shall compute."""
    return f"{head}_rows"


class ExportedModel(msgspec.Struct, frozen=True, kw_only=True):
    """The manifest of an exported model."""

    outputs: list[Output]
    inputs: list[str]
    graphs: dict[Literal["fp32", "int8"], str]  # file of each precision
    files: dict[str, str]  # SHA-256 of the graphs and of all that they read
    max_length: int
    hidden_size: int
    pad_id: int
    task: str = ""
    made_by: dict[str, str] = {}
    labels: int | None = None  # outputs of a relevance head
    pooling: Literal["mean", "cls"] | None = None
    format: int = FORMAT

    def check(self, folder: Path, graph: str, where: str) -> None:
        """Raise `ModelError` unless a graph and the files that it reads are those of the manifest."""
        for name, digest in self.files.items():
            if name in self.graphs.values() and name != graph:
                continue
            path = folder / name
            if not path.is_file():
                raise ModelError(f"{where}: no {name} there, which {MANIFEST} lists; copy it, {_AGAIN}")
            if recorded_sha256(path) != digest:
                raise ModelError(f"{where}: {name} is damaged, or not the one that {MANIFEST} was made for; {_AGAIN}")

    def tokenizer(self, folder: Path, max_length: int, where: str) -> TextTokenizer:
        """Read the folder's tokenizer, limited to `max_length` tokens. Raises `ModelError`."""
        from tokenizers import Tokenizer

        try:
            tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as error:  # the library raises nothing narrower
            raise ModelError(f"{where}: tokenizer.json cannot be read ({one_line(error)}); {_AGAIN}") from error
        return TextTokenizer(tokenizer, min(max_length, self.max_length), self.pad_id)


def is_exported(folder: Path) -> bool:
    """Return True if a folder has an ONNX manifest."""
    return (folder / MANIFEST).is_file()


def read_exported(folder: Path, where: str) -> ExportedModel:
    """Read the manifest of a folder. Raises `ModelError`."""
    path = folder / MANIFEST
    if not folder.is_dir():
        raise ModelError(f"{where}: no such folder; train a model first or give another folder or hub name")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelError(
            f"{where}: has no ONNX files ({MANIFEST}: {error.strerror}); convinse export makes them, or use backend: torch"
        ) from error
    try:
        made = msgspec.json.decode(content, type=ExportedModel)
    except JSON_ERRORS as error:
        raise ModelError(f"{where}: {MANIFEST} cannot be read ({one_line(error)}); {_AGAIN}") from error
    if made.format != FORMAT:
        raise ModelError(f"{where}: {MANIFEST} has format {made.format}, this version reads {FORMAT}; {_AGAIN}")
    check_folder(folder, ModelError, f"{where}: ", f"{_AGAIN}, {BY_HAND}")
    if not set(made.graphs.values()) <= made.files.keys() or any(Path(name).name != name for name in made.files):
        raise ModelError(f"{where}: {MANIFEST} has a graph without a checksum, or a file of another folder; {_AGAIN}")
    return made
