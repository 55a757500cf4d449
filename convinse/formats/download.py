"""Public data sets from their official addresses, checked against the published sums and counts (`downloads.json`)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin

import msgspec

from ..support.checksums import hexdigest
from ..support.errors import ConfigError, DataError, OutputError, nearest, one_line
from ..support.files import writing_to
from ..support.progress import Advance, progress
from ..support.web import WebSession
from .mrqa import read_plain

_TABLE = Path(__file__).with_name("downloads.json")
_DEADLINE = 6 * 3600.0  # seconds without an interruption; what has arrived is kept
_KIB = 1024


class File(msgspec.Struct, frozen=True):
    """A file of a collection.

    Attributes:
        name: to save it as, perhaps in a folder.
        url: its address.
        md5: the published MD5 sum, empty where there is none.
        examples: the number of questions, 0: not known.
        sha256: the published SHA-256 sum, empty where there is none.
        size: the published number of bytes, 0: not known.
    """

    name: str
    url: str
    md5: str = ""
    examples: int = 0
    sha256: str = ""
    size: int = 0

    def fault(self, path: Path) -> str:
        """What of a file is not as published; empty where all is, or nothing is published."""
        if self.sha256 and (digest := _sum(path, hashlib.sha256())) != self.sha256:
            return f"the SHA-256 sum {digest}, not {self.sha256}"
        if self.md5 and (digest := md5(path)) != self.md5:
            return f"the MD5 sum {digest}, not {self.md5}"
        size = path.stat().st_size if self.size else 0
        return f"{size} bytes, not {self.size}" if size != self.size else ""

    def is_sure(self) -> bool:
        """Whether a sum is published."""
        return bool(self.sha256 or self.md5)


class FileCollection(msgspec.Struct, frozen=True):
    """Files that are fetched together; an address that is not absolute continues `base`."""

    about: str
    base: str
    files: list[File]


class Fetched(NamedTuple):
    """A file that is in place; `fetched` is False where it was there before, `sure` where no sum is published."""

    path: Path
    examples: int
    fetched: bool
    sure: bool = True


def collections() -> dict[str, FileCollection]:
    """All collections by name."""
    return msgspec.json.decode(_TABLE.read_bytes(), type=dict[str, FileCollection])


def find_collection(name: str) -> FileCollection:
    """The collection of a name. Raises `ConfigError` that suggests the nearest."""
    table = collections()
    if name not in table:
        raise ConfigError(f"unknown data set '{name}'; {nearest(name, list(table))}")
    return table[name]


def download(
    collection: FileCollection,
    folder: Path,
    mirror: str | None = None,
    quiet: bool = False,
    session: WebSession | None = None,
) -> Iterator[Fetched]:
    """Fetch the files of a collection that are not there, one after the other.

    A file arrives as `NAME.part`, which the next call completes after an interruption. What is published of it
    (size, SHA-256 or MD5 sum, the number of questions of MRQA files) is checked; a file that fails is kept aside as
    `NAME.bad`.

    Args:
        collection: as `find_collection` gives it.
        folder: where the files go; made where missing. A right file there is not fetched again.
        mirror: an address whose folder has the files under the names that they are saved as.
        quiet: no progress.
        session: the session to use; None: one of its own.

    Raises:
        DataError: a file has the wrong size, sum or number of questions; or one of another content stands in its place.
        NetworkError: a file cannot be fetched; what has arrived is kept.
        OutputError: a file cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made: {one_line(error)}") from error
    with ExitStack() as stack:
        if session is None:
            remedy = "run the command again to go on, or name another host with --mirror"
            session = stack.enter_context(closing(WebSession(deadline=_DEADLINE, remedy=remedy)))
        for file in collection.files:
            if mirror is None:
                url = urljoin(collection.base, file.url)
            else:
                url = urljoin(f"{mirror.rstrip('/')}/", file.name)
            yield _fetch(session, file, url, folder / file.name, quiet)


def _fetch(session: WebSession, file: File, url: str, path: Path, quiet: bool) -> Fetched:
    with writing_to(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        if fault := file.fault(path):
            raise DataError(f"{path}: is there already with {fault}; move it away to fetch it anew")
        return Fetched(path, file.examples, fetched=False, sure=file.is_sure())
    part = path.with_name(f"{path.name}.part")
    if not (file.is_sure() and part.exists() and not file.fault(part)):  # whole where only the renaming was missing
        with _bar(file.name, quiet) as advance:
            session.download(url, part, advance)
    if fault := file.fault(part):
        raise DataError(f"{_aside(part, path)}: {url} gave a file with {fault}")
    if file.md5:  # of the MRQA files, the only ones with this sum
        examples = sum(1 for _ in read_plain(part))
        if examples != file.examples:
            raise DataError(f"{_aside(part, path)}: has {examples} questions, not {file.examples}")
    with writing_to(path):
        part.replace(path)
    return Fetched(path, file.examples, fetched=True, sure=file.is_sure())


def _aside(part: Path, path: Path) -> Path:
    """Move a file that is wrong out of the way, so that the next attempt begins anew."""
    bad = path.with_name(f"{path.name}.bad")
    with writing_to(bad):
        return part.replace(bad)


def md5(path: Path) -> str:
    """The MD5 sum of a file, as the task publishes it; it tells damage, not malice."""
    return _sum(path, hashlib.md5(usedforsecurity=False))


def _sum(path: Path, digest: hashlib._Hash) -> str:
    try:
        return hexdigest(path, digest)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {one_line(error)}") from None


@contextmanager
def _bar(name: str, quiet: bool) -> Iterator[Callable[[int, int | None], None]]:
    """Shows the progress of a file, whose size is known when its first bytes come."""
    with ExitStack() as stack:
        shown: list[Advance] = []
        done = 0

        def advance(size: int, total: int | None) -> None:
            nonlocal done
            if total is None:
                return
            if not shown:
                shown.append(stack.enter_context(progress(name, -(-total // _KIB), "KiB", quiet)))
            units = (-(-size // _KIB) if size >= total else size // _KIB) - done
            if units > 0:
                shown[0](units)
                done += units

        yield advance
