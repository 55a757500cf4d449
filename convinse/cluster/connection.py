"""Being connected to a Ray cluster: one that is there, or one of this machine's cores that begins and ends with the command."""

from __future__ import annotations

import logging
import os
import re
import secrets
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..support.blocks import cores
from ..support.errors import ConfigError, DependencyError, NetworkError
from ..support.web import check_listening
from .ray_crew import RayCrew

_ADDRESS = re.compile(r"(?P<scheme>ray://)?(?P<host>[^\s/:]+|\[[0-9a-fA-F:]+\]):(?P<port>[0-9]{1,5})")
_STORE = 256 << 20  # bytes of shared memory of a cluster of one machine: pieces and results under way
_SHORT = "/tmp" if Path("/tmp").is_dir() else None  # the paths of Ray's sockets may have some hundred bytes
_TOLD = 300  # characters of what Ray says


@contextmanager
def connected(on: str, most: int | None = None, device: str = "cpu") -> Iterator[RayCrew]:
    """Workers of a cluster, until the block ends.

    Args:
        on: `ray`: the cluster that `RAY_ADDRESS` names, else one of this machine's cores; or `ray://HOST:PORT`, a cluster by
            the port of its client server.
        most, device: see `RayCrew`.

    Raises:
        ConfigError: no such address.
        DependencyError: Ray is not installed.
        NetworkError: the cluster cannot be reached, or has other versions of Python or Ray.
    """
    address = on if on != "ray" else os.environ.get("RAY_ADDRESS", "local")
    if address not in ("local", "auto"):
        _check(address)
    ray = _imported(address == "local")
    with ExitStack() as opened:
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.CRITICAL}
        if address == "local":
            folder = opened.enter_context(
                TemporaryDirectory(prefix=f"convinse-{os.getpid()}-", dir=_SHORT, ignore_cleanup_errors=True)
            )
            options |= {
                "_temp_dir": folder,
                "num_cpus": cores(),
                "object_store_memory": _STORE,
                "include_dashboard": False,
            }
        opened.callback(_disconnect, ray)
        _connect(ray, address, options)
        yield opened.enter_context(closing(RayCrew(ray, most, device)))


def _check(address: str) -> None:
    match = _ADDRESS.fullmatch(address)
    if match is None:
        raise ConfigError(f"--on: '{address}' is no cluster; give ray, or ray://HOST:PORT such as ray://head:10001")
    check_listening(match["host"].strip("[]"), int(match["port"]), f"is the Ray cluster {address} running?")


def _imported(own: bool) -> Any:
    """The package; what it would tell its makers, and what it says of its own, is switched off."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # or it warns; a worker without a GPU sees none
    # The ports of a cluster can be reached from elsewhere, and whoever speaks to one runs what they like: ask for a token.
    if own and "ray" not in sys.modules:
        os.environ["RAY_AUTH_MODE"], os.environ["RAY_AUTH_TOKEN"] = "token", secrets.token_hex(32)
    try:
        import ray
    except ImportError:
        raise DependencyError("--on ray needs the package ray; install it: pip install 'convinse[ray]'") from None
    return ray


def _disconnect(ray: Any) -> None:
    with suppress(Exception):  # there may be nothing left to take leave of
        ray.shutdown()


def _connect(ray: Any, address: str, options: dict[str, Any]) -> None:
    try:
        ray.init(address, **options)
    except (ConnectionError, RuntimeError, OSError, ValueError, ray.exceptions.RayError) as error:
        said = " ".join(str(error).split())[:_TOLD]
        raise NetworkError(
            f"Ray cluster {address}: {said}; it needs the versions of Python and Ray that are here, and its token in RAY_AUTH_TOKEN"
        ) from error
