"""Checksums of files, each computed once for a state of its file and remembered in the user's cache folder."""

from __future__ import annotations

import hashlib
import os
import sys
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

_SETTLED = 2.0  # seconds after a change in which another one may bear the same time
_MOST_REMEMBERED = 4 << 20  # bytes


def users_cache() -> Path | None:
    """The project's folder in the user's own cache folder; None for a user without a home."""
    above = "~/Library/Caches" if sys.platform == "darwin" else "~/.cache"
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or above, "convinse").expanduser()
    except RuntimeError:
        return None
    return folder if folder.is_absolute() else None  # XDG: a relative path counts as none


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal, which is read once for a state of it.

    The checksum is remembered with that state (device, inode, times of change, size) in the user's cache folder.
    """
    status = path.stat()
    times = status.st_mtime_ns, status.st_ctime_ns
    state = ":".join(map(str, (status.st_dev, status.st_ino, *times, status.st_size)))
    digests = _remembered()
    if state not in digests:
        digest = read_sha256(path)
        if time.time() - status.st_ctime < _SETTLED:
            return digest
        digests[state] = digest
        if (folder := users_cache()) is not None:
            with suppress(OSError):  # a full disk, or no right to write: the file is read again in the next process
                folder.mkdir(parents=True, exist_ok=True)
                file = os.open(folder / "sha256", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
                try:
                    if os.fstat(file).st_size > _MOST_REMEMBERED:
                        os.ftruncate(file, 0)
                    os.write(file, f"{state} {digest}\n".encode())
                finally:
                    os.close(file)
    return digests[state]


def read_sha256(path: Path) -> str:
    """Return what `sha256` does; every byte is read."""
    return hexdigest(path, hashlib.sha256())


def hexdigest(path: Path, digest: hashlib._Hash) -> str:
    """Return what a digest of `hashlib` says of a file."""
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


@cache
def _remembered() -> dict[str, str]:
    folder = users_cache()
    try:
        lines = (folder / "sha256").read_text("ascii").splitlines() if folder else []
    except (OSError, ValueError):
        return {}
    return {state: digest for state, _, digest in (line.partition(" ") for line in lines) if len(digest) == 64}
