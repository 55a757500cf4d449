"""What every stage of the pipeline has, whatever it does."""

from __future__ import annotations

import inspect
import logging
from abc import ABC
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast

from .config import Config
from .language.language import Language
from .records.conversation import Turn
from .resources import Resources
from .support.errors import ModuleError
from .support.registry import find_trainer

R = TypeVar("R")


class Stage(ABC):
    """A module of a stage; see the three classes that modules of one's own inherit.

    A module returns what it makes; the pipeline checks, stores and measures it (`convinse.turn_results`).

    Args:
        config: the checked configuration; keys of a module's own stand below `config.custom`.
        resources: what the stages of a pipeline share. A module whose constructor takes the configuration alone is given
            those of its pipeline all the same; used alone, it opens its own.

    Attributes:
        stage: `qu`, `ers` or `ha`: the configuration key that names the module.
        language: the words of the language that questions and evidences are in.
        logger: writes to the log of the run.
        conversations_at_once: how many conversations the pipeline hands to the stages together. A module that computes
            in batches raises it and overrides `prepare` or `inference_on_turns`.
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
    handed: Resources | None = None  # by the pipeline, where the constructor takes the configuration alone

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
    """A module of a class. It is given what the stages share: by its constructor, or, where that takes the configuration
    alone, before it is called. A constructor that asks for `use_gold_answers`, as those of CONVINSE do, is given True; what
    holds in a run is the attribute of that name, see `QuestionUnderstanding`."""
    parameters = inspect.signature(kind).parameters
    more = {"use_gold_answers": True} if "use_gold_answers" in parameters else {}
    if "resources" in parameters:
        return kind(config, resources=resources, **more)
    module: Any = object.__new__(kind)
    module.handed = resources
    module.__init__(config, **more)
    return module


def call(method: Callable[..., R], *arguments: Any) -> R:
    """Call a method of a module; one that takes fewer arguments, as CONVINSE's own modules do, is given the first ones."""
    parameters = inspect.signature(method).parameters.values()
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return method(*arguments)
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return method(*arguments[: len(positional)])


class TurnBatch(Generic[R]):
    """Results of turns that are computed together as soon as the first of them is asked for.

    So a subclass may have its own `inference_on_turn`, which asks for the result of its turn or does without.

    Args:
        compute: the results of turns for some sources, in their order; the same together as one by one.
    """

    def __init__(self, compute: Callable[[Sequence[Turn], Sequence[str]], Sequence[R]]) -> None:
        self._compute = compute
        self._waiting: list[Turn] = []
        self._computed: dict[int, tuple[Turn, Any, R]] = {}  # it holds the turn, so that its id stays its own

    def expect(self, turns: Sequence[Turn]) -> None:
        """Forget what was computed, and compute these turns together."""
        self._waiting, self._computed = list(turns), {}

    def result(self, turn: Turn, sources: Sequence[str]) -> R:
        """The result of a turn, given once; of one that was not expected, or was changed since, it is computed alone."""
        if any(expected is turn for expected in self._waiting):
            turns, self._waiting = self._waiting, []
            for waiting, made in zip(turns, self._compute(turns, sources), strict=True):
                self._computed[id(waiting)] = waiting, _state(waiting, sources), made
        _, state, result = self._computed.pop(id(turn), (None, None, None))
        if state != _state(turn, sources):
            (result,) = self._compute([turn], sources)
        return cast("R", result)


def _state(turn: Turn, sources: Sequence[str]) -> tuple[Any, ...]:
    evidences = turn.get("top_evidences", [])
    words = turn.get("structured_representation"), turn.get("resolved_question")
    return (*words, id(turn.get("representation")), id(turn.get("top_evidences")), len(evidences), *sources)
