"""The identity of a run's results: an id of all inputs, settings and code."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ..config import Config, to_dict
from ..encoder.checkpoint import HEADS, RANKINGS, folder_id, model_path
from ..encoder.exported import MANIFEST
from ..resources import Resources
from ..stage import Stage
from ..support.checksums import sha256
from ..support.errors import IndexFileError
from ..support.program import program_id

# keys that change the place of results or the way to compute them, but not their content
_NO_RESULT = ("name", "output_path", "source_combinations", "ers_use_cache", "ers_cache_path",
              "ers_cache_size", "device", "backend", "token_budget", "evs_training", "qu_training", "attribution")  # fmt: skip
_MODELS = ("qu_model", "qu_rewriter", "evs_model", "evs_bi_encoder", "ha_model", "ha_heads", "ha_ranker")
_SERVERS = ("qu_llm", "evs_server", "ha_llm")
_HOW_ASKED = ("api_key_env", "timeout", "parallel")  # of a server


def origins(config: Config, resources: Resources, stages: Sequence[Stage]) -> dict[str, str]:
    """Return an id of each input of the results of stages, by its name.

    Of models that are named by their name on a hub, the name alone counts, which is among the settings.

    Args:
        config: names what is read.
        resources: open it.
        stages: of the pipeline; the code of those that are not the project's counts.
    """
    settings = {key: value for key, value in to_dict(config).items() if key not in _NO_RESULT}
    for server in _SERVERS:
        settings[server] = {key: value for key, value in settings[server].items() if key not in _HOW_ASKED}
    models = [Path(model_path(name)) for key in _MODELS if (name := config[key])]
    return {
        "settings": fingerprint(settings),
        "knowledge base": _build_id(lambda: resources.kb.build_id),
        "Wikipedia dump": _build_id(lambda: resources.pages.build_id),
        "passages": _build_id(lambda: resources.passages.build_id if resources.passages is not None else ""),
        "models": fingerprint([folder_id(path, (*HEADS, *RANKINGS, MANIFEST)) for path in models if path.is_dir()]),
        "files below custom": fingerprint([sha256(path) for path in _files(config.custom)]),
        "modules of your own": fingerprint([sha256(path) for path in sorted(_code(stages))]),
        "program": program_id(),
    }


def fingerprint(*parts: Any) -> str:
    """Return a short id of values."""
    return hashlib.sha256(msgspec.json.encode(parts, order="sorted")).hexdigest()[:12]


def _build_id(read: Callable[[], str]) -> str:
    try:
        return read()
    except IndexFileError:  # the stage that needs it reports the fault
        return "none"


def _files(value: Any) -> Iterator[Path]:
    if isinstance(value, dict):
        for key in sorted(value, key=str):
            yield from _files(value[key])
    elif isinstance(value, list):
        for part in value:
            yield from _files(part)
    elif isinstance(value, str) and "\0" not in value:
        try:
            is_file = (path := Path(value).expanduser()).is_file()
        except (OSError, RuntimeError):  # too long for a name, or a user that is not known
            return
        if is_file:
            yield path


def _code(stages: Sequence[Stage]) -> set[Path]:
    package = __name__.partition(".")[0]
    names = {kind.__module__ for stage in stages for kind in inspect.getmro(type(stage))}
    names = {name for name in names if name.partition(".")[0] not in {package, *sys.stdlib_module_names}}
    files = {Path(file) for module in list(sys.modules.values()) if (file := getattr(module, "__file__", None))}
    folders = {Path(file).parent for name in names if (file := getattr(sys.modules.get(name), "__file__", None))}
    return {path for path in files if path.parent in folders and path.is_file()}
