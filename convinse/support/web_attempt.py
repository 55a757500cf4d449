"""One attempt of a request: the time it has, the faults that may pass, and what an answer says of itself."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from .errors import one_line

if TYPE_CHECKING:
    import requests

EXCERPT = 200  # characters of an error's body in a message


class Deadline(NamedTuple):
    """When a request must be done, on the monotonic clock, and how long that was at its beginning."""

    end: float
    seconds: float

    @property
    def left(self) -> float:
        """Seconds until then; negative when it is over."""
        return self.end - time.monotonic()

    def __str__(self) -> str:
        return f"{round(self.seconds, 1):g} s"


class PassingError(Exception):
    """An attempt failed in a way that may pass."""

    def __init__(
        self, text: str, status: int | None = None, retry_after: float | None = None, is_refused: bool = False
    ) -> None:
        super().__init__(text)
        self.is_refused = is_refused  # nobody listens there
        self.status = status
        self.retry_after = retry_after


def status_of(response: requests.Response) -> str:
    """Number and name of the status."""
    return f"{response.status_code} {response.reason or ''}".strip()


def said_in(text: str) -> str:
    """What the body of a refusal says: the `error` or `detail` of a JSON object, or the `message` in it, as OpenAI's servers answer,
    or its beginning; nothing of an HTML page."""
    with suppress(msgspec.DecodeError, RecursionError):
        value = msgspec.json.decode(text)
        error = value.get("error", value.get("detail")) if isinstance(value, dict) else None
        said = error.get("message") if isinstance(error, dict) else error
        if isinstance(said, str):
            text = said
    return "" if text.startswith("<") else " ".join(text[:EXCERPT].split())


def cause_of(error: BaseException) -> str:
    """The innermost exception: `requests` and `urllib3` wrap it in their own several times."""
    return one_line(_innermost(error))


def is_refusal(error: BaseException) -> bool:
    """Whether nobody listened."""
    return isinstance(_innermost(error), ConnectionRefusedError)


def _innermost(error: BaseException) -> BaseException:
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    return error


def retry_after(response: requests.Response) -> float | None:
    """The seconds that `Retry-After` asks for, given as a number or a date."""
    import urllib3

    try:
        return urllib3.Retry().get_retry_after(response.raw)
    except (urllib3.exceptions.HTTPError, ValueError, OverflowError):
        return None
