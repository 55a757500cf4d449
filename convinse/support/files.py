"""Writing files so that a reader, a crash or a full disk never meets half of one."""

from __future__ import annotations

import errno
import glob
import hashlib
import os
import re
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from .errors import ConvinseError, IndexFileError, OutputError, one_line
from .exchange import exchange
from .locks import LOCK_EX, LOCK_NB, flock

if TYPE_CHECKING:
    import numpy as np

# Beside NAME a writer has .NAME.xxxxxxxx.claim, a folder that it locks, and writes .NAME.xxxxxxxx.tmp
_CLAIM, _NEW = ".claim", ".tmp"
_OLDER = "older"  # in the claim, what was put aside
_TRIES = 100  # where other writers come between
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

    A file or a whole folder; an older one at `path` is replaced only then, a folder by a folder and a file by a file. Of
    several writers the last one counts. Raises `OutputError` on a failed write.
    """
    target = path.resolve() if path.is_symlink() else path
    try:
        if not _may_be_replaced(target):
            raise OutputError(f"{path}: is neither a file nor a folder; name another output")
        target.parent.mkdir(parents=True, exist_ok=True)
        _tidy(target)
        with _claimed(target) as (temporary, older):
            yield temporary
            if temporary.is_file():
                with temporary.open("rb") as file:
                    os.fsync(file.fileno())
            elif not temporary.is_dir():
                raise OutputError(f"{path}: nothing was written")
            _put(temporary, target, older)
    except ConvinseError:
        raise
    except Exception as error:  # libraries have kinds of their own for what the system refuses them
        cause = system_error(error)
        if cause is None:
            raise
        raise OutputError(f"{path}: cannot be written: {one_line(cause)}") from error


def _may_be_replaced(path: Path) -> bool:
    try:
        mode = path.stat().st_mode  # once: another writer may put it aside or back between two looks
    except FileNotFoundError:
        return True
    return stat.S_ISDIR(mode) or stat.S_ISREG(mode)


def system_error(error: Exception) -> OSError | None:
    """The error of the system that an exception is, or that it tells of as libraries in Rust do; None where there is none."""
    if isinstance(error, OSError):
        return error
    told = re.search(r"\(os error ([0-9]+)\)", str(error))
    return OSError(int(told[1]), os.strerror(int(told[1]))) if told else None


def recover(path: Path) -> None:
    """Bring back a folder that a writer had put aside when it was killed; openers call it before they say that nothing is there."""
    if not os.path.lexists(path):
        with suppress(OSError):  # who may only read cannot bring it back
            _tidy(path)


def steadily(path: Path, opening: Callable[[], None]) -> None:
    """Open a built file, or the folder of a manifest; once more where another build took its place meanwhile.

    So nothing is opened half from one build and half from another. Raises what `opening` raises.
    """
    for _ in range(_TRIES):
        before = state_of(path)
        try:
            opening()
        except IndexFileError:
            if state_of(path) == before:
                raise
        else:
            if state_of(path) == before:
                return
    raise IndexFileError(f"{path}: replaced again and again while it was opened; try again")


def state_of(path: Path) -> tuple[int, ...] | None:
    """What tells a file from another one of its name; None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


@contextmanager
def _claimed(path: Path) -> Iterator[tuple[Path, Path]]:
    """Two new paths beside `path`, for what will take its place and for what has to be put aside; nothing is there at the end.

    The second lies in a folder that is locked while its writer lives, by which others know that both are no leftovers.
    """
    import tempfile  # for writers only

    while True:
        claim = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=_CLAIM, dir=path.parent))
        try:
            lock = os.open(claim, os.O_RDONLY)
        except FileNotFoundError:  # taken for a leftover before it was locked
            continue
        try:
            with suppress(OSError):  # a file system without locks: then nobody removes it but its writer
                flock(lock, LOCK_EX)
            if claim.exists():
                try:
                    yield claim.with_suffix(_NEW), claim / _OLDER
                finally:
                    with suppress(OSError):
                        _remove_claimed(claim)
                return
        finally:
            os.close(lock)


def _remove_claimed(claim: Path) -> None:
    remove(claim.with_suffix(_NEW))
    remove(claim)


def _put(temporary: Path, path: Path, older: Path) -> None:
    """Rename into place. A folder changes places with the one there; where the system cannot, that becomes `older` first."""
    for _ in range(_TRIES):
        try:
            if not (temporary.is_dir() and path.is_dir()):
                temporary.replace(path)
            elif not exchange(temporary, path):
                remove(older)
                path.rename(older)
                temporary.replace(path)
            return
        except OSError as error:
            moved = error.errno in (errno.ENOENT, errno.ENOTEMPTY, errno.EEXIST)  # by another writer meanwhile
            if not moved or not temporary.exists():
                if older.is_dir() and not path.exists():
                    older.rename(path)
                raise
    raise OutputError(f"{path}: cannot be written: others write there all the time; try again")


def _tidy(path: Path) -> None:
    """Remove what writers of `path` left that were killed; what one of them had put aside comes back."""
    name = re.compile(rf"{re.escape(f'.{path.name}.')}[a-z0-9_]+{re.escape(_CLAIM)}")
    for claim in path.parent.glob(f".{glob.escape(path.name)}.*{_CLAIM}"):
        if not name.fullmatch(claim.name):
            continue
        with suppress(OSError):  # locked, by a writer that lives; or another one tidies, too
            lock = os.open(claim, os.O_RDONLY)
            try:
                flock(lock, LOCK_EX | LOCK_NB)
                if (claim / _OLDER).exists() and not path.exists():
                    (claim / _OLDER).rename(path)
                _remove_claimed(claim)
            finally:
                os.close(lock)


def append_array(file: BinaryIO, values: np.ndarray) -> None:
    """What `tofile` of an array does; but that says of a full disk no more than how many values were written."""
    file.write(values.data if values.flags.c_contiguous else values.copy().data)


def write_array(path: Path, values: np.ndarray) -> None:
    """Write a file of an array."""
    with path.open("wb") as file:
        append_array(file, values)


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
