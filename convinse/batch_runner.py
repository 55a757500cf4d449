"""Batches of conversations through a pipeline: in the process that writes the results, or in workers elsewhere."""

from __future__ import annotations

import copy
import socket
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from .config import Config
from .formats.run_folder import FinishedConversation
from .identity import fingerprint, origins
from .pipeline import Pipeline, StageName
from .records.conversation import Conversation
from .resources import Resources
from .support.checksums import users_cache
from .support.errors import DataError

# what a worker is given, and need not find at home
_GIVEN = ("settings",)


class Batch(NamedTuple):
    """Conversations that are run together, and how; the rest as `Pipeline.run` has it."""

    conversations: Sequence[Conversation]
    sources: Sequence[str]
    use_gold_answers: bool
    done_by: Literal["qu", "ers"] | None
    until: StageName


class RunBatch(NamedTuple):
    """Conversations with what the stages added, the seconds that each stage took, and the requests to servers of models, see `Resources`."""

    conversations: list[FinishedConversation]
    seconds: dict[str, float]
    requests: dict[str, Counter[str]]


class BatchRunner:
    """A pipeline that runs batches.

    Args:
        config: of the pipeline.
        resources: what it shares with others; its own by default.
    """

    def __init__(self, config: Config, resources: Resources | None = None) -> None:
        self.pipeline = Pipeline(config, resources=resources)

    def origins(self) -> dict[str, str]:
        """An id of each thing that results come from; see `identity.origins`."""
        pipeline = self.pipeline
        return origins(pipeline.config, pipeline.resources, (pipeline.qu, pipeline.ers, pipeline.ha))

    def __call__(self, batch: Batch) -> RunBatch:
        """Run a batch; see `Pipeline.run`. Raises `DataError`, too, where a module made what is no JSON."""
        before, asked = dict(self.pipeline.seconds), copy.deepcopy(self.pipeline.resources.requests)
        conversations, sources, use_gold_answers, done_by, until = batch
        done = self.pipeline.run(conversations, sources, use_gold_answers, done_by=done_by, until=until)
        seconds = {stage: seconds - before[stage] for stage, seconds in self.pipeline.seconds.items()}
        requests = {key: counts - asked[key] for key, counts in self.pipeline.resources.requests.items()}
        return RunBatch([*map(FinishedConversation.of, done)], seconds, requests)

    def close(self) -> None:
        """Close the pipeline, and what it has opened."""
        self.pipeline.close()


def open_like(config: Config, made_from: Mapping[str, str], home: str) -> BatchRunner:
    """A pipeline in another process that gives the results which one here would give.

    Args:
        config, home: as `open_elsewhere` has them.
        made_from: the `origins` of the one here.

    Raises:
        DataError: something that results come from is another thing there; the text names it.
    """
    with ExitStack() as opened:
        runner = open_elsewhere(config, home)
        opened.callback(runner.close)
        check_origins(runner.origins(), made_from, "here", "where the run was started")
        opened.pop_all()
    return runner


def open_elsewhere(config: Config, home: str) -> BatchRunner:
    """A pipeline in another process.

    Args:
        config: of the pipeline. On another machine its cache lies in a folder of that machine alone: what SQLite writes may not be
            shared by way of a network.
        home: the name of the machine where it was asked for.
    """
    is_common = socket.gethostname() == home
    return BatchRunner(config if is_common else _with_own_cache(config))


def check_origins(own: Mapping[str, str], wanted: Mapping[str, str], here: str, there: str) -> None:
    """Raise `DataError` where the `origins` of a pipeline are not those of another; `here` and `there` say where they are."""
    changed = [name for name, value in own.items() if value != wanted.get(name) and name not in _GIVEN]
    if changed:
        raise DataError(
            f"another {', '.join(changed)} is found {here} than {there}; bring the same files and the same version of the "
            "program to every node"
        )


def _with_own_cache(config: Config) -> Config:
    """The configuration with a cache in the user's cache folder, which several machines may have in common, below the name of this one."""
    folder = (users_cache() or Path(config.ers_cache_path)) / socket.gethostname()
    return msgspec.structs.replace(config, ers_cache_path=str(folder / fingerprint(config.ers_cache_path)))
