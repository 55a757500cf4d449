"""The base class of the three stages."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any, ClassVar, Literal

from .config import Config
from .language.language import Language
from .resources import Resources
from .support.errors import ModuleError
from .support.registry import find_trainer

StageName = Literal["qu", "ers", "ha"]
_SHARED: ContextVar[Resources | None] = ContextVar(
    "shared resources", default=None
)  # while a pipeline builds its modules


class Stage:
    """A module of a stage; see the three classes that modules of one's own inherit.

    A module returns its results; the pipeline checks, stores and measures them (`convinse.turn_results`). A class defines
    `inference_on_turn` or `inference_on_turns`; each is the other one in the base class. The pipeline calls the one that is defined
    last: a class that defines `inference_on_turn` is called turn by turn, also below one that computes turns together.

    Args:
        config: the checked configuration; keys of a module's own stand below `config.custom`.
        resources: by default what the stages of the pipeline share that builds the module; a module that is used alone opens its own.

    Attributes:
        stage: `qu`, `ers` or `ha`: the configuration key that names the module.
        language: the words of the language of questions and evidences.
        logger: writes to the log of the run.
        conversations_at_once: the number of conversations that the pipeline hands to the stages together. A module that computes
            in batches raises it and defines `inference_on_turns`.
        trainer: `package.module:function` that trains a module that learns; it is given the module and the sources.
    """

    stage: ClassVar[StageName]
    config: Config
    resources: Resources
    language: Language
    logger: logging.Logger
    conversations_at_once = 1
    trainer: str | None = None

    def __init__(self, config: Config, resources: Resources | None = None) -> None:
        self.config = config
        self.resources = resources or _SHARED.get() or Resources(config)
        self.language = self.resources.language
        self.logger = logging.getLogger(f"convinse.{self.stage}.{type(self).__name__}")

    def store_cache(self) -> None:
        """Store intermediate results that the module keeps; called after a run."""

    def train(self, sources: Sequence[str]) -> None:
        """Train the module by its `trainer`; called by `convinse train`. A module may also learn here."""
        if self.trainer is not None:
            find_trainer(self.stage, self.trainer)(self, sources)


def build(kind: type, config: Config, resources: Resources) -> Any:
    """Return a module of a class; `Stage.__init__` finds the shared resources, though the constructor may take the configuration alone."""
    token = _SHARED.set(resources)
    try:
        return kind(config)
    finally:
        _SHARED.reset(token)


def check_methods(module: Stage, base: type[Stage]) -> None:
    """Raise `ModuleError` unless the class of a module defines a method of the base class of its stage."""
    kind = type(module)
    if all(getattr(kind, name) is getattr(base, name) for name in ("inference_on_turn", "inference_on_turns")):
        raise ModuleError(f"{kind.__name__}: the class must implement inference_on_turn")


def inferred(module: Any, base: Any, turns: Sequence[Any], argument: Any) -> Any:
    """Return what a module of a stage gives for turns, by the method that its class defines last: of a turn, or of several.

    `base` is the class of the stage, whose `inference_on_turns` calls `inference_on_turn` for one turn after the other.
    """
    for kind in type(module).__mro__:
        if "inference_on_turns" in vars(kind):
            return module.inference_on_turns(turns, argument)
        if "inference_on_turn" in vars(kind):
            return base.inference_on_turns(module, turns, argument)
    raise AssertionError("the class of the stage defines both")
