"""Fusion-in-Decoder (Izacard and Grave, EACL 2021) over a BART or T5: texts are encoded one by one, the decoder reads all.

The states of padding are left out before the decoder reads them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.checkpoint import checkpoint as recomputed

from ..config import Precision
from ..support.errors import ModelError
from .batches import token_batches
from .checkpoint import Checkpoint, quiet
from .devices import find_device, find_precision
from .sequence_to_sequence import search_options

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

_CPU_BUDGET, _GPU_BUDGET = 4096, 16384  # tokens encoded at a time; 100 evidences of T5 base then fit into 2 GB
TEXT_TOKENS, ANSWER_TOKENS = 250, 10  # read of an evidence with its question, and written, as in CONVINSE
_KINDS = ("bart", "t5")
_TYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}


WrittenText = tuple[str, float]  # a text that a model wrote, and its probability among all texts


class FusionInDecoder:
    """A model that reads several texts together and writes answers, by beam search.

    The checkpoint, a BART or T5, is moved to the device and to the precision; lengths beyond what it can take are cut to that.
    `token_budget`: most tokens encoded at a time, padding counted; None for the device's default.

    Raises:
        ModelError: the model is neither BART nor T5.
        ConfigError: the device is missing, or cannot compute so.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        num_beams: int,
        device: str = "auto",
        precision: Precision = "auto",
        token_budget: int | None = None,
    ) -> None:
        check_kind(checkpoint)
        self.device = find_device(device)
        model: Any = checkpoint.model
        self._model = model.eval().to(self.device, _TYPES[find_precision(precision, self.device)])
        self._tokenizer = checkpoint.tokenizer
        self._budget = token_budget or usual_budget(self.device)
        self._input = min(TEXT_TOKENS, checkpoint.max_length)
        self._beams = num_beams
        self._options = {"num_return_sequences": num_beams, **search_options(checkpoint, num_beams, ANSWER_TOKENS)}

    def write(self, texts: Sequence[str]) -> list[WrittenText]:
        """Return what the model writes after reading texts together, the most probable first, without duplicates."""
        if not texts:
            return []
        tokens = cut(self._tokenizer, texts, self._input)
        try:
            with torch.inference_mode(), quiet():
                states = fused_states(self._model, tokens, self._budget)
                written = self._model.generate(**_encoded(states), **self._options)
                chances = self._chances(written, states)
        except torch.OutOfMemoryError as error:
            raise ModelError(
                f"{self.device}: the memory does not hold {len(texts)} evidences with {self._beams} beams; lower "
                "token_budget, num_beams or evs_max_evidences, or use device: cpu"
            ) from error
        decoded = self._tokenizer.batch_decode(written, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        summed: dict[str, float] = {}
        for text, chance in zip(decoded, chances, strict=True):
            words = " ".join(text.split())
            summed[words] = summed.get(words, 0.0) + chance
        return sorted(summed.items(), key=lambda pair: (-pair[1], pair[0]))

    def _chances(self, written: torch.Tensor, states: torch.Tensor) -> list[float]:
        # [b] probabilities of the sequences of `written` [b, longest], without the search's weights of lengths
        following = written[:, 1:]
        ended = (following == self._model.config.eos_token_id).long().cumsum(dim=1)
        counted = (ended == 0) | ((ended == 1) & (following == self._model.config.eos_token_id))
        inputs = _encoded(states, len(written))
        logits = self._model(**inputs, decoder_input_ids=written[:, :-1], use_cache=False).logits
        chosen = logits.float().log_softmax(dim=-1).gather(2, following.unsqueeze(2)).squeeze(2)
        chances: list[float] = chosen.masked_fill(~counted, 0.0).sum(dim=1).exp().tolist()
        return chances


def check_kind(checkpoint: Checkpoint) -> None:
    """Raise `ModelError` unless a model is a BART or T5."""
    kind = checkpoint.model.config.model_type
    if kind not in _KINDS:
        where = checkpoint.folder or "ha_model"
        raise ModelError(f"{where}: a model of type {kind}; ha: seq2seq takes {' or '.join(_KINDS)}")


def usual_budget(device: torch.device) -> int:
    """Return the default number of tokens encoded at a time."""
    return _GPU_BUDGET if device.type == "cuda" else _CPU_BUDGET


def cut(tokenizer: PreTrainedTokenizerFast, texts: Sequence[str], max_length: int) -> list[list[int]]:
    """Return the tokens of texts with special tokens, cut at the end."""
    tokenizer.truncation_side = "right"
    tokens: list[list[int]] = tokenizer(list(texts), truncation=True, max_length=max_length)["input_ids"]
    return tokens


def fused_states(model: Any, tokens: Sequence[Sequence[int]], token_budget: int) -> torch.Tensor:
    """Return the encoder's states [n, d] of all texts one after the other, of n tokens in all, without padding.

    Texts of similar length are encoded together, and do not see each other. While the model trains, the states of a batch are
    computed again for its gradient, so that no more than a batch's are kept.
    """
    states: list[torch.Tensor | None] = [None] * len(tokens)
    keep = torch.is_grad_enabled()
    for batch in token_batches(list(map(len, tokens)), token_budget):
        rows = [tokens[place] for place in batch]
        longest = max(map(len, rows))
        ids = torch.full((len(rows), longest), model.config.pad_token_id, dtype=torch.long)
        mask = torch.zeros_like(ids)
        for number, row in enumerate(rows):
            ids[number, : len(row)] = torch.tensor(row)
            mask[number, : len(row)] = 1
        inputs = ids.to(model.device), mask.to(model.device)
        encoded = recomputed(_encode, model, *inputs, use_reentrant=False) if keep else _encode(model, *inputs)
        for number, place in enumerate(batch):
            states[place] = encoded[number, : len(tokens[place])].clone()  # so that the padding goes
    return torch.cat([text_states for text_states in states if text_states is not None])


def _encode(model: Any, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    states: torch.Tensor = model.get_encoder()(input_ids=ids, attention_mask=mask).last_hidden_state
    return states


def answer_loss(model: Any, tokens: Sequence[Sequence[int]], answer: Sequence[int], token_budget: int) -> torch.Tensor:
    """Return the summed cross-entropy, a scalar, of the tokens of an answer after all texts; see `fused_states`."""
    states = fused_states(model, tokens, token_budget)
    labels = torch.tensor([list(answer)], device=states.device)
    loss: torch.Tensor = model(**_encoded(states), labels=labels).loss
    return loss * len(answer)


def _encoded(states: torch.Tensor, rows: int = 1) -> dict[str, Any]:
    # states [n, d] as the arguments of a decoder that computes so many rows
    from transformers.modeling_outputs import BaseModelOutput

    mask = torch.ones(rows, len(states), dtype=torch.long, device=states.device)
    return {"encoder_outputs": BaseModelOutput(last_hidden_state=states.expand(rows, -1, -1)), "attention_mask": mask}
