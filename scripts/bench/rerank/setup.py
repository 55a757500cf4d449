"""How much `bench rerank` measures, and what its parts share: questions with candidates, and models."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from recipes.sources import minilm

from ..candidates import Gathered, gather
from ..harness import Bench, note

RANDOM_HEAD = "all-MiniLM-L6-v2 with a random head"


@dataclass(frozen=True)
class Size:
    """How much is measured; None: all there is."""

    pairs: int = 2000
    tried: int = 100  # pairs to find the peer's best batch size with
    batches: tuple[int, ...] = (8, 16, 64)
    list_pairs: int = 600
    candidates: int = 3000
    warm_turns: int = 5
    questions: int | None = None
    cross_candidates: int = 500  # of a turn that a cross-encoder scores exhaustively
    cross_pairs: int = 25000
    bm25_turns: int = 4
    gathered: int | None = None  # questions that candidates are retrieved for


DEFAULT = Size(
    pairs=500, tried=60, list_pairs=300, candidates=1000, warm_turns=3, questions=40, cross_candidates=300, cross_pairs=6000,
)  # fmt: skip
QUICK = Size(
    pairs=100, tried=40, batches=(16,), list_pairs=200, candidates=300, warm_turns=2, questions=6, cross_candidates=100,
    cross_pairs=600, bm25_turns=1, gathered=60,
)  # fmt: skip


class Setup:
    """What the parts share, made when it is asked for.

    Attributes:
        device: `cpu`, or a GPU.
    """

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self.device: str = bench.options.device
        if bench.options.parts != ["bm25"]:
            from transformers.utils.logging import disable_progress_bar

            from convinse.encoder.precision import find_device

            find_device(self.device)  # or an error at once
            disable_progress_bar()
            self.models  # noqa: B018 - as well

    @property
    def on_gpu(self) -> bool:
        """Whether models run on a GPU."""
        return self.device != "cpu"

    @cached_property
    def gathered(self) -> Gathered:
        """Questions and candidates."""
        note("building knowledge base and Wikipedia dump, retrieving ...")
        return gather(self._bench.folder, self._bench.kept, self._bench.size.gathered)

    @cached_property
    def bi_encoder(self) -> Path:
        """The folder of the bi-encoder."""
        return minilm()

    @cached_property
    def models(self) -> dict[str, Path]:
        """Name -> folder of the cross-encoders; the first one has a random head, a trained one is the last."""
        from convinse.encoder.checkpoint import load_checkpoint

        from .systems import one_logit

        model = self._bench.options.model
        if model is None:
            return {RANDOM_HEAD: one_logit(self.bi_encoder, self._bench.work / "random-head")}
        load_checkpoint(model, "sequence-classification", "--model")
        return {RANDOM_HEAD: one_logit(self.bi_encoder, self._bench.work / "random-head"), str(model): model}
