"""A name, or `package.module:Class`, into the class of a stage module."""

from __future__ import annotations

import importlib
import inspect
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .errors import ModuleError, nearest, one_line

# stage -> registered name -> where its class is; imported on use only
_MODULES: dict[str, dict[str, str]] = {
    "qu": {
        "naive_concat": "convinse.question_understanding.naive_concat:NcAll",
        "nc_init": "convinse.question_understanding.naive_concat:NcInit",
        "nc_prev": "convinse.question_understanding.naive_concat:NcPrev",
        "nc_init_prev": "convinse.question_understanding.naive_concat:NcInitPrev",
        "nc_all": "convinse.question_understanding.naive_concat:NcAll",
        "llm": "convinse.question_understanding.llm:LanguageModelUnderstanding",
        "slots": "convinse.question_understanding.slots:Slots",
        "sr": "convinse.question_understanding.structured_representation:StructuredRepresentation",
    },
    "ers": {
        "native": "convinse.evidence_retrieval_scoring.native:NativeERS",
        "clocq_bm25": "convinse.evidence_retrieval_scoring.native:ClocqBM25",
    },
    "ha": {
        "entity_voting": "convinse.heterogeneous_answering.entity_voting:EntityVoting",
        "extractive": "convinse.heterogeneous_answering.extractive:ExtractiveAnswering",
        "llm": "convinse.heterogeneous_answering.llm:LanguageModelAnswering",
        "seq2seq": "convinse.heterogeneous_answering.seq2seq:Seq2SeqAnswering",
    },
    "converters": {},  # of data sets: those of the project register themselves (formats/converters.py)
}

# of the methods of a module that are called with arguments; `self` counts
_PARAMETERS = {"__init__": 2, "inference_on_turn": 3, "inference_on_turns": 3, "train": 2}


def module_names(stage: str) -> list[str]:
    """The registered names of a stage (`qu`, `ers`, `ha`), those of installed plug-ins (`convinse.STAGE`) included."""
    return sorted({*_MODULES[stage], *_plugins(stage)})


def _plugins(stage: str) -> dict[str, str]:
    from importlib.metadata import entry_points  # slow to import; the names of the project need none

    return {point.name: point.value for point in entry_points(group=f"convinse.{stage}")}


def find_module(stage: str, name: str, base: type) -> type:
    """Return the class that a registered name, or `package.module:Class`, stands for; modules in the working directory are found.

    Raises:
        ModuleError: the name is unknown, the module does not import (its own error is shown), or the class does not inherit `base`
            or has methods with other parameters.
    """
    target = _MODULES[stage].get(name) or (name if ":" in name else _plugins(stage).get(name))
    if target is None:
        hint = nearest(name, module_names(stage))
        raise ModuleError(f"{stage}: unknown module '{name}'; {hint} (a class of your own: package.module:Class)")
    module_name, _, class_name = target.partition(":")
    module_class = getattr(_import(stage, module_name), class_name, None)
    if not isinstance(module_class, type):
        raise ModuleError(f"{stage}: {target}: the module '{module_name}' has no class '{class_name}'")
    if not issubclass(module_class, base):
        raise ModuleError(f"{stage}: {target}: the class must inherit {base.__module__.split('.')[0]}.{base.__name__}")
    if stage not in ("qu", "ers", "ha"):
        return module_class
    for name, number in _PARAMETERS.items():
        try:
            inspect.signature(getattr(module_class, name)).bind(*range(number))
        except TypeError as error:
            raise ModuleError(
                f"{stage}: {target}: {name}: {error}; docs/your-own-module.md has its parameters"
            ) from None
    return module_class


def find_trainer(stage: str, target: str) -> Callable[..., Any]:
    """Return the function that `package.module:function` names, which trains a module of a stage. Raises `ModuleError`."""
    module_name, _, name = target.partition(":")
    trainer: Callable[..., Any] | None = getattr(_import(stage, module_name), name, None)
    if not callable(trainer):
        raise ModuleError(f"{stage}: trainer: {target}: the module '{module_name}' has no function '{name}'")
    return trainer


def _import(stage: str, module_name: str) -> object:
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)  # a module beside the configuration, as `python file.py` would find it
    logger = logging.getLogger(module_name.partition(".")[0])
    if logger.level == logging.NOTSET:  # commands show what it logs as they show what the project does
        logger.setLevel(logging.getLogger("convinse").level)
    try:
        return importlib.import_module(module_name)
    except (Exception, SystemExit) as error:  # a user's module can fail in any way; its own error is what helps
        raise ModuleError(
            f"{stage}: the module '{module_name}' does not import: {type(error).__name__}: {one_line(error)}"
        ) from error
