"""The extractive reader: a BERT that marks the answer of a question in texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..config import Config
from .batches import token_batches
from .checkpoint import Checkpoint
from .engine import prepared
from .pool import HeadOptions, ModelHead
from .settings import ModelSettings
from .span_decoding import Span, SpanDecoder, WindowLogits, of_texts, of_windows
from .tokens import Windows

if TYPE_CHECKING:
    from typing_extensions import Unpack

_DECODED = 16384  # tokens decoded together


@dataclass(frozen=True)
class AnswerSpan:
    """An answer, `contexts[context][start:end]`.

    `score` is start logit plus end logit, as BERT's readers are compared over texts (Devlin et al., NAACL 2019); `probability`
    is that of the span among the spans of its text and "no answer".
    """

    text: str
    context: int
    start: int
    end: int
    score: float
    probability: float
    no_answer: float  # probability that its text has no answer at all


class ExtractiveReader(ModelHead):
    """A reader of answers with a Hugging Face question-answering checkpoint.

    Questions and texts are tokenised once, sorted by length and computed in batches by token budget; texts that do not
    fit are read in overlapping windows. "No answer" is the span of [CLS], as in SQuAD 2.0. Pairs that a joint model has
    read while it ranked are not read again.

    Args:
        max_answer_length: most tokens of an answer.
        best: most spans of a text.
        model, device, options: see `ModelHead`.
    """

    task = "question-answering"
    usual = ModelSettings(max_length=512)
    key, length_key = "ha_model", "ha_max_length"

    def __init__(
        self,
        model: str | Path | Checkpoint | Config,
        device: str | None = None,
        *,
        max_answer_length: int = 30,
        best: int = 20,
        **options: Unpack[HeadOptions],
    ) -> None:
        super().__init__(model, device, **options)
        self._longest, self._best = max_answer_length, best

    def read(self, question: str, contexts: Sequence[str], top_k: int | None = None) -> list[AnswerSpan]:
        """Return the answers in contexts, best first: every context's best spans, or the best `top_k` over all.

        Spans of a context may overlap. A context without words has no spans.
        """
        return self.read_all([question], [contexts], top_k)[0]

    def read_all(
        self, questions: Sequence[str], contexts: Sequence[Sequence[str]], top_k: int | None = None
    ) -> list[list[AnswerSpan]]:
        """Read the answers to several questions, each in its contexts, computed together; equal pairs once; see `read`."""
        place_of: dict[tuple[str, str], int] = {}
        for question, texts in zip(questions, contexts, strict=True):
            for text in texts:
                if text.strip():
                    place_of.setdefault((question, text), len(place_of))
        pairs = list(place_of)
        spans = self._spans(pairs)
        answers = []
        for question, texts in zip(questions, contexts, strict=True):
            found_spans = [
                AnswerSpan(text[start:end], number, start, end, score, probability, no_answer)
                for number, text in enumerate(texts)
                if (question, text) in place_of
                for start, end, score, probability, no_answer in spans[place_of[question, text]]
            ]
            found_spans.sort(key=lambda span: (-span.score, span.context, span.start, span.end))
            answers.append(found_spans[:top_k])
        return answers

    def _spans(self, pairs: list[tuple[str, str]]) -> list[list[Span]]:
        spans: list[list[Span]] = []
        for start, block in prepared(pairs, self._block):
            texts = [text for _, text in pairs[start : start + len(block.offsets)]]
            decoder = SpanDecoder(texts, block.offsets, self._longest, self._best)
            for windows in chain(_recalled(block.read), self._computed(block)):
                wrong = decoder.add(windows)
                if wrong is not None:
                    raise self._not_a_number("score", texts[wrong])
            spans += decoder.spans()
        return spans

    def _block(self, pairs: Sequence[tuple[str, str]]) -> _Block:
        offsets = self.tokenizer.offsets([text for _, text in pairs])
        read = self._read_before(pairs)
        unread = np.array([place for place in range(len(pairs)) if place not in read], dtype=np.int64)
        windows = self.tokenizer.windows([pairs[place] for place in unread], self.settings.stride)
        return _Block(offsets, read, unread, windows)

    def _read_before(self, pairs: Sequence[tuple[str, str]]) -> dict[int, np.ndarray]:
        # logits of pairs that the reranker has just read and that fit into a window here, too
        spans = self._loaded.spans
        if spans is None:
            return {}
        recent, most = enumerate(spans.get(self._loaded.identity, pairs)), self.tokenizer.max_length
        return {place: read.logits for place, read in recent if read is not None and read.tokens <= most}

    def _computed(self, block: _Block) -> Iterator[WindowLogits]:
        for batch, (logits,) in self.engine.run(block.windows.sequences, ["spans"]):
            scored = of_windows(block.windows, batch, logits)
            yield scored._replace(texts=block.unread[scored.texts])


class Prediction(NamedTuple):
    """The best answer in a text (empty if it has no words), and the probability that there is no answer."""

    text: str
    no_answer: float


def best_answers(reader: ExtractiveReader, pairs: Sequence[tuple[str, str]]) -> list[Prediction]:
    """Return the best answers of pairs of question and text, computed together."""
    answers = reader.read_all([question for question, _ in pairs], [[text] for _, text in pairs], top_k=1)
    return [Prediction(spans[0].text, spans[0].no_answer) if spans else Prediction("", 1.0) for spans in answers]


class _Block(NamedTuple):
    offsets: list[np.ndarray]  # of the texts' tokens
    read: dict[int, np.ndarray]  # logits of pairs that were read before, by place
    unread: np.ndarray  # places of the other pairs
    windows: Windows  # of the other pairs


def _recalled(read: dict[int, np.ndarray]) -> Iterator[WindowLogits]:
    places, logits = np.array(list(read), dtype=np.int64), list(read.values())
    for batch in token_batches([len(rows) for rows in logits], _DECODED):
        yield of_texts(places[batch], [logits[row] for row in batch])
