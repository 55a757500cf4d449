"""A file that arrives in parts: what it has, what to ask for, and where the answer goes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal

from .files import writing_to
from .web_attempt import Deadline, PassingError

if TYPE_CHECKING:
    import requests

_BLOCK = 1 << 16


class PartialDownload:
    """A file that is being downloaded.

    Args:
        path: the file; what it has already counts.
        advance: as for `WebSession.download`.
    """

    def __init__(self, path: Path, advance: Callable[[int, int | None], None] | None) -> None:
        self._path = path
        self._tag = path.with_name(f"{path.name}.etag")
        self._advance = advance
        self._asked = 0  # where the answer is to begin

    @property
    def size(self) -> int:
        """Bytes that it has."""
        return self._path.stat().st_size if self._path.exists() else 0

    def forget(self) -> None:
        """Remove the file and the tag of its content."""
        self._path.unlink(missing_ok=True)
        self.forget_tag()

    def forget_tag(self) -> None:
        """Remove the tag of its content: the file is whole, or of no known content."""
        self._tag.unlink(missing_ok=True)

    def headers(self) -> dict[str, str]:
        """The headers that ask for what is missing."""
        self._asked = self.size
        headers = {"Accept-Encoding": "identity"}
        if self._asked:
            headers["Range"] = f"bytes={self._asked}-"
            with suppress(OSError):
                headers["If-Range"] = self._tag.read_text(encoding="ascii")
        return headers

    def receive(self, response: requests.Response, deadline: Deadline) -> bytes | None:
        """Write the body of a 200 or 206 into the file; None for other answers, which are somebody else's matter."""
        if response.status_code not in (200, 206):
            return None
        if response.status_code == 206 and not _begins_at(response, self._asked):
            raise PassingError("answered with another part of the file than was asked for", response.status_code)
        length = response.headers.get("Content-Length", "")
        done = self._asked if response.status_code == 206 else 0
        total = done + int(length) if length.isdecimal() else None
        with self._opened("ab" if response.status_code == 206 else "wb", response) as file:
            while block := response.raw.read1(_BLOCK, decode_content=False):
                with writing_to(self._path):  # a full disk is no fault of the network
                    file.write(block)
                done += len(block)
                if self._advance is not None:
                    self._advance(done, total)
                if deadline.left < 0:
                    raise PassingError(f"not done within {deadline}")
        if total is not None and done < total:
            raise PassingError(f"the answer broke off after {done} of {total} bytes")
        return b""

    @contextmanager
    def _opened(self, mode: Literal["ab", "wb"], response: requests.Response) -> Iterator[BinaryIO]:
        with writing_to(self._path):
            tag = response.headers.get("ETag", "")
            if tag.startswith('"') and tag.isascii():  # a weak one (W/"...") does not promise equal bytes
                self._tag.write_text(tag, encoding="ascii")
            else:
                self.forget_tag()
            file = self._path.open(mode)
        try:
            yield file
        finally:
            with writing_to(self._path):
                file.close()


def _begins_at(response: requests.Response, offset: int) -> bool:
    match = re.fullmatch(r"bytes (\d+)-\d+/(?:\d+|\*)", response.headers.get("Content-Range", ""))
    return match is not None and int(match[1]) == offset
