"""Settings of how models compute, which every head takes."""

from __future__ import annotations

import importlib.util
import os
from dataclasses import dataclass

from ..config import Backend, Config, Precision

# drivers of NVIDIA, of AMD, of NVIDIA below WSL
_GPU_SIGNS = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")


@dataclass(frozen=True, kw_only=True)
class ModelSettings:
    """Settings of how a model computes.

    Attributes:
        backend: `onnx` (a folder that has its graphs), `torch` (any checkpoint), or `auto`: on a CPU `onnx` if there are graphs.
        precision: `fp32`, `int8` (`onnx` only), `fp16` (GPU only), `bf16` (`torch` only), or `auto`: int8 for `onnx` on a CPU
            if the model has it, for `torch` bf16 on a GPU and fp32 on a CPU.
        token_budget: most tokens of a batch, padding counted; None for the device's default.
        max_length: most tokens of an input. Of a pair the text is cut, not the query; a reader of answers takes windows instead.
        stride: tokens that neighbouring windows share.
        key: what named the model (a configuration key, or a parameter), for messages.
    """

    device: str = "auto"
    backend: Backend = "auto"
    precision: Precision = "auto"
    token_budget: int | None = None
    max_length: int = 256
    stride: int = 128
    key: str = "model"


def configured(config: Config, key: str, max_length: int = 256) -> ModelSettings:
    """Return the settings of the model that a configuration key names."""
    return ModelSettings(
        device=config.device,
        backend=config.backend,
        precision=config.precision,
        token_budget=config.token_budget,
        max_length=max_length,
        key=key,
    )


def gpu_for_torch() -> bool:
    """Return True if PyTorch can use a GPU. Without signs of one PyTorch, which takes a second, is not asked."""
    if importlib.util.find_spec("torch") is None or not any(map(os.path.exists, _GPU_SIGNS)):
        return False
    import torch

    return torch.cuda.is_available()
