"""An id of the project's own code."""

from __future__ import annotations

import hashlib
import os
from functools import cache
from pathlib import Path

from .version import __version__

_CODE = (".py", ".txt")  # modules, and the words of languages
_DATA = ("snapshot", "__pycache__")  # the first is known by the build ids and the weights in it


@cache
def program_id() -> str:
    """Changes with the version and with every line of code, in a checkout and where the project is installed; takes some milliseconds."""
    package = Path(__file__).parents[1]
    digest = hashlib.sha256(__version__.encode())
    for folder, folders, names in os.walk(package):
        folders[:] = sorted(name for name in folders if name not in _DATA)
        for name in sorted(names):
            if name.endswith(_CODE):
                path = Path(folder, name)
                content = path.read_bytes()
                digest.update(f"{path.relative_to(package).as_posix()}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:16]
