"""The base class of the three stages, and the results of modules: checked, stored in the turns and measured.

A module returns its result. CONVINSE's own modules may write it into the turn and return nothing, or the turn. A returned
result counts more.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from typing import Any, ClassVar, Literal

import msgspec

from .config import Config
from .language.language import Language
from .records.answer_spans import answer_spans
from .records.conversation import RankedAnswer, Turn, Understanding, answers_in_own_form, stored_answers
from .records.evidence import Evidence, check_evidence
from .records.evidence_structure import in_own_form, structured
from .records.replies import SpokenReply
from .records.representation import Representation, render
from .resources import Resources
from .scoring.convqa import add_answer_metrics, add_answer_presence
from .support.errors import ModuleError, one_line
from .support.registry import find_trainer

StageName = Literal["qu", "ers", "ha"]
_SHARED: ContextVar[Resources | None] = ContextVar(
    "shared resources", default=None
)  # while a pipeline builds its modules
_DELIMITER = " || "  # of representations that a module gives as fields only
_PRESENCE = ("answer_presence", "answer_presence_per_src")
_ADDED = {
    "qu": tuple(Understanding.__annotations__),
    "ers": ("top_evidences", "question_entities", *_PRESENCE),
    "ha": (
        "pred_answers",
        "ranked_answers",
        "abstained",
        "ha_tokens",
        "p_at_1",
        "mrr",
        "h_at_5",
        *SpokenReply.__annotations__,
    ),
}


class Stage:
    """A module of a stage; see the three classes that modules of one's own inherit.

    A module returns its results; the pipeline checks, stores and measures them. A class defines
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


def check_methods(module: Stage, base: Any) -> None:
    """Raise `ModuleError` unless the class of a module defines a method of the base class of its stage."""
    kind: Any = type(module)
    if kind.inference_on_turn is base.inference_on_turn and kind.inference_on_turns is base.inference_on_turns:
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


def remove_results(turn: Turn, stages: Iterable[str] = tuple(_ADDED)) -> None:
    """Remove what stages added to a turn."""
    for key in (key for stage in stages for key in _ADDED[stage]):
        turn.pop(key, None)  # type: ignore[misc]


def results_of(module: object, returned: Any, turns: Sequence[Turn]) -> list[Any]:
    """Return what a module returned for several turns: a list of results. None means that it has written into the turns."""
    if returned is None:
        return [None] * len(turns)
    must = f"{type(module).__name__}: inference_on_turns must return a list of {len(turns)} results"
    results = _list_of(returned, must)
    if len(results) != len(turns):
        raise ModuleError(f"{must}, not {len(results)}")
    return results


def _list_of(returned: Any, must: str) -> list[Any]:
    if not isinstance(returned, list):
        raise ModuleError(f"{must}, not {type(returned).__name__}")
    return returned


def keep_understanding(module: object, turn: Turn, returned: Any) -> None:
    """Store the representation of a turn: a string, or an `Understanding`; one that has fields only is rendered.

    Raises:
        ModuleError: it is neither, or has no representation, or its fields have another form.
    """
    if isinstance(returned, dict):
        turn.update(returned)  # type: ignore[typeddict-item]
    elif returned is not None:
        turn["structured_representation"] = str(returned)
    if "representation" in turn:
        try:
            fields = msgspec.convert(turn["representation"], Representation)
        except msgspec.ValidationError as error:
            raise ModuleError(f"{_where(module, turn)}: representation: {one_line(error).replace('$.', '')}") from None
        turn.setdefault("structured_representation", render(fields, _DELIMITER))
    if not isinstance(turn.get("structured_representation"), str):
        raise ModuleError(
            f"{_where(module, turn)}: inference_on_turn must return a representation: a string, or a dictionary with "
            "'structured_representation' or 'representation'"
        )


def keep_evidences(
    module: object, turn: Turn, returned: Any, sources: Sequence[str], most: int | None = None
) -> list[Evidence]:
    """Check the evidences of a turn (`most` at most), add their structure, store them and measure the answer presence.

    Raises:
        ModuleError: the module broke its contract; the message names it, the turn and the fault.
    """
    found = turn.get("top_evidences") if returned is None or returned is turn else returned
    where = _where(module, turn)
    evidences = _list_of(found, f"{where}: inference_on_turn must return a list of evidences")
    if most is not None and len(evidences) > most:
        raise ModuleError(
            f"{where}: {len(evidences)} evidences, but evs_max_evidences is {most}; return the best ones only"
        )
    evidences = [in_own_form(evidence) for evidence in evidences]
    for evidence in evidences:
        check_evidence(evidence, where)
    turn["top_evidences"] = [structured(evidence) for evidence in evidences]
    for key in _PRESENCE:  # of other evidences
        turn.pop(key, None)  # type: ignore[misc]
    add_answer_presence(turn, sources)
    return turn["top_evidences"]


def keep_answers(module: object, turn: Turn, returned: Any, most: int | None = None) -> list[RankedAnswer]:
    """Check the answers of a turn, store the best `most` and all of a list, with their places in the evidences, and measure them."""
    found = stored_answers(turn) if returned is None or returned is turn else answers_in_own_form(returned)
    where = _where(module, turn)
    answers = _list_of(found, f"{where}: inference_on_turn must return a list of answers")
    for place, answer in enumerate(answers, 1):
        match answer:
            case {"answer": {"id": str()}, "rank": rank} if rank == place:
                continue
        raise ModuleError(f"{where}: answer {place} must be {{'answer': {{'id', 'label'}}, 'score', 'rank': {place}}}")
    best = answers[:most]
    turn["pred_answers"] = best + [answer for answer in answers[len(best) :] if answer.get("list")]
    for answer in turn["pred_answers"]:
        if spans := answer_spans(answer, turn.get("top_evidences", [])):
            answer["spans"] = spans
    add_answer_metrics(turn)
    return turn["pred_answers"]


def _where(module: object, turn: Turn) -> str:
    return f"{type(module).__name__} on turn {turn.get('question_id', turn.get('turn', '?'))}"
