"""What the parts of `bench model` share: models and dev sets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from convinse.config import Precision, resolve
from convinse.encoder.bi_encoder import BiEncoder
from convinse.encoder.exported import read_exported
from convinse.support.errors import ModelError
from recipes.sources import BASE_PACKAGE, minilm

from ..exported import exported
from ..harness import Bench, note
from .heads import Model
from .ranking import Pools, evidence_pools
from .sets import DevSets, Question, article_sets, dev_sets

MEASURED, AGAINST = "measured", "against"  # the model of --model, and that of --against


@dataclass(frozen=True)
class Size:
    """How much is measured: questions of a set, of the evidences, and turns for each time."""

    questions: int = 500
    evidence: int = 1000
    turns: int = 12


DEFAULT, QUICK = Size(200, 40, 8), Size(10, 4, 2)


class Setup:
    """What is made when it is asked for."""

    def __init__(self, bench: Bench) -> None:
        options = bench.options
        folder = _folder(options.model, "--model")
        self._bench = bench
        self.model = Model(exported(folder, bench.work / "model-onnx"), options.device, options.precision)
        self.models = {MEASURED: self.model}
        if options.against is not None:
            other = exported(_folder(options.against, "--against"), bench.work / "against-onnx")
            self.models[AGAINST] = Model(other, options.device, options.precision)
        backend = self.model.reranker.engine.backend
        self.on_gpu = backend.device.startswith("cuda")
        self.on_cpu: list[Precision] = sorted(read_exported(self.model.folder, "--model").graphs)  # fp32 is the first
        bench.console.print(f"{folder}, {backend.device}, {backend.precision}")

    @cached_property
    def sets(self) -> DevSets:
        note("building the dev sets ...")
        return dev_sets(self._bench.folder, self._bench.size.questions)

    @cached_property
    def articles(self) -> dict[str, tuple[Question, ...]]:
        note("building the dev part of the reading files ...")
        return article_sets(self._bench.folder, self._bench.size.questions)

    @cached_property
    def pools(self) -> Pools:
        note("building the knowledge base, retrieving facts ...")
        return evidence_pools(self._bench.folder, self._bench.kept, self._bench.size.evidence)

    @cached_property
    def base(self) -> BiEncoder | None:
        """The bi-encoder whose weights the training begins with."""
        if not self._bench.has(BASE_PACKAGE):
            return None
        folder = exported(minilm(), self._bench.work / "minilm-onnx", "embedding")
        return BiEncoder(folder, self.model.device, precision="auto" if self.on_gpu else "fp32")

    def other(self, precision: Precision, device: str | None = None, one_pass: bool = True) -> Model:
        return Model(self.model.folder, device or self.model.device, precision, one_pass)


def _folder(model: str, option: str) -> Path:
    folder = resolve(model)
    if not folder.is_dir():
        raise ModelError(f"{option}: {folder}: no such model; name one such as: bash run.sh train embedded")
    return folder
