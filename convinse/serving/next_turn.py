"""What a conversation is asked next: a new question, or the last one again; and the last one taken back."""

from __future__ import annotations

from ..records.conversation import Turn
from ..session import Session
from ..support.errors import DataError
from ..support.http_work import RefusedError
from .openapi import NextTurn
from .questions import checked_question, checked_sources


def asked_next(wanted: NextTurn, session: Session) -> str:
    """The question of a request, after its session was made ready for it. Raises `RefusedError`."""
    if wanted.sources is not None:
        session.sources = checked_sources(wanted.sources)
    earlier = taken_back(session) if wanted.again else None
    if wanted.question is not None:
        return checked_question(wanted.question)
    if earlier is None:
        raise RefusedError("question: it is missing; only what is asked again may go without")
    return checked_question(earlier["question"])


def taken_back(session: Session) -> Turn:
    """The last turn, which the session has no more. Raises `RefusedError` where there is none."""
    try:
        return session.back()
    except DataError as error:
        raise RefusedError(str(error)) from None
