"""The base class of the three stages."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

from .config import Config
from .language.language import Language
from .resources import Resources
from .support.errors import ModuleError
from .support.registry import find_trainer


class Stage:
    """A module of a stage; see the three classes that modules of one's own inherit.

    A module returns its results; the pipeline checks, stores and measures them (`convinse.turn_results`). The pipeline calls
    `inference_on_turns`. A class defines this method or `inference_on_turn`; the other one is made of it, whatever the class
    inherits. So a class that defines `inference_on_turn` is called turn by turn, also below one that computes turns together.

    Args:
        config: the checked configuration; keys of a module's own stand below `config.custom`.
        resources: what the stages of a pipeline share. A module whose constructor takes the configuration alone has those
            of its pipeline all the same; used alone, it opens its own.

    Attributes:
        stage: `qu`, `ers` or `ha`: the configuration key that names the module.
        language: the words of the language of questions and evidences.
        logger: writes to the log of the run.
        conversations_at_once: the number of conversations that the pipeline hands to the stages together. A module that computes
            in batches raises it and defines `inference_on_turns`.
        trainer: `package.module:function` that trains a module that learns; it is given the module and the sources.
    """

    stage: ClassVar[str]
    config: Config
    resources: Resources
    language: Language
    logger: logging.Logger
    conversations_at_once = 1
    trainer: str | None = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        kinds, module = cls.__mro__, cast("Any", cls)
        base: Any = next(kind for kind in kinds if Stage in kind.__bases__)
        turn, turns = (
            next(place for place, kind in enumerate(kinds) if name in vars(kind))
            for name in ("inference_on_turn", "inference_on_turns")
        )
        if turn < turns:  # the method of a turn was defined later
            module.inference_on_turns = base.inference_on_turns
        elif turns < turn and module.inference_on_turn is base.inference_on_turn:
            module._batch = module.inference_on_turns

    def __init__(self, config: Config, resources: Resources | None = None) -> None:
        self.config = config
        self.resources = resources or vars(self).get("resources") or Resources(config)
        self.language = self.resources.language
        self.logger = logging.getLogger(f"convinse.{self.stage}.{type(self).__name__}")

    def _batch(self, *arguments: Any) -> list[Any]:
        """Compute turns as `inference_on_turns`; the `inference_on_turn` of the base class calls it."""
        raise ModuleError(f"{type(self).__name__}: the class must implement inference_on_turn")

    if not TYPE_CHECKING:  # a type checker would take any name for an attribute

        def __getattr__(self, name: str) -> Any:
            if name in Stage.__annotations__:
                raise ModuleError(
                    f"{type(self).__name__}: self.{name} is not set; call super().__init__(config) in its __init__"
                )
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def store_cache(self) -> None:
        """Store intermediate results that the module keeps; called after a run."""

    def train(self, sources: Sequence[str]) -> None:
        """Train the module by its `trainer`; called by `convinse train`. A module may also learn here."""
        if self.trainer is not None:
            find_trainer(self.stage, self.trainer)(self, sources)


def build(kind: type, config: Config, resources: Resources) -> Any:
    """Return a module of a class; its constructor takes the configuration and finds the shared resources already set."""
    module: Any = object.__new__(kind)
    module.resources = resources
    module.__init__(config)
    return module
