"""A model through the classes that its users have."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from convinse.config import Precision
from convinse.encoder.answer_type_reader import AnswerTypeReader
from convinse.encoder.bi_encoder import BiEncoder
from convinse.encoder.extractive_reader import ExtractiveReader
from convinse.encoder.pool import ModelPool
from convinse.encoder.reranker import BertReranker
from convinse.encoder.yes_no_reader import YesNoReader

SPANS = 5  # of a text, as the pipeline keeps them


@dataclass(frozen=True)
class Model:
    folder: Path  # with weights, configuration and tokenizer
    device: str = "auto"  # `auto`, `cpu` or `cuda`
    precision: Precision = "auto"  # see `convinse.encoder.settings`
    one_pass: bool = True  # whether the reader takes the spans of the pairs that the reranker has just scored

    @cached_property
    def pool(self) -> ModelPool:
        """Through it all heads share the weights."""
        pool = ModelPool()
        if self.one_pass:
            pool.share_spans()
        return pool

    def _head(self, kind: Any, **settings: Any) -> Any:
        given = {"precision": self.precision, "key": "--model", "models": self.pool, **settings}
        return kind(self.folder, self.device, **given)

    # they cut long texts as in the pipeline; the last two need a folder with their heads
    reranker = cached_property(lambda self: self._head(BertReranker))
    reader = cached_property(lambda self: self._head(ExtractiveReader, best=SPANS))
    bi_encoder = cached_property(lambda self: self._head(BiEncoder))
    yes_no = cached_property(lambda self: self._head(YesNoReader))
    answer_type = cached_property(lambda self: self._head(AnswerTypeReader))
