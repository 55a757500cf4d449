"""Memory that the allocator keeps for later: given back to the system, or not taken in the first place."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from functools import cache

_ARENA_MAX = -8  # M_ARENA_MAX of glibc's malloc.h


def share_heap() -> None:
    """Have the threads that begin from now on share one heap; does nothing where the C library has no call for that.

    Else glibc gives threads heaps of their own, up to eight for a core, and what lies free in one serves no other: a server's
    memory is larger, and goes up and down. `MALLOC_ARENA_MAX` of the environment is left as it is.
    """
    choose = getattr(ctypes.CDLL(None), "mallopt", None)
    if choose is not None and "MALLOC_ARENA_MAX" not in os.environ:
        choose(_ARENA_MAX, 1)


def give_back() -> None:
    """Give back what the C library holds and nobody uses; does nothing where it has no call for that."""
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    """`malloc_trim` of glibc; None elsewhere."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return None if trim is None else _of_size(trim)


def _of_size(trim: ctypes._NamedFuncPointer) -> Callable[[int], int]:
    trim.argtypes, trim.restype = [ctypes.c_size_t], ctypes.c_int
    return trim
