"""Atomic writing of files and folders: readers never see half of a file, nor does a kill or a full disk leave one.

Beside NAME a writer uses `.NAME.new` for what it writes, `.NAME.old` for a folder that it puts aside, and locks `.NAME.lock`. After
a killed writer: if NAME is missing, `.NAME.old` becomes NAME again; the next writer removes all else that is left.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from .errors import ConvinseError, IndexFileError, OutputError, one_line

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ModuleNotFoundError:
    raise ImportError(
        "convinse runs on Linux and macOS; this system has no file locks of their kind. On Windows install it in the Windows "
        "Subsystem for Linux (wsl --install)"
    ) from None

if TYPE_CHECKING:
    import numpy as np

_MAX_TRIES = 100  # while a folder is replaced again and again
_PAUSE = 0.01  # seconds between tries while a folder is missing and its writer lives


@contextmanager
def writing_to(path: Path) -> Iterator[None]:
    """Turn a failed write into an `OutputError` that names the file."""
    try:
        yield
    except OSError as error:
        raise OutputError(
            f"{path}: cannot be written: {one_line(error)}; choose another place, or free this one"
        ) from error


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path; the file or folder written there becomes `path` if the block ends without an error. Raises `OutputError`.

    Only then is an older one replaced, a folder by a folder and a file by a file. A second process that writes `path` is refused.
    """
    target = path.resolve() if path.is_symlink() else path
    new, old = _beside(target, "new"), _beside(target, "old")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _locked(target):
            _restore(target)
            if target.exists() and not (target.is_file() or target.is_dir()):
                raise OutputError(f"{path}: is neither a file nor a folder; name another output")
            remove(new)
            remove(old)
            try:
                yield new
                _move(new, target, old)
            finally:
                with suppress(OSError):
                    _restore(target)
                    remove(new)
                    remove(old)
    except ConvinseError:
        raise
    except Exception as error:  # libraries may turn an error of the system into a kind of their own
        cause = system_error(error)
        if cause is None:
            raise
        raise OutputError(
            f"{path}: cannot be written: {one_line(cause)}; choose another place, or free this one"
        ) from error


def _move(new: Path, path: Path, old: Path) -> None:
    if new.is_file():
        with new.open("rb") as file:
            os.fsync(file.fileno())
    elif not new.is_dir():
        raise OutputError(f"{path}: nothing was written")
    if new.is_dir() and path.is_dir():
        path.rename(old)  # the system cannot rename a folder onto another one
    new.replace(path)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    lock = _beside(path, "lock")
    while True:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            try:
                flock(descriptor, LOCK_EX | LOCK_NB)
            except BlockingIOError:
                raise OutputError(
                    f"{path}: another process is writing it; wait for its end, or name another output"
                ) from None
            except OSError:
                pass  # a file system without locks
            if state_of(lock) == _state(os.fstat(descriptor)):  # else its last writer has just removed it
                try:
                    yield
                finally:
                    lock.unlink(missing_ok=True)
                return
        finally:
            os.close(descriptor)


def _beside(path: Path, kind: str) -> Path:
    return path.with_name(f".{path.name}.{kind}")


def _restore(path: Path) -> None:
    old = _beside(path, "old")
    if old.exists() and not os.path.lexists(path):
        old.rename(path)


def recover(path: Path) -> None:
    """Restore a folder that a killed writer had put aside; to be called before a folder is reported missing."""
    for _ in range(_MAX_TRIES):
        if os.path.lexists(path) or not _beside(path, "old").exists():
            return
        try:
            with _locked(path):
                _restore(path)
        except OutputError:
            time.sleep(_PAUSE)  # the writer lives, between its two renames
        except OSError:  # a reader without the right to write
            return


def system_error(error: Exception) -> OSError | None:
    """Return the error of the system that an exception is, or, from a library in Rust, names in its text; else None."""
    if isinstance(error, OSError):
        return error
    number = re.search(r"\(os error ([0-9]+)\)", str(error))
    return OSError(int(number[1]), os.strerror(int(number[1]))) if number else None


def append_array(file: BinaryIO, values: np.ndarray) -> None:
    """Write an array at the end of a file; unlike `tofile`, the error of a full disk names the cause."""
    file.write(values.data if values.flags.c_contiguous else values.copy().data)


def write_array(path: Path, values: np.ndarray) -> None:
    """Write an array to a new file."""
    with path.open("wb") as file:
        append_array(file, values)


def remove(path: Path) -> None:
    """Remove a file, or a folder with all its content, if it exists."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def open_consistently(path: Path, opening: Callable[[], None]) -> None:
    """Call `opening`, which opens a built file or folder; again if another build replaced `path` (of a folder, its manifest) meanwhile.

    Thus parts of different builds are never open together. Raises the errors of `opening`.
    """
    for _ in range(_MAX_TRIES):
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
    """Return a state that differs between files of the same name; None if the file is missing or cannot be read."""
    try:
        return _state(path.stat())
    except OSError:
        return None


def _state(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


class PieceReader:
    """A reader of pieces of a file by their offset, for several threads. The open file stays readable when another file takes its name."""

    def __init__(self, path: Path) -> None:
        import weakref

        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self.close = weakref.finalize(self, os.close, self._descriptor)

    def read(self, start: int, size: int) -> bytes:
        """Return `size` bytes from `start`."""
        return os.pread(self._descriptor, size, start)
