"""ONNX Runtime computes: the default on a CPU, which needs neither PyTorch nor transformers."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..config import Precision
from ..support.errors import ConfigError, ModelError, one_line
from .engine import Arrays, ModelBackend, Output
from .exported import HEADS_WITH_ROWS, ExportedModel, rows_of
from .tokens import Sequences

if TYPE_CHECKING:
    from .settings import ModelSettings

# A batch that stays in the cache of a core; 1,024 tokens are a tenth slower, 2,048 a quarter.
_CPU_BUDGET = 512
_OVERHEAD = 20  # tokens in the time of a batch's beginning: 1.4 ms, with 0.07 ms a token (the embedded model in int8 on an EPYC core)
_GPU_BUDGET = 65536  # tokens of a batch, as with PyTorch
_ERRORS_ONLY = 3  # ONNX Runtime's level of severity ERROR
_OPENING = threading.Lock()  # sessions open one after the other: two at once take 40 MB more


class OnnxBackend(ModelBackend):
    """A session of ONNX Runtime over an exported model; `where` is the key and the name that the user gave, for messages.

    The session opens beside the caller; a graph that ONNX Runtime cannot load is an error of the first batch.

    Raises:
        ConfigError: this ONNX Runtime cannot compute on the device, or the model not in the precision.
        ModelError: a file is missing, damaged or of another model.
    """

    def __init__(self, exported: ExportedModel, folder: Path, settings: ModelSettings, where: str) -> None:
        onnxruntime = runtime()
        on_gpu = settings.device.startswith("cuda")
        self.device = settings.device if on_gpu else "cpu"
        self.precision = _precision(exported, settings.precision, on_gpu, where)
        self.outputs, self.dimension = frozenset(exported.outputs), exported.hidden_size
        self.budget = _GPU_BUDGET if on_gpu else _CPU_BUDGET
        graph = exported.graphs[self.precision]  # type: ignore[index] # one of its keys
        exported.check(folder, graph, where)
        self.identity = self.precision if self.precision == "fp32" else f"int8-{exported.files[graph][:12]}"
        self._inputs = frozenset(exported.inputs)
        options = onnxruntime.SessionOptions()
        # a batch for each core is faster than all cores on a batch, and threads do not spin: processes may share the cores
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        # a plan of memory is for one shape of a batch, and shapes differ: 40 MB after 300 batches, and no faster
        options.enable_mem_pattern = False
        cores = 1 if on_gpu else available_cores()
        self.max_in_flight, self.workers, self.overhead = cores + 1, cores, None if on_gpu else _OVERHEAD
        self._workers = ThreadPoolExecutor(cores, "computing")
        options.log_severity_level = _ERRORS_ONLY
        providers = _providers(settings.device, onnxruntime)

        def opened() -> Any:
            try:
                with _OPENING:
                    return onnxruntime.InferenceSession(str(folder / graph), options, providers=providers)
            except Exception as error:  # what the library raises has no common class
                raise ModelError(
                    f"{where}: {graph} cannot be loaded ({one_line(error)}); export the model again, or use backend: torch"
                ) from error

        # it takes 0.1 to 0.2 s without the interpreter's lock: the caller goes on until the first batch
        self._session = self._workers.submit(opened)

    def start(self, sequences: Sequences, places: np.ndarray, outputs: Sequence[Output]) -> Callable[[], Arrays]:
        """See the base class."""
        names = ("input_ids", "attention_mask", "token_type_ids")
        arguments = dict(zip(names, sequences.padded(places), strict=True))
        arguments |= {rows_of(head): np.arange(len(places) if head in outputs else 0) for head in HEADS_WITH_ROWS}
        feed = {name: array for name, array in arguments.items() if name in self._inputs}
        running = self._workers.submit(lambda: self._session.result().run(list(outputs), feed))
        return lambda: tuple(running.result())


def runtime() -> Any:
    """Return the module `onnxruntime`, loaded without its telemetry.

    Since 1.29 every session, with the model's name, is reported to its maker unless `ORT_DISABLE_TELEMETRY` is set.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime

    return onnxruntime


def available_cores() -> int:
    """Return the number of cores that this process may use, at most `OMP_NUM_THREADS`."""
    bound = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(bound, int(limit))) if limit.isdigit() else bound


def _precision(exported: ExportedModel, precision: Precision, on_gpu: bool, where: str) -> Precision:
    if precision == "auto":
        return "int8" if "int8" in exported.graphs and not on_gpu else "fp32"
    if precision not in ("fp32", "int8"):
        raise ConfigError(f"precision: {precision} is for PyTorch; use backend: torch, or fp32 or int8")
    if precision not in exported.graphs:
        raise ConfigError(f"precision: {where} has no {precision} graph; it has {', '.join(sorted(exported.graphs))}")
    return precision


def _providers(device: str, onnxruntime: Any) -> list[Any]:
    if not device.startswith("cuda"):
        return ["CPUExecutionProvider"]
    if "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
        raise ConfigError(
            f"device: {device}: this ONNX Runtime has no CUDAExecutionProvider; install onnxruntime-gpu, "
            "use backend: torch or device: cpu"
        )
    number = device.partition(":")[2] or "0"
    return [("CUDAExecutionProvider", {"device_id": number}), "CPUExecutionProvider"]
