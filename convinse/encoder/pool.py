"""Shared models: a joint model is loaded once, and the span logits that it computes while ranking are cached.

The reranker, the bi-encoder, the reader and the heads of a pipeline may name the same joint model (`encoder.joint`). Through a
`ModelPool` they share its weights, its engine and the tokens of the texts, and the reader finds the spans of pairs
that the reranker has just scored in the pool's `SpanCache`.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ..config import Config, read_config
from ..support.errors import ConfigError, ConvinseError, ModelError
from ..support.manifest import recorded_sha256
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
from .settings import ModelSettings, configured, gpu_for_torch
from .tokens import TextTokenizer

if TYPE_CHECKING:
    from ..support.vectors import VectorCache

JOINT = "convinse_joint"  # the `model_type` of a joint model, known here without importing PyTorch
# keys of a pipeline's models in the order of their use, and a task of each
_FIRST_TASKS: dict[str, Task] = {"qu_rewriter": "embedding", "evs_model": "sequence-classification"}
_SHOWN = 120  # characters of a text in a message
_CACHED_TOKENS = 8_000_000  # of the span cache: about 200,000 evidences, 64 MB


@dataclass(frozen=True)
class Loaded:
    """A loaded model; its engine is shared if `pool` is set.

    `tokenizer` cuts texts to the configured length; `max_length` is the limit of the model.
    """

    engine: Engine
    tokenizer: TextTokenizer
    model_id: str
    max_length: int
    pool: ModelPool | None = None

    @property
    def spans(self) -> SpanCache | None:
        """The span cache of the pool; None if spans are not shared."""
        return None if self.pool is None else self.pool.spans

    @property
    def identity(self) -> str:
        """Return an id of the weights and the backend's precision."""
        return f"{self.model_id}/{self.engine.backend.identity}"


class PairSpans(NamedTuple):
    """The span logits of an uncut pair; `tokens` counts special tokens, too."""

    tokens: int
    logits: np.ndarray  # [1 + t, 2] float32: start and end logits of [CLS], then of the t tokens of the text


class SpanCache:
    """A cache of start and end logits by model and (query, text) pair; beyond `most_tokens` tokens the oldest pairs go."""

    def __init__(self, most_tokens: int = _CACHED_TOKENS) -> None:
        self._most = most_tokens
        self._pairs: dict[tuple[str, str, str], PairSpans] = {}
        self._tokens = 0

    def __len__(self) -> int:
        return len(self._pairs)

    def put(self, model: str, pairs: Iterable[tuple[str, str]], read: Iterable[PairSpans]) -> None:
        """Store the pairs that a model read."""
        for (query, text), fresh in zip(pairs, read, strict=True):
            key = (model, query, text)
            old = self._pairs.pop(key, None)  # moves the pair to the end of the order
            self._tokens += len(fresh.logits) - (0 if old is None else len(old.logits))
            self._pairs[key] = fresh
        while self._tokens > self._most:
            self._tokens -= len(self._pairs.pop(next(iter(self._pairs))).logits)

    def get(self, model: str, pairs: Sequence[tuple[str, str]]) -> list[PairSpans | None]:
        """Return the stored pairs, None for missing ones."""
        return [self._pairs.get((model, query, text)) for query, text in pairs]


class ModelPool:
    """A loader of models; a joint model is loaded once for its files, device, backend, precision and token budget.

    `spans` is the span cache; None if no reader shares it.
    """

    def __init__(self) -> None:
        self.spans: SpanCache | None = None
        self._joint: dict[tuple[object, ...], Loaded] = {}

    def open_ahead(self, config: Config) -> None:
        """Begin to open the joint models that a configuration names; one that is missing or damaged is an error of its first use."""
        for key, task in _FIRST_TASKS.items():
            name = config[key]
            if name and is_exported(folder := Path(model_path(name))) and _joint_name(folder) is not None:
                with contextlib.suppress(ConvinseError):
                    self.load(folder, task, configured(config, key))

    def share_spans(self) -> None:
        """Cache the spans of joint models while they rank from now on; a reader uses them instead of computing."""
        if self.spans is None:
            self.spans = SpanCache()

    def clear_spans(self) -> None:
        """Empty the span cache; the models stay loaded."""
        if self.spans is not None:
            self.spans = SpanCache()

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
    # a hash of the files of a joint model, the name itself if it is no folder (a hub name); None for other local models
    folder = Path(model).expanduser()
    if not folder.exists():
        return str(model)
    return folder_id(folder, HEADS) if model_config(folder).get("model_type") == JOINT else None


class ModelHead:
    """A loaded model for a task; the subclasses compute with it.

    Args:
        model: a folder with `model.safetensors`, a hub name, `snapshot:NAME`, a checkpoint in memory (modified in place,
            never shared), or a configuration or its name (`*.yml`), which then gives the model and the settings.
        device: where to compute, instead of the one of the settings.
        settings: how to compute; None: the defaults of the class, `usual`.
        models: the pool that shares a joint model; None loads one for this object alone.
        options: single settings (`precision`, `max_length`, `token_budget` ...) that override `settings`; see `ModelSettings`.

    Raises:
        ModelError: the model is missing or damaged, or lacks the head; later, a result is not a number.
        ConfigError: the device is missing, or cannot compute in this precision.
        DependencyError: the model has no ONNX files, and the extra `neural` is not installed.
    """

    task: ClassVar[Task]
    head: ClassVar[Output | None] = None  # an output beyond the task's own that the model must have
    usual: ClassVar[ModelSettings] = ModelSettings()
    key = "evs_model"  # names the model in a configuration

    def __init__(
        self,
        model: str | Path | Checkpoint | Config,
        device: str | None = None,
        *,
        settings: ModelSettings | None = None,
        models: ModelPool | None = None,
        **options: Any,
    ) -> None:
        if not isinstance(model, Checkpoint):
            name = model
            if not isinstance(name, (str, Path)) or str(name).endswith((".yml", ".yaml")):
                config = read_config(name)
                settings = settings or configured(config, self.key, self.usual.max_length)
                name = config[self.key]
                if not name:
                    raise ConfigError(f"{self.key}: the configuration names no model; name one, such as snapshot:model")
            model = model_path(name)
        settings = settings or self.usual
        self.settings = dataclasses.replace(settings, device=device or settings.device, **options)
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
            self.model_id = f"{self.model_id}/{precision}/{file}/{recorded_sha256(self._folder / file)}"

    def use_cache(self, vectors: VectorCache) -> None:
        """Use a cache of vectors from now on: of single precision, so that results stay the same, and of this `model_id`."""
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
