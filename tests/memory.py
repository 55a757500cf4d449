"""What Python code holds in memory."""

import tracemalloc
from contextlib import contextmanager


@contextmanager
def memory_below(limit):
    """A `with` block that must never hold so many bytes of new objects at once."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < limit
    finally:
        tracemalloc.stop()
