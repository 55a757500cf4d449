"""Models that write a text for a text (BART, T5): beam search in batches, and the loss that they learn by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import torch

from ..support.errors import ModelError
from .checkpoint import Checkpoint, quiet
from .devices import find_device

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

_IGNORED = -100  # a label that counts nothing, as transformers has it
_AT_ONCE = 10  # texts, as in CONVINSE
INPUT_TOKENS, OUTPUT_TOKENS = (
    512,
    64,
)  # of a question with its history, as in CONVINSE, and of a representation, for which it has no limit


class Generator:
    """A sequence-to-sequence model that writes by beam search, in fp32; the batches do not matter to what it writes.

    The checkpoint's model is moved to the device; lengths beyond what it can take are cut to that. No sequence of `no_repeat` tokens
    comes twice in a text (0: it may).
    """

    def __init__(self, checkpoint: Checkpoint, num_beams: int, no_repeat: int = 0, device: str = "auto") -> None:
        self.device = find_device(device)
        model: Any = checkpoint.model
        self._model = model.eval().to(self.device)
        self._tokenizer = checkpoint.tokenizer
        self._input = min(INPUT_TOKENS, checkpoint.max_length)
        self._options = search_options(checkpoint, num_beams, OUTPUT_TOKENS, no_repeat)

    def write(self, texts: Sequence[str]) -> list[str]:
        """Return what the model writes for every text, without special tokens; similar lengths are computed together."""
        written = [""] * len(texts)
        order = sorted(range(len(texts)), key=lambda place: (-len(texts[place]), place))
        for start in range(0, len(order), _AT_ONCE):
            places = order[start : start + _AT_ONCE]
            inputs = encoded(self._tokenizer, [texts[place] for place in places], self._input, self.device)
            try:
                with torch.inference_mode(), quiet():
                    tokens = self._model.generate(**inputs, **self._options)
            except torch.OutOfMemoryError as error:
                raise ModelError(
                    f"{self.device}: the memory does not hold {len(places)} questions with {self._options['num_beams']} "
                    "beams each; lower num_beams or use device: cpu"
                ) from error
            decoded = self._tokenizer.batch_decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False)
            for place, text in zip(places, decoded, strict=True):
                written[place] = text.strip()
        return written


def search_options(checkpoint: Checkpoint, num_beams: int, most_tokens: int, no_repeat: int = 0) -> dict[str, Any]:
    """Return the arguments of transformers' beam search; lengths beyond what the model can take are cut to that."""
    return {
        "num_beams": num_beams,
        "no_repeat_ngram_size": no_repeat,
        "max_new_tokens": min(most_tokens, checkpoint.max_length - 1),
        "min_length": 0,
        "do_sample": False,
        **({"early_stopping": True} if num_beams > 1 else {}),
    }


def encoded(
    tokenizer: PreTrainedTokenizerFast,
    texts: Sequence[str],
    max_length: int,
    device: torch.device,
    cut: Literal["left", "right"] = "left",
) -> dict[str, torch.Tensor]:
    """Return `input_ids` and `attention_mask`, [texts, longest] each; too long a text loses the tokens of one side."""
    tokenizer.truncation_side = cut
    batch = tokenizer(list(texts), padding=True, truncation=True, max_length=max_length, return_tensors="pt")
    return {name: batch[name].to(device) for name in ("input_ids", "attention_mask")}


def writing_loss(
    model: Any,
    tokenizer: PreTrainedTokenizerFast,
    pairs: Sequence[tuple[str, str]],
    max_input_length: int,
    max_output_length: int,
) -> tuple[torch.Tensor, int]:
    """Return the mean cross-entropy of the tokens to be written, a scalar, and their number.

    Of the texts to read the oldest tokens are cut off, of the texts to write the last ones.
    """
    sources, targets = zip(*pairs, strict=True)
    inputs = encoded(tokenizer, sources, max_input_length, model.device)
    target = encoded(tokenizer, targets, max_output_length, model.device, cut="right")
    labels = target["input_ids"].masked_fill(target["attention_mask"] == 0, _IGNORED)
    return model(**inputs, labels=labels).loss, int(target["attention_mask"].sum())
