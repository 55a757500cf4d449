"""Devices and precisions of PyTorch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch

from ..config import Precision
from ..support.errors import ConfigError


def find_device(name: str) -> torch.device:
    """Return the device of `auto`, `cpu`, `cuda` or `cuda:1`. Raises `ConfigError` if the GPU is missing."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    device = torch.device(name)
    if device.type == "cuda":
        count = torch.cuda.device_count()
        if (device.index or 0) >= count:
            raise ConfigError(f"device: {name}: this PyTorch sees {count} GPUs; use auto or cpu")
    return device


def autocast(device: torch.device) -> AbstractContextManager[Any]:
    """Return the context of mixed precision: bf16 if the device computes it faster, else fp32."""
    if device.type == "cuda":
        return torch.autocast("cuda", dtype=torch.bfloat16)
    onednn: Any = torch.backends.mkldnn
    if onednn.is_available() and torch.ops.mkldnn._is_mkldnn_bf16_supported():
        return torch.autocast("cpu", dtype=torch.bfloat16)
    return nullcontext()


@contextmanager
def inference(model: Any) -> Iterator[None]:
    """Compute in mixed precision, as training does, but without gradients."""
    with torch.inference_mode(), autocast(model.device):
        yield


def find_precision(precision: Precision, device: torch.device) -> Precision:
    """Return a precision, for `auto` bf16 on a GPU that has it, else fp16; fp32 on a CPU. Raises `ConfigError`."""
    if precision == "int8":
        raise ConfigError(
            "precision: int8 needs ONNX Runtime; convinse export makes the model's files, or use fp32 or auto"
        )
    if device.type == "cuda":
        if precision == "auto":
            return "bf16" if torch.cuda.is_bf16_supported() else "fp16"
        return precision
    if precision == "fp16":
        raise ConfigError("precision: fp16 is for GPUs; use fp32 or bf16 on a CPU")
    return "fp32" if precision == "auto" else precision
