"""How models compute: one record, which every head takes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypedDict

from ..config import Backend, Precision

if TYPE_CHECKING:
    from typing_extensions import Unpack


class ModelChanges(TypedDict, total=False):
    """Settings of a single model, as keyword arguments; see `ModelSettings`."""

    backend: Backend
    precision: Precision
    token_budget: int | None
    max_length: int
    stride: int
    key: str


@dataclass(frozen=True, kw_only=True)
class ModelSettings:
    """How a model computes.

    Attributes:
        device: `auto` (a GPU where there is one), `cpu`, `cuda`, `cuda:1`.
        backend: what computes: `torch`, or `auto`, which is the same.
        precision: `auto` (bf16 on a GPU, fp32 on a CPU), `fp32`, `fp16`, `bf16`, `int8` (CPU only).
        token_budget: most tokens of a batch, padding counted; None for the device's default.
        max_length: most tokens of an input, lowered to what the model can take. Of a pair the text is cut, not the query;
            a reader of answers takes windows instead.
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

    def changed(self, device: str | None, **changes: Unpack[ModelChanges]) -> ModelSettings:
        """These settings with some others; a device of None stays as it is."""
        return replace(self, device=device or self.device, **changes)


DEFAULTS = ModelSettings()
OF_WINDOWS = ModelSettings(max_length=512)
