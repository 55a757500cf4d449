"""Models that several users share: a joint model is loaded once, and what was read while ranking is kept.

The reranker, the bi-encoder and the reader of a pipeline may name the same joint model (`encoder.joint`). Through a
`ModelPool` they share its weights, its engine and the tokens of the texts, and the reader finds the spans of pairs
that the reranker has just scored in the pool's `SpanMemory`.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from .checkpoint import Checkpoint, Task, folder_id, load_checkpoint
from .settings import DEFAULTS, ModelChanges, ModelSettings

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .engine import Engine
    from .tokens import TextTokenizer

JOINT = "convinse_joint"  # the `model_type` of a joint model, known here without importing PyTorch
_KEPT_TOKENS = 8_000_000  # of pairs: about 200,000 evidences, 64 MB


@dataclass(frozen=True)
class Loaded:
    """A model ready to compute.

    Attributes:
        checkpoint: what it was made of; its model is on the engine's device, in its precision.
        engine: runs it.
        tokenizer: cuts to the wanted length.
        pool: where the engine is shared with others; it must stay as it is.
    """

    checkpoint: Checkpoint
    engine: Engine
    tokenizer: TextTokenizer
    pool: ModelPool | None = None

    @property
    def spans(self) -> SpanMemory | None:
        """Where it is kept what a joint model reads while it ranks; None: this is no such model, or nobody asks."""
        return None if self.pool is None else self.pool.spans

    @property
    def identity(self) -> str:
        """The weights and how they compute."""
        return f"{self.checkpoint.model_id}/{self.engine.precision}"


class ReadPair(NamedTuple):
    """What a model read in a pair that was not cut.

    Attributes:
        tokens: of the pair, special tokens counted.
        logits: [1 + t, 2] float32, start and end, of [CLS] and of the text's tokens.
    """

    tokens: int
    logits: np.ndarray


class SpanMemory:
    """Start and end logits of (query, text) pairs by model: the most recent ones.

    Args:
        most_tokens: tokens kept in all; the oldest pairs go.
    """

    def __init__(self, most_tokens: int = _KEPT_TOKENS) -> None:
        self._most = most_tokens
        self._pairs: dict[tuple[str, str, str], ReadPair] = {}
        self._tokens = 0

    def __len__(self) -> int:
        return len(self._pairs)

    def put(self, model: str, pairs: Iterable[tuple[str, str]], read: Iterable[ReadPair]) -> None:
        """Keep what a model read."""
        for (query, text), fresh in zip(pairs, read, strict=True):
            key = (model, query, text)
            old = self._pairs.pop(key, None)  # so that the new one is the youngest
            self._tokens += len(fresh.logits) - (0 if old is None else len(old.logits))
            self._pairs[key] = fresh
        while self._tokens > self._most:
            self._tokens -= len(self._pairs.pop(next(iter(self._pairs))).logits)

    def get(self, model: str, pairs: Sequence[tuple[str, str]]) -> list[ReadPair | None]:
        """What is kept of each pair."""
        return [self._pairs.get((model, query, text)) for query, text in pairs]

    def clear(self) -> None:
        """Forget everything."""
        self._pairs.clear()
        self._tokens = 0


class ModelPool:
    """Loads models; a joint model once for its files, device, backend, precision and token budget.

    Attributes:
        spans: what a pass reads while it ranks, or None: nobody wants it.
    """

    def __init__(self) -> None:
        self.spans: SpanMemory | None = None
        self._joint: dict[tuple[object, ...], Loaded] = {}

    def share_spans(self) -> None:
        """Keep from now on what joint models read while they rank, for a reader that asks `spans` first."""
        if self.spans is None:
            self.spans = SpanMemory()

    def forget(self) -> None:
        """Forget what was read; the models stay."""
        if self.spans is not None:
            self.spans.clear()

    def load(self, model: str | Path, task: Task, settings: ModelSettings) -> Loaded:
        """A model for a task; raises what `ModelHead` does."""
        name = _joint_name(model)
        how = (settings.device, settings.backend, settings.precision, settings.token_budget)
        shared = None if name is None else self._joint.get((name, *how))
        if shared is None:
            made = _made(load_checkpoint(model, task, settings.key), settings)
            if made.checkpoint.model.config.model_type != JOINT:
                return made
            shared = dataclasses.replace(made, pool=self)
            self._joint |= {(name or str(model), *how): shared}
        length = min(settings.max_length, shared.checkpoint.max_length)
        return dataclasses.replace(shared, tokenizer=shared.tokenizer.limited(length))


def _made(checkpoint: Checkpoint, settings: ModelSettings) -> Loaded:
    from .engine import Engine
    from .tokens import TextTokenizer

    engine = Engine(checkpoint.model, settings)
    return Loaded(checkpoint, engine, TextTokenizer.of(checkpoint, settings.max_length))


def _joint_name(model: str | Path) -> str | None:
    """What names a joint model: its files, or the name it has on a hub; None: what is there is another model."""
    folder = Path(model).expanduser()
    if not folder.exists():
        return str(model)
    try:
        settings = json.loads((folder / "config.json").read_bytes())
    except (OSError, ValueError):
        return None  # loading it says what is wrong
    return folder_id(folder) if isinstance(settings, dict) and settings.get("model_type") == JOINT else None


class HeadOptions(ModelChanges, total=False):
    """What every `ModelHead` takes by keyword."""

    settings: ModelSettings | None
    models: ModelPool | None


class ModelHead:
    """A loaded model for a task; the subclasses compute with it.

    Args:
        model: a folder with `model.safetensors`, a hub name, or a checkpoint in memory (it is changed, and never shared).
        device: where to compute, instead of the one of the settings.
        settings: how to compute; None: as is usual for the task.
        models: where a joint model is shared with others; None loads one for this use alone.
        changes: single settings (`precision`, `max_length`, `token_budget` ...) instead; see `ModelSettings`.

    Raises:
        ModelError: no such model, a damaged one, or one without the head.
        ConfigError: the machine has no such device, or it cannot compute in this precision.
        DependencyError: the extra `neural` is not installed.
    """

    task: ClassVar[Task]
    usual: ClassVar[ModelSettings] = DEFAULTS

    def __init__(
        self,
        model: str | Path | Checkpoint,
        device: str | None = None,
        *,
        settings: ModelSettings | None = None,
        models: ModelPool | None = None,
        **changes: Unpack[ModelChanges],
    ) -> None:
        self.settings = (settings or self.usual).changed(device, **changes)
        if isinstance(model, Checkpoint):
            self._loaded = _made(model, self.settings)
        elif models is not None:
            self._loaded = models.load(model, self.task, self.settings)
        else:
            self._loaded = _made(load_checkpoint(model, self.task, self.settings.key), self.settings)
        self.tokenizer, self.engine = self._loaded.tokenizer, self._loaded.engine
        self.model_id = self._loaded.checkpoint.model_id
