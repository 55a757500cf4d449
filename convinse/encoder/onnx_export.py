"""Models for ONNX Runtime: graphs over the weights of a Hugging Face folder, written and verified; see `encoder.exported`."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Literal, get_args

import msgspec
import numpy as np

from ..support import manifest as manifests
from ..support.checksums import sha256
from ..support.errors import ModelError, missing_extra, one_line
from ..support.files import replacing
from .checkpoint import HEADS, Checkpoint, Task, load_checkpoint, model_config, save_checkpoint
from .engine import PER_TOKEN, ModelBackend, Output
from .exported import MANIFEST, ExportedModel
from .onnx_backend import OnnxBackend
from .pooling import hub_pooling, pools_first, write_pooling
from .settings import ModelSettings
from .tokens import Sequences, TextTokenizer

Graph = Literal["fp32", "int8"]
GRAPHS: dict[Graph, str] = {"fp32": "model.onnx", "int8": "model_int8.onnx"}
_CLOSE = 1e-4  # to PyTorch's numbers; of those above 1 this part
_ALIKE = 0.98  # correlation of int8 with PyTorch's numbers, or there is no int8 graph
_ORDER: tuple[Output, ...] = get_args(Output)
_ON_CPU = ModelSettings(device="cpu", precision="fp32", backend="torch")
_COPIED = ("*.json", "*.md", "1_Pooling/config.json", "model*.safetensors", *HEADS)  # of a folder
_QUESTIONS = (
    "Who wrote The Hobbit?",
    "The Hobbit, J. R. R. Tolkien: when was the book published, and is it a novel for children?",
    "Wann wurde die Stadt gegründet?",
    "Is the capital on a river?",
)
_TEXTS = (
    "The Hobbit is a novel by J. R. R. Tolkien, published in 1937.",
    "Titanic, director, James Cameron",
    "Paris, the capital of France, lies on the Seine. " * 12,
    "1937",
)


def export_model(model: str | Path, folder: Path, task: Task | None = None) -> tuple[ExportedModel, float, float]:
    """Write a checkpoint (a folder with safetensors, or a hub name) as a folder that ONNX Runtime and PyTorch compute.

    Without a task its `config.json` says what it is for.

    Returns:
        The manifest, the greatest difference between the fp32 graph and PyTorch (of numbers above 1 their part), and the
        least correlation of an output of the int8 graph with PyTorch's.

    Raises:
        ModelError: it cannot be loaded, or ONNX cannot say what it computes.
        DependencyError: the extra `neural` is not installed.
        OutputError: it cannot be written.
    """
    _require()
    task = task or _task(model)
    checkpoint = load_checkpoint(model, task)
    with replacing(folder) as temporary:
        temporary.mkdir()
        _write_checkpoint(checkpoint, str(model), task, temporary)
        written = write_graphs(temporary, task, str(model))
        manifests.seal(temporary, "model")
    return written


def write_graphs(folder: Path, task: Task | None = None, name: str | None = None) -> tuple[ExportedModel, float, float]:
    """Add the graphs and the manifest to a model folder, or replace them, after a check; see `export_model`."""
    _require()
    task = task or _task(folder)
    where = f"model: {name or folder}"
    checkpoint = load_checkpoint(folder, task)
    from onnx.external_data_helper import ExternalDataInfo

    from .onnx_graph import over_weights, stored_weights, traced_model, trunk_of, widest_channels
    from .torch_backend import TorchBackend

    backend = TorchBackend(checkpoint, task, _ON_CPU, name or str(folder))
    stored = stored_weights(checkpoint, folder)
    if stored is None:
        raise ModelError(f"{where}: its tensors are not named as the model's; export it to another folder")
    outputs: list[Output] = sorted(backend.outputs, key=_ORDER.index)
    samples = _samples(TextTokenizer.of(checkpoint, _ON_CPU.max_length))
    try:
        with widest_channels(checkpoint.model) as wide:
            expected = _computed(backend, samples, outputs)
        traced = traced_model(checkpoint, folder, samples[0], outputs)
    except Exception as error:  # tracing runs the code of any model
        raise _no_onnx(checkpoint, where, error) from error
    trunk = trunk_of(checkpoint.model)
    manifest = _manifest(checkpoint, task, folder, outputs, [entry.name for entry in traced.graph.input])
    with ExitStack() as stack:
        graphs = dict(GRAPHS)
        places = {graph: stack.enter_context(replacing(folder / file)) for graph, file in GRAPHS.items()}
        for graph, path in places.items():
            rounded = trunk if graph == "int8" else None
            path.write_bytes(over_weights(traced, stored, rounded, wide).SerializeToString())
        computed = {graph: _by_onnx(manifest, graph, path, checkpoint, where) for graph, path in places.items()}
        difference, correlation = _compared(computed, expected, checkpoint, where)
        if not correlation > _ALIKE:
            del graphs["int8"]
        digests = {file: sha256(places[graph]) for graph, file in graphs.items()}
        digests |= {
            file: sha256(folder / file)
            for file in sorted({ExternalDataInfo(tensor).location for tensor in stored.values()})
        }
        manifest = msgspec.structs.replace(manifest, files=digests, graphs=graphs)
        content = msgspec.json.format(msgspec.json.encode(manifest), indent=2)
        stack.enter_context(replacing(folder / MANIFEST)).write_bytes(content + b"\n")
        if is_sealed := (folder / manifests.MANIFEST).is_file():
            (folder / manifests.MANIFEST).unlink()  # that of the graphs before
    if "int8" not in graphs:
        (folder / GRAPHS["int8"]).unlink()
    if is_sealed:
        manifests.seal(folder, "model")
    return manifest, difference, correlation


def _by_onnx(manifest: ExportedModel, graph: Graph, path: Path, checkpoint: Checkpoint, where: str) -> list[np.ndarray]:
    trial = msgspec.structs.replace(manifest, graphs={graph: path.name}, files={path.name: sha256(path)})
    samples = _samples(trial.tokenizer(path.parent, _ON_CPU.max_length, where))
    for sample, original in zip(samples, _samples(TextTokenizer.of(checkpoint, _ON_CPU.max_length)), strict=True):
        if any(not np.array_equal(*ids) for ids in zip(sample.ids, original.ids, strict=True)):
            raise ModelError(
                f"{where}: its tokenizer.json makes other tokens than its tokenizer; save the tokenizer anew"
            )
    backend = OnnxBackend(trial, path.parent, replace(_ON_CPU, precision=graph), where)
    try:
        backend.start(samples[0], np.arange(2), trial.outputs[:1])()  # the heads with rows of their own, of no row
        return _computed(backend, samples, trial.outputs)
    except Exception as error:  # what the library raises has no common class
        raise _no_onnx(checkpoint, where, error) from error


def _compared(
    computed: Mapping[Graph, list[np.ndarray]], expected: list[np.ndarray], checkpoint: Checkpoint, where: str
) -> tuple[float, float]:
    # the greatest difference of fp32, and the least correlation of int8
    pairs = zip(computed["fp32"], expected, strict=True)
    difference = max(float(np.max(np.abs(onnx - torch) / np.maximum(1, np.abs(torch)))) for onnx, torch in pairs)
    if not difference <= _CLOSE:
        raise _no_onnx(checkpoint, where, f"its scores are off by {difference:.2g}")
    correlations = [
        float(np.corrcoef(onnx, torch)[0, 1])
        for onnx, torch in zip(computed["int8"], expected, strict=True)
        if np.ptp(torch) > _CLOSE
    ]
    return difference, min(correlations, default=1.0)


def _samples(tokenizer: TextTokenizer) -> list[Sequences]:
    pairs = [(question, text) for question in _QUESTIONS for text in _TEXTS]
    return [tokenizer.pairs(pairs), tokenizer.singles((*_QUESTIONS, *_TEXTS)), tokenizer.pairs(pairs[:1])]


def _computed(backend: ModelBackend, samples: Sequence[Sequences], outputs: Sequence[Output]) -> list[np.ndarray]:
    made: list[list[np.ndarray]] = [[] for _ in outputs]
    for sequences in samples:
        places = np.arange(len(sequences.ids))
        is_token = sequences.padded(places)[1] > 0
        for numbers, output, array in zip(made, outputs, backend.start(sequences, places, outputs)(), strict=True):
            numbers.append((array[is_token] if output in PER_TOKEN else array).ravel())
    return [np.concatenate(numbers) for numbers in made]


def _manifest(
    checkpoint: Checkpoint, task: Task, folder: Path, outputs: list[Output], inputs: list[str]
) -> ExportedModel:
    from ..support.version import __version__

    config = checkpoint.model.config
    made_by = {name: version(name) for name in ("torch", "transformers", "onnx")}
    return ExportedModel(
        outputs=outputs,
        inputs=inputs,
        graphs=dict(GRAPHS),
        files={},
        max_length=checkpoint.max_length,
        hidden_size=config.hidden_size,
        pad_id=checkpoint.tokenizer.pad_token_id or 0,
        task="joint" if len(outputs) > 1 else task,
        made_by={"convinse": __version__, **made_by},
        labels=config.num_labels if "relevance" in outputs else None,
        pooling=("cls" if pools_first(folder, "model") else "mean") if "embedding" in outputs else None,
    )


def _write_checkpoint(checkpoint: Checkpoint, name: str, task: Task, folder: Path) -> None:
    # weight files are copied if a graph can read them, else saved anew
    from .onnx_graph import stored_weights

    source = checkpoint.folder
    if source is not None:
        for path in (path for pattern in _COPIED for path in source.glob(pattern)):
            if path.name not in (MANIFEST, manifests.MANIFEST):  # which this export makes anew
                copy = folder / path.relative_to(source)
                copy.parent.mkdir(exist_ok=True)
                shutil.copyfile(path, copy)
    if source is None or stored_weights(checkpoint, folder) is None:
        for path in folder.glob("model*.safetensors*"):
            path.unlink()
        save_checkpoint(checkpoint, folder, save_original_format=False)  # under the names of the model
    else:
        # as PyTorch's users get it; the folder may have a vocabulary only
        checkpoint.tokenizer.save_pretrained(folder)
    if source is None and task == "embedding":
        first = pools_first(hub_pooling(name), f"model: {name}")
        write_pooling(folder, checkpoint.model.config.hidden_size, first)


def _task(model: str | Path) -> Task:
    from transformers.utils.hub import cached_file

    folder = Path(model).expanduser()
    try:
        if not folder.is_dir():
            folder = Path(cached_file(str(model), "config.json") or "none").parent
        name = str((model_config(folder).get("architectures") or [""])[0])
    except (OSError, ValueError, LookupError, TypeError):  # loading the model reports the fault
        return "embedding"
    if name.endswith("ForQuestionAnswering"):
        return "question-answering"
    return "sequence-classification" if name.endswith(("ForSequenceClassification", "JointModel")) else "embedding"


def _no_onnx(checkpoint: Checkpoint, where: str, cause: object) -> ModelError:
    said = f"{type(cause).__name__}: {one_line(cause)}" if isinstance(cause, Exception) else cause
    name = type(checkpoint.model).__name__
    return ModelError(f"{where}: {name} does not export to ONNX ({said}); compute it with backend: torch")


def _require() -> None:
    try:
        import onnx  # noqa: F401
        import torch  # noqa: F401
        import transformers  # noqa: F401
    except ImportError as error:
        raise missing_extra(
            f"export needs PyTorch, transformers and onnx; {error.name} is missing", "neural"
        ) from error
