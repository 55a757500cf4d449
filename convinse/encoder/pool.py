"""Shared models: a joint model is loaded once, and the spans that it read while ranking are cached.

The reranker, the bi-encoder and the reader of a pipeline may name the same joint model (`encoder.joint`). Through a
`ModelPool` they share its weights, its engine and the tokens of the texts, and the reader finds the spans of pairs
that the reranker has just scored in the pool's `SpanMemory`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from ..config import Config, read_config
from ..support.checksums import sha256
from ..support.errors import ConfigError, ModelError
from .checkpoint import (
    HEAD_FILES,
    HEADS,
    Checkpoint,
    Task,
    folder_id,
    load_checkpoint,
    model_config,
    model_path,
    row_form_of,
)
from .engine import Engine, ModelBackend, Output
from .exported import OUTPUT_OF, is_exported, read_exported
from .onnx_backend import OnnxBackend
from .settings import ModelChanges, ModelSettings, configured, gpu_for_torch
from .tokens import TextTokenizer

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..support.vectors import VectorCache

JOINT = "convinse_joint"  # the `model_type` of a joint model, known here without importing PyTorch
_SHOWN = 120  # characters of a text in a message
_CACHED_TOKENS = 8_000_000  # of pairs: about 200,000 evidences, 64 MB


@dataclass(frozen=True)
class Loaded:
    """A model ready to compute; the pool shares its engine.

    `tokenizer` cuts to the length of the settings, `max_length` is the most that the model can take.
    """

    engine: Engine
    tokenizer: TextTokenizer
    model_id: str
    max_length: int
    pool: ModelPool | None = None

    @property
    def spans(self) -> SpanMemory | None:
        """Return the memory of the spans that a joint model reads while it ranks; None if they are not shared."""
        return None if self.pool is None else self.pool.spans

    @property
    def identity(self) -> str:
        """Return an id of the weights and the backend's precision."""
        return f"{self.model_id}/{self.engine.backend.identity}"


class ReadPair(NamedTuple):
    """The spans of a pair that was not cut, of so many tokens with the special ones."""

    tokens: int
    logits: np.ndarray  # [1 + t, 2] float32, start and end, of [CLS] and of the text's tokens


class SpanMemory:
    """Start and end logits of (query, text) pairs by model: the most recent ones, of `most_tokens` in all."""

    def __init__(self, most_tokens: int = _CACHED_TOKENS) -> None:
        self._most = most_tokens
        self._pairs: dict[tuple[str, str, str], ReadPair] = {}
        self._tokens = 0

    def __len__(self) -> int:
        return len(self._pairs)

    def put(self, model: str, pairs: Iterable[tuple[str, str]], read: Iterable[ReadPair]) -> None:
        """Store the pairs that a model read."""
        for (query, text), fresh in zip(pairs, read, strict=True):
            key = (model, query, text)
            old = self._pairs.pop(key, None)  # so that the new one is the youngest
            self._tokens += len(fresh.logits) - (0 if old is None else len(old.logits))
            self._pairs[key] = fresh
        while self._tokens > self._most:
            self._tokens -= len(self._pairs.pop(next(iter(self._pairs))).logits)

    def get(self, model: str, pairs: Sequence[tuple[str, str]]) -> list[ReadPair | None]:
        """Return the stored pairs, None for missing ones."""
        return [self._pairs.get((model, query, text)) for query, text in pairs]


class ModelPool:
    """A loader of models that loads a joint model once for its files, device, backend, precision and token budget.

    `spans` is the memory of spans read while ranking, None if no reader shares it.
    """

    def __init__(self) -> None:
        self.spans: SpanMemory | None = None
        self._joint: dict[tuple[object, ...], Loaded] = {}

    def share_spans(self) -> None:
        """Store from now on the spans that joint models read while they rank, for a reader that looks there first."""
        if self.spans is None:
            self.spans = SpanMemory()

    def forget(self) -> None:
        """Forget all spans; the models stay."""
        if self.spans is not None:
            self.spans = SpanMemory()

    def load(self, model: str | Path, task: Task, settings: ModelSettings) -> Loaded:
        """Load a model for a task; raises the errors of `ModelHead`."""
        name = _joint_name(model)
        key = (name, settings.device, settings.backend, settings.precision, settings.token_budget)
        shared = None if name is None else self._joint.get(key)
        if shared is None:
            made = _loaded(model, task, settings)
            if name is None or "spans" not in made.engine.backend.outputs or len(made.engine.backend.outputs) == 1:
                return made
            shared = dataclasses.replace(made, pool=self)
            self._joint[key] = shared
        _check_task(shared.engine.backend, task, settings, str(model))
        return dataclasses.replace(
            shared, tokenizer=shared.tokenizer.limited(min(settings.max_length, shared.max_length))
        )


def _loaded(model: str | Path | Checkpoint, task: Task, settings: ModelSettings) -> Loaded:
    folder = None if isinstance(model, Checkpoint) else Path(model).expanduser()
    where = f"{settings.key}: {model}"
    if settings.backend == "auto" and folder is not None:
        on_cpu = settings.device == "cpu" or (settings.device == "auto" and not gpu_for_torch())
        by_onnx = on_cpu and settings.precision in ("auto", "fp32", "int8") and is_exported(folder)
    else:
        by_onnx = settings.backend == "onnx"
    if folder is None or not by_onnx:
        checkpoint = model if isinstance(model, Checkpoint) else load_checkpoint(model, task, settings.key)
        from .torch_backend import TorchBackend

        name = str(checkpoint.folder or "a model") if isinstance(model, Checkpoint) else str(model)
        engine = Engine(TorchBackend(checkpoint, task, settings, name), settings.token_budget)
        tokenizer = TextTokenizer.of(checkpoint, settings.max_length)
        return Loaded(engine, tokenizer, checkpoint.model_id, checkpoint.max_length)
    exported = read_exported(folder, where)
    backend = OnnxBackend(exported, folder, settings, where)
    _check_task(backend, task, settings, str(model))
    tokenizer = exported.tokenizer(folder, settings.max_length, where)
    return Loaded(Engine(backend, settings.token_budget), tokenizer, folder_id(folder), exported.max_length)


def _check_task(backend: ModelBackend, task: Task, settings: ModelSettings, name: str) -> None:
    if OUTPUT_OF[task] not in backend.outputs:
        has = ", ".join(sorted(backend.outputs))
        raise ModelError(
            f"{settings.key}: {name}: is not a model for {task}: its graphs compute {has}; export another checkpoint"
        )


def _joint_name(model: str | Path) -> str | None:
    # an id of its files, or the name on a hub; None for any other model
    folder = Path(model).expanduser()
    if not folder.exists():
        return str(model)
    return folder_id(folder, HEADS) if model_config(folder).get("model_type") == JOINT else None


class HeadOptions(ModelChanges, total=False):
    """Keyword arguments of every `ModelHead`."""

    settings: ModelSettings | None
    models: ModelPool | None


class ModelHead:
    """A loaded model for a task; the subclasses compute with it.

    Args:
        model: a folder with `model.safetensors`, a hub name, `snapshot:NAME`, a checkpoint in memory (it is changed, and never
            shared), or a configuration or its name (`*.yml`), whose model of this kind and settings are used.
        device: where to compute, instead of the one of the settings.
        settings: how to compute; None: as is usual for the task.
        models: where a joint model is shared with others; None loads one for this use alone.
        changes: single settings (`precision`, `max_length`, `token_budget` ...) instead; see `ModelSettings`.

    Raises:
        ModelError: the model is missing or damaged, or lacks the head; later, a result is not a number.
        ConfigError: the device is missing, or cannot compute in this precision.
        DependencyError: the model has no ONNX files, and the extra `neural` is not installed.
    """

    task: ClassVar[Task]
    head: ClassVar[Output | None] = None  # that a joint model must have
    usual: ClassVar[ModelSettings] = ModelSettings()
    key = "evs_model"  # names the model in a configuration
    length_key = "evs_max_length"

    def __init__(
        self,
        model: str | Path | Checkpoint | Config,
        device: str | None = None,
        *,
        settings: ModelSettings | None = None,
        models: ModelPool | None = None,
        **changes: Unpack[ModelChanges],
    ) -> None:
        if not isinstance(model, Checkpoint):
            name = model
            if not isinstance(name, (str, Path)) or str(name).endswith((".yml", ".yaml")):
                config = read_config(name)
                settings = settings or configured(config, self.key, getattr(config, self.length_key))
                name = getattr(config, self.key)
                if not name:
                    raise ConfigError(f"{self.key}: the configuration names no model; name one, such as snapshot:model")
            model = model_path(name)
        self.settings = (settings or self.usual).changed(device, **changes)
        if models is None or isinstance(model, Checkpoint):
            self._loaded = _loaded(model, self.task, self.settings)
        else:
            self._loaded = models.load(model, self.task, self.settings)
        self.tokenizer, self.engine, self.model_id = self._loaded.tokenizer, self._loaded.engine, self._loaded.model_id
        self.row_form = row_form_of(model)
        self._folder = model.folder if isinstance(model, Checkpoint) else Path(model)
        self._vectors: VectorCache | None = None
        if self.head is not None:
            name, file = HEAD_FILES[self.head]
            if self.head not in self.engine.backend.outputs or self._folder is None:
                raise ModelError(f"{self.settings.key}: {model}: has no {name} head; train one with train embedded")
            precision = f"{self.tokenizer.max_length}/{self.engine.backend.identity}"
            self.model_id = f"{self.model_id}/{precision}/{file}/{sha256(self._folder / file)}"

    def keep_in(self, vectors: VectorCache) -> None:
        """Use a cache from now on, of single precision, so that results do not change, and of this `model_id`."""
        self._vectors = vectors

    def _check_numbers(self, name: str, numbers: np.ndarray, texts: Sequence[str]) -> None:
        wrong = np.flatnonzero(~np.isfinite(numbers).all(axis=tuple(range(1, numbers.ndim))))
        if len(wrong):
            raise self._not_a_number(name, texts[int(wrong[0])])

    def _not_a_number(self, name: str, text: str) -> ModelError:
        return ModelError(
            f"{self.settings.key}: the {name} of {text[:_SHOWN]!r} is not a number; the model's weights are broken, or try "
            "precision: fp32"
        )
