"""A pipeline whose turns are answered by the workers of a cluster; what a lost one held is done again by another."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ..config import Config
from ..pipeline import Pipeline, StageName
from ..records.conversation import Turn
from ..session import StageReport
from ..support.errors import NetworkError
from .ray_crew import RayCrew
from .ray_replicas import LostReplicaError, RayReplicas, Replica

T = TypeVar("T")
_LOST = 3  # workers that the same turns may end before they are taken to be the cause


class ClusterPipeline(Pipeline):
    """Opens nothing here. A turn goes out with what question understanding may know of those before it, so any worker can take it.

    Threads may use it at the same time. Use it in a `with` block.

    Args:
        crew: of the cluster.
        config: that it begins with.
        sources: that a worker is tried with before it is used.
        read: the configuration to go on with when `renew` is called.
        least: workers that are kept when there is little to do.
        ended: called, in any thread, when the cluster is lost; `check` then raises why.

    Raises:
        ConvinseError: the first worker cannot open the pipeline.
    """

    def __init__(
        self,
        crew: RayCrew,
        config: Config,
        sources: Sequence[str],
        read: Callable[[], Config],
        least: int,
        ended: Callable[[], None],
    ) -> None:
        super().__init__(config)
        self._replicas = RayReplicas(crew, config, sources, read, least, ended)

    @property
    def batches_at_once(self) -> int:
        """See `Pipeline`: the workers that are there."""
        return self._replicas.ready

    @property
    def most_batches(self) -> int:
        """See `Pipeline`."""
        return self._replicas.most

    def watch(self, waiting: Callable[[], int], changed: Callable[[], None]) -> None:
        """See `Pipeline`."""
        self._replicas.watch(waiting, changed)

    def renew(self) -> None:
        """Read the configuration again, and replace the workers one by one; a signal handler may call it."""
        self._replicas.renew = True

    def check(self) -> None:
        """Raise `NetworkError` where the cluster is lost."""
        self._replicas.check()

    def close(self) -> None:
        """Let the workers go."""
        self._replicas.close()
        super().close()

    def answer_turns(
        self,
        turns: Sequence[Turn],
        earlier: Sequence[Sequence[Turn]],
        sources: Sequence[str],
        report: StageReport | None = None,
        *,
        use_gold_answers: bool = False,
        until: StageName = "ha",
    ) -> None:
        """See `Pipeline.answer_turns`. Stages are told of again where a worker is lost."""
        asked = [turn.copy() for turn in turns]
        self._kept(
            len(turns),
            lambda replica: self._answered(replica, (asked, earlier, sources, use_gold_answers, until), turns, report),
        )

    def apply(self, function: Callable[..., T], *arguments: Any) -> T:
        """See `Pipeline.apply`."""
        value: T = self._kept(1, lambda replica: self._replicas.ask(replica, "apply", function, arguments))
        return value

    def _kept(self, turns: int, work: Callable[[Replica], T]) -> T:
        """What a worker makes of so many turns, or the next one where it is lost."""
        for _ in range(_LOST):
            with self._replicas.held(turns) as replica:
                try:
                    return work(replica)
                except LostReplicaError as error:
                    reason = str(error)
        raise NetworkError(f"the workers that should have answered were lost, {_LOST} in a row ({reason}); ask again")

    def _answered(
        self, replica: Replica, asked: tuple[Any, ...], turns: Sequence[Turn], report: StageReport | None
    ) -> None:
        refused: Exception | None = None
        self._replicas.ask(replica, "begin", *asked)
        while True:
            stage, data, error = self._replicas.ask(replica, "next", refused is not None)
            if not stage:
                self._count(pickle.loads(data))
                if refused or error:
                    raise refused or error
                return
            for turn, answered in zip(turns, pickle.loads(data), strict=True):
                turn.clear()  # type: ignore[attr-defined]
                turn.update(answered)
            try:
                if report is not None and refused is None:
                    report(stage)
            except Exception as raised:  # of whoever asked: the worker ends before the next stage
                refused = raised

    def _count(self, seconds: dict[str, float]) -> None:
        self.seconds = {stage: total + seconds[stage] for stage, total in self.seconds.items()}
