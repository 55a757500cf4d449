"""How a model computes: on a GPU in half precision, on a CPU through oneDNN, in fp32, bf16 or int8.

PyTorch's own fp32 product calls MKL, which takes a slow path on CPUs of other makers; oneDNN with weights laid out once
is 2 to 2.5 times as fast there and gives the same sums. int8 rounds weights per output and activations per token, the
latter on the fly (dynamic quantisation, LLM.int8() without its outliers); a small output layer stays in fp32, and so does the
first sixth of the trunk, whose errors would go through all other layers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from ..config import Precision
from ..support.errors import ConfigError

if TYPE_CHECKING:
    from transformers import PreTrainedModel

_LAYER = re.compile(r"\blayers?\.(\d+)\.")
_SMALLEST = 32  # outputs of a layer worth laying out or quantising
_INT8_LEVELS = 127
_TINY = 1e-30  # its inverse is a number


def find_device(name: str) -> torch.device:
    """`auto`, `cpu`, `cuda` or `cuda:1` -> a device that is there.

    Raises:
        ConfigError: the machine has no such GPU, or this PyTorch cannot use it.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    device = torch.device(name)
    if device.type == "cuda":
        count = torch.cuda.device_count()
        if (device.index or 0) >= count:
            raise ConfigError(f"device: {name}: this PyTorch sees {count} GPUs; use auto or cpu")
    return device


def autocast(device: torch.device) -> AbstractContextManager[Any]:
    """Mixed precision: bf16 where the device computes it faster, else nothing."""
    if device.type == "cuda":
        return torch.autocast("cuda", dtype=torch.bfloat16)
    onednn: Any = torch.backends.mkldnn
    if onednn.is_available() and torch.ops.mkldnn._is_mkldnn_bf16_supported():
        return torch.autocast("cpu", dtype=torch.bfloat16)
    return nullcontext()


@contextmanager
def inference(model: Any) -> Iterator[None]:
    """As training computes, in mixed precision, but without gradients."""
    with torch.inference_mode(), autocast(model.device):
        yield


def find_precision(precision: Precision, device: torch.device) -> Precision:
    """The precision that `auto` stands for: bf16 on a GPU that has it, else fp16; fp32 on a CPU.

    Raises:
        ConfigError: the device cannot compute so.
    """
    if device.type == "cuda":
        if precision == "int8":
            raise ConfigError("precision: int8 is for CPUs; use bf16 or auto on a GPU")
        if precision == "auto":
            return "bf16" if torch.cuda.is_bf16_supported() else "fp16"
        return precision
    if precision == "fp16":
        raise ConfigError("precision: fp16 is for GPUs; use fp32, bf16 or int8 on a CPU")
    return "fp32" if precision == "auto" else precision


def place(model: PreTrainedModel, device: torch.device, precision: Precision) -> PreTrainedModel:
    """The model on its device, in its precision (not `auto`), ready to be called; the given one is changed."""
    module: nn.Module = model  # transformers wraps the methods of torch without types
    module.eval().requires_grad_(False)
    if device.type == "cuda":
        model.set_attn_implementation("sdpa")
        module.to(device=device, dtype={"fp16": torch.float16, "bf16": torch.bfloat16}.get(precision))
        return model
    model.set_attn_implementation("eager")  # for short sequences faster on a CPU than the fused kernel
    if precision == "bf16":
        module.to(torch.bfloat16)
        return model
    linear = {
        name: child
        for name, child in model.named_modules()
        if type(child) is nn.Linear and child.out_features >= _SMALLEST
    }
    early = _early(linear) if precision == "int8" else linear.keys()
    for name, child in linear.items():
        kind: type[nn.Module] = _Int8Linear
        if name in early:
            if not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
                continue
            kind = _OneDnnLinear
        parent, _, own = name.rpartition(".")
        setattr(model.get_submodule(parent), own, kind(child))
    return model


def _early(names: Iterable[str]) -> set[str]:
    """The modules that belong to the first sixth of a stack of layers (`...layer.0...`)."""
    numbers = {name: int(match[1]) for name in names if (match := _LAYER.search(name))}
    sixth = (max(numbers.values(), default=-1) + 1) // 6
    return {name for name, number in numbers.items() if number < sixth}


class _OneDnnLinear(nn.Module):
    """`nn.Linear` with its weights in oneDNN's layout."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self._weight = linear.weight.detach().to_mkldnn()
        self._bias = None if linear.bias is None else linear.bias.detach().to_mkldnn()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[..., inputs] -> [..., outputs]."""
        result: torch.Tensor = torch.ops.aten.mkldnn_linear(x.to_mkldnn(), self._weight, self._bias)
        return result.to_dense()


class _Int8Linear(nn.Module):
    """`nn.Linear` in int8: weights with a scale per output, activations with one per token, taken on the fly.

    A token's levels lie between its smallest and its largest value, not around 0: behind an activation function, and where
    a few values stand out on one side, rounding is about half as coarse so.
    """

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        weight = linear.weight.detach()
        self._scales = (weight.abs().amax(dim=1) / _INT8_LEVELS).clamp_min(_TINY)
        levels = (weight / self._scales[:, None]).round_()
        self._weight = levels.to(torch.int8).t()
        self._sums = levels.sum(dim=1) * self._scales
        self._bias = torch.zeros_like(self._scales) if linear.bias is None else linear.bias.detach()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[..., inputs] -> [..., outputs]."""
        flat = x.reshape(-1, x.shape[-1])
        low, high = flat.amin(1, keepdim=True), flat.amax(1, keepdim=True)  # aminmax takes three times as long as both
        middle, spread = (low + high) / 2, (high - low).clamp_min_(_TINY)
        steps = 2 * _INT8_LEVELS / spread
        levels = torch.addcmul(-middle * steps, flat, steps).round_().to(torch.int8)
        product = torch._int_mm(levels, self._weight).to(x.dtype).mul_(self._scales)
        result = torch.addcmul(self._bias, product, spread / (2 * _INT8_LEVELS)).addcmul_(middle, self._sums)
        return result.view(*x.shape[:-1], -1)
