"""The extractive reader: a BERT that marks the answer of a question in texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..config import Config
from .batches import token_batches
from .checkpoint import Checkpoint
from .engine import prepare_blocks
from .pool import ModelHead
from .settings import ModelSettings
from .span_decoding import Span, SpanDecoder
from .tokens import Windows

_DECODED = 16384  # tokens decoded together


@dataclass(frozen=True)
class AnswerSpan:
    """An answer, `contexts[context][start:end]`.

    `score` is the sum of the start and the end logit, comparable across texts (Devlin et al., NAACL 2019); `probability` is the
    span's among the best spans of its text and "no answer".
    """

    text: str
    context: int
    start: int
    end: int
    score: float
    probability: float
    no_answer: float  # probability of "no answer" compared with the best span of the text


class ExtractiveReader(ModelHead):
    """A reader of answers with a Hugging Face question-answering checkpoint.

    Questions and texts are tokenised once, sorted by length and computed in batches by token budget; texts that do not
    fit are read in overlapping windows. "No answer" is the span of [CLS], as in SQuAD 2.0. Span logits that a joint model
    has computed while ranking are taken from the pool's cache.

    >>> reader = ExtractiveReader("snapshot:model")
    >>> (span,) = reader.read("Who directed Titanic?", ["Titanic was directed by James Cameron."], top_k=1)
    >>> span.text, span.start, span.end
    ('James Cameron', 24, 37)

    Args:
        max_answer_length: tokens of an answer at most.
        best: spans of a text at most.
        model, device, options: see `ModelHead`.
    """

    task = "question-answering"
    usual = ModelSettings(max_length=512)
    key = "ha_model"

    def __init__(
        self,
        model: str | Path | Checkpoint | Config,
        device: str | None = None,
        *,
        max_answer_length: int = 30,
        best: int = 20,
        **options: Any,
    ) -> None:
        super().__init__(model, device, **options)
        self._max_tokens, self._max_spans = max_answer_length, best

    def read(self, question: str, contexts: Sequence[str], top_k: int | None = None) -> list[AnswerSpan]:
        """Return the answers in contexts, best first: every context's best spans, or the best `top_k` over all.

        Spans of a context may overlap. A context without words has no spans.
        """
        return self.read_all([question], [contexts], top_k)[0]

    def read_all(
        self, questions: Sequence[str], contexts: Sequence[Sequence[str]], top_k: int | None = None
    ) -> list[list[AnswerSpan]]:
        """Read the answers to several questions, each in its contexts, in shared batches; equal pairs are read once; see `read`."""
        place_of: dict[tuple[str, str], int] = {}
        for question, texts in zip(questions, contexts, strict=True):
            for text in texts:
                if text.strip():
                    place_of.setdefault((question, text), len(place_of))
        pairs = list(place_of)
        spans = self._spans(pairs)
        answers = []
        for question, texts in zip(questions, contexts, strict=True):
            answer_spans: list[AnswerSpan] = []
            for context, text in enumerate(texts):
                place = place_of.get((question, text))
                for start, end, *scores in [] if place is None else spans[place]:
                    answer_spans.append(AnswerSpan(text[start:end], context, start, end, *scores))
            answer_spans.sort(key=lambda span: (-span.score, span.context, span.start, span.end))
            answers.append(answer_spans[:top_k])
        return answers

    def _spans(self, pairs: list[tuple[str, str]]) -> list[list[Span]]:
        spans: list[list[Span]] = []
        for start, (offsets, cached, windows) in prepare_blocks(pairs, self._block):
            texts = [text for _, text in pairs[start : start + len(offsets)]]
            decoder = SpanDecoder(texts, offsets, self._max_tokens, self._max_spans)
            places, stored = np.array(list(cached), dtype=np.int64), list(cached.values())
            for batch in token_batches([len(rows) for rows in stored], _DECODED):
                decoder.add_texts(places[batch], [stored[row] for row in batch])
            uncached = _without(cached, len(texts))
            for batch, (logits,) in self.engine.run(windows.sequences, ["spans"]):
                decoder.add_windows(windows, batch, logits, uncached)
            if decoder.invalid is not None:
                raise self._not_a_number("score", texts[decoder.invalid])
            spans += decoder.spans()
        return spans

    def _block(self, pairs: Sequence[tuple[str, str]]) -> _Block:
        offsets = self.tokenizer.offsets([text for _, text in pairs])
        cached = self._cached_logits(pairs)
        windows = self.tokenizer.windows([pairs[place] for place in _without(cached, len(pairs))], self.settings.stride)
        return offsets, cached, windows

    def _cached_logits(self, pairs: Sequence[tuple[str, str]]) -> dict[int, np.ndarray]:
        # by place; the reranker may read longer pairs than fit into a window of the reader
        spans = self._loaded.spans
        if spans is None:
            return {}
        cached, limit = enumerate(spans.get(self._loaded.identity, pairs)), self.tokenizer.max_length
        return {place: pair.logits for place, pair in cached if pair is not None and pair.tokens <= limit}


def best_answers(reader: ExtractiveReader, pairs: Sequence[tuple[str, str]]) -> list[tuple[str, float]]:
    """Return the best answers of (question, text) pairs, computed in shared batches, each with the probability of no answer.

    The answer is empty if the text has no words.
    """
    answers = reader.read_all([question for question, _ in pairs], [[text] for _, text in pairs], top_k=1)
    return [(spans[0].text, spans[0].no_answer) if spans else ("", 1.0) for spans in answers]


# of pairs: the offsets of the texts' tokens, the stored span logits by place, and windows of the other pairs
_Block = tuple[list[np.ndarray], dict[int, np.ndarray], Windows]


def _without(cached: dict[int, np.ndarray], number: int) -> np.ndarray:
    # the places of the other pairs
    return np.array([place for place in range(number) if place not in cached], dtype=np.int64)
