"""What Python code holds in memory, and how many heaps its threads have."""

import ctypes
import tracemalloc
from contextlib import contextmanager

import pytest

# Code of a process: `heaps()` are those of glibc's allocator.
COUNT_HEAPS = """
import ctypes, tempfile
from pathlib import Path
def heaps():
    c = ctypes.CDLL(None)
    c.fopen.restype = ctypes.c_void_p
    c.malloc_info.argtypes, c.fclose.argtypes = [ctypes.c_int, ctypes.c_void_p], [ctypes.c_void_p]
    with tempfile.NamedTemporaryFile() as told:
        file = c.fopen(told.name.encode(), b"w")
        c.malloc_info(0, file)
        c.fclose(file)
        return Path(told.name).read_text().count("<heap ")
"""
has_heaps = pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_info"), reason="glibc only")


@contextmanager
def memory_below(limit):
    """A `with` block that must never hold so many bytes of new objects at once."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < limit
    finally:
        tracemalloc.stop()
