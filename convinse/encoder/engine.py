"""The engine: sequences of any lengths through a model, in batches by token budget."""

from __future__ import annotations

import copy
import inspect
import logging
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ..support.errors import ModelError
from .batches import token_batches
from .precision import find_device, find_precision, place
from .settings import DEFAULTS, ModelSettings
from .tokens import Sequences

if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedModel

LOGGER = logging.getLogger(__name__)
# Tokens a batch. A CPU is best at batches that stay in its cache, a GPU at large ones.
_CPU_BUDGET = 1024
_GPU_BUDGET = 65536
_AHEAD = 2  # batches in flight on a GPU: the next is put together while one is computed

Output = Callable[[Any, torch.Tensor], torch.Tensor]


class Engine:
    """A model on a device, ready to run batches.

    Args:
        model: a Hugging Face model; it is moved and changed in place.
        settings: the device, the precision and the token budget are used. When the GPU's memory does not hold a batch the
            budget is halved for the rest of the engine's life.
    """

    def __init__(self, model: PreTrainedModel, settings: ModelSettings = DEFAULTS) -> None:
        self.device = find_device(settings.device)
        self.precision = find_precision(settings.precision, self.device)
        self.token_budget = settings.token_budget or (_GPU_BUDGET if self.device.type == "cuda" else _CPU_BUDGET)
        self.model: nn.Module = place(model, self.device, self.precision)

    def with_model(self, model: nn.Module) -> Engine:
        """An engine like this one for a model that shares this one's weights: on the device, in the precision."""
        engine = copy.copy(self)
        engine.model = model.eval()
        return engine

    def run(self, sequences: Sequences, output: Output) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Compute all sequences.

        Args:
            sequences: what to compute.
            output: from what the model returns, and the attention mask [b, longest], to the wanted tensor [b, ...].

        Yields:
            (places [b], float32 array [b, ...]) of each batch, in no promised order; together each place once.

        Raises:
            ModelError: a single sequence does not fit into the GPU's memory.
        """
        waiting = deque(token_batches(sequences.lengths, self.token_budget))
        flying: deque[tuple[np.ndarray, torch.Tensor]] = deque()
        ahead = _AHEAD if self.device.type == "cuda" else 1
        while waiting or flying:
            if waiting and len(flying) < ahead:
                places = waiting.popleft()
                try:
                    flying.append((places, self._forward(sequences, places, output)))
                except torch.OutOfMemoryError as error:
                    self._halve(places, sequences, error)
                    rest = np.concatenate([places, *waiting])
                    lengths = sequences.lengths[rest]
                    waiting = deque(rest[batch] for batch in token_batches(lengths, self.token_budget))
                continue
            places, result = flying.popleft()
            yield places, result.float().cpu().numpy()

    def _forward(self, sequences: Sequences, places: np.ndarray, output: Output) -> torch.Tensor:
        arguments = model_inputs(self.model, sequences, places, self.device)
        with torch.inference_mode():
            return output(self.model(**arguments), arguments["attention_mask"])

    def _halve(self, places: np.ndarray, sequences: Sequences, error: Exception) -> None:
        longest = int(sequences.lengths[places].max())
        if len(places) == 1:
            raise ModelError(
                f"{self.device}: the memory does not hold one sequence of {longest} tokens; lower evs_max_length or use device: cpu"
            ) from error
        self.token_budget = max(1, min(self.token_budget, longest * len(places)) // 2)
        LOGGER.warning("%s: out of memory; batches of at most %d tokens from now on", self.device, self.token_budget)
        if self.device.type == "cuda":
            torch.cuda.empty_cache()


def model_inputs(
    model: nn.Module, sequences: Sequences, places: np.ndarray, device: torch.device
) -> dict[str, torch.Tensor]:
    """What a model's `forward` takes, for some sequences: [b, longest] each, on the device."""
    input_ids, mask, types = (torch.from_numpy(array) for array in sequences.padded(places))
    arguments = {"input_ids": input_ids, "attention_mask": mask}
    if "token_type_ids" in inspect.signature(model.forward).parameters:
        arguments["token_type_ids"] = types
    if device.type == "cuda":
        return {name: array.pin_memory().to(device, non_blocking=True) for name, array in arguments.items()}
    return arguments


def computed(model: Any, sequences: Sequences, budget: int, output: Output) -> torch.Tensor:
    """[n, ...] what `output` makes of all sequences, gradients kept, in batches of similar length by token budget."""
    places, parts = list(token_batches(sequences.lengths, budget)), []
    for batch in places:
        inputs = model_inputs(model, sequences, batch, model.device)
        parts.append(output(model(**inputs), inputs["attention_mask"]))
    inverse = torch.from_numpy(np.argsort(np.concatenate(places)))
    return torch.cat(parts)[inverse.to(model.device)]
