"""PyTorch computes: on a GPU, while training, and any Hugging Face checkpoint as it is."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ..support.errors import ModelError
from .batches import token_batches
from .checkpoint import Checkpoint, Task
from .devices import find_device, find_precision
from .engine import Arrays, DeviceMemoryError, ModelBackend, Output
from .exported import OUTPUT_OF
from .heads import load_heads, states
from .joint import JointModel
from .pooling import hub_pooling, pools_first
from .settings import ModelSettings
from .tokens import Sequences

if TYPE_CHECKING:
    from torch import nn

_CPU_BUDGET = 1024  # tokens of a batch with its padding
_GPU_BUDGET = 65536  # the same: 128 sequences of 512 tokens
_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16}


class TorchBackend(ModelBackend):
    """A checkpoint on a device, in a precision; its model is moved and changed. A joint model has all tasks.

    Raises:
        ConfigError: the device is missing, or cannot compute in this precision.
        ModelError: the model has another number of outputs, or an unsupported pooling.
    """

    def __init__(self, checkpoint: Checkpoint, task: Task, settings: ModelSettings, name: str) -> None:
        device = find_device(settings.device)
        self.device, self._on = str(device), device
        self.precision = self.identity = find_precision(settings.precision, device)
        on_gpu = device.type == "cuda"
        self.budget, self.max_in_flight = (_GPU_BUDGET, 2) if on_gpu else (_CPU_BUDGET, 1)
        is_joint = isinstance(checkpoint.model, JointModel)
        model, where = checkpoint.model, f"{settings.key}: {name}"
        self.dimension = int(model.config.hidden_size)
        self.outputs = frozenset(OUTPUT_OF.values()) if is_joint else frozenset({OUTPUT_OF[task]})
        if "relevance" in self.outputs and model.config.num_labels not in (1, 2):
            raise ModelError(
                f"{where}: has {model.config.num_labels} outputs; a reranker has one (relevance) or two (no, yes)"
            )
        self.pool_first = False
        if "embedding" in self.outputs:
            local = is_joint or checkpoint.folder is not None
            self.pool_first = pools_first(checkpoint.folder if local else hub_pooling(name), where)
        self._heads: dict[Output, Any] = {}
        if isinstance(model, JointModel) and checkpoint.folder is not None:
            self._heads = {name: head.to(device) for name, head in load_heads(checkpoint.folder, model.config).items()}
            self.outputs |= self._heads.keys()
        if model._supports_sdpa:
            model.set_attn_implementation("sdpa")
        module: nn.Module = model  # transformers wraps the methods of torch without types
        self.model = module.eval().requires_grad_(False).to(device=device, dtype=_DTYPES.get(self.precision))

    def start(self, sequences: Sequences, places: np.ndarray, outputs: Sequence[Output]) -> Callable[[], Arrays]:
        """See the base class; a GPU computes on while others are begun."""
        try:
            with torch.inference_mode():
                tensors = self._computed(model_inputs(self.model, sequences, places, self._on), outputs)
        except torch.OutOfMemoryError as error:
            raise DeviceMemoryError(str(error)) from error
        return lambda: tuple(tensor.float().cpu().numpy() for tensor in tensors)

    def _computed(self, arguments: dict[str, torch.Tensor], outputs: Sequence[Output]) -> list[torch.Tensor]:
        mask = arguments["attention_mask"]
        made: dict[str, torch.Tensor] = {}
        for name in outputs:
            if name in self._heads:
                head = self._heads[name]
                assert isinstance(self.model, JointModel)
                made[name] = head(states(self.model.bert, head.layer, **arguments), mask)
        if set(outputs) - made.keys():
            output = self.model(**arguments)
            made |= {name: of_head(name, output, mask, self.pool_first) for name in outputs if name not in made}
        return [made[name] for name in outputs]

    def free(self) -> None:
        """See the base class."""
        if self._on.type == "cuda":
            torch.cuda.empty_cache()


def of_head(name: Output, output: Any, mask: torch.Tensor, first: bool) -> torch.Tensor:
    """Return the result of a head from a model's output, see `ModelBackend.start`; `first`: [CLS] is the embedding."""
    if name == "relevance":
        return log_odds(output, mask)
    if name == "spans":
        return torch.stack((output.start_logits, output.end_logits), dim=-1)
    return pooled(output.last_hidden_state, mask, first)


def log_odds(output: Any, _: torch.Tensor | None) -> torch.Tensor:
    """Return the [b] relevance of a checkpoint with one logit or two, before the sigmoid."""
    logits: torch.Tensor = output.logits.float()
    return logits[:, 0] if logits.shape[1] == 1 else logits[:, 1] - logits[:, 0]


def pooled(hidden: torch.Tensor, mask: torch.Tensor, first: bool = False) -> torch.Tensor:
    """Pool [b, tokens, d] to [b, d]: the vector of [CLS], or the mean over the mask [b, tokens]."""
    if first:
        return hidden[:, 0]
    weights = mask.unsqueeze(-1).to(hidden.dtype)
    return (hidden * weights).sum(dim=1) / weights.sum(dim=1)


def model_inputs(
    model: nn.Module, sequences: Sequences, places: np.ndarray, device: torch.device
) -> dict[str, torch.Tensor]:
    """Return the [b, longest] arguments of a model's `forward` for some sequences, on the device."""
    input_ids, mask, types = (torch.from_numpy(array) for array in sequences.padded(places))
    arguments = {"input_ids": input_ids, "attention_mask": mask}
    if "token_type_ids" in inspect.signature(model.forward).parameters:
        arguments["token_type_ids"] = types
    if device.type == "cuda":
        return {name: array.pin_memory().to(device, non_blocking=True) for name, array in arguments.items()}
    return arguments


def computed(
    model: Any, sequences: Sequences, budget: int, output: Callable[[Any, torch.Tensor], torch.Tensor]
) -> torch.Tensor:
    """Compute all sequences with gradients, in batches of similar length by token budget; returns [n, ...] in their order.

    `output` makes [b, ...] of the model's output and the attention mask [b, longest].
    """
    places, parts = list(token_batches(sequences.lengths, budget)), []
    for batch in places:
        inputs = model_inputs(model, sequences, batch, model.device)
        parts.append(output(model(**inputs), inputs["attention_mask"]))
    inverse = torch.from_numpy(np.argsort(np.concatenate(places)))
    return torch.cat(parts)[inverse.to(model.device)]
