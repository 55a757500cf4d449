"""A run of the pipeline over the configured conversations, with results on disk, and its table."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .config import Config, to_dict
from .encoder.checkpoint import HEADS, folder_id
from .formats.conversations.benchmark import read_benchmark
from .formats.run_folder import RunFolder, fingerprint
from .pipeline import Pipeline
from .records.conversation import Conversation
from .resources import Resources, model_path
from .scoring.convqa import evaluate
from .support.errors import DataError
from .support.files import sha256
from .support.progress import progress

LOGGER = logging.getLogger(__name__)
# keys that change how results are computed or where they lie, not what they are
_NO_RESULT = ("name", "output_path", "source_combinations", "ers_use_cache", "ers_cache_path", "device",
              "backend", "token_budget", "evs_training", "qu_training")  # fmt: skip

# parts that are the conversations of a file with this key `part`
_HALVES = {"natural-dev": ("natural", "dev"), "natural": ("natural", "measured")}


class Outcome(NamedTuple):
    """What a run gave: its sources, its folder and the content of `metrics.json`."""

    sources: tuple[str, ...]
    path: Path
    metrics: dict[str, Any]


def run_experiment(
    config: Config,
    sources: Sequence[str],
    *,
    use_gold_answers: bool = True,
    limit: int | None = None,
    restart: bool = False,
    quiet: bool = False,
    part: str = "test",
    resources: Resources | None = None,
) -> Outcome:
    """Run, or go on with, one combination of sources over one part of the benchmark.

    Args:
        config: the checked configuration.
        sources: the sources to retrieve from.
        use_gold_answers: whether earlier turns count with their gold answers.
        limit: only the first so many conversations.
        restart: run finished conversations again.
        quiet: show no progress.
        part: `train`, `dev`, `test`, or of the natural questions `natural-dev`, to choose by, or `natural`, to report.
        resources: what several runs of a configuration share; its owner closes it.
    """
    start = time.perf_counter()
    path, half = _file_of(config, part)
    conversations = read_part(config, part)[:limit]
    settings = {key: value for key, value in to_dict(config).items() if key not in _NO_RESULT}
    settings["models"] = [folder_id(folder, HEADS) for folder in _model_folders(config)]
    run_id = fingerprint(settings, sha256(path), list(sources), use_gold_answers, *([half] if half else []))
    folder = Path(config.output_path) / config.name / "_".join(sources)
    with RunFolder(folder, run_id, restart) as output, Pipeline(config, resources=resources) as pipeline:
        waiting = [
            conversation for conversation in conversations if str(conversation["conv_id"]) not in output.finished
        ]
        if len(waiting) < len(conversations):
            LOGGER.info("%d conversations are finished already in %s", len(conversations) - len(waiting), folder)
        step = pipeline.conversations_at_once
        with progress("_".join(sources), len(waiting), "conversations", quiet) as advance:
            for place in range(0, len(waiting), step):
                for conversation in pipeline.run(waiting[place : place + step], sources, use_gold_answers):
                    output.add(conversation)
                    advance()
        finished = [output.finished[str(conversation["conv_id"])] for conversation in conversations]
        metrics = evaluate(finished)
        seconds = {
            **{stage: pipeline.seconds[stage] for stage in ("qu", "ers", "ha")},
            "total": time.perf_counter() - start,
        }
        before = output.metrics().get("seconds", {})  # of the part of the run that was finished before
        groups = {
            name: metrics.pop(name) for name in ("abstained", "domains", "turns", "kinds", "sources", "unanswerable")
        }
        metrics["seconds"] = {stage: round(value + before.get(stage, 0.0), 3) for stage, value in seconds.items()}
        metrics |= groups
        output.write_metrics(metrics)
    return Outcome(tuple(sources), folder, metrics)


def read_part(config: Config, part: str) -> list[Conversation]:
    """The conversations of a part; see `run_experiment`. Raises `DataError`: there is no such file, or it is damaged."""
    path, half = _file_of(config, part)
    if not path.is_file():
        raise DataError(f"{path}: no such file; check {_HALVES.get(part, (part,))[0]}_input_path and benchmark_path")
    conversations = read_benchmark(path, config.benchmark)
    return _of_half(conversations, half, path) if half else conversations


def _file_of(config: Config, part: str) -> tuple[Path, str | None]:
    """The file of a part, and which conversations of it are the part's, by their key `part`; None: all."""
    data, half = _HALVES.get(part, (part, None))
    return config.input_path(data), half


def _of_half(conversations: list[Conversation], half: str, path: Path) -> list[Conversation]:
    """The conversations whose key `part` is `half`. Raises `DataError` where none is."""
    chosen = [conversation for conversation in conversations if conversation.get("part") == half]
    if not chosen:
        raise DataError(f'{path}: no conversation has "part": "{half}"; give each the key, dev or measured')
    return chosen


def _model_folders(config: Config) -> list[Path]:
    """Folders of models: one that was trained anew is another run, though its name is the same."""
    names = (config.qu_model, config.evs_model, config.evs_bi_encoder, config.ha_model, config.ha_ranker)
    return [folder for name in names if name and (folder := Path(model_path(name)).expanduser()).is_dir()]
