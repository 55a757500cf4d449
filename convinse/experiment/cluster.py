"""The same experiment on a Ray cluster; nothing else imports Ray.

Ray Data runs batches of conversations on a pool of actors; it schedules them, restarts those that die, and uses nodes that join.
The process of the command is the only one that writes results, in the order of the conversations, so that they are byte for byte
those of a run without a cluster.
"""

from __future__ import annotations

import importlib
import logging
import os
import re
import secrets
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..support.errors import ConfigError, ConvinseError, DataError, NetworkError, missing_extra
from .run import Batch, BatchRunner, FinishedBatch

_ACTOR_RESTARTS = 3  # of a worker that died, such as for want of memory
_BATCH_ATTEMPTS = 3  # a batch whose actors died so often is taken to be the cause
_OBJECT_STORE_BYTES = 256 << 20  # of a cluster of this machine: batches and results under way
_SHORT_FOLDER = "/tmp" if Path("/tmp").is_dir() else None  # the paths of Ray's sockets have a hundred bytes at most
_TERMINAL_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_LONGEST_MESSAGE = 300  # characters of an error of Ray's own


@contextmanager
def connected(on: str, most: int | None = None, device: str = "cpu") -> Iterator[RayWorkers]:
    """Connect to a Ray cluster until the block ends, and yield its workers for experiments, at most so many.

    `on` is `ray`, the cluster that `RAY_ADDRESS` names, else a new one of this machine's cores, which ends with the block; or
    `ray://HOST:PORT`. With the device `auto`, workers have a GPU each if the cluster has any.

    Raises:
        ConfigError: `device` is `cuda` and the cluster has no GPU.
        DependencyError: Ray is not installed.
        NetworkError: the cluster cannot be reached, or has other versions of Python or Ray.
    """
    address = on if on != "ray" else os.environ.get("RAY_ADDRESS", "local")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # or Ray warns about workers without a GPU
    # whoever reaches the ports of a cluster runs any code on it, so a new cluster asks for a token
    if address == "local" and "ray" not in sys.modules:
        os.environ["RAY_AUTH_MODE"], os.environ["RAY_AUTH_TOKEN"] = "token", secrets.token_hex(32)
    try:
        importlib.import_module("ray.data")
    except ImportError:
        raise missing_extra("--on ray needs the package ray", "ray") from None
    ray: Any = importlib.import_module("ray")
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.CRITICAL}
    with ExitStack() as stack:
        if address == "local":
            logs = TemporaryDirectory(prefix="convinse-", dir=_SHORT_FOLDER, ignore_cleanup_errors=True)
            options |= {
                "_temp_dir": stack.enter_context(logs),
                "object_store_memory": _OBJECT_STORE_BYTES,
                "include_dashboard": False,
            }
        stack.callback(ray.shutdown)
        try:
            ray.init(address, **options)
        except (ConnectionError, RuntimeError, OSError, ValueError, ray.exceptions.RayError) as error:
            raise NetworkError(
                f"Ray cluster {address}: {_shortened(error)}; it needs the versions of Python and Ray that are here, and its "
                "token in RAY_AUTH_TOKEN"
            ) from error
        yield RayWorkers(ray, most, device)


class RayWorkers:
    """The actors of a cluster that run batches. A `run.Workers`."""

    def __init__(self, ray: Any, most: int | None, device: str) -> None:
        resources = ray.cluster_resources()
        gpus = int(resources.get("GPU", 0))
        if device.startswith("cuda") and not gpus:
            raise ConfigError(f"device: {device}: the Ray cluster has no GPU; set device: cpu, or auto")
        has_gpu = bool(gpus) and device != "cpu"
        places = gpus if has_gpu else int(resources.get("CPU", 1))
        self._ray = ray
        self._resources = {"num_cpus": 0 if has_gpu else 1, "num_gpus": 1 if has_gpu else 0}
        self.size = max(1, min(places, most or places))

    def run(
        self, make: Callable[[], BatchRunner], made_from: Mapping[str, str], batches: Sequence[Batch]
    ) -> Iterator[FinishedBatch]:
        """Run batches of conversations; yields them in their order, each as soon as those before it are finished.

        Raises `DataError` if a node has other data, models or code than this machine, and what `Pipeline.run` raises.
        """
        ray = self._ray

        class BatchActor(_BatchActor):  # with its arguments: as objects of their own they may be lost before a restart
            def __init__(self) -> None:
                super().__init__(make, made_from)

        context = ray.data.DataContext.get_current().copy()
        context.execution_options.preserve_order = True
        context.enable_progress_bars = context.print_on_execution_start = False
        logging.getLogger("ray.data").setLevel(logging.CRITICAL)
        with ray.data.DataContext.current(context), warnings.catch_warnings():
            # Ray has no other way yet to say how often an actor may die
            warnings.filterwarnings("ignore", message="`ray_remote_args` is deprecated")
            # a block for each batch, so that Ray hands them out one by one
            rows = ray.data.from_items([{"batch": batch} for batch in batches], override_num_blocks=len(batches))
            finished = rows.map(
                BatchActor,
                compute=ray.data.ActorPoolStrategy(min_size=1, max_size=min(self.size, len(batches))),
                **self._resources,
                max_restarts=_ACTOR_RESTARTS,
                max_task_retries=_BATCH_ATTEMPTS - 1,
            )
            try:
                for row in finished.iter_rows():
                    if isinstance(row["batch"], ConvinseError):
                        raise row["batch"]
                    yield row["batch"]
            except ray.exceptions.RayError as error:
                raise NetworkError(
                    f"Ray: {_shortened(error)}; finished conversations are kept, run the command again to go on"
                ) from error


class _BatchActor:
    """A pipeline in a process of the cluster, with the data and the code that this node has.

    Errors that a user can act on are results, since Ray wraps what is raised into a traceback of its own.
    """

    def __init__(self, make: Callable[[], BatchRunner], made_from: Mapping[str, str]) -> None:
        self._refusal: ConvinseError | None = None
        try:
            self._runner = make()
            origins = self._runner.origins()
        except ConvinseError as error:
            self._refusal = error
            return
        changed = [name for name, value in origins.items() if value != made_from.get(name)]
        if changed:
            self._refusal = DataError(
                f"{os.uname().nodename}: has another {', '.join(changed)} than the machine that started the run; bring the "
                "same files and the same version of the program to every node"
            )

    def __call__(self, row: dict[str, Batch]) -> dict[str, FinishedBatch | ConvinseError]:
        if self._refusal is not None:
            return {"batch": self._refusal}
        try:
            return {"batch": self._runner(row["batch"])}
        except ConvinseError as error:
            return {"batch": error}


def _shortened(error: BaseException) -> str:
    return " ".join(_TERMINAL_COLOURS.sub("", str(error)).split())[:_LONGEST_MESSAGE]
