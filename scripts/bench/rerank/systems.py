"""What `bench rerank` shares: its size, its scorers, what a GPU could do; and the part that times pairs."""

from __future__ import annotations

import copy
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from convinse.config import Backend, Config, Precision, resolve
from convinse.encoder.bi_encoder import BiEncoder
from convinse.encoder.checkpoint import load_checkpoint, save_checkpoint
from convinse.encoder.devices import find_device
from convinse.encoder.exported import is_exported, read_exported
from convinse.encoder.joint import register
from convinse.encoder.reranker import BertReranker
from recipes.sources import minilm

from ..candidates import Gathered, draw_lists, draw_pairs, gather
from ..exported import Padding, PlainOnnx, exported, tokenizers
from ..harness import Bench, Figures, Spread, interleaved, note, timed
from ..measures import spearman, top_overlap

SETTINGS = Config()
SEED = 5
E = SETTINGS.evs_max_evidences
MAX_LENGTH = SETTINGS.evs_max_length
DEFAULT_BATCH = 32  # of CrossEncoder.predict
_MATRIX, _PRODUCTS = 8192, 50
RANDOM_HEAD = "all-MiniLM-L6-v2 with a random head"
TRAINED = "snapshot:model"


@dataclass(frozen=True)
class Size:
    pairs: int = 2000
    tried: int = 100  # pairs to find the peer's best batch size with
    batches: tuple[int, ...] = (8, 16, 64)
    list_pairs: int = 12000  # some lists have hundreds
    candidates: int = 3000
    bm25_turns: int = 4
    gathered: int | None = None  # questions that candidates are retrieved for


DEFAULT = Size(
    pairs=500, tried=60, list_pairs=4000,
)  # fmt: skip
QUICK = Size(
    pairs=60, tried=20, batches=(16,), list_pairs=100, candidates=120,
    bm25_turns=1, gathered=60,
)  # fmt: skip


class Setup:
    """What the parts share, made when it is asked for."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self.device: str = bench.options.device
        if bench.options.parts != ["bm25"]:
            from transformers.utils.logging import disable_progress_bar

            find_device(self.device)  # or an error at once
            disable_progress_bar()
            register()  # sentence-transformers is to know the joint model
            self.models  # noqa: B018 - as well

    @property
    def on_gpu(self) -> bool:
        return self.device != "cpu"

    @cached_property
    def gathered(self) -> Gathered:
        note("building knowledge base and Wikipedia dump, retrieving ...")
        return gather(self._bench.folder, self._bench.kept, self._bench.size.gathered)

    @cached_property
    def models(self) -> dict[str, Path]:
        """Name -> folder, with graphs, of the cross-encoders: one with a random head, and a trained one."""
        name, work = self._bench.options.model, self._bench.work
        trained = resolve(name)
        if not is_exported(trained):
            load_checkpoint(trained, "sequence-classification", "--model")  # or an error at once
        random_head = work / "random-head"
        checkpoint = load_checkpoint(minilm(), "sequence-classification", new_head=True, labels=1, seed=SEED)
        save_checkpoint(checkpoint, random_head)
        return {
            RANDOM_HEAD: exported(random_head, work / "random-head-onnx", "sequence-classification"),
            name: exported(trained, work / "trained-onnx", "sequence-classification"),
        }

    @cached_property
    def bi_encoder(self) -> BiEncoder:
        """all-MiniLM-L6-v2 as a bi-encoder."""
        folder = exported(minilm(), self._bench.work / "minilm-onnx", "embedding")
        precision: Precision = "auto" if self.on_gpu else "fp32"
        return BiEncoder(folder, self.device, precision=precision, max_length=MAX_LENGTH)


class System(Protocol):
    """Scores pairs of texts, and counts what it pads."""

    padding: Padding

    def odds(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray: ...


class Ours:
    """`BertReranker`, which tokenises anew at each call: it would know the texts of the round before."""

    def __init__(self, folder: Path, device: str, precision: Precision, backend: Backend = "auto") -> None:
        self.reranker = BertReranker(folder, device, precision=precision, backend=backend, max_length=MAX_LENGTH)
        self.padding = Padding().of_engine(self.reranker.engine)
        self._new_tokenizer = tokenizers(folder, MAX_LENGTH)

    def odds(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        self.reranker.tokenizer = self._new_tokenizer()
        return self.reranker.predict(pairs, logits=True)


class Peer:
    """sentence-transformers' `CrossEncoder`, fed as its users do."""

    batch = DEFAULT_BATCH

    def __init__(self, folder: Path, device: str, dtype: str = "float32") -> None:
        import torch
        from sentence_transformers import CrossEncoder

        self._encoder = CrossEncoder(
            str(folder), device=device, max_length=MAX_LENGTH, local_files_only=True, model_kwargs={"dtype": dtype}
        )
        self._raw = torch.nn.Identity()
        self.model = self._encoder.transformers_model
        self.padding = Padding()

    def with_batch(self, batch: int) -> Peer:
        peer = copy.copy(self)
        peer.batch, peer.padding = batch, Padding()
        return peer

    def odds(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        # sentence-transformers calls `forward` of the whole past its hooks
        with self.padding.of_module(self.model.base_model):
            logits = self._encoder.predict(
                list(pairs),
                batch_size=self.batch,
                show_progress_bar=False,
                activation_fn=self._raw,
                convert_to_numpy=True,
            )
        return logits if logits.ndim == 1 else logits[:, 1] - logits[:, 0]

    def best_batch(self, pairs: Sequence[tuple[str, str]], sizes: Sequence[int]) -> int:
        """The fastest of some batch sizes: the mean of two passes, in turn."""
        seconds, _ = interleaved({size: partial(self.with_batch(size).odds, pairs) for size in sizes}, 2)
        return min(sizes, key=lambda size: sum(seconds[size]))


def flops(lengths: Sequence[int], hidden: int, intermediate: int, layers: int) -> float:
    """Multiplications and additions of a BERT over sequences of some lengths: matrix products only, no padding."""
    tokens = float(sum(lengths))
    squares = float(sum(length * length for length in lengths))
    return layers * (2 * tokens * (4 * hidden**2 + 2 * hidden * intermediate) + 4 * squares * hidden)


def matrix_ceiling(device: str) -> float:
    """Operations a second of a large bf16 matrix product, measured."""
    import torch

    a, b = (torch.randn(_MATRIX, _MATRIX, device=device, dtype=torch.bfloat16) for _ in range(2))

    def multiply() -> None:
        for _ in range(_PRODUCTS):
            a @ b
        torch.cuda.synchronize(device)

    multiply()
    return _PRODUCTS * 2 * _MATRIX**3 / timed(multiply)[0]


PLAIN = "plain ONNX Runtime {}, sorted by length"
TOP = 20
LEAST_LIST = 2 * TOP
GPU_TIMES = 20  # as many pairs on a GPU, which takes 2,000 in an eye's blink
GPU_BATCHES = (32, 128, 512, 2048)


class Material(NamedTuple):
    """Pairs to be timed, and whole candidate lists."""

    pairs: list[tuple[str, str]]
    sources: dict[str, int]
    lists: list[tuple[str, list[str]]]

    @property
    def listed(self) -> list[tuple[str, str]]:
        return [(query, text) for query, texts in self.lists for text in texts]

    def by_list(self, scores: np.ndarray) -> list[np.ndarray]:
        return np.split(scores, np.cumsum([len(texts) for _, texts in self.lists])[:-1])


def pairs_part(bench: Bench) -> Figures:
    size, questions = bench.size, bench.state.gathered.questions
    drawn = draw_pairs(questions, size.pairs * (GPU_TIMES if bench.state.on_gpu else 1))
    sources = dict(Counter(source for *_, source in drawn).most_common())
    lists = draw_lists(questions, LEAST_LIST, size.list_pairs)
    material = Material([(query, text) for query, text, _ in drawn], sources, lists)
    return {name: _measure(bench, name, folder, material) for name, folder in bench.state.models.items()}


def _ours(folder: Path, setup: Setup) -> dict[str, Ours]:
    if setup.on_gpu:
        return {"BertReranker bf16": Ours(folder, setup.device, "bf16")}
    graphs = sorted(read_exported(folder, str(folder)).graphs)
    made = {f"BertReranker {graph}": Ours(folder, "cpu", graph, "onnx") for graph in graphs}
    return {**made, "BertReranker fp32, PyTorch": Ours(folder, "cpu", "fp32", "torch")}


def _measure(bench: Bench, name: str, folder: Path, material: Material) -> Figures:
    pairs, size, on_gpu, device = material.pairs, bench.size, bench.state.on_gpu, bench.state.device
    peer = Peer(folder, device, "bfloat16" if on_gpu else "float32")
    ours = _ours(folder, bench.state)
    graphs = () if on_gpu else sorted(read_exported(folder, str(folder)).graphs)
    batch = peer.best_batch(pairs if on_gpu else pairs[: size.tried], GPU_BATCHES if on_gpu else size.batches)
    default = f"CrossEncoder, batches of {DEFAULT_BATCH}" + (" (its best)" if batch == DEFAULT_BATCH else "")
    best = default if batch == DEFAULT_BATCH else f"CrossEncoder, batches of {batch} (its best)"
    systems: dict[str, System] = {default: peer, best: peer if batch == DEFAULT_BATCH else peer.with_batch(batch)}
    systems |= ours | {PLAIN.format(graph): PlainOnnx(folder, graph, MAX_LENGTH) for graph in graphs}
    reference = Peer(folder, device) if on_gpu else peer  # bf16 is compared with fp32
    exact_lists = material.by_list(reference.odds(material.listed))
    of_lists = {system: material.by_list(own.odds(material.listed)) for system, own in ours.items()}
    for own in systems.values():
        own.odds(pairs[:64])  # the first calls choose kernels
        own.padding.clear()

    seconds, odds = interleaved({system: partial(own.odds, pairs) for system, own in systems.items()}, bench.rounds)
    exact = reference.odds(pairs) if on_gpu else odds[default]
    lengths = next(iter(ours.values())).reranker.tokenizer.pairs(pairs).lengths
    median = {system: statistics.median(times) for system, times in seconds.items()}
    ceiling = matrix_ceiling(device) if on_gpu else None
    config = peer.model.config
    work = flops(lengths.tolist(), config.hidden_size, config.intermediate_size, config.num_hidden_layers)
    rows: dict[str, Figures] = {}
    for system, own in systems.items():
        rows[system] = row = {
            "pairs_a_second": Spread.of([len(pairs) / spent for spent in seconds[system]]),
            "times_default": median[default] / median[system],
            "times_best": median[best] / median[system], "tokens_a_second": float(lengths.sum()) / median[system],
            "padding": own.padding.share, "seconds": seconds[system],
        }  # fmt: skip
        if ceiling is not None:
            row["of_ceiling"] = work / median[system] / ceiling
        if on_gpu or own not in (systems[default], systems[best]):
            row |= {
                "difference": float(np.abs(1 / (1 + np.exp(-odds[system])) - 1 / (1 + np.exp(-exact))).max()),
                "logit_difference": float(np.abs(odds[system] - exact).max()), "spearman": spearman(odds[system], exact),
            }  # fmt: skip
        if system in of_lists:
            both = zip(of_lists[system], exact_lists, strict=True)
            row["top_overlap"] = statistics.fmean(top_overlap(*scores, TOP) for scores in both)
    for graph in graphs:
        rows[f"BertReranker {graph}"]["times_plain"] = median[PLAIN.format(graph)] / median[f"BertReranker {graph}"]
    tokens = {f"p{share}": float(np.percentile(lengths, share)) for share in (5, 50, 95)}
    tokens |= {"mean": float(lengths.mean()), "longest": int(lengths.max())}
    _tell(bench, name, material, rows, tokens)
    return {
        "device": device, "pairs": len(pairs), "sources": material.sources, "tokens": tokens, "lists": len(material.lists),
        "list_pairs": len(material.listed), "best_batch": batch, "matrix_ceiling": ceiling, "rows": rows,
    }  # fmt: skip


COLUMNS = {
    "pairs/s": ("pairs_a_second", "{:.0f}"), "x default": ("times_default", "{:.2f}"), "x best": ("times_best", "{:.2f}"),
    "x plain": ("times_plain", "{:.2f}"),
    "max |diff|": ("difference", "{:.1e}"), "Spearman": ("spearman", "{:.4f}"), f"top-{TOP}": ("top_overlap", "{:.1%}"),
    "tokens/s": ("tokens_a_second", "{:.0f}"), "padding": ("padding", "{:.1%}"), "of ceiling": ("of_ceiling", "{:.1%}"),
}  # fmt: skip


def _tell(bench: Bench, name: str, material: Material, rows: dict[str, Figures], tokens: Figures) -> None:
    sources = ", ".join(f"{source} {number}" for source, number in material.sources.items())
    title = f"{name}, {bench.state.device}: {len(material.pairs)} pairs ({sources})"
    bench.compare(title, ("system",), COLUMNS, {(): rows})
    bench.console.print(
        f"tokens of a pair: mean {tokens['mean']:.1f}, median {tokens['p50']:.0f}, 5th to 95th percentile "
        f"{tokens['p5']:.0f} to {tokens['p95']:.0f}, longest {tokens['longest']}; top-{TOP} over {len(material.lists)} "
        f"candidate lists of {len(material.listed)} pairs"
        + ("" if bench.state.on_gpu else "; no GPU was measured: --device cuda on a machine with one")
    )
    if bench.state.on_gpu:
        return
    for graph, _least in (("fp32", 1.5), ("int8", 3)):
        rows.get(f"BertReranker {graph}", {})
