"""An experiment on a Ray cluster: Ray Data runs batches of conversations on a pool of actors.

Ray schedules, restarts actors that die, and does the work of lost nodes again. The process of the command is the only one
that writes results, in the order of the conversations, so that they are byte for byte those of a run without a cluster.
Nothing else imports Ray.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from .config import Config
from .experiment import Batch, BatchRunner, FinishedBatch
from .support.errors import ConfigError, ConvinseError, DataError, DependencyError, NetworkError

_ACTOR_RESTARTS = 3
_BATCH_ATTEMPTS = 3  # a batch whose actors died so often is taken to be the cause
_OBJECT_STORE_BYTES = 256 << 20  # of a cluster of this machine: batches and results under way
_TERMINAL_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_LONGEST_MESSAGE = 300  # characters of an error of Ray's own


@contextmanager
def connected(on: str, most: int | None = None, device: str = "cpu") -> Iterator[RayWorkers]:
    """Connect to a Ray cluster until the block ends.

    Args:
        on: `ray`: the cluster that `RAY_ADDRESS` names, else a new one of this machine's cores, which ends with the block;
            or `ray://HOST:PORT`, the client server of a cluster.
        most: the number of workers at most; by default one for each core, or for each GPU.
        device: the configured one. With `auto`, workers have a GPU each if the cluster has any.

    Raises:
        ConfigError: `on` is not an address, or `device` is `cuda` and the cluster has no GPU.
        DependencyError: Ray is not installed.
        NetworkError: the cluster cannot be reached, or has other versions of Python or Ray.
    """
    address = on if on != "ray" else os.environ.get("RAY_ADDRESS", "local")
    ray = _import_ray(address)
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.CRITICAL}
    if address == "local":
        options |= {"object_store_memory": _OBJECT_STORE_BYTES, "include_dashboard": False}
    with ExitStack() as stack:
        stack.callback(ray.shutdown)
        try:
            ray.init(address, **options)
        except (ConnectionError, RuntimeError, OSError, ValueError, ray.exceptions.RayError) as error:
            raise NetworkError(
                f"Ray cluster {address}: {_shortened(error)}; it needs the versions of Python and Ray that are here, and its "
                "token in RAY_AUTH_TOKEN"
            ) from error
        yield RayWorkers(ray, most, device)


def _import_ray(address: str) -> Any:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # what goes wrong is raised, too
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # or Ray warns about workers without a GPU
    # whoever reaches the ports of a cluster runs any code on it, so a new cluster asks for a token
    if address == "local" and "ray" not in sys.modules:
        os.environ["RAY_AUTH_MODE"], os.environ["RAY_AUTH_TOKEN"] = "token", secrets.token_hex(32)
    try:
        import ray
        import ray.data
    except ImportError:
        raise DependencyError("--on ray needs the package ray; install it: pip install 'convinse[ray]'") from None
    return ray


class RayWorkers:
    """The actors of a cluster that run batches. An `experiment.Workers`."""

    def __init__(self, ray: Any, most: int | None, device: str) -> None:
        resources = ray.cluster_resources()
        gpus = int(resources.get("GPU", 0))
        if device.startswith("cuda") and not gpus:
            raise ConfigError(f"device: {device}: the Ray cluster has no GPU; set device: cpu, or auto")
        self._gpus = 1 if gpus and device != "cpu" else 0
        cores = gpus if self._gpus else int(resources.get("CPU", 1))
        self._ray = ray
        self._size = max(1, min(cores, most or cores))

    @property
    def size(self) -> int:
        """The number of batches that they work on at the same time."""
        return self._size

    def run(self, config: Config, made_from: Mapping[str, str], batches: Sequence[Batch]) -> Iterator[FinishedBatch]:
        """Run batches of conversations; yields them in their order, each as soon as those before it are finished.

        Raises:
            DataError: a node has other data, models or code than this machine; or a batch ended several actors.
            ConvinseError: as `Pipeline.run` raises it.
        """
        ray = self._ray
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
                _BatchActor,
                fn_constructor_args=(config, dict(made_from)),
                compute=ray.data.ActorPoolStrategy(min_size=1, max_size=min(self._size, len(batches))),
                num_cpus=0 if self._gpus else 1,
                num_gpus=self._gpus,
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

    def __init__(self, config: Config, made_from: Mapping[str, str]) -> None:
        self._refusal: ConvinseError | None = None
        try:
            self._runner = BatchRunner(config)
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
