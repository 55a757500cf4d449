"""Answering modules side by side on the same evidences, and a language model as the one that understands.

    bash run.sh bench answering [--part natural-dev]
    bash run.sh bench answering --base-url http://localhost:8000/v1 --model NAME [--api-key-env NAME]
    bash run.sh bench answering --seq2seq FOLDER

`systems`: questions are understood and evidences retrieved once, by the embedded model; each module answers from them. An
answer is supported if an evidence that it names contains it, checked in the same way for all. The p-value is that of
`evaluate compare` against `extractive`, whole conversations swapped. `llm` and `seq2seq` are measured if a server and a folder
of `train ha` are named.
`understanding`: the pipeline with `qu: slots` and with `qu: llm`, and the same scorer and reader behind them.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import msgspec

from convinse.config import Config, load_config
from convinse.experiment import read_part
from convinse.heterogeneous_answering.llm import cited
from convinse.heterogeneous_answering.question import questions_of
from convinse.pipeline import Pipeline
from convinse.records.conversation import Conversation, Turn
from convinse.records.evidence import SOURCES
from convinse.resources import Resources
from convinse.scoring.convqa import evaluate, has_abstained
from convinse.scoring.significance import compare

from .harness import Bench, Figures, Spec, note, run
from .timing import timed

_AGAINST = "extractive"
_COLUMNS = {
    "P@1": ("p_at_1", "{:.3f}"),
    "MRR": ("mrr", "{:.3f}"),
    "supported": ("supported", "{:.3f}"),
    "abstained": ("abstained", "{:.3f}"),
    "seconds": ("seconds", "{:.1f}"),
    "tokens read": ("prompt_tokens", "{}"),
    "written": ("completion_tokens", "{}"),
    "p (P@1)": ("p_value", "{:.4f}"),
}


def _systems(bench: Bench) -> dict[str, dict[str, Any]]:
    """The keys of each module's configuration."""
    systems: dict[str, dict[str, Any]] = {"entity_voting": {}, "extractive": {}}
    if bench.options.seq2seq:
        systems["seq2seq"] = {"ha_model": bench.options.seq2seq}
    if server := _server(bench):
        systems["llm"] = {"ha_llm": server | {"evidences": bench.options.evidences}}
    return systems


def _server(bench: Bench) -> dict[str, Any]:
    names, options = ("base_url", "model", "parallel", "api_key_env"), bench.options
    return {name: getattr(options, name) for name in names} if options.base_url else {}


def systems(bench: Bench) -> Figures:
    bench.need("scipy")
    config = load_config("config.yml", ers_cache_path=str(bench.work / "cache"))
    conversations = read_part(config, bench.options.part)[: bench.size]
    with Pipeline(config) as pipeline:
        retrieved = pipeline.run(conversations, SOURCES, until="ers")
    figures: dict[str, Figures] = {}
    files: dict[str, Path] = {}
    for name, keys in _systems(bench).items():
        config = load_config("config.yml", ha=name, ers_cache_path=str(bench.work / "cache"), **keys)
        note(f"{name} answers ...")
        figures[name], files[name] = _measured(config, retrieved, bench.work / f"{name}.jsonl")
    for name, file in files.items():
        if name != _AGAINST:
            figures[name]["p_value"] = compare(files[_AGAINST], file)["p_at_1"]["p_value_groups"]
    number = sum(len(conversation["questions"]) for conversation in conversations)
    bench.compare(f"{bench.options.part}: {number} questions, the same evidences", ("ha",), _COLUMNS, {(): figures})
    return figures


def understanding(bench: Bench) -> Figures:
    server = _server(bench)
    settings: dict[str, dict[str, Any]] = {"slots": {}, **({"llm": {"qu_llm": server}} if server else {})}
    figures: dict[str, Figures] = {}
    for name, keys in settings.items():
        config = load_config("config.yml", qu=name, ers_cache_path=str(bench.work / f"cache-{name}"), **keys)
        conversations = read_part(config, bench.options.part)[: bench.size]
        note(f"{name} understands ...")
        with Resources(config) as resources, Pipeline(config, resources=resources) as pipeline:
            seconds, done = timed(partial(pipeline.run, conversations, SOURCES))
        figures[name] = {**_figures(done, seconds), **_tokens(_turns(done), "qu_tokens")}
    number = sum(len(conversation["questions"]) for conversation in conversations)
    title = f"{bench.options.part}: {number} questions, ha: extractive"
    bench.compare(title, ("qu",), _COLUMNS, {(): figures})
    return figures


def _measured(config: Config, retrieved: Sequence[Conversation], file: Path) -> tuple[Figures, Path]:
    with Resources(config) as resources, Pipeline(config, resources=resources) as pipeline:
        seconds, done = timed(lambda: pipeline.run(retrieved, SOURCES, done_by="ers"))
        turns = _turns(done)
        supported = []
        for turn in turns:
            for answer in turn["pred_answers"][:1]:
                (question,) = questions_of([turn], resources)
                label, named = answer["answer"]["label"], answer.get("evidences", ())
                supported.append(bool(cited(label, named, question, range(len(question.evidences))).places))
    file.write_bytes(b"".join(msgspec.json.encode(conversation) + b"\n" for conversation in done))
    is_supported = sum(supported) / max(1, len(supported))
    return {**_figures(done, seconds), "supported": is_supported, **_tokens(turns, "ha_tokens")}, file


def _figures(done: Sequence[Conversation], seconds: float) -> Figures:
    measures, turns = evaluate(done), _turns(done)
    abstained = sum(map(has_abstained, turns)) / len(turns)
    return {"p_at_1": measures["p_at_1"], "mrr": measures["mrr"], "abstained": abstained, "seconds": seconds}


def _turns(conversations: Sequence[Conversation]) -> list[Turn]:
    return [turn for conversation in conversations for turn in conversation["questions"]]


def _tokens(turns: Sequence[Turn], key: Literal["qu_tokens", "ha_tokens"]) -> Figures:
    counts = [turn[key] for turn in turns if key in turn]
    if not counts:
        return {}
    names = (("prompt_tokens", "prompt"), ("completion_tokens", "completion"))
    return {name: sum(count[part] for count in counts) for name, part in names}


_OPTIONS = {
    "--part": {"default": "natural-dev", "help": "of the embedded conversations (default natural-dev)"},
    "--base-url": {"metavar": "URL", "help": "of a language model's server; measures llm"},
    "--model": {"metavar": "NAME", "help": "as that server calls it"},
    "--api-key-env": {"metavar": "NAME", "help": "the environment variable with its key"},
    "--parallel": {"type": int, "default": 8, "help": "requests at once (default 8)"},
    "--evidences": {"type": int, "default": 30, "help": "that llm is shown (default 30)"},
    "--seq2seq": {"metavar": "FOLDER", "help": "a model of train ha with ha: seq2seq"},
}
SPEC = Spec(
    "answering", __doc__, {"systems": systems, "understanding": understanding}, (4, None, None), options=_OPTIONS
)

if __name__ == "__main__":
    run(SPEC)
