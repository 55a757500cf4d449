"""Runs of the pipeline over a part of the benchmark, with results on disk."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from ..config import SNAPSHOT, Config, resolve, to_dict
from ..formats.conversations.benchmark import read_benchmark
from ..formats.run_folder import RunFolder, with_line
from ..formats.stage_files import read_stage_file
from ..pipeline import STAGE_NAMES, Pipeline
from ..records.conversation import Conversation
from ..resources import Resources
from ..scoring.convqa import evaluate
from ..stage import StageName
from ..support.checksums import sha256
from ..support.errors import ConfigError, DataError
from ..support.progress import progress
from .identity import fingerprint, origins

LOGGER = logging.getLogger(__name__)
# of these parts: the input file, and the value of `part` in its conversations
_SUBSETS = {
    "natural-dev": ("natural", "dev"),
    "natural": ("natural", "measured"),
    "natural-fresh": ("natural", "fresh"),
}
_BATCHES_PER_WORKER = 4  # at least, so that all workers end at about the same time
# the metrics of runs without the last stage
_MEASURED = {
    "qu": {"num_questions", "seconds"},
    "ers": {"num_questions", "answer_presence", "answer_presence_per_src", "seconds"},
}
_GROUPS = ("abstained", "domains", "turns", "kinds", "sources", "unanswerable")  # metrics by group, written last


class Outcome(NamedTuple):
    """The outcome of a run: its sources, its folder, the content of `metrics.json`, and a description of its questions."""

    sources: tuple[str, ...]
    path: Path
    metrics: dict[str, Any]
    measured: str


Batch = Sequence[Conversation]  # conversations that are run together
# the finished conversations of a batch as `with_line` gives them, and its seconds by stage
FinishedBatch = tuple[list[tuple[Conversation, bytes]], dict[str, float]]


class Workers(Protocol):
    """Processes that run batches; see `cluster.RayWorkers`."""

    @property
    def size(self) -> int:
        """The number of batches that run at the same time."""

    def run(
        self, make: Callable[[], BatchRunner], made_from: Mapping[str, str], batches: Sequence[Batch]
    ) -> Iterable[FinishedBatch]:
        """Yield the finished batches in their order. `made_from`: the `origins` that the runners must have which `make` makes."""


class BatchRunner:
    """A pipeline that runs batches.

    Args:
        config: the configuration of the pipeline.
        sources, use_gold_answers, done_by, until: arguments of `Pipeline.run`.
        resources: files and models that other pipelines share; by default the pipeline has its own.
    """

    def __init__(
        self,
        config: Config,
        sources: Sequence[str],
        use_gold_answers: bool,
        done_by: Literal["qu", "ers"] | None,
        until: StageName,
        resources: Resources | None = None,
    ) -> None:
        self.pipeline = Pipeline(config, resources=resources)
        self._run = partial(
            self.pipeline.run, sources=sources, use_gold_answers=use_gold_answers, done_by=done_by, until=until
        )

    def origins(self) -> dict[str, str]:
        """Return an id of each input of the results; see `identity.origins`."""
        pipeline = self.pipeline
        return origins(pipeline.config, pipeline.resources, (pipeline.qu, pipeline.ers, pipeline.ha))

    def __call__(self, batch: Batch) -> FinishedBatch:
        """Run a batch; see `Pipeline.run`. Raises `DataError`, too, if a module added a value that JSON cannot hold."""
        pipeline = self.pipeline
        old_seconds = dict(pipeline.seconds)
        done = self._run(batch)
        seconds = {stage: total - old_seconds[stage] for stage, total in pipeline.seconds.items()}
        return [*map(with_line, done)], seconds

    def close(self) -> None:
        """Close the pipeline."""
        self.pipeline.close()


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
    workers: Workers | None = None,
) -> Outcome:
    """Run, or resume, a combination of sources over a part of the benchmark.

    Args:
        config: the configuration.
        sources: the sources to retrieve from.
        use_gold_answers: whether earlier turns count with their gold answers.
        limit: the number of conversations to run, the first ones of the part; None: all.
        restart: run finished conversations again.
        quiet: show no progress.
        part: `train`, `dev`, `test`, or a part of the natural questions: `natural-dev` for development,
            `natural`, `natural-fresh` and `natural-third` for reported results.
        until: the last stage to run; the results of `qu` and `ers` go to a folder of that name.
        stage_file: conversations with the results of earlier stages, to run instead of a part; see `formats.stage_files`.
        resources: files and models that runs of this configuration share; its owner closes it.
        workers: processes that run the conversations; this process writes the results in either case.

    Raises:
        ConfigError: predicted answers need all stages in one run; or the stage file has the results of `until` already.
        DataError: the conversations are missing or damaged.
    """
    start = time.perf_counter()
    if not use_gold_answers and (until != "ha" or stage_file is not None):
        raise ConfigError("predicted answers of earlier turns need all stages in one run; leave out --until and --from")
    done_by: Literal["qu", "ers"] | None = None
    if stage_file is not None:
        name, path, subset = str(stage_file), stage_file, None
        done_by, conversations = _of_stages(stage_file, config, sources, until)
    else:
        path, subset, conversations = _of_part(config, part)
        name = f"the embedded {part} part" if path.is_relative_to(resolve(SNAPSHOT)) else f"{path} ({part} part)"
    conversations = conversations[:limit]
    stages = [] if until == "ha" and done_by is None else [done_by, until]
    part_id = fingerprint(subset, list(sources), use_gold_answers, *stages)
    subfolder = "_".join(sources) + ("" if part == "test" else f"-{part}")
    folder = Path(config.output_path) / config.name / subfolder / ("" if until == "ha" else until)
    with ExitStack() as opened:
        make_runner = partial(BatchRunner, config, sources, use_gold_answers, done_by, until)
        runner = make_runner(resources=resources)
        opened.callback(runner.close)
        made_from = runner.origins()
        content = {"conversations": sha256(path), "part and history": part_id} | made_from
        output = opened.enter_context(RunFolder(folder, content, restart, to_dict(config)))
        waiting = [
            conversation for conversation in conversations if str(conversation["conv_id"]) not in output.finished
        ]
        if len(waiting) < len(conversations):
            LOGGER.info("%d conversations are finished already in %s", len(conversations) - len(waiting), output.path)
        size = runner.pipeline.conversations_at_once
        if workers is not None:  # the size of a batch does not change the answers
            size = max(1, min(size, len(waiting) // (_BATCHES_PER_WORKER * workers.size)))
        batches = [waiting[first : first + size] for first in range(1, len(waiting), size)]
        if waiting:  # the first batch is one conversation, so that the bar moves within the first second
            batches.insert(0, waiting[:1])
        questions = sum(len(conversation["questions"]) for conversation in waiting)
        advance = opened.enter_context(progress("_".join(sources), questions, "questions", quiet))
        before = output.seconds()  # a resumed run adds to the seconds of the run before
        seconds = {stage: before.get(stage, 0.0) for stage in (*STAGE_NAMES, "total")}
        done = workers.run(make_runner, made_from, batches) if workers and batches else map(runner, batches)
        for conversations_done, batch_seconds in done:
            for shortened, line in conversations_done:
                output.add(shortened, line)
            advance(sum(len(shortened["questions"]) for shortened, _ in conversations_done))
            for stage, spent in batch_seconds.items():
                seconds[stage] += spent
        seconds["total"] += time.perf_counter() - start
        finished = [output.finished[str(conversation["conv_id"])] for conversation in conversations]
        metrics = _metrics(finished, seconds, until)
        output.write_metrics(metrics)
    answers = "gold" if use_gold_answers else "predicted"
    measured = f"{metrics['num_questions']} questions of {name}, with {answers} answers of earlier turns"
    return Outcome(tuple(sources), folder, metrics, measured)


def _metrics(finished: Sequence[Conversation], seconds: Mapping[str, float], until: StageName) -> dict[str, Any]:
    metrics = evaluate(finished)
    details = {name: metrics.pop(name) for name in _GROUPS}
    metrics["seconds"] = {stage: round(value, 3) for stage, value in seconds.items()}
    metrics |= details
    return {key: value for key, value in metrics.items() if key in _MEASURED.get(until, metrics)}


def _of_stages(
    stage_file: Path, config: Config, sources: Sequence[str], until: StageName
) -> tuple[Literal["qu", "ers"], list[Conversation]]:
    done_by, conversations = read_stage_file(stage_file, sources, config.evs_max_evidences)
    if STAGE_NAMES.index(until) <= STAGE_NAMES.index(done_by):
        raise ConfigError(f"{stage_file}: has the results of {done_by} already; nothing is left to do until {until}")
    return done_by, conversations


def read_part(config: Config, part: str) -> list[Conversation]:
    """Return the conversations of a part; see `run_experiment`. Raises `DataError` if its file is missing or damaged."""
    return _of_part(config, part)[-1]


def _of_part(config: Config, part: str) -> tuple[Path, str | None, list[Conversation]]:
    """Return the file of a part, the value of `part` in its conversations if the file has several, and these conversations."""
    data, subset = _SUBSETS.get(part, (part.replace("-", "_"), None))
    path = config.existing_input_path(data)
    conversations = read_benchmark(path, config.benchmark, data)
    if subset:
        conversations = [conversation for conversation in conversations if conversation.get("part") == subset]
        if not conversations:
            raise DataError(
                f'{path}: no conversation has "part": "{subset}"; give each the key, dev, measured or fresh'
            )
    return path, subset, conversations
