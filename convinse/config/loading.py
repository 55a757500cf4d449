"""Settings out of YAML or mappings, checked: an unknown key, a wrong type or value is an error of one line."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from ..support.errors import ConfigError, nearest
from .keys import Config
from .places import LIVE, NO_KB, find_config
from .training_settings import StageTraining
from .value_types import InputPath
from .yaml_files import read_value, read_yaml

S = TypeVar("S", bound=msgspec.Struct)
_DECAYS = "weights decay by 0.01 in every training; delete the line"
_EPOCHS = "all epochs are gone through, and the best one is kept; write fewer `epochs`"
_CASCADE = "BM25 and the bi-encoder choose as many each; write that number, such as evs_cascade: 30"
# keys of earlier versions, and what to use in their place
_DROPPED_KEYS = MappingProxyType(
    {
        "ha_llm.samples": "the probability of an answer is that of its tokens",
        "ha_llm.calibration": "the probability of an answer is that of its tokens",
        "ha_llm.prices": "turns.jsonl counts the tokens of each turn (ha_tokens)",
        "qu_llm.prices": "turns.jsonl counts the tokens of each turn (qu_tokens)",
        "qu_llm.json_schema": "a server that refuses the format is asked without it",
        "ha_llm.json_schema": "a server that refuses the format is asked without it",
        "ha_training.negative_windows": "a tenth of the windows without the answer is learned from",
        "negative_windows": "a tenth of the windows without an answer is learned from",
        "qu_training.weight_decay": _DECAYS,
        "evs_training.weight_decay": _DECAYS,
        "ha_training.weight_decay": _DECAYS,
        "weight_decay": _DECAYS,
        "evs_training.batch_turns": "a step has four positives with their negatives; delete the line",
        "evs_training.positives": "an epoch has four of a turn at most; delete the line",
        "ha_training.positives": "an epoch has four of a turn at most; delete the line",
        "ha_training.negatives": "an epoch has four of a turn at most; delete the line",
        "ha_llm.evidences": "30 are shown at most; evs_max_evidences and ha_llm.max_prompt_tokens say fewer",
        "ha_llm.order": "the best evidence is shown first; delete the line",
        "ha_llm.unsupported": "an answer that no cited evidence contains is dropped; delete the line",
        "evs_server.batch": "32 texts go into a request; delete the line",
        "ers_user_agent": "put your contact into the environment variable CONVINSE_CONTACT",
        "ers_deadline": "a page has 60 seconds; delete the line",
        "ers_missing_ttl": "a page that was missing is asked for again after 30 days; delete the line",
        "ha_stride": "windows of 512 tokens share 128; delete the line",
        "qu_sr": "write num_beams in its place; 512 tokens are read and 64 written, 10 questions at once",
        "ha_seq2seq": "write num_beams and evs_max_evidences in its place; 250 tokens of an evidence are read and 10 written",
        "evs_training.loss": "a positive stands against all its negatives (listwise); delete the line",
        "qu_training.annotated": "set output_path and name as for `annotate`, or copy the files into that folder",
        "ha_share_pass": "the reader always takes what a joint model read; delete the line",
        "qu_no_repeat_ngram_size": "no two words are written twice in a row of slots, as in CONVINSE; delete the line",
        "path_to_stopwords": "the stop words of the language are left out; delete the line",
        "evs_max_length": "256 tokens are read, or fewer if the model takes fewer; delete the line",
        "ha_max_length": "windows have 512 tokens, or fewer if the model takes fewer; delete the line",
        "live_deadline": "a look-up has ten seconds; delete the line",
        "ers_cache_eviction": "at ers_cache_size the oldest entries go; delete the line",
        "evs_cascade.lexical": _CASCADE,
        "evs_cascade.dense": _CASCADE,
        "evs_cascade.lexical_share": "the score of BM25 counts 0.3 beside joint models such as those that ship, else nothing; delete the line",
        "evs_server.query_prefix": "write prefixes: [before a question, before a text]",
        "evs_server.text_prefix": "write prefixes: [before a question, before a text]",
        "qu_training.patience": _EPOCHS,
        "evs_training.patience": _EPOCHS,
        "ha_training.patience": _EPOCHS,
        "patience": _EPOCHS,
        "qu_llm.temperature": "write extra: {temperature: ...}, below qu_llm",
        "qu_llm.max_tokens": "write extra: {max_tokens: ...}, below qu_llm",
        "ha_llm.temperature": "write extra: {temperature: ...}, below ha_llm",
        "ha_llm.max_tokens": "write extra: {max_tokens: ...}, below ha_llm",
        "natural_input_path": "the file is natural.json below benchmark_path",
        "natural_third_input_path": "the file is natural_third.json below benchmark_path",
    }
)


def load_config(
    name_or_path: str | os.PathLike[str] = "config.yml", settings: Sequence[str] = (), **overrides: Any
) -> Config:
    """Read, check and freeze a configuration.

    >>> config = load_config("lexical.yml", ["evs_max_evidences=20"], seed=7)
    >>> config.evs_max_evidences, config.seed
    (20, 7)

    Args:
        name_or_path: the file. Its key `base` names another one, whose keys hold where it has none of its own. Files and
            folders that it names are looked for beside it, then in the working directory.
        settings: `KEY=VALUE` each, as of `--set`: the value is YAML, a key may be a path such as `clocq_params.d`.
        overrides: further keys, checked like those of the file.

    Raises:
        ConfigError: a missing file, YAML that is not a mapping, an unknown key (the nearest name is suggested), a wrong
            type or value; the message names the file and the key.
    """
    path = find_config(name_or_path)
    where = str(path)
    data = _with_base(path)
    for setting in settings:
        key_path, equals, text = setting.partition("=")
        *above, key = key_path.strip().split(".")
        if not equals or not key:
            raise ConfigError(f"--set {setting}: expected KEY=VALUE, such as clocq_params.d=30")
        mapping = data
        for name in above:
            inner = mapping.get(name)
            mapping[name] = inner = dict(inner) if isinstance(inner, Mapping) else {}
            mapping = inner
        mapping[key] = read_value(text, f"--set {setting}")
    return parse_config(_placed({**data, **_with_precision(overrides, where)}, Path()), where)


def read_config(config: Config | str | os.PathLike[str]) -> Config:
    """Return a configuration as it is, or read the one that a name or path gives; see `load_config`."""
    if isinstance(config, Config):
        return config
    if not isinstance(config, (str, os.PathLike)):
        raise ConfigError(
            f"{type(config).__name__}: no configuration; give what load_config returns, or a name such as config.yml"
        )
    return load_config(config)


def _with_base(path: Path, above: Sequence[Path] = ()) -> dict[str, Any]:
    data = _with_precision(read_yaml(path), str(path))
    base = data.pop("base", None)
    if base is None:
        return _placed(data, path.parent)
    if not isinstance(base, str):
        raise ConfigError(f"{path}: base: {base!r} names no configuration")
    below = [*above, path.resolve()]
    file = path.parent / base
    file = file if file.is_file() else find_config(base)
    if file.resolve() in below:
        raise ConfigError(f"{path}: base: {base} is based on this file itself")
    return {**_with_base(file, below), **_placed(data, path.parent)}


@cache
def _input_keys() -> frozenset[str]:
    # keys of files and folders that are read; `base` is of stages
    hints = (hint for kind in (Config, StageTraining) for hint in get_type_hints(kind, include_extras=True).items())
    return frozenset(name for name, hint in hints if InputPath in (hint, *get_args(hint)))


def _placed(data: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    placed = dict(data)  # files that exist in the folder are named there
    for key, value in data.items():
        if isinstance(value, Mapping) and key != "custom":
            placed[key] = _placed(value, folder)
        elif key in _input_keys() and isinstance(value, str) and value.isprintable() and value not in ("", NO_KB, LIVE):
            path = folder / value
            if os.access(path, os.F_OK):
                is_default_name = key.endswith("_input_path") and len(path.parts) == 1  # see `Config.input_path`
                placed[key] = f"./{path}" if is_default_name else str(path)
    return placed


def load_settings(kind: type[S], name_or_path: str | os.PathLike[str], **overrides: Any) -> S:
    """Read, check and freeze a file of other settings, such as `ReaderTraining`; the errors are those of `load_config`."""
    path = find_config(name_or_path)
    return check_settings({**read_yaml(path), **overrides}, kind, str(path))


def parse_config(data: Mapping[str, Any], where: str = "configuration") -> Config:
    """A mapping of keys -> the checked configuration; `where` names its origin in messages."""
    config = check_settings(_with_precision(data, where), Config, where)
    try:
        _ = config.combinations
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None
    if config.clocq_params.bm25_limit is True:
        raise ConfigError(f"{where}: clocq_params.bm25_limit: give a number of facts, or false for no limit")
    return config


def _with_precision(data: Mapping[str, Any], where: str) -> dict[str, Any]:
    values = dict(data)
    if "evs_precision" in values:  # what scoring called it
        value = values.pop("evs_precision")
        if (other := values.setdefault("precision", value)) != value:
            raise ConfigError(f"{where}: evs_precision: {value!r}, but precision: {other!r}; give precision only")
    return values


def check_settings(data: Mapping[str, Any], kind: type[S], where: str) -> S:
    """Return settings from values; `where` names their origin in errors (`ConfigError`)."""
    _check_keys(data, kind, where)
    for key, nested in get_type_hints(kind).items():
        if isinstance(nested, type) and issubclass(nested, msgspec.Struct) and isinstance(data.get(key), Mapping):
            _check_keys(data[key], nested, f"{where}: {key}", f"{key}.")
    try:
        return msgspec.convert(dict(data), kind)
    except msgspec.ValidationError as error:
        text, _, place = str(error).partition(" - at ")
        key = place.strip("`").removeprefix("$.") or "configuration"
        shown = f" (given: {repr(data.get(key.split('[')[0].split('.')[0]))[:80]})" if place else ""
        hint: Any = kind
        for name in key.split("."):
            hint = get_type_hints(hint, include_extras=True).get(name) if isinstance(hint, type) else None
        fault = f"{text[0].lower()}{text[1:]}"
        if " matching regex " in text:
            metas = (meta for part in (hint, *get_args(hint)) for meta in getattr(part, "__metadata__", ()))
            fault = next((f"expected {meta.extra['form']}" for meta in metas if meta.extra), "of another form")
        choices = f"; valid: {', '.join(get_args(hint))}" if get_origin(hint) is Literal else ""
        raise ConfigError(f"{where}: {key}: {fault}{choices}{shown}") from None


def _check_keys(data: Mapping[str, Any], struct: type[msgspec.Struct], where: str, above: str = "") -> None:
    valid = list(struct.__struct_fields__)
    wrong = [str(key) for key in data if key not in valid]
    for key in [
        *wrong,
        *(f"{key}.{inner}" for key, value in data.items() if isinstance(value, Mapping) for inner in value),
    ]:
        if f"{above}{key}" in _DROPPED_KEYS:
            section, _, name = key.rpartition(".")
            place = f"{where}: {section}" if section else where
            raise ConfigError(f"{place}: '{name}' is gone; {_DROPPED_KEYS[above + key]}")
    if not wrong:
        return
    hint = nearest(wrong[0], valid)
    if len(wrong) == 1 and (struct is not Config or hint.startswith("did you mean")):
        raise ConfigError(f"{where}: unknown key '{wrong[0]}'; {hint}")
    text = f"unknown key{'s' * (len(wrong) > 1)} {', '.join(map(repr, wrong))}"
    remedy = "keys of your own modules belong below 'custom'; docs/configuration.md lists the valid ones"
    raise ConfigError(f"{where}: {text}; {remedy}")


def to_dict(config: Config) -> dict[str, Any]:
    """The configuration as plain values, for fingerprints and records."""
    values: dict[str, Any] = msgspec.to_builtins(config)
    return values
