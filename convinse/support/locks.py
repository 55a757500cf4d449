"""Locks of files between processes, as Linux and macOS have them.

Raises at import:
    ImportError: the system has none, as Windows; one line that says where the project runs.
"""

try:
    from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, LOCK_UN, flock
except ModuleNotFoundError:
    raise ImportError(
        "convinse runs on Linux and macOS; this system has no file locks of their kind. On Windows install it in the "
        "Windows Subsystem for Linux (wsl --install)"
    ) from None

__all__ = ["LOCK_EX", "LOCK_NB", "LOCK_SH", "LOCK_UN", "flock"]
