"""What a worker of a cluster does for a service: it answers turns, and tells of the stages as they go on."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any

from ..batch_runner import open_elsewhere
from ..config import parse_config
from ..pipeline import Pipeline, StageName
from ..records.conversation import Turn
from ..session import StageReport

# what is told of turns: the name of a stage and a pickle of the turns as they are then; at the end no name, and the seconds of
# the stages, or what was raised
Told = tuple[str, bytes, Exception | None]

_FIRST_QUESTION = "who directed it?"


class TurnReplica:
    """A pipeline that answers what it is asked by the name of a method; see `cluster.piece_work.PieceWork`.

    Args:
        settings: the keys of the configuration, which may come from another version of the program.
        home: see `batch_runner.open_elsewhere`.
    """

    def __init__(self, settings: dict[str, Any], home: str) -> None:
        self._runner = open_elsewhere(parse_config(settings), home)
        self._thread = ThreadPoolExecutor(1, "pipeline")
        self._told: SimpleQueue[Told] = SimpleQueue()
        self._unwanted = threading.Event()

    def __call__(self, request: tuple[Any, ...]) -> Any:
        """The value of a method: `(name, *arguments)`."""
        name, *arguments = request
        return getattr(self, name)(*arguments)

    def open(self, sources: Sequence[str]) -> dict[str, str]:
        """Answer a question, so that all is loaded, and what is missing is known; returns the `identity.origins`."""
        self.apply(Pipeline.ask, ([_FIRST_QUESTION], sources))
        return self._runner.origins()

    def begin(self, turns: list[Turn], *how: Any) -> None:
        """Begin to answer turns; see `Pipeline.answer_turns`. What becomes of them is told by `next`."""
        self._unwanted.clear()
        self._thread.submit(self._answer, turns, *how)

    def next(self, unwanted: bool) -> Told:
        """What is told next; where the turns are `unwanted`, they are given up before their next stage."""
        if unwanted:
            self._unwanted.set()
        return self._told.get()

    def apply(self, function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
        """See `Pipeline.apply`."""
        return self._thread.submit(self._runner.pipeline.apply, function, *arguments).result()

    def close(self) -> None:
        """Close the pipeline."""
        self._thread.shutdown()
        self._runner.close()

    def _answer(
        self,
        turns: list[Turn],
        earlier: Sequence[Sequence[Turn]],
        sources: Sequence[str],
        use_gold_answers: bool,
        until: StageName,
    ) -> None:
        pipeline, before = self._runner.pipeline, dict(self._runner.pipeline.seconds)
        error: Exception | None = None
        try:
            pipeline.answer_turns(
                turns, earlier, sources, self._report(turns), use_gold_answers=use_gold_answers, until=until
            )
        except Exception as raised:  # whatever it is: it is raised where the turns were asked for
            error = raised
        seconds = {stage: seconds - before[stage] for stage, seconds in pipeline.seconds.items()}
        self._told.put(("", pickle.dumps(seconds), error))

    def _report(self, turns: list[Turn]) -> StageReport:
        def report(stage: str) -> None:
            if self._unwanted.is_set():
                raise RuntimeError("the turns are not waited for any more")
            self._told.put((stage, pickle.dumps(turns, pickle.HIGHEST_PROTOCOL), None))

        return report
