"""A fourth head for a joint model, in a file of its own: whether a text answers a question with yes.

[CLS] looks once more at all tokens of question and text, in one block of attention over hidden states of the trunk, which
stays as it is. They are those below its last layer, which knows less of what ranking and reading do not ask for. A model
folder has the head in `yes_no.safetensors` or has none.
"""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn import functional
from transformers import BertConfig, BertModel

from ..support.errors import ModelError, one_line
from .checkpoint import YES_NO
from .joint import JointModel, Storage, restored, stored

_FORMAT = "convinse yes/no head 1"


class YesNoHead(nn.Module):
    """From hidden states of `[CLS] question [SEP] text [SEP]` to the log odds of "yes".

    Args:
        hidden: the trunk's width.
        heads: of attention; they divide the width.
        layer: how many layers of the trunk make the states.
        inner: width of the feed-forward layer; None: four times the trunk's.
        dropout: while training.
    """

    def __init__(self, hidden: int, heads: int, layer: int, inner: int | None = None, dropout: float = 0.1) -> None:
        super().__init__()
        inner = 4 * hidden if inner is None else inner
        self.heads, self.layer = heads, layer
        self.attention = nn.MultiheadAttention(hidden, heads, dropout, batch_first=True)
        self.attended = nn.LayerNorm(hidden)
        self.inner = nn.Sequential(nn.Linear(hidden, inner), nn.GELU(), nn.Dropout(dropout), nn.Linear(inner, hidden))
        self.thought = nn.LayerNorm(hidden)
        self.dropout = nn.Dropout(dropout)
        self.odds = nn.Linear(hidden, 1)

    def forward(self, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """[b, tokens, hidden] states and the [b, tokens] mask of what is no padding -> [b] log odds."""
        first = hidden[:, :1]
        state = self.attended(first + self._seen(first, hidden, mask))
        odds: torch.Tensor = self.odds(self.dropout(self.thought(state + self.inner(state))))
        return odds[:, 0, 0]

    def _seen(self, first: torch.Tensor, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """[b, 1, hidden] what [CLS] sees; written out, for PyTorch's own attention exports with the shapes of one batch."""
        attention, width = self.attention, hidden.shape[-1]
        size = width // self.heads
        of_query, of_key, of_value = zip(
            attention.in_proj_weight.chunk(3), attention.in_proj_bias.chunk(3), strict=True
        )
        query, key, value = (
            functional.linear(states, *weights).reshape(-1, states.shape[1], self.heads, size).transpose(1, 2)
            for states, weights in ((first, of_query), (hidden, of_key), (hidden, of_value))
        )
        scores = (query / size**0.5) @ key.transpose(-1, -2)
        scores = scores.masked_fill(mask[:, None, None, :] == 0, torch.finfo(scores.dtype).min)
        shares = functional.dropout(scores.softmax(dim=-1), attention.dropout, self.training)
        seen: torch.Tensor = attention.out_proj((shares @ value).transpose(1, 2).reshape(-1, 1, width))
        return seen

    def save(self, folder: Path, storage: Storage = "int8") -> None:
        """Write the head into a model folder."""
        weights = {name: tensor.detach().cpu() for name, tensor in self.state_dict().items()}
        metadata = {"format": _FORMAT, "heads": str(self.heads), "layer": str(self.layer)}
        save_file(stored(weights, storage), folder / YES_NO, metadata=metadata)


class YesNoModel(nn.Module):
    """The trunk of a joint model with a yes/no head: `input_ids`, `attention_mask`, `token_type_ids` -> [b] log odds."""

    def __init__(self, model: JointModel, head: YesNoHead) -> None:
        super().__init__()
        self.bert, self.head = model.bert, head

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor | None = None
    ) -> torch.Tensor:
        """[b, tokens] each."""
        hidden = states(self.bert, self.head.layer, input_ids, attention_mask, token_type_ids)
        return self.head.forward(hidden, attention_mask)


def states(
    bert: BertModel,
    layer: int,
    input_ids: torch.Tensor,
    attention_mask: torch.Tensor,
    token_type_ids: torch.Tensor | None = None,
) -> torch.Tensor:
    """[b, tokens, hidden] float32: what the first `layer` layers of a trunk make of its input."""
    output = bert(
        input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids, output_hidden_states=True
    )
    hidden: torch.Tensor = output.hidden_states[layer]
    return hidden.float()


def load_yes_no(folder: Path, config: BertConfig) -> YesNoHead:
    """The head of a model folder, on the CPU, ready to compute.

    Raises:
        ModelError: there is none, it is damaged, or it belongs to another trunk.
    """
    path = folder / YES_NO
    try:
        with safe_open(path, "pt") as file:
            metadata = file.metadata() or {}
        if metadata.get("format") != _FORMAT:
            raise ModelError(f"{path}: is no '{_FORMAT}'; train it anew with train embedded")
        weights = restored(load_file(path))
        head = YesNoHead(
            config.hidden_size, int(metadata["heads"]), int(metadata["layer"]), len(weights["inner.0.bias"])
        )
        if not 0 <= head.layer <= config.num_hidden_layers:
            raise ValueError(f"it is for layer {head.layer} of {config.num_hidden_layers}")
        head.load_state_dict(weights)
    except (OSError, SafetensorError, KeyError, ValueError, AssertionError, RuntimeError) as error:
        raise ModelError(
            f"{path}: cannot be loaded ({type(error).__name__}: {one_line(error)}); copy it from the model's folder anew"
        ) from error
    return head.eval()
