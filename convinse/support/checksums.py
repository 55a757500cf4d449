"""Checksums of files, and the user's cache folder."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path


def users_cache() -> Path | None:
    """The project's folder in the user's own cache folder; None for a user without a home."""
    above = "~/Library/Caches" if sys.platform == "darwin" else "~/.cache"
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or above, "convinse").expanduser()
    except RuntimeError:
        return None
    return folder if folder.is_absolute() else None  # XDG: a relative path counts as none


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    return hexdigest(path, hashlib.sha256())


def hexdigest(path: Path, digest: hashlib._Hash) -> str:
    """Return what a digest of `hashlib` says of a file."""
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
