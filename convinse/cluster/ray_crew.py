"""Workers of a Ray cluster: as many as it has cores or GPUs, kept until the command ends."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Callable, Generator, Iterable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ..support.errors import NetworkError
from .head_watch import HeadWatch
from .ray_flow import Flow, Member
from .ray_worker import RayWorker

P = TypeVar("P")
R = TypeVar("R")

LOGGER = logging.getLogger(__name__)


class Needs(NamedTuple):
    """What a worker takes of its node."""

    cores: int
    gpus: int


class RayCrew:
    """Workers of a cluster, each of which is kept until `close`. A `support.workers.Crew`.

    Args:
        ray: the package, connected to a cluster.
        most: workers at most; by default one for each core, or each GPU, see `device`.
        device: `cpu`: no GPU is used. Else, on a cluster that has GPUs, each worker has one and there is no other, so that
            all compute alike.

    Raises:
        NetworkError: the cluster has no node that could work.
    """

    def __init__(self, ray: Any, most: int | None = None, device: str = "cpu") -> None:
        self.ray, self.head = ray, HeadWatch(ray)
        self.most = most
        try:
            self._needs = self._needed(device)
        except NetworkError:
            self.head.close()
            raise
        self._members: list[Member] = []
        kind = "GPUs" if self._needs.gpus else "cores"
        LOGGER.info("Ray: %d workers on the %d %s of %d nodes", self.size, self.room, kind, len(self.head.nodes))

    def _needed(self, device: str) -> Needs:
        """What a worker takes. Raises `NetworkError` where no node has it."""
        gpus = self.head.total("GPU")
        if device.startswith("cuda") and not gpus:
            raise NetworkError("the Ray cluster has no GPU; use device: auto or cpu, or add a node that has one")
        if not self.head.total("CPU"):
            raise NetworkError("the Ray cluster has no core for a worker; add a node to it")
        return Needs(1, 1) if gpus and device != "cpu" else Needs(1, 0)

    @property
    def room(self) -> int:
        """Workers that the nodes have room for, those that have joined since included."""
        cores = self.head.total("CPU")
        return min(cores, self.head.total("GPU")) if self._needs.gpus else cores

    @property
    def size(self) -> int:
        """How many pieces are worked on at once, at least 1."""
        return max(1, min(self.room, self.most or self.room))

    def in_order(
        self,
        pieces: Iterable[P],
        make: Callable[..., Callable[[P], R]],
        arguments: tuple[Any, ...],
        about: str,
        remedy: str,
    ) -> Generator[R, None, None]:
        """What a function makes of each piece, in their order; see `support.workers.in_order`.

        Raises:
            DataError: a piece has ended several workers; and whatever the function raises, with the name of the node.
            NetworkError: the head node is lost, or no worker can begin.
        """
        made = pickle.dumps((make, arguments), pickle.HIGHEST_PROTOCOL)
        try:
            yield from Flow(self, made, iter(pieces), about, remedy).results()
        finally:
            for member in [member for member in self._members if member.held]:
                self.dismiss(member)  # it works on what nobody waits for any more

    def hire(self) -> list[Member]:
        """The workers; new ones in the place of those that were lost, and none that waits for a node that has left."""
        while len(self._members) < self.size:
            self.start()
        waiting = [member for member in self._members if not member.place]
        for member in waiting[: len(self._members) - self.size]:
            self.dismiss(member)
        return [*self._members]

    def start(self) -> Member:
        """A further worker, which begins when the cluster has a core for it."""
        kind = self.ray.remote(num_cpus=self._needs.cores, num_gpus=self._needs.gpus, max_restarts=0)(RayWorker)
        actor = kind.remote(str(Path.cwd()), self._needs.cores, bool(self._needs.gpus))
        self._members.append(Member(actor, actor.place.remote()))
        return self._members[-1]

    def dismiss(self, member: Member) -> None:
        """End a worker."""
        self._members.remove(member)
        if not self.head.lost:
            self.ray.kill(member.actor)

    def close(self) -> None:
        """End the workers."""
        self.head.close()
        for member in list(self._members):
            self.dismiss(member)
