"""A sixth head for a joint model, in a file of its own: how a question is rewritten so that it stands alone.

Some layers of its own read `[CLS] question [SEP] history [SEP]` over hidden states of the trunk, which stays as it is. Each
token of the question points at the span of the history that goes before it, or in its place, and [CLS] at what the question
takes the place of in the question before: pointers, as in Vinyals et al., Pointer networks (2015), with [CLS] for "none". A model folder has the head in `rewrite.safetensors` or has none.
"""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn import functional
from transformers import BertConfig
from transformers.models.bert.modeling_bert import BertLayer

from ..support.errors import ModelError, one_line
from .checkpoint import REWRITE
from .joint import Storage, restored, stored

_FORMAT = "convinse rewrite head 1"
_LEVELS = 63  # of weights in int8: they point at the same, and the wheel is 0.7 MB smaller than with 127
POINTER = 64  # numbers of a query and of a key


class EncoderLayer(nn.Module):
    """A layer of a BERT, written out: PyTorch's and transformers' own do not export with a batch of no rows."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        width, inner = config.hidden_size, config.intermediate_size
        self.heads = config.num_attention_heads
        self.query_key_value = nn.Linear(width, 3 * width)
        self.attended = nn.Linear(width, width)
        self.attended_norm = nn.LayerNorm(width, eps=config.layer_norm_eps)
        self.inner = nn.Linear(width, inner)
        self.outer = nn.Linear(inner, width)
        self.norm = nn.LayerNorm(width, eps=config.layer_norm_eps)

    def forward(self, hidden: torch.Tensor, beyond: torch.Tensor) -> torch.Tensor:
        """[b, tokens, hidden] states; `beyond` [b, 1, 1, tokens] is added to the attention scores -> [b, tokens, hidden]."""
        tokens, width = hidden.shape[1:]
        size = width // self.heads
        query, key, value = (
            part.reshape(-1, tokens, self.heads, size).transpose(1, 2)
            for part in self.query_key_value(hidden).chunk(3, dim=-1)
        )
        shares = ((query / size**0.5) @ key.transpose(-1, -2) + beyond).softmax(dim=-1)
        seen = self.attended((shares @ value).transpose(1, 2).reshape(-1, tokens, width))
        hidden = self.attended_norm(hidden + seen)
        made: torch.Tensor = self.norm(hidden + self.outer(functional.gelu(self.inner(hidden))))
        return made

    def begin_as(self, layer: BertLayer) -> None:
        """Take the weights of a layer of a trunk."""
        attention, output = layer.attention, layer.output
        parts = [attention.self.query, attention.self.key, attention.self.value]
        with torch.no_grad():
            self.query_key_value.weight.copy_(torch.cat([part.weight for part in parts]))
            self.query_key_value.bias.copy_(torch.cat([part.bias for part in parts]))
        for own, theirs in (
            (self.attended, attention.output.dense),
            (self.attended_norm, attention.output.LayerNorm),
            (self.inner, layer.intermediate.dense),
            (self.outer, output.dense),
            (self.norm, output.LayerNorm),
        ):
            own.load_state_dict(theirs.state_dict())


class RewriteHead(nn.Module):
    """From hidden states of `[CLS] question [SEP] history [SEP]` to what is needed to rewrite the question.

    Args:
        config: of the trunk, whose layers its own are like.
        layer: how many layers of the trunk make the states.
        layers: of its own.
        dropout: while training.
    """

    def __init__(self, config: BertConfig, layer: int, layers: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.layer = layer
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(layers))
        self.dropout = nn.Dropout(dropout)
        self.outputs = nn.Linear(config.hidden_size, 4 * POINTER)

    def forward(self, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """[b, tokens, hidden] states and the [b, tokens] mask -> [b, tokens, 4 * POINTER]: the queries of a start and of an end, and the keys of a start and of an end."""
        beyond = (1.0 - mask[:, None, None, :].to(hidden.dtype)) * torch.finfo(hidden.dtype).min
        for layer in self.layers:
            hidden = layer(hidden, beyond)
        outputs: torch.Tensor = self.outputs(self.dropout(hidden))
        return outputs

    def save(self, folder: Path, storage: Storage = "int8") -> None:
        """Write the head into a model folder."""
        weights = {name: tensor.detach().cpu() for name, tensor in self.state_dict().items()}
        metadata = {"format": _FORMAT, "layer": str(self.layer), "layers": str(len(self.layers))}
        save_file(stored(weights, storage, _LEVELS), folder / REWRITE, metadata=metadata)


def load_rewrite(folder: Path, config: BertConfig) -> RewriteHead:
    """The head of a model folder, on the CPU, ready to compute.

    Raises:
        ModelError: there is none, it is damaged, or it belongs to another trunk.
    """
    path = folder / REWRITE
    try:
        with safe_open(path, "pt") as file:
            metadata = file.metadata() or {}
        if metadata.get("format") != _FORMAT:
            raise ModelError(f"{path}: is no '{_FORMAT}'; train it anew with train embedded")
        head = RewriteHead(config, int(metadata["layer"]), int(metadata["layers"]))
        if not 0 <= head.layer <= config.num_hidden_layers:
            raise ValueError(f"it is for layer {head.layer} of {config.num_hidden_layers}")
        head.load_state_dict(restored(load_file(path)))
    except (OSError, SafetensorError, KeyError, ValueError, RuntimeError) as error:
        raise ModelError(
            f"{path}: cannot be loaded ({type(error).__name__}: {one_line(error)}); copy it from the model's folder anew"
        ) from error
    return head.eval()
