"""A BERT with three heads: relevance of a text for a query, start and end of the answer in it, an embedding.

A pass over `[CLS] query [SEP] text [SEP]` ranks the text and reads it; a pass over `[CLS] text [SEP]` embeds it (the mean
of the last hidden states). "No answer" is the span of [CLS], as in BERT's readers of SQuAD 2.0. Weights may be stored in
int8 with a scale per row (a quarter of their size); they are float32 again when loaded.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors.torch import load_file, save_file
from torch import nn
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    BertConfig,
    BertModel,
)
from transformers.modeling_outputs import BaseModelOutputWithPoolingAndCrossAttentions
from transformers.models.bert.modeling_bert import BertPreTrainedModel
from transformers.utils.generic import ModelOutput
from transformers.utils.hub import cached_file

from ..records.ranked_rows import RowForm

Storage = Literal["float32", "float16", "int8"]
WEIGHTS = "model.safetensors"
SCALES = ".int8_scales"  # behind a tensor's name: what its rows are multiplied by
LEVELS = 127  # of each sign: the largest number of int8 in both
SMALLEST = 4096  # numbers of a matrix worth rounding
_FARTHEST = 128  # tokens apart; all farther ones are in one bucket
_FETCHING = ("cache_dir", "revision", "token", "local_files_only")  # options that say how a file is fetched


class JointConfig(BertConfig):  # type: ignore[no-untyped-call]
    """Settings of a `JointModel`: those of its BERT; one output of relevance; the form in which it was shown rows of tables.

    `distances`: buckets of the distance of two tokens, each with a weight of its own in attention; 0: distance has no weight.
    """

    model_type = "convinse_joint"

    def __init__(self, num_labels: int = 1, row_form: RowForm = "plain", distances: int = 0, **options: Any) -> None:
        super().__init__(num_labels=num_labels, **options)  # type: ignore[call-arg]
        self.row_form = row_form
        self.distances = distances


class Trunk(BertModel):  # type: ignore[no-untyped-call]
    """A BERT; with `distances` its attention also knows how far apart two tokens are, as that of MPNet (Song et al., NeurIPS 2020)."""

    def __init__(self, config: JointConfig) -> None:
        super().__init__(config, add_pooling_layer=False)
        if config.distances:
            self.distance = nn.Embedding(config.distances, config.num_attention_heads)

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor | None = None, **options: Any
    ) -> BaseModelOutputWithPoolingAndCrossAttentions:
        """Compute [b, tokens] ids and mask."""
        if self.config.distances:
            places = torch.arange(input_ids.shape[1], device=input_ids.device)
            buckets = _bucket(places[None, :] - places[:, None], self.config.distances)
            added = self.distance(buckets).permute(2, 0, 1)[None]
            if attention_mask is not None:
                added = added + torch.finfo(added.dtype).min * (1 - attention_mask[:, None, None, :].to(added.dtype))
            attention_mask = added
        output: BaseModelOutputWithPoolingAndCrossAttentions = super().forward(input_ids, attention_mask, **options)
        return output


def _bucket(distance: torch.Tensor, buckets: int) -> torch.Tensor:
    # half of the buckets for each direction, of which half are exact and the rest grow (T5, Raffel et al., 2020)
    half = buckets // 2
    exact, far = half // 2, distance.abs()
    growing = exact + (torch.log(far.clamp_min(1) / exact) / math.log(_FARTHEST / exact) * (half - exact)).long()
    return torch.where(far < exact, far, growing.clamp_max(half - 1)) + half * (distance > 0).long()


@dataclass
class JointOutput(ModelOutput):
    """The outputs of a pass."""

    logits: torch.Tensor | None = None  # [b, 1] log odds that the text is relevant
    start_logits: torch.Tensor | None = None  # [b, tokens]; [CLS] stands for no answer
    end_logits: torch.Tensor | None = None
    last_hidden_state: torch.Tensor | None = None  # [b, tokens, hidden], of which an embedding is the mean
    hidden_states: tuple[torch.Tensor, ...] | None = None  # the same of each layer, from the embeddings on


class JointModel(BertPreTrainedModel):  # type: ignore[no-untyped-call]
    """A BERT that ranks, reads and embeds."""

    config_class = JointConfig
    base_model_prefix = "bert"

    def __init__(self, config: JointConfig) -> None:
        super().__init__(config)
        self.num_labels = config.num_labels
        self.bert = Trunk(config)
        dropout = config.hidden_dropout_prob if config.classifier_dropout is None else config.classifier_dropout
        self.dropout = nn.Dropout(dropout)
        self.relevance_hidden = nn.Linear(config.hidden_size, config.hidden_size)
        self.relevance = nn.Linear(config.hidden_size, 1)
        self.span = nn.Linear(config.hidden_size, 2)
        self.post_init()  # type: ignore[no-untyped-call]

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor | None = None,
        token_type_ids: torch.Tensor | None = None,
        output_hidden_states: bool = False,
        **_: Any,
    ) -> JointOutput:
        """Return the outputs of all heads for [b, tokens] ids, mask and token types."""
        output = self.bert(
            input_ids=input_ids,
            attention_mask=attention_mask,
            token_type_ids=token_type_ids,
            output_hidden_states=output_hidden_states,
        )
        hidden = output.last_hidden_state
        dropped = self.dropout(hidden)
        relevance = self.relevance(self.dropout(torch.tanh(self.relevance_hidden(dropped[:, 0]))))
        start, end = self.span(dropped).unbind(dim=-1)
        return JointOutput(relevance, start, end, hidden, output.hidden_states)

    @classmethod
    def from_pretrained(cls, pretrained_model_name_or_path: Any, *args: Any, **options: Any) -> Any:
        """Load the model as any of Hugging Face; weights stored in int8 become float32."""
        if pretrained_model_name_or_path is None or options.get("state_dict") is not None:
            return super().from_pretrained(pretrained_model_name_or_path, *args, **options)
        fetching = {name: options[name] for name in _FETCHING if name in options}
        path = cached_file(pretrained_model_name_or_path, WEIGHTS, **fetching)
        assert path is not None  # a missing file is an error
        weights = load_file(path)
        if not any(name.endswith(SCALES) for name in weights):
            return super().from_pretrained(pretrained_model_name_or_path, *args, **options)
        if options.get("config") is None:
            options["config"] = JointConfig.from_pretrained(pretrained_model_name_or_path)
        return super().from_pretrained(None, *args, state_dict=restored(weights), **options)

    def save_pretrained(
        self, save_directory: str | os.PathLike[str], *args: Any, storage: Storage = "float32", **options: Any
    ) -> None:
        """Save the model as any of Hugging Face; `storage` says how matrices are stored: int8 rounds rows to 255 levels."""
        super().save_pretrained(save_directory, *args, **options)
        if storage != "float32":
            path = Path(save_directory) / WEIGHTS
            save_file(stored(load_file(path), storage), path, metadata={"format": "pt"})


def stored(weights: Mapping[str, torch.Tensor], storage: Storage, levels: int = LEVELS) -> dict[str, torch.Tensor]:
    """Return weights in the types of a file; `levels` of each sign in int8: with fewer the file packs smaller."""
    tensors: dict[str, torch.Tensor] = {}
    for name, tensor in weights.items():
        if storage == "float32" or tensor.dim() != 2 or tensor.numel() < SMALLEST:
            tensors[name] = tensor.contiguous()
        elif storage == "float16":
            tensors[name] = tensor.half().contiguous()
        else:
            scales = (tensor.abs().amax(dim=1) / levels).clamp_min(torch.finfo(torch.float32).tiny)
            tensors[name] = (tensor / scales[:, None]).round().to(torch.int8).contiguous()
            tensors[name + SCALES] = scales
    return tensors


def restored(weights: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return the weights of a file of `stored`, in float32 if they were rounded."""
    whole = {}
    for name, tensor in weights.items():
        if name.endswith(SCALES):
            continue
        scales = weights.get(name + SCALES)
        if scales is None and not tensor.is_floating_point():
            raise ValueError(f"{name} is stored in {tensor.dtype} without {name}{SCALES}")
        whole[name] = tensor.float() if scales is None else tensor.float() * scales[:, None]
    return whole


def register() -> None:
    """Make the model known to `AutoModel` and its kin: a folder's `config.json` then says what it is."""
    AutoConfig.register(JointConfig.model_type, JointConfig, exist_ok=True)
    for auto in (AutoModel, AutoModelForSequenceClassification, AutoModelForQuestionAnswering):
        auto.register(JointConfig, JointModel, exist_ok=True)
