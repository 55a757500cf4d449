"""What every stage of the pipeline has, whatever it does."""

from __future__ import annotations

import logging
from abc import ABC
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from .config import Config
from .language.language import Language
from .resources import Resources
from .support.errors import ModuleError
from .support.registry import find_trainer


class Stage(ABC):
    """A module of a stage; see the three classes that modules of one's own inherit.

    A module returns what it makes; the pipeline checks, stores and measures it (`convinse.turn_results`). The pipeline calls
    `inference_on_turns`; the base class of each stage has one that calls `inference_on_turn` for each turn. A class that
    defines `inference_on_turn` alone is called turn by turn, also if it inherits from one that computes turns together.

    Args:
        config: the checked configuration; keys of a module's own stand below `config.custom`.
        resources: what the stages of a pipeline share. A module whose constructor takes the configuration alone is given
            those of its pipeline all the same; used alone, it opens its own.

    Attributes:
        stage: `qu`, `ers` or `ha`: the configuration key that names the module.
        language: the words of the language that questions and evidences are in.
        logger: writes to the log of the run.
        conversations_at_once: how many conversations the pipeline hands to the stages together. A module that computes
            in batches raises it and overrides `inference_on_turns`.
        requests_per_turn: to a language model at most; the command `pipeline --dry-run` tells it.
        trainer: `package.module:function` that trains a module that learns; it is given the module and the sources.
    """

    stage: ClassVar[str]
    config: Config
    resources: Resources
    language: Language
    logger: logging.Logger
    conversations_at_once = 1
    requests_per_turn = 0
    trainer: str | None = None
    handed: Resources | None = None  # by the pipeline, before the constructor is called

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "inference_on_turn" in vars(cls) and "inference_on_turns" not in vars(cls):
            base: Any = next(kind for kind in cls.__mro__ if Stage in kind.__bases__)
            cls.inference_on_turns = base.inference_on_turns  # type: ignore[attr-defined]

    def __init__(self, config: Config, resources: Resources | None = None) -> None:
        self.config = config
        self.resources = resources or self.handed or Resources(config)
        self.language = self.resources.language
        self.logger = logging.getLogger(f"convinse.{self.stage}.{type(self).__name__}")

    if not TYPE_CHECKING:  # a type checker would take any name for an attribute

        def __getattr__(self, name: str) -> Any:
            if name in Stage.__annotations__:
                raise ModuleError(
                    f"{type(self).__name__}: self.{name} is not set; call super().__init__(config) in its __init__"
                )
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def store_cache(self) -> None:
        """Called after a run; a module that keeps intermediate results stores them here."""

    def train(self, sources: Sequence[str]) -> None:
        """Called by `convinse train`: lets the named `trainer` train; a module may also learn here."""
        if self.trainer is not None:
            find_trainer(self.stage, self.trainer)(self, sources)


def build(kind: type, config: Config, resources: Resources) -> Any:
    """A module of a class, made from the configuration alone, and given what the stages share."""
    module: Any = object.__new__(kind)
    module.handed = resources
    module.__init__(config)
    return module
