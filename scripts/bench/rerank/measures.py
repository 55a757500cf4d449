"""How much is measured, what is wanted, and the measures themselves."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console

from convinse.records.evidence import Evidence

from .data import Gathered, is_right

if TYPE_CHECKING:
    import numpy as np

TOP = 20


@dataclass(frozen=True)
class Size:
    """How much is measured."""

    pairs: int = 2000
    rounds: int = 3
    tried: int = 100  # pairs to find the peer's best batch size with
    batches: tuple[int, ...] = (8, 16, 64)
    list_pairs: int = 600
    candidates: int = 3000
    warm_turns: int = 5
    questions: int | None = None
    cross_candidates: int = 500  # of a turn that a cross-encoder scores exhaustively
    cross_pairs: int = 25000
    bm25_turns: int = 4


QUICK = Size(
    pairs=200, rounds=1, tried=60, batches=(16, 32), list_pairs=250, candidates=600, warm_turns=2, questions=12,
    cross_candidates=200, cross_pairs=1500, bm25_turns=2,
)  # fmt: skip


class Bound(NamedTuple):
    """What issue 5 asks for."""

    what: str
    value: float | None
    bound: float
    at_least: bool = True

    def __str__(self) -> str:
        value = "nothing" if self.value is None else f"{self.value:.4g}"
        return f"{self.what}: {value}, wanted at {'least' if self.at_least else 'most'} {self.bound:g}"

    @property
    def failed(self) -> bool:
        """Whether the measured value misses it."""
        return self.value is not None and not (self.value >= self.bound if self.at_least else self.value <= self.bound)


@dataclass(frozen=True)
class Bench:
    """What the parts measure with, and what they add to.

    Attributes:
        gathered: questions and candidates.
        work: a temporary folder.
        bi_encoder: the folder of the bi-encoder.
        models: name -> folder of the cross-encoders; the first one has a random head, a trained one is the last.
        device: `cpu`, or a GPU.
        size: how much is measured.
        full: whether a trained cross-encoder scores all candidates of all questions.
        figures: for the file.
        bounds: what is wanted of some of them.
    """

    gathered: Gathered
    work: Path
    bi_encoder: Path
    models: dict[str, Path]
    device: str
    size: Size
    full: bool = False
    console: Console = field(default_factory=lambda: Console(width=130))
    figures: dict[str, Any] = field(default_factory=dict)
    bounds: list[Bound] = field(default_factory=list)

    @property
    def on_gpu(self) -> bool:
        """Whether models run on a GPU."""
        return self.device != "cpu"

    def want(self, what: str, value: float | None, bound: float, at_least: bool = True) -> None:
        """Note a bound."""
        self.bounds.append(Bound(what, value, bound, at_least))


def spearman(first: Sequence[float] | np.ndarray, second: Sequence[float] | np.ndarray) -> float:
    """The rank correlation of two scorings; equal scores share their mean rank."""
    import numpy as np

    ranks = []
    for scores in (first, second):
        _, places, counts = np.unique(np.asarray(scores), return_inverse=True, return_counts=True)
        ranks.append((np.cumsum(counts) - (counts - 1) / 2)[places])
    return float(np.corrcoef(*ranks)[0, 1])


def top_overlap(first: Sequence[float] | np.ndarray, second: Sequence[float] | np.ndarray, top: int = TOP) -> float:
    """The share of the best `top` places of one scoring that are among the best of the other."""
    best = [set(sorted(range(len(scores)), key=lambda place: -scores[place])[:top]) for scores in (first, second)]
    return len(best[0] & best[1]) / max(1, len(best[0]))


def first_hit(ranked: Sequence[Evidence], gold: Sequence[str]) -> int | None:
    """The rank (from 1) of the first evidence with a gold answer."""
    return next((rank for rank, evidence in enumerate(ranked, 1) if is_right(evidence, gold)), None)


def presence(hits: Sequence[int | None], e: int) -> float:
    """The share of turns with an answer among the best `e`."""
    return sum(hit is not None and hit <= e for hit in hits) / max(1, len(hits))


def kept(hits: Sequence[int | None], exhaustive: Sequence[int | None], e: int) -> float | None:
    """Of the turns whose answer the exhaustive scorer has among its best `e`, the share where it is here too."""
    wanted = [hit for hit, best in zip(hits, exhaustive, strict=True) if best is not None and best <= e]
    return presence(wanted, e) if wanted else None


def best_first(scores: Sequence[float], texts: Sequence[str]) -> list[int]:
    """Places, best first; scores that are equal to 6 digits in the order of the texts."""
    return sorted(range(len(texts)), key=lambda place: (-round(float(scores[place]), 6), texts[place]))


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds and result of a call."""
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def interleaved(systems: Mapping[Any, Callable[[], Any]], rounds: int) -> tuple[dict[Any, list[float]], dict[Any, Any]]:
    """Each system once a round, forwards and backwards in turn: the seconds of all rounds, the results of the last."""
    seconds: dict[Any, list[float]] = {name: [] for name in systems}
    results = {}
    for number in range(rounds):
        for name in list(systems) if number % 2 == 0 else reversed(list(systems)):
            start = time.perf_counter()
            results[name] = systems[name]()
            seconds[name].append(time.perf_counter() - start)
    return seconds, results


def flops(lengths: Sequence[int], hidden: int, intermediate: int, layers: int) -> float:
    """Multiplications and additions of a BERT over sequences of some lengths: matrix products only, no padding."""
    tokens = float(sum(lengths))
    squares = float(sum(length * length for length in lengths))
    return layers * (2 * tokens * (4 * hidden**2 + 2 * hidden * intermediate) + 4 * squares * hidden)
