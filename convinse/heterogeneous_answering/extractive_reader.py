"""The extractive reader: a BERT that marks the answer of a question in texts."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..encoder.checkpoint import Checkpoint, load_checkpoint
from ..errors import ModelError

if TYPE_CHECKING:
    import torch

    from ..encoder.precision import Precision
    from ..encoder.tokens import Windows

_LOWEST = np.float32(-1e9)


@dataclass(frozen=True)
class AnswerSpan:
    """An answer in a text.

    Attributes:
        text: `contexts[context][start:end]`.
        context: the place of its text among those given.
        start, end: character offsets into the text as given; the end is exclusive.
        score: start logit plus end logit, as BERT's readers are compared over texts (Devlin et al., NAACL 2019).
        probability: of the span among the spans of its text and "no answer".
        no_answer: the probability that its text has no answer at all.
    """

    text: str
    context: int
    start: int
    end: int
    score: float
    probability: float
    no_answer: float


class ExtractiveReader:
    """Reads answers with a Hugging Face question-answering checkpoint.

    Questions and texts are tokenised once, sorted by length and computed in batches by token budget; texts that do not
    fit are read in overlapping windows. "No answer" is the span of [CLS], as in SQuAD 2.0.

    Args:
        model: a folder with `model.safetensors`, a hub name, or a checkpoint in memory (it is changed).
        device: `auto` (a GPU where there is one), `cpu`, `cuda`, `cuda:1`.
        precision: `auto` (bf16 on a GPU, fp32 on a CPU), `fp32`, `fp16`, `bf16`, `int8` (CPU only).
        max_length: most tokens of a question and a window.
        stride: tokens that neighbouring windows share.
        max_answer_length: most tokens of an answer.
        best: spans kept of each text.
        token_budget: most tokens of a batch, padding counted; None for the device's default.
        key: the configuration key that named the model, for messages.

    Raises:
        ModelError: no such model, or a damaged one.
        DependencyError: the extra `neural` is not installed.
    """

    def __init__(
        self,
        model: str | Path | Checkpoint,
        device: str = "auto",
        *,
        precision: Precision = "auto",
        max_length: int = 512,
        stride: int = 128,
        max_answer_length: int = 30,
        best: int = 20,
        token_budget: int | None = None,
        key: str = "model",
    ) -> None:
        checkpoint = model if isinstance(model, Checkpoint) else load_checkpoint(model, "question-answering", key)
        from ..encoder.engine import Engine
        from ..encoder.tokens import TextTokenizer

        self.tokenizer = TextTokenizer.of(checkpoint, max_length)
        self.engine = Engine(checkpoint.model, device, precision, token_budget)
        self.engine.model.set_attn_implementation("sdpa")  # windows are long: a sixth faster on a CPU, too
        self.model_id = checkpoint.model_id
        self._stride, self._longest, self._best = stride, max_answer_length, best

    def read(self, question: str, contexts: Sequence[str], top_k: int | None = None) -> list[AnswerSpan]:
        """The answers in the contexts, best first: every context's best spans, or the best `top_k` over all.

        Spans of one context may overlap. A context without words gives none.
        """
        return self.read_all([question], [contexts], top_k)[0]

    def read_all(
        self, questions: Sequence[str], contexts: Sequence[Sequence[str]], top_k: int | None = None
    ) -> list[list[AnswerSpan]]:
        """`read` for several questions, each with its contexts, computed together; equal pairs once.

        Raises:
            ModelError: a score is not a number; the message names the text.
        """
        place_of: dict[tuple[str, str], int] = {}
        for question, texts in zip(questions, contexts, strict=True):
            for text in texts:
                if text.strip():
                    place_of.setdefault((question, text), len(place_of))
        pairs = list(place_of)
        spans = self._spans(pairs)
        found = []
        for question, texts in zip(questions, contexts, strict=True):
            own = [
                AnswerSpan(text[start:end], number, start, end, score, probability, no_answer)
                for number, text in enumerate(texts)
                if (question, text) in place_of
                for start, end, score, probability, no_answer in spans[place_of[question, text]]
            ]
            own.sort(key=lambda span: (-span.score, span.context, span.start, span.end))
            found.append(own[:top_k])
        return found

    def _spans(self, pairs: list[tuple[str, str]]) -> list[list[tuple[int, int, float, float, float]]]:
        """Of each pair the best spans: start, end, score, probability, probability of no answer."""
        windows = self.tokenizer.windows(pairs, self._stride)
        candidates: list[dict[tuple[int, int], float]] = [{} for _ in pairs]
        nulls = np.full(len(pairs), np.inf)
        for places, logits in self.engine.run(windows.sequences, _start_and_end):
            for place, null, spans in zip(places, *self._decode(windows, places, logits), strict=True):
                pair = windows.pair_of[place]
                if np.isnan(null) or any(np.isnan(score) for *_, score in spans):
                    raise ModelError(
                        f"the scores of '{pairs[pair][1][:120]}' are not numbers; the model's weights are broken, or try fp32"
                    )
                nulls[pair] = min(nulls[pair], null)  # a text has no answer only if none of its windows has one
                for first, last, score in spans:
                    key = (first + windows.begins[place], last + windows.begins[place])
                    candidates[pair][key] = max(candidates[pair].get(key, -np.inf), score)
        return [
            self._finish(text, windows.offsets[pair], candidates[pair], nulls[pair])
            for pair, (_, text) in enumerate(pairs)
        ]

    def _decode(
        self, windows: Windows, places: np.ndarray, logits: np.ndarray
    ) -> tuple[np.ndarray, list[list[tuple[int, int, float]]]]:
        """Of each window the score of [CLS], and the best spans as first and last token of the window's text."""
        firsts = windows.sequences.firsts[places][:, None]
        ends = (windows.sequences.lengths[places] - windows.trailing)[:, None]
        length = logits.shape[1]
        columns = np.arange(length)[None, :]
        inside = (columns >= firsts) & (columns < ends)
        start = np.where(inside, logits[..., 0], _LOWEST)
        end = np.where(inside, logits[..., 1], _LOWEST)
        nulls = logits[:, 0, 0] + logits[:, 0, 1]
        width = min(self._longest, length)
        padded = np.pad(end, ((0, 0), (0, width)), constant_values=_LOWEST)
        # [b, length, width]: the span of each first token and number of further tokens
        scores = start[:, :, None] + np.lib.stride_tricks.sliding_window_view(padded, width, axis=1)[:, :length]
        flat = scores.reshape(len(places), -1)
        number = min(self._best, flat.shape[1])
        chosen = np.argpartition(-flat, number - 1, axis=1)[:, :number]
        found = []
        for row, first in enumerate(firsts[:, 0]):
            spans = []
            for cell in chosen[row]:
                if not flat[row, cell] <= _LOWEST / 2:
                    token, further = divmod(int(cell), width)
                    spans.append((token - int(first), token - int(first) + further, float(flat[row, cell])))
            found.append(spans)
        return nulls, found

    def _finish(
        self, text: str, offsets: np.ndarray, candidates: dict[tuple[int, int], float], null: float
    ) -> list[tuple[int, int, float, float, float]]:
        """Tokens to characters, scores to probabilities; spans of the same characters are one."""
        spans: dict[tuple[int, int], float] = {}
        for (first, last), score in candidates.items():
            start, end = _whole_characters(text, int(offsets[first][0]), int(offsets[last][1]))
            while start < end and text[start].isspace():  # some tokenizers count the blank before a word
                start += 1
            while start < end and text[end - 1].isspace():
                end -= 1
            if start < end:
                spans[start, end] = max(spans.get((start, end), -np.inf), score)
        best = sorted(spans.items(), key=lambda item: (-item[1], item[0]))[: self._best]
        if not best:
            return []
        values = np.array([score for _, score in best] + [null], dtype=np.float64)
        shares = np.exp(values - values.max())
        shares /= shares.sum()
        no_answer = float(1 / (1 + np.exp(np.clip(best[0][1] - null, -80, 80))))
        return [
            (start, end, float(score), float(share), no_answer)
            for ((start, end), score), share in zip(best, shares, strict=False)
        ]


def _whole_characters(text: str, start: int, end: int) -> tuple[int, int]:
    """A span with the combining marks of its characters, which tokenizers part from them or drop."""
    while 0 < start < end and unicodedata.category(text[start])[0] == "M":
        start -= 1
    while start < end < len(text) and unicodedata.category(text[end])[0] == "M":
        end += 1
    return start, end


def _start_and_end(output: Any, _: torch.Tensor) -> torch.Tensor:
    import torch

    return torch.stack((output.start_logits, output.end_logits), dim=-1)
