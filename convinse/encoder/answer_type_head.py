"""A fifth head for a joint model, in a file of its own: what kind of answer a question asks for.

Several learned looks at all tokens of the question, over hidden states of the trunk, which stays as it is, give a distribution
over classes of Wikidata's items, dates, numbers, yes or no, and texts. A model folder has the head in
`answer_type.safetensors` or has none; `encoder.answer_classes` reads which classes it tells.
"""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn
from transformers import BertConfig

from ..support.errors import ModelError, one_line
from .answer_classes import AnswerClasses, read_answer_classes
from .checkpoint import ANSWER_TYPE
from .joint import Storage, restored, stored


class AnswerTypeHead(nn.Module):
    """From hidden states of `[CLS] question [SEP]` to the logits of classes.

    Args:
        hidden: the trunk's width.
        layer: how many layers of the trunk make the states.
        classes: how many classes there are.
        looks: at the tokens; each takes what it sees from numbers of its own, and they divide `inner`.
        inner: how many numbers are seen.
        dropout: while training.
    """

    def __init__(
        self, hidden: int, layer: int, classes: int, looks: int = 8, inner: int = 128, dropout: float = 0.1
    ) -> None:
        super().__init__()
        if inner % looks:
            raise ValueError(f"{looks} looks do not divide {inner} numbers")
        self.layer, self.looks = layer, looks
        self.attention = nn.Linear(hidden, looks)
        self.value = nn.Linear(hidden, inner)
        self.seen = nn.LayerNorm(inner)
        self.dropout = nn.Dropout(dropout)
        self.classes = nn.Linear(inner, classes)

    def forward(self, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """[b, tokens, hidden] states and the [b, tokens] mask of what is no padding -> [b, classes] logits."""
        dropped = self.dropout(hidden)
        scores = self.attention(dropped)
        scores = scores.masked_fill(mask[:, :, None] == 0, torch.finfo(scores.dtype).min)
        shares = scores.softmax(dim=1).transpose(1, 2)[:, :, None]  # [b, looks, 1, tokens]
        values = nn.functional.gelu(self.value(dropped))
        own = self.value.out_features // self.looks
        values = values.reshape(*values.shape[:2], self.looks, own).transpose(1, 2)  # [b, looks, tokens, own]
        seen = (shares @ values).reshape(hidden.shape[0], self.looks * own)
        logits: torch.Tensor = self.classes(self.dropout(self.seen(seen)))
        return logits

    def save(self, folder: Path, classes: AnswerClasses, storage: Storage = "int8") -> None:
        """Write the head, and the classes that it tells, into a model folder."""
        weights = {name: tensor.detach().cpu() for name, tensor in self.state_dict().items()}
        metadata = classes.metadata() | {"layer": str(self.layer), "looks": str(self.looks)}
        save_file(stored(weights, storage), folder / ANSWER_TYPE, metadata=metadata)


def load_answer_type(folder: Path, config: BertConfig) -> AnswerTypeHead:
    """The head of a model folder, on the CPU, ready to compute.

    Raises:
        ModelError: there is none, it is damaged, or it belongs to another trunk.
    """
    path = folder / ANSWER_TYPE
    classes = read_answer_classes(folder)
    try:
        weights = restored(load_file(path))
        layer, looks = int(classes.settings["layer"]), int(classes.settings["looks"])
        head = AnswerTypeHead(config.hidden_size, layer, len(classes.names), looks, len(weights["value.bias"]))
        if not 0 <= layer <= config.num_hidden_layers:
            raise ValueError(f"it is for layer {layer} of {config.num_hidden_layers}")
        head.load_state_dict(weights)
    except (OSError, SafetensorError, KeyError, ValueError, RuntimeError) as error:
        raise ModelError(
            f"{path}: cannot be loaded ({type(error).__name__}: {one_line(error)}); copy it from the model's folder anew"
        ) from error
    return head.eval()
