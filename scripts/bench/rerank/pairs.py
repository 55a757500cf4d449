"""Pairs a second, and agreement with sentence-transformers' CrossEncoder."""

from __future__ import annotations

import statistics
from collections import Counter
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..candidates import draw_lists, draw_pairs
from ..harness import Bench, Figures, Spread, interleaved
from ..measures import spearman, top_overlap
from .systems import DEFAULT_BATCH, Ours, Padding, Peer, flops, matrix_ceiling

TOP = 20
LEAST_LIST = 2 * TOP
GPU_TIMES = 20  # as many pairs on a GPU, which takes 2,000 in an eye's blink
GPU_BATCHES = (32, 128, 512, 2048)
CPU_PRECISIONS, GPU_PRECISIONS = ("fp32", "bf16", "int8"), ("bf16",)


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


def _measure(bench: Bench, name: str, folder: Path, material: Material) -> Figures:
    pairs, size, on_gpu, device = material.pairs, bench.size, bench.state.on_gpu, bench.state.device
    peer = Peer(folder, device, "bfloat16" if on_gpu else "float32")
    ours = {precision: Ours(folder, device, precision) for precision in (GPU_PRECISIONS if on_gpu else CPU_PRECISIONS)}
    batch = peer.best_batch(pairs if on_gpu else pairs[: size.tried], GPU_BATCHES if on_gpu else size.batches)
    default = f"CrossEncoder, batches of {DEFAULT_BATCH}" + (" (its best)" if batch == DEFAULT_BATCH else "")
    best = default if batch == DEFAULT_BATCH else f"CrossEncoder, batches of {batch} (its best)"
    systems = {default: peer, best: peer.with_batch(batch)}
    systems |= {f"BertReranker {precision}": own for precision, own in ours.items()}
    reference = Peer(folder, device) if on_gpu else peer  # bf16 is compared with fp32
    compared = [system for system in systems if on_gpu or system not in (default, best)]
    exact_lists = material.by_list(reference.odds(material.listed))
    of_lists = {system: material.by_list(systems[system].odds(material.listed)) for system in compared}
    paddings = {system: Padding(own.model) for system, own in systems.items()}
    for own in systems.values():
        own.odds(pairs[:64])  # the first calls choose kernels

    calls = {system: partial(paddings[system].counted, own.odds, pairs) for system, own in systems.items()}
    seconds, odds = interleaved(calls, bench.rounds)
    exact = reference.odds(pairs) if on_gpu else odds[default]
    lengths = next(iter(ours.values())).reranker.tokenizer.pairs(pairs).lengths
    median = {system: statistics.median(times) for system, times in seconds.items()}
    ceiling = matrix_ceiling(device) if on_gpu else None
    config = peer.model.config
    work = flops(lengths.tolist(), config.hidden_size, config.intermediate_size, config.num_hidden_layers)
    rows: dict[str, Figures] = {}
    for system in systems:
        rows[system] = row = {
            "pairs_a_second": Spread.of([len(pairs) / own for own in seconds[system]]),
            "times_default": median[default] / median[system],
            "times_best": median[best] / median[system], "tokens_a_second": float(lengths.sum()) / median[system],
            "padding": paddings[system].share, "seconds": seconds[system],
        }  # fmt: skip
        if ceiling is not None:
            row["of_ceiling"] = work / median[system] / ceiling
        if system in compared:
            two = zip(of_lists[system], exact_lists, strict=True)
            row |= {
                "difference": float(np.abs(1 / (1 + np.exp(-odds[system])) - 1 / (1 + np.exp(-exact))).max()),
                "logit_difference": float(np.abs(odds[system] - exact).max()),
                "spearman": spearman(odds[system], exact),
                "top_overlap": statistics.fmean(top_overlap(*scores, TOP) for scores in two),
            }
    tokens = {f"p{share}": float(np.percentile(lengths, share)) for share in (5, 50, 95)}
    tokens |= {"mean": float(lengths.mean()), "longest": int(lengths.max())}
    _tell(bench, name, material, rows, tokens)
    return {
        "device": device, "pairs": len(pairs), "sources": material.sources, "tokens": tokens, "lists": len(material.lists),
        "list_pairs": len(material.listed), "best_batch": batch, "matrix_ceiling": ceiling, "rows": rows,
    }  # fmt: skip


COLUMNS = {
    "pairs/s": ("pairs_a_second", "{:.0f}"), "x default": ("times_default", "{:.2f}"), "x best": ("times_best", "{:.2f}"),
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
        bench.want(f"{name}, bf16: times CrossEncoder at its best", rows["BertReranker bf16"]["times_best"], 2.5)
        return
    fp32, int8 = rows["BertReranker fp32"], rows["BertReranker int8"]
    bench.want(f"{name}, fp32: times CrossEncoder", fp32["times_default"], 1.5)
    bench.want(f"{name}, fp32: difference of a score", fp32["difference"], 1e-4, at_least=False)
    bench.want(f"{name}, int8: times CrossEncoder", int8["times_default"], 3)
    if name != next(iter(bench.state.models)):  # scores of a random head lie closer together than any trained one's
        bench.want(f"{name}, int8: Spearman", int8["spearman"], 0.98)
        bench.want(f"{name}, int8: top-{TOP} overlap", int8["top_overlap"], 0.95)
