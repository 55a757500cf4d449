"""Workers of a Ray cluster that answer turns: as many as there is work for, replaced one by one when they are to be others."""

from __future__ import annotations

import logging
import math
import pickle
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..batch_runner import check_origins
from ..config import Config, to_dict
from ..support.errors import ConvinseError, DataError, NetworkError, one_line
from ..support.program import program_id
from .piece_work import result_of
from .ray_crew import RayCrew
from .ray_flow import Member, first_words, no_head, reason
from .turn_replica import TurnReplica

LOGGER = logging.getLogger(__name__)
_TURNS = 4  # that wait or are computed, for each worker: half of the largest batch
_UNUSED = 60.0  # seconds after which a worker that there is no work for is let go
_LOOK = 0.2  # seconds between two looks at what there is to do
_PAUSE = 30.0  # seconds after a worker could not be opened
_NO_WORKER = 120.0  # seconds that a thread waits for a worker: longer than any client
_SILENT = 300  # looks of a second at a worker that is asked: it hangs
_MOST = 256  # workers, where no limit is given
_REMEDY = "give the nodes more memory, or workers to fewer cores"


class LostReplicaError(Exception):
    """The process of a worker has ended, or hangs."""


@dataclass(eq=False)
class Version:
    """What workers are opened with. All of one version have the same origins: those of the first."""

    task: str
    made: list[Any]
    origins: dict[str, str] | None = None


@dataclass(eq=False)
class Replica:
    """A worker with a pipeline.

    Attributes:
        opening: the request to open it, as long as that is not answered.
        turns: that it computes.
        since: when it was used last.
        leaves: whether it is given nothing more.
    """

    member: Member
    version: Version
    opening: Any
    turns: int = 0
    since: float = 0.0
    leaves: bool = False

    @property
    def is_open(self) -> bool:
        """Whether it can be asked, or is."""
        return self.opening is None and not self.leaves


class RayReplicas:
    """The workers of a service; a thread of its own tends them. See `ClusterPipeline` for the arguments."""

    def __init__(
        self,
        crew: RayCrew,
        config: Config,
        sources: Sequence[str],
        read: Callable[[], Config],
        least: int,
        ended: Callable[[], None],
    ) -> None:
        self._crew, self._ray, self._sources, self._read, self._least = crew, crew.ray, sources, read, least
        self._ended = ended
        self.most = max(least, crew.most or _MOST)
        self.renew = False
        self._number = 0
        self._version = self._before = self._version_of(config)
        self._replicas: list[Replica] = []
        self._changed = threading.Condition()
        self._waiting: Callable[[], int] = lambda: 0
        self._tell: Callable[[], None] = lambda: None
        self._failure: ConvinseError | None = None
        self._not_before = 0.0
        self._closed = threading.Event()
        threading.Thread(target=self._tend, daemon=True, name="workers of the service").start()
        with self._changed:
            self._changed.wait_for(lambda: self.ready or self._failure)
        self.check()

    @property
    def ready(self) -> int:
        """How many can be asked, or are."""
        return sum(replica.is_open for replica in self._replicas)

    def watch(self, waiting: Callable[[], int], changed: Callable[[], None]) -> None:
        """See `Pipeline.watch`."""
        self._waiting, self._tell = waiting, changed

    def check(self) -> None:
        """Raise what has ended the service, if anything has."""
        if self._failure is not None:
            raise type(self._failure)(*self._failure.args)

    def close(self) -> None:
        """Tend them no more; the crew ends them."""
        self._closed.set()

    @contextmanager
    def held(self, turns: int) -> Iterator[Replica]:
        """A worker that nobody else asks meanwhile. Raises `NetworkError` where none becomes free."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._failure or self._idle(), _NO_WORKER):
                raise NetworkError("the Ray cluster has no worker left; ask again when it has nodes with free cores")
            self.check()
            replica = max(self._idle(), key=lambda idle: (idle.version is self._version, idle.since))
            replica.turns = turns
        try:
            yield replica
        finally:
            with self._changed:
                replica.turns, replica.since = 0, time.monotonic()
                self._changed.notify_all()
            self._tell()

    def ask(self, replica: Replica, *request: Any) -> Any:
        """The value of a method of `TurnReplica`, by its name and arguments.

        Raises:
            LostReplicaError: it was asked in vain; it is no longer among the workers.
            Exception: whatever the method raises.
        """
        try:
            answer = self._request(replica, request)
            for _ in range(_SILENT):
                if self._ray.wait([answer], timeout=1.0)[0]:
                    return self._value(answer)
                self.check()
            raise LostReplicaError("it does not answer")
        except self._ray.exceptions.RayTaskError as error:
            raise DataError(f"a worker on {replica.member.place} failed: {first_words(error)}") from error
        except (self._ray.exceptions.RayError, ConnectionError, LostReplicaError) as error:
            lost = str(error) if isinstance(error, LostReplicaError) else reason(error)
            LOGGER.warning(
                "a worker on %s is lost (%s); %d turns that it had are done again",
                replica.member.place,
                lost,
                replica.turns,
            )
            self._let_go(replica)
            raise LostReplicaError(lost) from error

    def _version_of(self, config: Config) -> Version:
        self._number += 1
        made = pickle.dumps((TurnReplica, (to_dict(config), socket.gethostname())))
        return Version(f"version {self._number}", [self._ray.put(made)])

    def _request(self, replica: Replica, request: tuple[Any, ...]) -> Any:
        version = replica.version
        return replica.member.actor.answer.remote(
            version.task, version.made, pickle.dumps(request, pickle.HIGHEST_PROTOCOL)
        )

    def _value(self, answer: Any) -> Any:
        return result_of(self._ray.get(answer), "a turn", _REMEDY)

    def _idle(self) -> list[Replica]:
        return [replica for replica in self._replicas if replica.is_open and not replica.turns]

    def _let_go(self, replica: Replica) -> None:
        with self._changed:
            if replica not in self._replicas:
                return
            self._replicas.remove(replica)
        self._crew.dismiss(replica.member)

    def _tend(self) -> None:
        while not self._closed.wait(_LOOK):
            self._crew.head.look()
            if self._crew.head.lost:
                self._fail(no_head("it does not answer", "the service"))
                return
            try:
                if self.renew:
                    self.renew = False
                    self._begin_anew()
                for replica in [replica for replica in self._replicas if replica.opening is not None]:
                    self._take_in(replica)
                self._adapt()
            except (self._ray.exceptions.RayError, ConnectionError) as error:
                LOGGER.debug(
                    "the cluster: %s", one_line(error)
                )  # the head is lost, which is seen above, or it was a moment's

    def _fail(self, error: ConvinseError) -> None:
        with self._changed:
            self._failure = error
            self._changed.notify_all()
        if self._before.origins is not None:  # else nobody is served yet
            self._ended()

    def _begin_anew(self) -> None:
        try:
            version = self._version_of(self._read())
        except ConvinseError as error:
            LOGGER.error("nothing is replaced: %s", one_line(error))
            return
        if self._version.origins is not None:
            self._before = self._version
        self._version, self._not_before = version, 0.0
        LOGGER.info("the workers are replaced one by one")

    def _take_in(self, replica: Replica) -> None:
        """Use a worker that is open, or say why it is not."""
        if not self._ray.wait([replica.opening], timeout=0)[0]:
            return
        try:
            own = self._value(replica.opening)
            replica.member.place, replica.member.node = self._ray.get(replica.member.ready)
            version = replica.version
            if version.origins is None:
                if self._number == 1:  # later ones may be of a version of the program that came after this one
                    check_origins({"program": own["program"]}, {"program": program_id()}, "on a node", "here")
                version.origins = own
            check_origins(own, version.origins, f"on {replica.member.place}", "on the nodes before it")
        except Exception as error:  # whatever it is: the others go on
            self._refuse(replica, error)
            return
        with self._changed:
            replica.opening, replica.since = None, time.monotonic()
            self._changed.notify_all()
        self._tell()

    def _refuse(self, replica: Replica, error: Exception) -> None:
        self._let_go(replica)
        words = one_line(error) if isinstance(error, ConvinseError) else first_words(error)
        self._not_before = time.monotonic() + _PAUSE
        if self._version is self._before and self._version.origins is None:
            self._fail(error if isinstance(error, ConvinseError) else DataError(f"a worker cannot begin: {words}"))
        elif self._version is not self._before and replica.version is self._version:
            self._version, self._not_before = self._before, 0.0
            LOGGER.error("the workers stay as they were: %s", words)
        else:
            LOGGER.error("a worker cannot begin: %s", words)

    def _adapt(self) -> None:
        """Start what there is work for, and let go of what there is none for."""
        with self._changed:
            starts, ends = self._plan(time.monotonic())
        for replica in ends:
            self._let_go(replica)
        for _ in range(starts):
            member = self._crew.start()
            replica = Replica(member, self._version, None, since=time.monotonic())
            replica.opening = self._request(replica, ("open", self._sources))
            with self._changed:
                self._replicas.append(replica)

    def _plan(self, now: float) -> tuple[int, list[Replica]]:
        """How many workers to start, and which to let go."""
        load = self._waiting() + sum(replica.turns for replica in self._replicas)
        room = max(1, self._crew.room)
        wanted = min(max(self._least, math.ceil(load / _TURNS)), self.most, room)
        total, idle = len(self._replicas), self._idle()
        may_start = now >= self._not_before
        old = [replica for replica in self._replicas if replica.version is not self._version]
        if not old:
            if total > wanted:
                return 0, [replica for replica in idle if now - replica.since > _UNUSED][: total - wanted]
            return (wanted - total if may_start else 0), []
        if ends := [
            replica for replica in old if replica.opening is not None or (replica.leaves and not replica.turns)
        ]:
            return 0, ends
        if not all(replica.is_open for replica in self._replicas):
            return 0, []
        if total <= wanted and total < room:  # the new one is there before an old one goes
            return int(may_start), []
        min(old, key=lambda replica: replica.turns).leaves = True  # it ends when it has answered what it holds
        return 0, []
