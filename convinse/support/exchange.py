"""Two paths of one file system change places in one step, where the system can do that (Linux)."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

_HERE = -100  # AT_FDCWD: paths are relative to the working directory
_EXCHANGE = 2  # RENAME_EXCHANGE
_UNABLE = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM)  # an old kernel, a file system, a sandbox


@cache
def _renameat2() -> Callable[[bytes, bytes], int] | None:
    """The function of the C library, which gives the number of an error or 0; None where there is none."""
    import ctypes  # for writers only

    try:
        function = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return None

    def call(first: bytes, second: bytes) -> int:
        return ctypes.get_errno() if function(_HERE, first, _HERE, second, _EXCHANGE) else 0

    return call


def exchange(first: Path, second: Path) -> bool:
    """Let two files or folders change places; false where the system cannot, and nothing has happened.

    Raises:
        OSError: it could, but not with these two.
    """
    renameat2 = _renameat2()
    if renameat2 is None:
        return False
    code = renameat2(os.fsencode(first), os.fsencode(second))
    if not code:
        return True
    if code in _UNABLE:
        return False
    raise OSError(code, os.strerror(code), str(second))
