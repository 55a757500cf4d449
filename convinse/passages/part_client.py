"""Parts of a passage index behind servers: which server has which part, and what becomes of one that does not answer."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from ..support.addresses import host_of
from ..support.errors import DataError, NetworkError, one_line
from ..support.web import WebSession
from .blocks import Passage
from .index import Hit
from .layout import PartOfIndex
from .part_server import PartAnswer
from .parts import PassageParts

T = TypeVar("T")

LOGGER = logging.getLogger(__name__)
_PATIENCE = 20.0  # seconds for an answer, a second attempt included
_REST = 30.0  # seconds in which a server that did not answer is not asked again
_REMEDY = "start it again: retrieve serve"
_REFUSED = (400, 403, 413, 415)  # statuses of a request that no other server would take


@dataclass(eq=False)
class _Server:
    url: str
    about: PartAnswer | None = None
    fault: NetworkError | None = None  # of the last request
    rests_until: float = 0.0


class PartServers:
    """Servers of parts of one index; a part may have several, of which the first that answers is taken.

    Args:
        urls: such as `http://node1:7780`.

    Raises:
        NetworkError: a text is no address, or none of them answers.
        DataError: they have parts of several indexes.
    """

    def __init__(self, urls: Sequence[str]) -> None:
        self._web = WebSession(
            read_timeout=_PATIENCE, deadline=_PATIENCE, attempts=2, refusals=1, connections=32, remedy=_REMEDY
        )
        self._servers = [_Server(url.strip().rstrip("/")) for url in urls if url.strip()]
        for server in self._servers:
            host_of(server.url)
        self._first: PartAnswer | None = None
        try:
            with ThreadPoolExecutor(len(self._servers)) as threads:
                answers = [*threads.map(self._asked, self._servers)]
            self._first = next((about for about in answers if about is not None), None)
            if self._first is None:
                raise self._servers[0].fault or NetworkError(f"no server answers; {_REMEDY}")
            for server in self._servers:
                if server.about is not None and not self._is_of(server.about):
                    raise DataError(
                        f"{host_of(server.url)}: has a part of another index, or of another division of it, than "
                        f"{host_of(next(known.url for known in self._servers if known.about))}; serve parts of one build"
                    )
        except BaseException:
            self._web.close()
            raise
        self.part, self.parameters = self._first.part, self._first.parameters

    def index(self) -> PassageParts:
        """The index of all parts, those that no server has included."""
        parts = [
            ServedPart(self, PartOfIndex(self.part.whole, number, self.part.starts))
            for number in range(1, len(self.part.starts))
        ]
        return PassageParts(parts, self.parameters, at_once=True, closing=self._web.close)

    def ask(self, part: PartOfIndex, path: str, request: dict[str, Any]) -> PartAnswer:
        """What a server of a part answers.

        Raises:
            NetworkError: the part has no server that answers.
            DataError: the request is refused.
        """
        faults: list[NetworkError] = []
        for server in self._servers:
            about = server.about or self._asked(server)
            if about is not None and about.part == part:
                about = self._asked(server, path, request)
                if about is not None and about.part == part:
                    return about
            if about is None and server.fault is not None:
                faults.append(server.fault)
        name = f"part-{part.number}"
        raise faults[0] if faults else NetworkError(f"no server has {name}; start one: retrieve serve DIR/{name}")

    def _asked(self, server: _Server, path: str = "", request: dict[str, Any] | None = None) -> PartAnswer | None:
        """What a server answers; None where it does not, and then it rests."""
        if time.monotonic() < server.rests_until:
            return None
        url = f"{server.url}/{path}"
        try:
            answer = self._web.get_json(url) if request is None else self._web.post_json(url, request)
            about = msgspec.convert(answer, PartAnswer)
            if self._first is not None and not self._is_of(about):
                raise NetworkError(f"{host_of(url)}: has a part of another index now; serve parts of one build")
        except msgspec.ValidationError as error:
            fault = NetworkError(
                f"{host_of(url)}: does not answer as retrieve serve does ({one_line(error)}); {_REMEDY}"
            )
        except NetworkError as error:
            if request is not None and error.status in _REFUSED:
                raise DataError(str(error)) from error
            fault = error
        else:
            server.about, server.fault = PartAnswer(about.part, about.parameters), None
            return about
        server.fault, server.rests_until = fault, time.monotonic() + _REST
        LOGGER.warning("%s (not asked again for %.0f s)", fault, _REST)
        return None

    def _is_of(self, about: PartAnswer) -> bool:
        known = self._first
        return known is not None and (known.part.whole, known.part.starts) == (about.part.whole, about.part.starts)


class ServedPart:
    """A part behind servers. A `parts.PassagePart`."""

    def __init__(self, servers: PartServers, part: PartOfIndex) -> None:
        self._servers = servers
        self.part = part

    def search_all(self, questions: Sequence[str], top: int) -> list[list[Hit]]:
        """The best passages of the part for each question. Raises `NetworkError` where no server of it answers."""
        hits = self._servers.ask(self.part, "search", {"questions": list(questions), "top": top}).hits
        return self._whole(hits, len(questions), "answers")

    def passages(self, numbers: Sequence[int]) -> list[Passage]:
        """Some passages. Raises `NetworkError` where no server of it answers."""
        passages = self._servers.ask(self.part, "passages", {"numbers": list(numbers)}).passages
        return self._whole(passages, len(numbers), "passages")

    def _whole(self, values: list[T], wanted: int, kind: str) -> list[T]:
        if len(values) != wanted:
            raise NetworkError(f"part-{self.part.number}: a server gave {len(values)} {kind} of {wanted}; {_REMEDY}")
        return values
