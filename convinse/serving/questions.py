"""Questions and sources of requests."""

from __future__ import annotations

from collections.abc import Sequence

from ..records.evidence import parse_sources
from ..session import check_question
from ..support.errors import ConfigError, DataError
from ..support.http_work import RefusedError
from ..support.limits import LONGEST_QUESTION


def checked_question(text: str) -> str:
    """A question that can be asked. Raises `RefusedError`."""
    if len(text) > LONGEST_QUESTION:
        raise RefusedError(f"a question of {len(text)} characters; {LONGEST_QUESTION} are the most", 413)
    try:
        return check_question(text)
    except DataError as error:
        raise RefusedError(str(error)) from None


def can_be_asked(text: str) -> bool:
    """Whether it is a question as `checked_question` takes it."""
    try:
        checked_question(text)
    except RefusedError:
        return False
    return True


def checked_sources(wanted: str | Sequence[str]) -> tuple[str, ...]:
    """Sources that there are. Raises `RefusedError`."""
    try:
        return parse_sources(wanted)
    except ConfigError as error:
        raise RefusedError(str(error)) from None
