"""A run of the pipeline over the configured conversations, with results on disk, and its table."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal, NamedTuple

from .config import Config
from .formats.conversations.benchmark import read_benchmark
from .formats.run_folder import RunFolder
from .formats.stage_files import read_stage_file
from .identity import fingerprint, origins
from .language_models.spending import spending
from .pipeline import STAGE_NAMES, Pipeline, StageName
from .records.conversation import Conversation
from .resources import Resources
from .scoring.convqa import evaluate
from .support.errors import ConfigError, DataError
from .support.files import sha256
from .support.progress import progress

LOGGER = logging.getLogger(__name__)
# parts that are the conversations of a file with this key `part`
_HALVES = {"natural-dev": ("natural", "dev"), "natural": ("natural", "measured")}

# what is known of a run that ends before answers are given
_MEASURED = {
    "qu": {"num_questions", "seconds", "language_models"},
    "ers": {"num_questions", "answer_presence", "answer_presence_per_src", "seconds", "language_models"},
}


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
    until: StageName = "ha",
    stage_file: Path | None = None,
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
        until: the last stage to run; the results of `qu` and `ers` go to a folder of that name.
        stage_file: conversations that the first stages have worked on, in place of a part; see `formats.stage_files`.
        resources: what several runs of a configuration share; its owner closes it.

    Raises:
        ConfigError: predicted answers are asked for where there are none: without the last stage, or after the first.
    """
    start = time.perf_counter()
    if not use_gold_answers and (until != "ha" or stage_file is not None):
        raise ConfigError("predicted answers of earlier turns need all stages in one run; leave out --until and --from")
    path, half = (stage_file, None) if stage_file is not None else _file_of(config, part)
    done_by, conversations = _begun(config, sources, part, stage_file)
    if done_by is not None and STAGE_NAMES.index(until) <= STAGE_NAMES.index(done_by):
        raise ConfigError(f"{path}: has the results of {done_by} already; nothing is left to do until {until}")
    conversations = conversations[:limit]
    stages = [] if until == "ha" and done_by is None else [done_by, until]
    history = fingerprint(half, list(sources), use_gold_answers, *stages)
    asked = {"conversations": sha256(path), "part and history": history}
    folder = Path(config.output_path) / config.name / "_".join(sources) / ("" if until == "ha" else until)
    with ExitStack() as opened:
        pipeline = opened.enter_context(Pipeline(config, resources=resources))
        made_from = asked | origins(config, pipeline.resources, (pipeline.qu, pipeline.ers, pipeline.ha))
        output = opened.enter_context(RunFolder(folder, made_from, restart))
        asked_before = {key: counts.copy() for key, counts in pipeline.resources.requests.items()}
        waiting = [
            conversation for conversation in conversations if str(conversation["conv_id"]) not in output.finished
        ]
        if len(waiting) < len(conversations):
            LOGGER.info("%d conversations are finished already in %s", len(conversations) - len(waiting), folder)
        step = pipeline.conversations_at_once
        with progress("_".join(sources), len(waiting), "conversations", quiet) as advance:
            for place in range(0, len(waiting), step):
                batch = waiting[place : place + step]
                for conversation in pipeline.run(batch, sources, use_gold_answers, done_by=done_by, until=until):
                    output.add(conversation)
                    advance()
        finished = [output.finished[str(conversation["conv_id"])] for conversation in conversations]
        metrics = evaluate(finished)
        seconds = {
            **{stage: pipeline.seconds[stage] for stage in ("qu", "ers", "ha")},
            "total": time.perf_counter() - start,
        }
        before = output.seconds()  # of the part of the run that was finished before
        groups = {
            name: metrics.pop(name) for name in ("abstained", "domains", "turns", "kinds", "sources", "unanswerable")
        }
        metrics["seconds"] = {stage: round(value + before.get(stage, 0.0), 3) for stage, value in seconds.items()}
        metrics |= groups
        requests = {
            key: counts - asked_before.get(key, Counter()) for key, counts in pipeline.resources.requests.items()
        }
        if spent := spending(finished, config, requests):
            metrics["language_models"] = spent
        metrics = {key: value for key, value in metrics.items() if key in _MEASURED.get(until, metrics)}
        output.write_metrics(metrics)
    return Outcome(tuple(sources), folder, metrics)


def _begun(
    config: Config, sources: Sequence[str], part: str, stage_file: Path | None
) -> tuple[Literal["qu", "ers"] | None, list[Conversation]]:
    """The conversations to run, and the stage whose results they have already."""
    if stage_file is None:
        return None, read_part(config, part)
    return read_stage_file(stage_file, sources, config.evs_max_evidences)


def read_part(config: Config, part: str) -> list[Conversation]:
    """The conversations of a part; see `run_experiment`. Raises `DataError`: there is no such file, or it is damaged."""
    path, half = _file_of(config, part)
    if not path.is_file():
        raise DataError(f"{path}: no such file; check {_HALVES.get(part, (part,))[0]}_input_path and benchmark_path")
    conversations = read_benchmark(path, config.benchmark, _HALVES.get(part, (part,))[0])
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
