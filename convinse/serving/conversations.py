"""The conversations of a service, in memory, by ids that cannot be guessed."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from starlette.exceptions import HTTPException

from ..dialogue.session import Session
from ..pipeline import Pipeline
from ..records.conversation import check_question
from ..records.evidence import parse_sources
from ..support.errors import ConfigError, DataError
from ..support.limits import LONGEST_QUESTION
from .app import busy
from .metrics import ServiceMetrics

MOST_TURNS = 100  # of a conversation, continued or sent at once
_ID_BYTES = 16  # of chance: a client that knows an id may read the conversation and go on with it


class ConversationStore:
    """Sessions by id, at most so many, and so many bytes; belongs to one event loop.

    Where there is no room, idle conversations are dropped and forgotten, the one that was used longest ago first, and those
    with files last.
    """

    def __init__(
        self,
        most: int,
        most_bytes: int,
        metrics: ServiceMetrics,
        forget: Callable[[str], None],
        drop: Callable[[str], None],
        has_files: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._has_files, self._drop = has_files, drop
        self._most, self._most_bytes, self._metrics, self._forget = most, most_bytes, metrics, forget
        self._sessions: dict[str, Session] = {}  # the one that was used longest ago comes first
        self._bytes = 0
        self._busy: set[str] = set()

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._sessions)

    def add(self, session: Session) -> str:
        """Keep a session, and return its id. Raises `HTTPException`: it is too large (413), or all others have turns under way (429)."""
        if session.stored_bytes > self._most_bytes:
            raise HTTPException(413, f"conversation: it has more than {self._most_bytes} bytes; begin a new one")
        self._make_room(1, session.stored_bytes)
        if len(self) >= self._most or self._bytes + session.stored_bytes > self._most_bytes:
            raise busy(f"{len(self._busy)} conversations have turns under way")
        name = f"conv_{secrets.token_urlsafe(_ID_BYTES)}"
        self._put(name, session)
        return name

    def get(self, name: str) -> Session:
        """Return a session, which is used last now. Raises `HTTPException` (404)."""
        session = self._sessions.pop(name, None)
        if session is None:
            raise HTTPException(404, "no such conversation: it never was, was deleted, or made room for later ones")
        self._sessions[name] = session
        return session

    def replace(self, name: str, session: Session) -> None:
        """Keep another session by an id, unless that was deleted meanwhile."""
        if name in self._sessions:
            self._remove(name)
            self._put(name, session)
            self._make_room(0, 0)

    @contextmanager
    def under_way(self, name: str) -> Iterator[Session]:
        """Give a copy of a session while its next turn is under way. Raises `HTTPException` (409) if it has one."""
        session = self.get(name)
        if name in self._busy:
            raise busy("the conversation has a turn under way", 409)
        self._busy.add(name)
        try:
            yield session.copy()
        finally:
            self._busy.discard(name)

    def delete(self, name: str) -> None:
        """Forget a conversation; a turn that is under way is answered. Raises `HTTPException` (404)."""
        self.get(name)
        self._remove(name)
        self._forget(name)

    def _put(self, name: str, session: Session) -> None:
        self._sessions[name] = session
        self._bytes += session.stored_bytes

    def _remove(self, name: str) -> None:
        self._bytes -= self._sessions.pop(name).stored_bytes

    def _make_room(self, sessions: int, size: int) -> None:
        for name in sorted((name for name in self._sessions if name not in self._busy), key=self._has_files):
            if len(self) + sessions <= self._most and self._bytes + size <= self._most_bytes:
                return
            self._remove(name)
            self._drop(name)
            self._metrics.dropped.inc()


async def open_session(pipeline: Pipeline, sources: Sequence[str], conversation: Any) -> Session:
    """Return a new session, or one that takes up a stored conversation. Raises `HTTPException` (400, 413)."""
    if conversation is None:
        return pipeline.session(sources)
    questions = conversation.get("questions")
    if isinstance(questions, list) and len(questions) > MOST_TURNS:
        raise HTTPException(413, f"conversation: {len(questions)} turns; {MOST_TURNS} are the most")
    with checking():
        return await asyncio.to_thread(pipeline.session, sources, conversation)


def check_has_room(session: Session) -> None:
    """Raise `HTTPException` (413) if a conversation has all its turns."""
    if len(session) >= MOST_TURNS:
        raise HTTPException(413, f"the conversation has {MOST_TURNS} turns; begin a new one")


def checked_question(text: str) -> str:
    """Return a question. Raises `HTTPException` (400, 413)."""
    if len(text) > LONGEST_QUESTION:
        raise HTTPException(413, f"a question of {len(text)} characters; {LONGEST_QUESTION} are the most")
    with checking():
        return check_question(text)


def checked_sources(names: str | Sequence[str]) -> tuple[str, ...]:
    """Return sources in their order. Raises `HTTPException` (400)."""
    with checking():
        return parse_sources(names)


@contextmanager
def checking() -> Iterator[None]:
    """Turn the errors of the project's own checks into status 400."""
    try:
        yield
    except (ConfigError, DataError) as error:
        raise HTTPException(400, str(error)) from None
