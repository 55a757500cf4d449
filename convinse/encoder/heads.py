"""The heads of a joint model that have files of their own: yes or no, the kind of answer, how a question is rewritten.

Each reads the hidden states that some layers of the trunk make, and the trunk stays as it is: the layers below its last one know
more of what ranking and reading do not ask for. A model folder has the file of a head or has none.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, TypeVar

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn import functional
from transformers import BertConfig, BertModel
from transformers.models.bert.modeling_bert import BertLayer

from ..support.errors import ModelError, one_line
from .answer_classes import FORMAT as ANSWER_TYPE_FORMAT
from .answer_classes import AnswerClasses
from .checkpoint import ANSWER_TYPE, REWRITE, YES_NO
from .engine import POINTER_SIZE, Output
from .joint import LEVELS, Storage, restored, stored

H = TypeVar("H", bound="TrunkHead")


class TrunkHead(nn.Module):
    """A head over the states of a trunk. `layer`: how many layers of the trunk make them."""

    file: ClassVar[str]
    format: ClassVar[str]  # as the file says it
    levels: ClassVar[int] = LEVELS  # of each sign, of weights in int8
    layer: int

    def _settings(self) -> dict[str, str]:
        # in its file, besides format and layer
        raise NotImplementedError

    @classmethod
    def _of_settings(cls: type[H], config: BertConfig, settings: dict[str, str], weights: dict[str, torch.Tensor]) -> H:
        # a head as a file has it, without its weights; raises KeyError or ValueError
        raise NotImplementedError

    def save(self, folder: Path, storage: Storage = "int8") -> None:
        """Write the head into a model folder."""
        weights = {name: tensor.detach().cpu() for name, tensor in self.state_dict().items()}
        metadata = {**self._settings(), "format": self.format, "layer": str(self.layer)}
        save_file(stored(weights, storage, self.levels), folder / self.file, metadata=metadata)

    @classmethod
    def load(cls: type[H], folder: Path, config: BertConfig) -> H:
        """Return the head of a model folder, on the CPU, ready to compute. Raises `ModelError`."""
        path = folder / cls.file
        try:
            with safe_open(path, "pt") as file:
                settings = file.metadata() or {}
            if settings.get("format") != cls.format:
                raise ModelError(f"{path}: is not a '{cls.format}'; train it anew with train embedded")
            weights = restored(load_file(path))
            head = cls._of_settings(config, settings, weights)
            if not 0 <= head.layer <= config.num_hidden_layers:
                raise ValueError(f"it is for layer {head.layer} of {config.num_hidden_layers}")
            head.load_state_dict(weights)
        except (OSError, SafetensorError, KeyError, ValueError, AssertionError, RuntimeError) as error:
            raise ModelError(
                f"{path}: cannot be loaded ({type(error).__name__}: {one_line(error)}); copy it from the model's folder anew"
            ) from error
        return head.eval()


class YesNoHead(TrunkHead):
    """From hidden states of `[CLS] question [SEP] text [SEP]` to the log odds of "yes".

    [CLS] looks once more at all tokens, in one block of attention. `hidden` is the trunk's width, `inner` that of the
    feed-forward layer (None: four times the trunk's).
    """

    file, format = YES_NO, "convinse yes/no head 1"

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
        """Return [b] log odds of [b, tokens, hidden] states and the [b, tokens] mask."""
        first = hidden[:, :1]
        state = self.attended(first + self._seen(first, hidden, mask))
        odds: torch.Tensor = self.odds(self.dropout(self.thought(state + self.inner(state))))
        return odds[:, 0, 0]

    def _seen(self, first: torch.Tensor, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        # [b, 1, hidden] what [CLS] sees; written out, for PyTorch's own attention exports with the shapes of one batch
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

    def _settings(self) -> dict[str, str]:
        return {"heads": str(self.heads)}

    @classmethod
    def _of_settings(cls, config: BertConfig, settings: dict[str, str], weights: dict[str, torch.Tensor]) -> YesNoHead:
        return cls(config.hidden_size, int(settings["heads"]), int(settings["layer"]), len(weights["inner.0.bias"]))


class AnswerTypeHead(TrunkHead):
    """From hidden states of `[CLS] question [SEP]` to the logits of classes of Wikidata's items, dates, numbers, yes or no, and texts.

    Several learned looks see all tokens of the question; each takes what it sees from its part of `inner` numbers.
    """

    file, format = ANSWER_TYPE, ANSWER_TYPE_FORMAT

    def __init__(
        self, hidden: int, layer: int, classes: AnswerClasses, looks: int = 8, inner: int = 128, dropout: float = 0.1
    ) -> None:
        super().__init__()
        self.layer, self.looks, self.answer_classes = layer, looks, classes
        self.attention = nn.Linear(hidden, looks)
        self.value = nn.Linear(hidden, inner)
        self.seen = nn.LayerNorm(inner)
        self.dropout = nn.Dropout(dropout)
        self.classes = nn.Linear(inner, len(classes.names))

    def forward(self, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return [b, classes] logits of [b, tokens, hidden] states and the [b, tokens] mask."""
        dropped = self.dropout(hidden)
        scores = self.attention(dropped)
        scores = scores.masked_fill(mask[:, :, None] == 0, torch.finfo(scores.dtype).min)
        shares = scores.softmax(dim=1).transpose(1, 2)[:, :, None]  # [b, looks, 1, tokens]
        values = nn.functional.gelu(self.value(dropped))
        size = self.value.out_features // self.looks
        values = values.reshape(*values.shape[:2], self.looks, size).transpose(1, 2)  # [b, looks, tokens, size]
        seen = (shares @ values).reshape(hidden.shape[0], self.looks * size)
        logits: torch.Tensor = self.classes(self.dropout(self.seen(seen)))
        return logits

    def _settings(self) -> dict[str, str]:
        return {**self.answer_classes.metadata(), "looks": str(self.looks)}

    @classmethod
    def _of_settings(
        cls, config: BertConfig, settings: dict[str, str], weights: dict[str, torch.Tensor]
    ) -> AnswerTypeHead:
        classes, looks = AnswerClasses.of_metadata(settings), int(settings["looks"])
        return cls(config.hidden_size, int(settings["layer"]), classes, looks, len(weights["value.bias"]))


class _EncoderLayer(nn.Module):
    # a layer of a BERT, written out: PyTorch's and transformers' own do not export with a batch of no rows

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
        """Return the next [b, tokens, hidden] states; `beyond` [b, 1, 1, tokens] is added to the attention scores."""
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
        for copy, original in (
            (self.attended, attention.output.dense),
            (self.attended_norm, attention.output.LayerNorm),
            (self.inner, layer.intermediate.dense),
            (self.outer, output.dense),
            (self.norm, output.LayerNorm),
        ):
            copy.load_state_dict(original.state_dict())


class RewriteHead(TrunkHead):
    """From hidden states of `[CLS] question [SEP] history [SEP]` to what is needed to rewrite the question.

    Each token of the question points at the span of the history that goes before it, or in its place, and [CLS] at what the question
    takes the place of in the question before: pointers, as in Vinyals et al., Pointer networks (2015), with [CLS] for "none".
    Its own `layers` are like the trunk's.
    """

    file, format = REWRITE, "convinse rewrite head 1"
    levels = 63  # they point at the same, and the wheel is 0.7 MB smaller than with 127

    def __init__(self, config: BertConfig, layer: int, layers: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.layer = layer
        self.layers = nn.ModuleList(_EncoderLayer(config) for _ in range(layers))
        self.dropout = nn.Dropout(dropout)
        self.outputs = nn.Linear(config.hidden_size, 4 * POINTER_SIZE)

    def forward(self, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return [b, tokens, 4 * POINTER_SIZE]: the queries of a start and of an end, and the keys of a start and of an end."""
        beyond = (1.0 - mask[:, None, None, :].to(hidden.dtype)) * torch.finfo(hidden.dtype).min
        for layer in self.layers:
            hidden = layer(hidden, beyond)
        outputs: torch.Tensor = self.outputs(self.dropout(hidden))
        return outputs

    def _settings(self) -> dict[str, str]:
        return {"layers": str(len(self.layers))}

    @classmethod
    def _of_settings(
        cls, config: BertConfig, settings: dict[str, str], weights: dict[str, torch.Tensor]
    ) -> RewriteHead:
        return cls(config, int(settings["layer"]), int(settings["layers"]))


HEADS: dict[Output, type[TrunkHead]] = {"yes_no": YesNoHead, "answer_type": AnswerTypeHead, "rewrite": RewriteHead}


def load_heads(folder: Path, config: BertConfig) -> dict[Output, TrunkHead]:
    """Return the heads that a model folder has. Raises `ModelError`."""
    return {name: kind.load(folder, config) for name, kind in HEADS.items() if (folder / kind.file).is_file()}


def states(
    bert: BertModel,
    layer: int,
    input_ids: torch.Tensor,
    attention_mask: torch.Tensor,
    token_type_ids: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return [b, tokens, hidden] float32: what the first `layer` layers of a trunk make of its input."""
    output = bert(
        input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids, output_hidden_states=True
    )
    hidden: torch.Tensor = output.hidden_states[layer]
    return hidden.float()
