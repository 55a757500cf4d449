"""Configurations of CONVINSE, EXPLAIGNN and FAITH (Christmann et al., SIGIR 2022 and 2023; Jia et al., WWW 2024) as one of this project.

Key by key: what has the same meaning here is taken over, under the name that it has here; what has no counterpart is listed
with what to do about it. The keys are those of the files in the projects' folders `config/`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from ..config import SNAPSHOT, ClocqParams, Config, parse_config, read_yaml
from ..support.errors import nearest

# their key -> ours, with a dot for one inside of another; the values mean the same
_RENAMED = {
    "er_use_cache": "ers_use_cache",
    "er_on_the_fly": "ers_on_the_fly",
    "path_to_intermediate_results": "output_path",
    "sr_max_input_length": "qu_sr.max_input_length",
    "sr_max_output_length": "qu_sr.max_output_length",
    "sr_no_repeat_ngram_size": "qu_sr.no_repeat_ngram_size",
    "sr_num_beams": "qu_sr.num_beams",
    "sr_early_stopping": "qu_sr.early_stopping",
    "sr_per_device_eval_batch_size": "qu_sr.batch_size",
    "sr_num_train_epochs": "qu_training.epochs",
    "sr_per_device_train_batch_size": "qu_training.batch_size",
    "sr_weight_decay": "qu_training.weight_decay",
    "bert_num_epochs": "evs_training.epochs",
    "bert_max_neg_evidences": "evs_training.negatives",
    "bert_pretrained_model": "evs_training.base",
}
# of Fusion-in-Decoder, where ha names it
_FUSION = {
    "fid_max_evidences": "ha_seq2seq.evidences",
    "fid_text_maxlength": "ha_seq2seq.max_input_length",
    "fid_answer_maxlength": "ha_seq2seq.max_output_length",
    "fid_num_beams": "ha_seq2seq.num_beams",
    "fid_per_gpu_batch_size": "ha_training.batch_size",
    "fid_lr": "ha_training.learning_rate",
    "fid_weight_decay": "ha_training.weight_decay",
}
_PLAIN = "not needed: items and labels come from the knowledge base and the Wikipedia dump"
_OTHER_ANSWERING = (
    "of an answering stage that is not here; ha: extractive reads and ranks, ha_training says how it is trained"
)
_TEMPORAL = "of FAITH's temporal question understanding, which is not here; a module of your own can be named in qu"
_ANNOTATING = "not a setting here: `annotate` tells what its silver representations hold, see docs/representation.md"
# keys without a counterpart, by the whole key or by how they begin; the longest that fits counts
_ADVICE = {
    "log_level": "give --quiet for less",
    "dev": "give --limit N for the first N conversations",
    "path_to_": _PLAIN,
    "path_to_data": "paths are given whole, each by its key",
    "path_to_results": "results go to output_path, which path_to_intermediate_results is taken for",
    "path_to_annotated": "`annotate` writes to {output_path}/{name}, where `train qu` looks; qu_training.annotated names another folder",
    "seed_conversations_path": "not needed: there is no training on rewritten questions",
    "naive_concat": "said by qu: nc_init, nc_prev, nc_init_prev or nc_all",
    "sr_": _ANNOTATING,
    "sr_separator": "the same as sr_delimiter, which counts",
    "sr_k": "one representation is written for a question",
    "sr_avoid_hallucination": "one representation is written for a question; qu: history invents no names",
    "sr_warmup_steps": "qu_training.warmup is the share of all steps (default 0.1)",
    "tr_": _ANNOTATING,
    "ds_": _ANNOTATING,
    "qrew_": "question rewriting is not here; qu: history has questions in full, too",
    "qres_": "question resolution is not here; qu: history chooses what of the history counts",
    "ers_wikipedia_to_wikidata_links_cache": "kept in ers_cache_path with all else",
    "ers_update_clocq_cache": "delete ers_cache_path to retrieve anew",
    "er_wikipedia_use_cache": "ers_use_cache is for facts and pages",
    "evr_max_pos_evidences": "evs_training.positives and ha_training.positives say how many of a turn are learned from",
    "es_sample_method": "evs_training.negatives says how many are drawn at random",
    "bert_": "evs_training says how the cross-encoder is trained",
    "bert_model": "a PyTorch state is not read; `train ers` makes a model folder for evs_model",
    "fid_": _OTHER_ANSWERING,
    "fid_model_path": "a PyTorch state is not read; `convinse train ha` makes a model folder for ha_model",
    "fid_optim": "adamw, as every training here",
    "fid_scheduler": "linear, as in every training here",
    "fid_total_step": "ha_training.epochs counts passes over the train part",
    "gnn_": _OTHER_ANSWERING,
    "ha_": _OTHER_ANSWERING,
    "tqu_": _TEMPORAL, "tsf_": _TEMPORAL, "tvr_": _TEMPORAL, "run_tvr": _TEMPORAL, "iques_": _TEMPORAL,
    "gpt3_": _TEMPORAL, "openai_": _TEMPORAL, "intermediate_question_": _TEMPORAL, "faith_or_unfaith": _TEMPORAL,
    "reference_time": _TEMPORAL, "question_date_tag_method": _TEMPORAL,
    "evidence_date_tag_method": "dates are found by rules, in every evidence",
    "spacy_model": "no spaCy model is needed",
}  # fmt: skip
_NO_MODULE = {
    "qrew": "question rewriting is not here; history has questions in full, too",
    "qres": "question resolution is not here; history chooses what of the history counts",
}
_READS = "not here; the embedded reader answers in its place (ha_model)"
_FUSION_BASE = "google-t5/t5-base"  # which CONVINSE's call of Fusion-in-Decoder names, and no key
_QU, _ERS, _HA = "history", "native", "extractive"  # where theirs is not here: the modules of config.yml


class Note(NamedTuple):
    """A key that was not taken over as it is, and what to do about it."""

    key: str
    advice: str


class Migrated(NamedTuple):
    """A configuration of this project, made from one of `system`, with what is to be known about it."""

    system: str
    settings: dict[str, Any]
    notes: list[Note]


def migrate(path: Path) -> Migrated:
    """A configuration file of CONVINSE, EXPLAIGNN or FAITH as settings of this project; keys of this project stay as they are.

    Raises:
        ConfigError: the file cannot be read, is no mapping, or a value is none that its key can have.
    """
    given = read_yaml(path)
    settings: dict[str, Any] = {}
    notes: list[Note] = []
    for key, value in given.items():
        taken, advice = _taken(str(key), value, given)
        for own, own_value in taken.items():
            _put(settings, own, own_value)
        if advice:
            notes.append(Note(str(key), advice))
    notes += _completed(settings, given)
    parse_config(settings, f"{path}, taken over")
    return Migrated(_system(given), settings, notes)


def as_yaml(migrated: Migrated, origin: str) -> str:
    """The settings as YAML, with the notes as comments above them."""
    import yaml

    lines = [f"# Made from {_shown(origin)}, a configuration of {migrated.system}."]
    if migrated.notes:
        lines.append("# Of its keys these were not taken over as they were:")
        lines += [f"#   {_shown(note.key)}: {_shown(note.advice)}" for note in migrated.notes]
    body = yaml.safe_dump(migrated.settings, sort_keys=False, allow_unicode=True, width=120)
    return "\n".join(lines) + "\n" + body


def _shown(text: str) -> str:
    """A text that fits a comment: on one line, printable."""
    text = " ".join(text.split())
    return text if text.isprintable() else ascii(text)


def _system(given: dict[str, Any]) -> str:
    if {"tqu", "fer", "faith_or_unfaith"} & given.keys():
        return "FAITH"
    if {"ers_cache", "gnn_model", "ds_sources"} & given.keys() or given.get("ha") in ("explaignn", "gnn"):
        return "EXPLAIGNN"
    return "CONVINSE"


def _taken(key: str, value: Any, given: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """What a key becomes, by our keys, and what is to be known about it: an empty string where nothing is."""
    if key in _SPECIAL:
        return _SPECIAL[key](value, given)
    if key in _RENAMED:
        return {_RENAMED[key]: value}, ""
    if key in _FUSION and given.get("ha") == "fid":
        return {_FUSION[key]: value}, ""
    if key in Config.__struct_fields__:
        return {key: value}, ""
    fitting = [start for start in _ADVICE if key == start or (start.endswith("_") and key.startswith(start))]
    if fitting:
        return {}, _ADVICE[max(fitting, key=len)]
    near = nearest(key, list(Config.__struct_fields__))
    hint = f"{near} " if near.startswith("did you mean") else ""
    return {}, f"not known here; {hint}a key that a module of your own reads goes below custom"


def _understanding(value: Any, given: dict[str, Any]) -> tuple[dict[str, Any], str]:
    if value == "naive_concat" and given.get("naive_concat") in ("init", "prev", "init_prev", "all"):
        return {"qu": f"nc_{given['naive_concat']}"}, ""
    if isinstance(value, str) and value in _NO_MODULE:
        return {"qu": _QU, "qu_model": None}, f"{value}: {_NO_MODULE[value]}"
    return {"qu": value}, ""


def _answering(value: Any, _: dict[str, Any]) -> tuple[dict[str, Any], str]:
    if value == "fid":
        return {"ha": "seq2seq", "ha_training.base": _FUSION_BASE}, "fid: seq2seq here, see docs/fusion-in-decoder.md"
    if value not in ("explaignn", "gnn", "seq2seq_ha"):
        return {"ha": value}, ""
    return {"ha": _HA, "ha_model": f"{SNAPSHOT}model"}, f"{value}: {_READS}"


def _retrieval(value: Any, _: dict[str, Any]) -> tuple[dict[str, Any], str]:
    if value != "rers":
        return {"ers": value}, ""
    return {"ers": _ERS}, "rers: native retrieves and scores; evs_max_evidences as given"


def _wikipedia(value: Any, _: dict[str, Any]) -> tuple[dict[str, Any], str]:
    if not isinstance(value, str) or not value.endswith((".pickle", ".pkl")):
        return {"ers_wikipedia_dump": value}, ""
    output = str(PurePosixPath(value).with_suffix(".db"))
    return {"ers_wikipedia_dump": output}, f"make the dump: convinse wikipedia import-pickle {value} --output {output}"


def _cache(value: Any, _: dict[str, Any]) -> tuple[dict[str, Any], str]:
    if isinstance(value, str) and not value.endswith((".pickle", ".pkl")):
        return {"ers_cache_path": value}, ""
    return {}, "a pickle is not read as a cache; ers_cache_path (default cache/) is a folder that fills by itself"


def _scorer(value: Any, _: dict[str, Any]) -> tuple[dict[str, Any], str]:
    if value == "bm25":
        return {"evs": "bm25"}, ""
    if value in ("sbert", "bert"):
        return {}, f"{value} is no model folder; after `train ers` name the model in evs_model"
    return {"evs_model": value}, ""


def _delimiter(value: Any, _: dict[str, Any]) -> tuple[dict[str, Any], str]:
    return {"sr_delimiter": f" {value.strip()} " if isinstance(value, str) else value}, ""


def _separator(value: Any, given: dict[str, Any]) -> tuple[dict[str, Any], str]:
    return ({}, _ADVICE["sr_separator"]) if "sr_delimiter" in given else _delimiter(value, given)


def _architecture(value: Any, _: dict[str, Any]) -> tuple[dict[str, Any], str]:
    base = {"BART": "facebook/bart-base", "T5": "t5-base"}.get(str(value).upper())
    return ({"qu_training.base": base}, "") if base else ({}, "name a checkpoint in qu_training.base")


def _warmup(value: Any, given: dict[str, Any]) -> tuple[dict[str, Any], str]:
    steps = given.get("fid_total_step")
    if given.get("ha") != "fid" or not (isinstance(value, int) and isinstance(steps, int) and 0 <= value <= steps):
        return {}, "ha_training.warmup is the share of all steps (default 0.1)"
    return {"ha_training.warmup": round(value / steps, 3) if steps else 0.0}, ""


def _model(value: Any, given: dict[str, Any]) -> tuple[dict[str, Any], str]:
    return {}, "a PyTorch state is not read; run `convinse annotate` and `convinse train qu` with this file"


def _clocq(value: Any, _: dict[str, Any]) -> tuple[dict[str, Any], str]:
    if not isinstance(value, dict):
        return {"clocq_params": value}, ""
    left = [str(key) for key in value if key not in ClocqParams.__struct_fields__]
    kept = {key: own for key, own in value.items() if key in ClocqParams.__struct_fields__}
    if kept.get("bm25_limit") is True:
        kept.pop("bm25_limit")
        left.append("bm25_limit: true (give a number of facts)")
    return {"clocq_params": kept}, f"without {', '.join(left)}" if left else ""


def _benchmark_path(value: Any, given: dict[str, Any]) -> tuple[dict[str, Any], str]:
    if _system(given) == "FAITH" and isinstance(value, str) and isinstance(given.get("benchmark"), str):
        return {"benchmark_path": f"{value}/{given['benchmark']}"}, ""  # FAITH adds the name by itself
    return {"benchmark_path": value}, ""


_SPECIAL: dict[str, Callable[[Any, dict[str, Any]], tuple[dict[str, Any], str]]] = {
    "qu": _understanding,
    "tqu": lambda value, _: ({"qu": _QU}, f"{value}: {_TEMPORAL}"),
    "ers": _retrieval,
    "fer": lambda value, _: ({"ers": _ERS}, f"{value}: native retrieves and scores, without the pruning by time"),
    "ha": _answering,
    "ers_wikipedia_dump": _wikipedia,
    "er_wikipedia_dump": _wikipedia,
    "ers_cache_path": _cache,
    "ers_cache": _cache,
    "er_cache_path": _cache,
    "evs_model": _scorer,
    "sr_delimiter": _delimiter,
    "sr_separator": _separator,
    "sr_architecture": _architecture,
    "sr_model_path": _model,
    "fid_warmup_step": _warmup,
    "clocq_params": _clocq,
    "benchmark_path": _benchmark_path,
}  # fmt: skip


def _completed(settings: dict[str, Any], given: dict[str, Any]) -> Iterator[Note]:
    """Add what a stage needs that theirs has elsewhere."""
    if settings.get("qu_model", "") is None:
        del settings["qu_model"]
    folder = f"{settings.get('output_path', Config().output_path)}/{settings.get('name', Config().name)}"
    if settings.get("qu") == "sr" and "qu_model" not in settings:
        settings["qu_model"] = f"{folder}/qu_model"
        if "sr_model_path" not in given:
            yield Note("qu", "sr needs a model; run `convinse annotate` and `convinse train qu` with this file")
    if settings.get("ha") == "seq2seq" and "ha_model" not in settings:
        settings["ha_model"] = f"{folder}/ha_model"
        if "fid_model_path" not in given:
            yield Note("ha", "seq2seq needs a model; run `convinse train ha` with this file")
    if settings.get("ers") == "clocq_bm25":
        settings.setdefault("evr_require_entity", True)  # a rule of theirs, without a key


def _put(settings: dict[str, Any], key: str, value: Any) -> None:
    outer, _, inner = key.partition(".")
    if inner:
        before = settings.get(outer)
        settings[outer] = {**(before if isinstance(before, dict) else {}), inner: value}
    else:
        settings[key] = value
