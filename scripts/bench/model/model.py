"""The model that is measured, through the classes that its users have."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from convinse.encoder.bi_encoder import BiEncoder
from convinse.encoder.extractive_reader import ExtractiveReader
from convinse.encoder.reranker import BertReranker

if TYPE_CHECKING:
    from convinse.encoder.pool import ModelPool
    from convinse.encoder.precision import Precision
    from convinse.encoder.yes_no_reader import YesNoReader

SPANS = 5  # of a text, as the pipeline keeps them


@dataclass(frozen=True)
class Model:
    """A folder of a joint model, loaded when it is asked for.

    Attributes:
        folder: with weights, configuration and tokenizer.
        device: `auto`, `cpu` or `cuda`.
        precision: see `convinse.encoder.precision`.
        one_pass: whether the reader takes the spans of the pairs that the reranker has just scored.
    """

    folder: Path
    device: str = "auto"
    precision: Precision = "auto"
    one_pass: bool = True

    @cached_property
    def pool(self) -> ModelPool:
        """Through it all heads share the weights."""
        from convinse.encoder.pool import ModelPool

        pool = ModelPool()
        if self.one_pass:
            pool.share_spans()
        return pool

    def _head(self, kind: Any, **settings: Any) -> Any:
        given = {"precision": self.precision, "key": "--model", "models": self.pool, **settings}
        return kind(self.folder, self.device, **given)

    @cached_property
    def reranker(self) -> BertReranker:
        """Ranks; long texts are cut as in the pipeline."""
        return self._head(BertReranker)

    @cached_property
    def reader(self) -> ExtractiveReader:
        """Reads."""
        return self._head(ExtractiveReader, best=SPANS)

    @cached_property
    def bi_encoder(self) -> BiEncoder:
        """Embeds."""
        return self._head(BiEncoder)

    @cached_property
    def yes_no(self) -> YesNoReader:
        """Reads whether a text says yes; the folder must have the head."""
        from convinse.encoder.yes_no_reader import YesNoReader

        return self._head(YesNoReader)
