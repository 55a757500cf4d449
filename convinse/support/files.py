"""Writing files so that a reader, a crash or a full disk never meets half of one."""

from __future__ import annotations

import glob
import hashlib
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

from .errors import OutputError, one_line

_SETTLED = 2.0  # seconds after a change in which another one may bear the same time


@contextmanager
def writing_to(path: Path) -> Iterator[None]:
    """Turn a failed write into an `OutputError` that names the file."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {one_line(error)}") from error


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside `path`; what is written there takes its place when the block ends well.

    A file or a whole folder; an older one at `path` is replaced only then. Raises `OutputError` on a failed write.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    older = path.with_name(f".{path.name}.{os.getpid()}.old")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _tidy(path)
        yield temporary
        if temporary.is_file():
            with temporary.open("rb") as file:
                os.fsync(file.fileno())
        elif not temporary.is_dir():
            raise OutputError(f"{path}: nothing was written")
        if path.is_dir():  # a folder cannot be renamed over another
            path.rename(older)
        temporary.replace(path)
    except OSError as error:
        if older.is_dir() and not path.exists():
            older.rename(path)
        raise OutputError(f"{path}: cannot be written: {one_line(error)}") from error
    finally:
        with suppress(OSError):
            remove(temporary)
            remove(older)


def _tidy(path: Path) -> None:
    """Remove what writers of `path` left that were killed; what one of them had put aside comes back."""
    for leftover in path.parent.glob(f".{glob.escape(path.name)}.*"):
        match = re.fullmatch(re.escape(f".{path.name}.") + r"(\d+)\.(tmp|old)", leftover.name)
        if match is None or (_alive(int(match[1])) and int(match[1]) != os.getpid()):
            continue
        if match[2] == "old" and not path.exists():
            leftover.rename(path)
        else:
            remove(leftover)


def _alive(pid: int) -> bool:
    with suppress(PermissionError):  # somebody else's
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
    return True


def remove(path: Path) -> None:
    """Remove a file or a folder with all in it; nothing there is fine."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def sha256(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal; a process reads a file once while nothing about it changes."""
    status = path.stat()
    if time.time() - status.st_ctime < _SETTLED:
        return hexdigest(path, hashlib.sha256())
    return _sha256_of(path, (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns))


@lru_cache(maxsize=1024)
def _sha256_of(path: Path, state: tuple[int, ...]) -> str:
    """The SHA-256 of a file in a state."""
    return hexdigest(path, hashlib.sha256())


def hexdigest(path: Path, digest: hashlib._Hash) -> str:
    """What a digest of `hashlib` says of a file."""
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
