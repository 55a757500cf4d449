"""Pieces that go out to workers of a Ray cluster, and come back in their order; what a lost or an unfit worker held is done again."""

from __future__ import annotations

import hashlib
import logging
import pickle
import socket
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..support.errors import ConvinseError, DataError, FetchError, NetworkError, OutputError, one_line
from ..support.workers import error_of, result_of
from .head_watch import HeadWatch

LOGGER = logging.getLogger(__name__)
_HELD = 2  # pieces that a worker holds: the next one is there when one is done
_AHEAD = 4  # pieces for each worker that may be under way before the first of them is done
_LOST = 3  # workers that a piece may end before it is taken to be the cause
# what a node can be the cause of: its disk, its memory, its way to the data
_UNFIT = (FetchError, OutputError, MemoryError)
_REST = 300.0  # seconds without work for a worker that met such an error
_LOOK = 1.0  # seconds of a look at what is done
_NO_WORKER = 600  # looks at a cluster that has no free core
_NOTHING_DONE = 1800  # looks at workers that make nothing
_EXCERPT = 200  # characters of a message of Ray's
_CLOSED = "what is finished is kept"


@dataclass(eq=False)
class Member:
    """A worker, the request that shows whether it has begun, then the name and id of its node, and the pieces that it holds."""

    actor: Any
    ready: Any
    place: str = ""
    node: str = ""
    held: dict[Any, int] = field(default_factory=dict)  # request -> number of the piece


class Workers(Protocol):
    """What a `Flow` knows of a crew; see `RayCrew`."""

    ray: Any
    head: HeadWatch

    @property
    def size(self) -> int:
        """How many pieces are worked on at once."""

    def hire(self) -> list[Member]:
        """The workers."""

    def dismiss(self, member: Member) -> None:
        """End a worker."""


class Flow:
    """One call of `RayCrew.in_order`; `made` is a pickle of the function that makes the work, and of its arguments."""

    def __init__(self, crew: Workers, made: bytes, pieces: Iterator[Any], about: str, remedy: str) -> None:
        self._crew, self._pieces, self._about, self._remedy = crew, pieces, about, remedy
        self._ray, self._head = crew.ray, crew.head
        with self._asking():
            self._made = [self._ray.put(made)]  # in a list it goes to each worker once, not with each piece
        self._task = hashlib.sha256(made).hexdigest()
        self._known: dict[int, bytes] = {}  # pieces that are under way or wait to be done again, by their numbers
        self._again: deque[int] = deque()
        self._lost: dict[int, list[str]] = {}  # the nodes of the workers that were lost with a piece
        self._resting: dict[Member, float] = {}  # workers on nodes that could not do a piece, and until when
        self._refusal: tuple[bytes, str] | None = None  # the last answer of one of them
        self._told: set[str] = set()
        self._done: dict[int, tuple[bytes, str]] = {}  # answers, and the nodes that gave them
        self._count, self._ended = 0, False  # pieces that were taken, and whether they were all
        self._idle = self._alone = 0  # looks at which nothing came, or no worker was there

    def results(self) -> Iterator[Any]:
        """The results, in the order of the pieces."""
        wanted = 0
        while True:
            with self._asking():
                self._hand_out()
                if self._ended and not self._known:
                    return
                self._look()
            while wanted in self._done:
                yield self._result(*self._done.pop(wanted))
                wanted += 1

    def _result(self, answer: bytes, place: str) -> Any:
        try:
            return result_of(answer, self._about, self._remedy)
        except ConvinseError as error:
            if place != socket.gethostname():
                error.args = (f"{one_line(error)} (on {place})", *error.args[1:])
            raise

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """What Ray raises while it is asked to do something is of the cluster."""
        try:
            yield
        except (self._ray.exceptions.RayError, ConnectionError) as error:
            raise no_head(first_words(error), self._remedy) from error

    def _hand_out(self) -> None:
        """A piece for each worker that holds none, then a second one."""
        members = self._crew.hire()
        for held in range(_HELD):
            for member in members:
                if (
                    member.place
                    and self._is_fit(member)
                    and len(member.held) == held
                    and (piece := self._next(member)) is not None
                ):
                    request = member.actor.answer.remote(self._task, self._made, self._known[piece])
                    member.held[request] = piece

    def _next(self, member: Member) -> int | None:
        """The number of a piece for a worker; None where there is none, or enough is under way."""
        for number in self._again:
            if self._may_do(member, number):
                self._again.remove(number)
                return number
        if len(self._known) + len(self._done) >= _AHEAD * self._crew.size:
            return None
        for piece in self._pieces:
            self._known[self._count] = pickle.dumps(piece, pickle.HIGHEST_PROTOCOL)
            self._count += 1
            return self._count - 1
        self._ended = True
        return None

    def _may_do(self, member: Member, number: int) -> bool:
        """Whether no worker was lost with a piece on the node of this one; where there is no other node, that does not count."""
        nodes = self._lost.get(number, [])
        return member.node not in nodes or all(
            worker.node in nodes for worker in self._crew.hire() if worker.place and self._is_fit(worker)
        )

    def _look(self) -> None:
        """Take in what is done; a moment's wait where nothing is."""
        members = self._crew.hire()
        asked = {request: member for member in members for request in ([] if member.place else [member.ready])}
        asked |= {request: member for member in members for request in member.held}
        ready, _ = self._ray.wait(list(asked), num_returns=1, timeout=_LOOK)
        self._count_looks(bool(ready))
        for request in ready:
            self._take_in(request, asked[request])

    def _take_in(self, request: Any, member: Member) -> None:
        try:
            answer = self._ray.get(request)
        except self._ray.exceptions.RayTaskError as failure:
            raise DataError(
                f"{self._about}: a worker on {member.place or 'a node'} failed: {first_words(failure)}"
            ) from failure
        except self._ray.exceptions.RayError as failure:
            self._replace(member, failure)
            return
        if not member.place:
            member.place, member.node = answer
            return
        number = member.held.pop(request)
        error = error_of(answer)
        if isinstance(error, _UNFIT):
            self._refusal = answer, member.place
            if self._rest(member, error):
                self._again.append(number)
                return
        ended = [number]
        if isinstance(error, _UNFIT):  # nobody is fit: this is what becomes of all that waits for somebody else, too
            ended += self._again
            self._again.clear()
        for number in ended:
            del self._known[number]
            self._done[number] = answer, member.place

    def _rest(self, member: Member, error: Exception) -> bool:
        """Give no work for a while to a worker whose node may be what is wrong; returns whether others may do better."""
        self._resting[member] = time.monotonic() + _REST
        if not any(map(self._is_fit, self._crew.hire())):
            return False
        if (told := f"{member.place}: {one_line(error)}") not in self._told:
            self._told.add(told)
            LOGGER.warning("a worker on %s; others do what it held", told)
        return True

    def _is_fit(self, member: Member) -> bool:
        return time.monotonic() >= self._resting.get(member, 0.0)

    def _replace(self, member: Member, error: Exception) -> None:
        """What a lost worker held waits to be done again, by another one."""
        self._crew.dismiss(member)
        numbers, member.held = sorted(member.held.values()), {}
        if member.place:
            LOGGER.warning(
                "a worker on %s is lost (%s); %d pieces that it held are done again",
                member.place,
                reason(error),
                len(numbers),
            )
        for number in numbers:
            self._lost.setdefault(number, []).append(member.node)
        if numbers and len(self._lost[numbers[0]]) >= _LOST:
            raise DataError(
                f"{self._about}: piece {numbers[0] + 1} has ended {_LOST} workers ({reason(error)}); {self._remedy}"
            )
        self._again.extendleft(reversed(numbers))

    def _count_looks(self, ready: bool) -> None:
        """Nothing is waited for without end. Looks are counted, not seconds: a stopped process (Ctrl-Z) looks but once."""
        self._idle = 0 if ready else self._idle + 1
        at_work = any(member.place and self._is_fit(member) for member in self._crew.hire())
        self._alone = 0 if at_work else self._alone + 1
        self._head.look()
        if self._head.lost:
            raise no_head("it does not answer", self._remedy)
        if self._alone == _NO_WORKER // 10:
            if self._refusal is not None:  # those that might do better do not come
                self._result(*self._refusal)
            LOGGER.warning("Ray: no core is free for a worker; waiting for one")
        if self._alone >= _NO_WORKER:
            raise NetworkError(
                f"the Ray cluster had no core free for a worker in {_NO_WORKER // 60} minutes; {_CLOSED}"
            )
        if self._idle >= _NOTHING_DONE:
            raise DataError(
                f"{self._about}: the workers made nothing of a piece of it in {_NOTHING_DONE // 60} minutes"
            )


def no_head(reason: str, remedy: str) -> NetworkError:
    """What is said when the head node is lost."""
    return NetworkError(
        f"the head node of the Ray cluster is lost ({reason}); {_CLOSED}: start the cluster again and {remedy}"
    )


def first_words(error: BaseException) -> str:
    """The first line of what Ray says, which is a page, or of what went wrong in a worker."""
    lines = str(getattr(error, "cause", None) or error).strip().splitlines()
    return lines[0][:_EXCERPT] if lines else type(error).__name__


def reason(error: Exception) -> str:
    """Why a worker is lost, in a few words: Ray's own are a page."""
    text = str(error)
    if "memory" in text.lower() or "OOM" in text:
        return "it ran out of memory"
    return "its node is gone" if "node" in text and "dead" in text.lower() else "its process ended"
