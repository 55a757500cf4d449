"""Pairs a second, and agreement with sentence-transformers' CrossEncoder."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rich.table import Table

from .data import draw_lists, draw_pairs
from .measures import TOP, Bench, flops, interleaved, spearman, top_overlap
from .systems import DEFAULT_BATCH, Ours, Padding, Peer, matrix_ceiling

if TYPE_CHECKING:
    import numpy as np
    from transformers import PreTrainedModel

LEAST_LIST = 2 * TOP
GPU_TIMES = 20  # as many pairs on a GPU, which takes 2,000 in an eye's blink
GPU_BATCHES = (32, 128, 512, 2048)
CPU_PRECISIONS, GPU_PRECISIONS = ("fp32", "bf16", "int8"), ("bf16",)


class System(NamedTuple):
    """Something that gives the log odds of pairs."""

    odds: Callable[[Sequence[tuple[str, str]]], np.ndarray]
    model: PreTrainedModel


@dataclass
class Speed:
    """A row: `times_default` and `times_best` are against CrossEncoder at its default and its best batch size."""

    system: str
    pairs_a_second: float
    times_default: float
    times_best: float
    tokens_a_second: float
    padding: float
    of_ceiling: float | None = None
    difference: float | None = None
    logit_difference: float | None = None
    spearman: float | None = None
    top_overlap: float | None = None
    seconds: list[float] = field(default_factory=list)


class Material(NamedTuple):
    """Pairs to be timed, and whole candidate lists."""

    pairs: list[tuple[str, str]]
    sources: dict[str, int]
    lists: list[tuple[str, list[str]]]

    @property
    def listed(self) -> list[tuple[str, str]]:
        """The lists as pairs."""
        return [(query, text) for query, texts in self.lists for text in texts]

    def by_list(self, scores: np.ndarray) -> list[np.ndarray]:
        """The scores of `listed`, list by list."""
        import numpy as np

        return np.split(scores, np.cumsum([len(texts) for _, texts in self.lists])[:-1])


def pairs_part(bench: Bench) -> None:
    """All models: measure, print, note."""
    size = bench.size
    drawn = draw_pairs(bench.gathered.questions, size.pairs * (GPU_TIMES if bench.on_gpu else 1))
    sources = dict(Counter(pair.source for pair in drawn).most_common())
    lists = draw_lists(bench.gathered.questions, LEAST_LIST, size.list_pairs)
    material = Material([(pair.query, pair.text) for pair in drawn], sources, lists)
    for name, folder in bench.models.items():
        _measure(bench, name, folder, material)


def _measure(bench: Bench, name: str, folder: Path, material: Material) -> None:
    import numpy as np

    pairs, size, on_gpu = material.pairs, bench.size, bench.on_gpu
    peer = Peer(folder, bench.device, "bfloat16" if on_gpu else "float32")
    ours = {
        precision: Ours(folder, bench.device, precision) for precision in (GPU_PRECISIONS if on_gpu else CPU_PRECISIONS)
    }
    batch = peer.best_batch(pairs if on_gpu else pairs[: size.tried], GPU_BATCHES if on_gpu else size.batches)
    default = f"CrossEncoder, batches of {DEFAULT_BATCH}" + (" (its best)" if batch == DEFAULT_BATCH else "")
    best = default if batch == DEFAULT_BATCH else f"CrossEncoder, batches of {batch} (its best)"
    systems = {default: System(peer.odds, peer.model)}
    systems[best] = System(lambda pairs: peer.odds(pairs, batch), peer.model)
    systems |= {f"BertReranker {precision}": System(one.odds, one.model) for precision, one in ours.items()}
    reference = Peer(folder, bench.device) if on_gpu else peer  # bf16 is compared with fp32
    compared = [system for system in systems if on_gpu or system not in (default, best)]
    exact_lists = material.by_list(reference.odds(material.listed))
    of_lists = {system: material.by_list(systems[system].odds(material.listed)) for system in compared}
    paddings = {system: Padding(one.model) for system, one in systems.items()}
    for one in systems.values():
        one.odds(pairs[:64])  # the first calls choose kernels

    def counted(system: str) -> np.ndarray:
        with paddings[system]:
            return systems[system].odds(pairs)

    seconds, odds = interleaved({system: lambda system=system: counted(system) for system in systems}, size.rounds)
    exact = reference.odds(pairs) if on_gpu else odds[default]
    lengths = next(iter(ours.values())).reranker.tokenizer.pairs(pairs).lengths
    median = {system: statistics.median(times) for system, times in seconds.items()}
    rows = [
        Speed(
            system, len(pairs) / median[system], median[default] / median[system], median[best] / median[system],
            float(lengths.sum()) / median[system], paddings[system].share,
        )
        for system in systems
    ]  # fmt: skip
    ceiling = None
    if on_gpu:
        ceiling = matrix_ceiling(bench.device)
        config = peer.model.config
        work = flops(lengths.tolist(), config.hidden_size, config.intermediate_size, config.num_hidden_layers)
        for row in rows:
            row.of_ceiling = work / median[row.system] / ceiling
    for row in rows:
        row.seconds = seconds[row.system]
        if row.system not in compared:
            continue
        row.logit_difference = float(np.abs(odds[row.system] - exact).max())
        row.difference = float(np.abs(_sigmoid(odds[row.system]) - _sigmoid(exact)).max())
        row.spearman = spearman(odds[row.system], exact)
        two = zip(of_lists[row.system], exact_lists, strict=True)
        row.top_overlap = statistics.fmean(top_overlap(*scores) for scores in two)
    tokens = {f"p{share}": float(np.percentile(lengths, share)) for share in (5, 50, 95)}
    tokens |= {"mean": float(lengths.mean()), "longest": int(lengths.max())}
    _show(bench, name, material, rows, tokens)
    figures = {
        "model": name, "device": bench.device, "pairs": len(pairs), "sources": material.sources, "tokens": tokens,
        "lists": len(material.lists), "list_pairs": len(material.listed), "rounds": size.rounds, "best_batch": batch,
        "matrix_ceiling": ceiling, "rows": [asdict(row) for row in rows],
    }  # fmt: skip
    bench.figures.setdefault("pairs", []).append(figures)
    _want(bench, name, {row.system: row for row in rows})


def _sigmoid(odds: np.ndarray) -> np.ndarray:
    import numpy as np

    return 1 / (1 + np.exp(-odds))


def _want(bench: Bench, name: str, rows: dict[str, Speed]) -> None:
    if bench.on_gpu:
        bench.want(f"{name}, bf16: times CrossEncoder at its best", rows["BertReranker bf16"].times_best, 2.5)
        return
    fp32, int8 = rows["BertReranker fp32"], rows["BertReranker int8"]
    bench.want(f"{name}, fp32: times CrossEncoder", fp32.times_default, 1.5)
    bench.want(f"{name}, fp32: difference of a score", fp32.difference, 1e-4, at_least=False)
    bench.want(f"{name}, int8: times CrossEncoder", int8.times_default, 3)
    if name != next(iter(bench.models)):  # scores of a random head lie closer together than any trained one's
        bench.want(f"{name}, int8: Spearman", int8.spearman, 0.98)
        bench.want(f"{name}, int8: top-{TOP} overlap", int8.top_overlap, 0.95)


def _show(bench: Bench, name: str, material: Material, rows: list[Speed], tokens: dict[str, float]) -> None:
    def text(value: float | None, shape: str) -> str:
        return "" if value is None else format(value, shape)

    sources = ", ".join(f"{source} {number}" for source, number in material.sources.items())
    table = Table(title=f"{name}, {bench.device}: {len(material.pairs)} pairs ({sources})", title_justify="left")
    table.add_column("system")
    columns = ("pairs/s", "x default", "x best", "max |diff|", "Spearman", f"top-{TOP}", "tokens/s", "padding")
    for column in (*columns, "of ceiling"):
        table.add_column(column, justify="right")
    for row in rows:
        table.add_row(
            row.system, f"{row.pairs_a_second:.0f}", f"{row.times_default:.2f}", f"{row.times_best:.2f}",
            text(row.difference, ".1e"), text(row.spearman, ".4f"), text(row.top_overlap, ".1%"),
            f"{row.tokens_a_second:.0f}", f"{row.padding:.1%}", text(row.of_ceiling, ".1%"),
        )  # fmt: skip
    if not bench.on_gpu:
        table.add_row("BertReranker bf16, cuda", *["-"] * len(columns), "-")
    bench.console.print(table)
    bench.console.print(
        f"tokens of a pair: mean {tokens['mean']:.1f}, median {tokens['p50']:.0f}, 5th to 95th percentile "
        f"{tokens['p5']:.0f} to {tokens['p95']:.0f}, longest {tokens['longest']}; top-{TOP} over {len(material.lists)} "
        f"candidate lists of {len(material.listed)} pairs; of {bench.size.rounds} rounds, a system's slowest takes up to "
        f"{max(max(row.seconds) / min(row.seconds) for row in rows):.2f}x its fastest"
        + ("" if bench.on_gpu else "; no GPU was measured: --device cuda on a machine with one")
    )
