"""Whether the head node of a Ray cluster is there, and which nodes it has."""

from __future__ import annotations

import logging
import threading
import time
from typing import Any

from ..support.errors import one_line

LOGGER = logging.getLogger(__name__)
_ASKS = 1.0  # seconds between two questions
_NO_HEAD = 30  # seconds without an answer


class HeadWatch:
    """Asks the head node again and again which nodes there are; without an answer, a program of Ray's ends itself after a minute."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self.nodes: list[dict[str, float]] = []  # what each node has
        self._note()
        self._silence = 0.0  # seconds
        self._seen = time.monotonic()
        self._closed = threading.Event()
        threading.Thread(target=self._ask, daemon=True, name="head of the cluster").start()

    @property
    def lost(self) -> bool:
        """Whether it has not answered for long."""
        return self._silence >= _NO_HEAD

    def look(self) -> None:
        """Count the time since the last look; a stopped process (Ctrl-Z) counts as a moment."""
        now = time.monotonic()
        self._silence += min(now - self._seen, _ASKS)
        self._seen = now

    def total(self, name: str) -> int:
        """What all nodes together have of something, such as `CPU`."""
        return int(sum(node.get(name, 0) for node in self.nodes))

    def _note(self) -> None:
        self.nodes = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]

    def _ask(self) -> None:
        while not self._closed.wait(_ASKS):
            try:
                self._note()
            except Exception as error:  # whatever it raises, it has given no answer
                LOGGER.debug("the head node: %s", one_line(error))
                continue
            self._silence = 0.0

    def close(self) -> None:
        """Ask no more."""
        self._closed.set()
