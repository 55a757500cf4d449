"""Memory that the allocator keeps for later, given back to the system."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache


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
