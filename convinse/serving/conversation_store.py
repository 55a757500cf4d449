"""The conversations of a service: by ids that nobody guesses, so many at most."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..pipeline import Pipeline
from ..session import Session
from ..support.errors import DataError
from ..support.http_work import RefusedError
from .service_metrics import ServiceMetrics

MOST_TURNS = 100  # of a conversation: it takes 1 MB of memory then
_ID_BYTES = 16  # of chance: who knows an id may read the conversation and go on with it


class ConversationStore:
    """Sessions by id; belongs to one event loop.

    Args:
        most: conversations; a further one takes the place of the one that nobody asked for longest.
        metrics: counts those that were dropped.
    """

    def __init__(self, most: int, metrics: ServiceMetrics) -> None:
        self._most, self._metrics = most, metrics
        self._sessions: dict[str, Session] = {}  # the one that nobody asked for longest comes first
        self._busy: set[str] = set()

    def __len__(self) -> int:
        """How many there are."""
        return len(self._sessions)

    def add(self, session: Session) -> str:
        """Keep a session; returns its id. Raises `RefusedError` where all places have a turn under way."""
        if len(self) >= self._most:
            idle = next((name for name in self._sessions if name not in self._busy), None)
            if idle is None:
                raise RefusedError(f"{self._most} conversations have turns under way; try again later", 429, 1)
            del self._sessions[idle]
            self._metrics.dropped += 1
        name = f"conv_{secrets.token_urlsafe(_ID_BYTES)}"
        self._sessions[name] = session
        return name

    def items(self) -> list[tuple[str, Session]]:
        """All conversations by id, the one that was asked for last at the end."""
        return list(self._sessions.items())

    def get(self, name: str) -> Session:
        """A session, which is the last to be dropped from here on. Raises `RefusedError` where there is none."""
        session = self._sessions.pop(name, None)
        if session is None:
            raise RefusedError("no such conversation: it never was, was deleted, or made room for later ones", 404)
        self._sessions[name] = session
        return session

    def replace(self, name: str, session: Session) -> None:
        """Keep another session by an id, unless that was deleted meanwhile."""
        if name in self._sessions:
            self._sessions[name] = session

    @contextmanager
    def asked(self, name: str) -> Iterator[Session]:
        """A session while its next turn is under way. Raises `RefusedError` where it has one already."""
        session = self.get(name)
        if name in self._busy:
            raise RefusedError("the conversation has a turn under way; ask again when it is answered", 409, 1)
        self._busy.add(name)
        try:
            yield session
        finally:
            self._busy.discard(name)

    def delete(self, name: str) -> None:
        """Forget a conversation; a turn that is under way is answered. Raises `RefusedError` where there is none."""
        self.get(name)
        del self._sessions[name]


async def open_session(pipeline: Pipeline, sources: Sequence[str], conversation: Any) -> Session:
    """A session of its own, or one that takes up a stored conversation. Raises `RefusedError` where that is none."""
    stored = conversation and conversation.get("questions")
    if isinstance(stored, list) and len(stored) > MOST_TURNS:
        raise RefusedError(f"conversation: {len(stored)} turns; {MOST_TURNS} are the most", 413)
    if conversation is None:
        return pipeline.session(sources)
    try:
        return await asyncio.to_thread(pipeline.session, sources, conversation)
    except DataError as error:
        raise RefusedError(str(error)) from None


def check_has_room(session: Session) -> None:
    """Raise `RefusedError` where a conversation has all the turns that it may have."""
    if len(session) >= MOST_TURNS:
        raise RefusedError(f"the conversation has {MOST_TURNS} turns; begin a new one", 413)
