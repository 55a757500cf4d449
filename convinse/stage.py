"""What every stage of the pipeline has, whatever it does."""

from __future__ import annotations

import inspect
import logging
from abc import ABC
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from .config import Config
from .encoder.pool import ModelPool
from .resources import stage_language
from .support.errors import ModuleError
from .support.registry import find_trainer


class Stage(ABC):
    """A module of a stage; see the three classes that modules of one's own inherit.

    Attributes:
        stage: `qu`, `ers` or `ha`: the configuration key that names the module.
        config: the checked configuration; keys of a module's own stand below `config.custom`.
        language: the words of the language that questions and evidences are in.
        logger: writes to the log of the run.
        conversations_at_once: how many conversations the pipeline hands to QU and ERS together. A module that computes
            in batches raises it and overrides `inference_on_turns`.
        model_pool: the models that the stages of a pipeline share, handed over by it; None outside of one. A module may
            pass them on to `BertReranker`, `BiEncoder` and `ExtractiveReader`, or leave them alone.
        trainer: `package.module:function` that trains a module that learns; it is given the module and the sources.
    """

    stage: ClassVar[str]
    conversations_at_once = 1
    model_pool: ModelPool | None = None
    trainer: str | None = None

    def __init__(self, config: Config) -> None:
        self.config = config
        self.language = stage_language()
        self.logger = logging.getLogger(f"convinse.{self.stage}.{type(self).__name__}")

    if not TYPE_CHECKING:  # a type checker would take any name for an attribute

        def __getattr__(self, name: str) -> Any:
            if name in ("config", "language", "logger"):
                raise ModuleError(
                    f"{type(self).__name__}: self.{name} is not set; call super().__init__(config) in its __init__"
                )
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def use_models(self, models: ModelPool) -> None:
        """Called by a pipeline before its first turn, with the models that its stages share."""
        self.model_pool = models

    def store_cache(self) -> None:
        """Called after a run; a module that keeps intermediate results stores them here."""

    def train(self, sources: Sequence[str]) -> None:
        """Called by `convinse train`: lets the named `trainer` train; a module may also learn here."""
        if self.trainer is not None:
            find_trainer(self.stage, self.trainer)(self, sources)


def train(module: Stage, sources: Sequence[str]) -> None:
    """Call the `train` of a module; a method without parameters, as CONVINSE's own modules have, is given none."""
    method: Callable[..., None] = module.train
    method(*([sources] if inspect.signature(method).parameters else []))
