"""What a configuration names and the stages of a pipeline open: the language, models, the caches that keep what they compute."""

from __future__ import annotations

from pathlib import Path

from .config import SNAPSHOT, Config, resolve
from .encoder.bi_encoder import BiEncoder
from .encoder.checkpoint import Checkpoint
from .encoder.extractive_reader import ExtractiveReader
from .encoder.pool import ModelPool
from .encoder.reranker import BertReranker
from .encoder.settings import DEFAULTS, ModelSettings
from .encoder.yes_no_reader import YesNoReader, has_yes_no
from .language.language import Language, english
from .support.evidence_cache import EvidenceCache
from .support.vector_cache import VectorCache


def stage_language() -> Language:
    """The language of questions, of labels and of pages: English, the one that there are word lists of."""
    return english()


def model_path(name: str) -> str:
    """A model of the configuration: `snapshot:NAME` lies in the package, other names are folders or hub names."""
    return str(resolve(name)) if name.startswith(SNAPSHOT) else name


def load_reranker(config: Config, models: ModelPool | None = None) -> BertReranker | None:
    """The cross-encoder of `evs_model`, whose scores the evidence cache keeps; None where none is named.

    Raises:
        ModelError: it cannot be loaded.
    """
    if not config.evs_model:
        return None
    return BertReranker(
        model_path(config.evs_model),
        settings=_computing(config, "evs_model", config.evs_max_length),
        models=models,
        cache=EvidenceCache(_cache_path(config)),
    )


def load_bi_encoder(
    config: Config, name: str, key: str, models: ModelPool | None = None
) -> tuple[BiEncoder, VectorCache]:
    """A bi-encoder, and what keeps its embeddings: in the cache folder, or without `ers_use_cache` in memory.

    Args:
        config: how it computes, and where the cache is.
        name: the model.
        key: the configuration key that names it, for messages.
        models: where a joint model is shared with others.

    Raises:
        ModelError: it cannot be loaded.
    """
    settings = _computing(config, key, config.evs_max_length)
    bi_encoder = BiEncoder(model_path(name), settings=settings, models=models)
    return bi_encoder, VectorCache(_cache_path(config), bi_encoder.model_id, bi_encoder.dimension)


def load_reader(
    config: Config, model: str | Checkpoint, *, best: int = 20, key: str = "ha_model", models: ModelPool | None = None
) -> ExtractiveReader:
    """A reader with the configured settings.

    Args:
        config: how it computes.
        model: a name as the configuration gives it, or a checkpoint in memory.
        best: spans kept of each text.
        key: what named the model, for messages.
        models: where a joint model is shared with others.

    Raises:
        ModelError: it cannot be loaded.
    """
    return ExtractiveReader(
        model if isinstance(model, Checkpoint) else model_path(model),
        settings=_computing(config, key, config.ha_max_length),
        best=best,
        models=models,
    )


def load_yes_no_reader(config: Config, models: ModelPool | None = None) -> YesNoReader | None:
    """The yes/no head of `ha_model`; None where it has none.

    Raises:
        ModelError: it cannot be loaded.
    """
    folder = Path(model_path(config.ha_model)).expanduser() if config.ha_model else None
    if folder is None or not has_yes_no(folder):
        return None
    return YesNoReader(folder, settings=_computing(config, "ha_model"), models=models)


def _computing(config: Config, key: str, max_length: int = DEFAULTS.max_length) -> ModelSettings:
    """How a model computes that a configuration key names."""
    return ModelSettings(
        device=config.device,
        backend=config.backend,
        precision=config.precision,
        token_budget=config.token_budget,
        max_length=max_length,
        stride=config.ha_stride,
        key=key,
    )


def _cache_path(config: Config) -> str | None:
    return config.ers_cache_path if config.ers_use_cache else None
