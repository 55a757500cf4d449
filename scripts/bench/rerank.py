"""Evidence scoring beside its peers: pairs a second, and BM25.

    bash run.sh bench rerank [--full]
    bash run.sh bench rerank --device cuda --parts pairs
    bash run.sh bench rerank --model FOLDER

Pairs are scored with all-MiniLM-L6-v2 and a random head of one logit, and with a trained model: the shipped one, or --model.
The peers are sentence-transformers' CrossEncoder, and ONNX Runtime as it is: the same graphs, pairs sorted by length, batches
of 32 on all cores. The pairs are those of bench/candidates.py: by default a part of them, with --full all.
"""

from __future__ import annotations

import copy
import statistics
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from convinse.config import Backend, Config, Precision, resolve
from convinse.encoder.checkpoint import load_checkpoint, save_checkpoint
from convinse.encoder.devices import find_device
from convinse.encoder.exported import is_exported, read_exported
from convinse.encoder.joint import register
from convinse.encoder.reranker import BertReranker
from convinse.evidence_retrieval_scoring.bm25 import BM25Scorer, QueryExpansion
from convinse.evidence_retrieval_scoring.okapi import okapi_scores
from convinse.language.language import english
from convinse.records.evidence import Evidence
from recipes.sources import BASE_PACKAGE, minilm

from .candidates import Gathered, draw_lists, draw_pairs, gather
from .exported import PlainOnnx, exported, tokenizers
from .harness import Bench, Figures, Spec, note, run
from .machine import MODELS
from .measures import best_first, spearman, top_overlap
from .timing import Spread, interleaved, timed

SEED = 5
E, MAX_LENGTH = Config().evs_max_evidences, Config().evs_max_length
DEFAULT_BATCH = 32  # of CrossEncoder.predict
RANDOM_HEAD = "all-MiniLM-L6-v2 with a random head"
TOP = 20
GPU_TIMES = 20  # as many pairs on a GPU, which takes 2,000 in an eye's blink
GPU_BATCHES = (32, 128, 512, 2048)
PLAIN = "plain ONNX Runtime {}, sorted by length"
COLUMNS = {
    "pairs/s": ("pairs_a_second", "{:.0f}"), "x default": ("times_default", "{:.2f}"), "x best": ("times_best", "{:.2f}"),
    "x plain": ("times_plain", "{:.2f}"), "max |diff|": ("difference", "{:.1e}"), "Spearman": ("spearman", "{:.4f}"),
    f"top-{TOP}": ("top_overlap", "{:.1%}"), "tokens/s": ("tokens_a_second", "{:.0f}"),
}  # fmt: skip

BM25_NEW, PEER_NEW = "scores, texts new", "rank_bm25 BM25Okapi: the same tokeniser, index, scores"
BM25_KNOWN, PEER_KNOWN = "scores, texts known", "rank_bm25 BM25Okapi, tokens given: index, scores"
PEER_INDEXED = "rank_bm25 BM25Okapi, index given: scores"
RANK = f"BM25Scorer.rank, expanded query, best {E}, texts known"
BM25_QUERIES = 5  # asked of the same candidates


@dataclass(frozen=True)
class Size:
    pairs: int = 2000
    tried: int = 100  # pairs to find the peer's best batch size with
    batches: tuple[int, ...] = (8, 16, 64)
    list_pairs: int = 12000  # some lists have hundreds
    candidates: int = 3000
    bm25_turns: int = 4
    gathered: int | None = None  # questions that candidates are retrieved for


DEFAULT = Size(pairs=500, tried=60, list_pairs=4000)
QUICK = Size(pairs=60, tried=20, batches=(16,), list_pairs=100, candidates=120, bm25_turns=1, gathered=60)


class Setup:
    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self.device: str = bench.options.device
        self.on_gpu = self.device != "cpu"

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
        checkpoint = load_checkpoint(minilm(), "sequence-classification", new_head=True, labels=1, seed=SEED)
        save_checkpoint(checkpoint, work / "random-head")
        return {
            RANDOM_HEAD: exported(work / "random-head", work / "random-head-onnx", "sequence-classification"),
            name: exported(trained, work / "trained-onnx", "sequence-classification"),
        }


# -- BM25 --------------------------------------------------------------------------------------------------------------


def bm25_part(bench: Bench) -> Figures:
    """BM25 beside rank_bm25, which indexes the candidates of each turn anew; of texts that no other part uses."""
    bench.need("rank_bm25")
    size, questions = bench.size.candidates, bench.state.gathered.questions
    different = {evidence["evidence_text"]: evidence for question in questions for evidence in question.evidences}
    evidences = list(different.values())[-bench.size.bm25_turns * size :]
    queries = [question.query for question in questions[:BM25_QUERIES]]
    scorer = BM25Scorer(QueryExpansion(bench.state.gathered.properties))
    scorer.rank("warm up", [{"evidence_text": "warm up", "source": "kb"}], 1)
    times: dict[str, list[float]] = defaultdict(list)
    same: list[bool] = []
    differences = [0.0]
    for start in range(0, len(evidences), size):
        candidates = evidences[start : start + size]
        seconds, scores = _bm25_turn(queries, candidates, scorer, start // size)
        for name, own in seconds.items():
            times[name] += own
        texts = [evidence["evidence_text"] for evidence in candidates]
        same += [best_first(ours, texts) == best_first(theirs, texts) for ours, theirs in scores]
        differences += [abs(a - b) for both in scores for a, b in zip(*both, strict=True)]
    rows = {name: {"turns": len(own), "ms": 1000 * statistics.median(own)} for name, own in times.items()}
    for name, peer in ((BM25_NEW, PEER_NEW), (BM25_KNOWN, PEER_KNOWN)):
        rows[name]["times_faster"] = rows[peer]["ms"] / rows[name]["ms"]
    columns = {"turns": ("turns", "{}"), "ms": ("ms", "{:.2f}"), "times faster": ("times_faster", "{:.1f}")}
    bench.compare(f"BM25 over {size} candidates, milliseconds of a turn", ("scorer",), columns, {(): rows})
    bench.console.print(
        f"the same formula (ers: clocq_bm25) gives the same ranking in {sum(same)} of {len(same)} turns, the largest difference "
        f"of a score is {max(differences):.1e}; times faster: than rank_bm25 with as much given"
    )
    same_figures = {"same_ranking": sum(same), "turns": len(same), "difference": max(differences)}
    return {"candidates": size, "rows": rows, **same_figures}


def _bm25_turn(
    queries: Sequence[str], evidences: Sequence[Evidence], scorer: BM25Scorer, number: int
) -> tuple[dict[str, list[float]], list[tuple[Any, Any]]]:
    """Seconds by system of some questions, and the scores of the peer's formula: ours and the peer's."""
    from rank_bm25 import BM25Okapi

    texts = [evidence["evidence_text"] for evidence in evidences]
    stems, own, query = english().words.stems, english().bm25, queries[0]
    wanted = list(dict.fromkeys(stems(query)))
    first_calls = {
        BM25_NEW: lambda: own.scores(query, texts),
        PEER_NEW: lambda: BM25Okapi([stems(text) for text in texts]).get_scores(wanted),
    }
    times: dict[str, list[float]] = {}
    for name in first_calls if number % 2 else reversed(first_calls):  # the second one finds the words stemmed
        times[name] = [timed(first_calls[name])[0]]
    times |= {name: [] for name in (BM25_KNOWN, PEER_KNOWN, PEER_INDEXED, RANK)}
    tokens, scores = [stems(text) for text in texts], []
    for query in queries:
        wanted = list(dict.fromkeys(stems(query)))
        of_index, index = timed(lambda: BM25Okapi(tokens))
        of_scores, theirs = timed(lambda: index.get_scores(wanted))  # noqa: B023 - called at once
        of_known, _ = timed(lambda: own.scores(query, texts))  # noqa: B023
        times[BM25_KNOWN].append(of_known)
        times[PEER_KNOWN].append(of_index + of_scores)
        times[PEER_INDEXED].append(of_scores)
        times[RANK].append(timed(lambda: scorer.rank(query, evidences, E))[0])  # noqa: B023
        scores.append((okapi_scores(wanted, tokens), theirs.tolist()))
    return times, scores


# -- pairs -------------------------------------------------------------------------------------------------------------


class Ours:
    """`BertReranker`, which tokenises anew at each call: it would know the texts of the round before."""

    def __init__(self, folder: Path, device: str, precision: Precision, backend: Backend = "auto") -> None:
        self.reranker = BertReranker(folder, device, precision=precision, backend=backend, max_length=MAX_LENGTH)
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

    def with_batch(self, batch: int) -> Peer:
        peer = copy.copy(self)
        peer.batch = batch
        return peer

    def odds(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        logits = self._encoder.predict(
            list(pairs), batch_size=self.batch, show_progress_bar=False, activation_fn=self._raw, convert_to_numpy=True
        )
        return logits if logits.ndim == 1 else logits[:, 1] - logits[:, 0]

    def best_batch(self, pairs: Sequence[tuple[str, str]], sizes: Sequence[int]) -> int:
        """The fastest of some batch sizes: the mean of two passes, in turn."""
        seconds, _ = interleaved({size: partial(self.with_batch(size).odds, pairs) for size in sizes}, 2)
        return min(sizes, key=lambda size: sum(seconds[size]))


class Material(NamedTuple):
    pairs: list[tuple[str, str]]
    sources: str  # with their numbers, for the title
    lists: list[tuple[str, list[str]]]

    @property
    def listed(self) -> list[tuple[str, str]]:
        return [(query, text) for query, texts in self.lists for text in texts]

    def by_list(self, scores: np.ndarray) -> list[np.ndarray]:
        return np.split(scores, np.cumsum([len(texts) for _, texts in self.lists])[:-1])


def pairs_part(bench: Bench) -> Figures:
    bench.need("sentence_transformers", BASE_PACKAGE, *MODELS)
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    register()  # sentence-transformers is to know the joint model
    setup, size = bench.state, bench.size
    find_device(setup.device)  # or an error at once
    models = setup.models  # as well
    drawn = draw_pairs(setup.gathered.questions, size.pairs * (GPU_TIMES if setup.on_gpu else 1))
    counts = Counter(source for *_, source in drawn).most_common()
    sources = ", ".join(f"{source} {number}" for source, number in counts)
    lists = draw_lists(setup.gathered.questions, 2 * TOP, size.list_pairs)
    material = Material([(query, text) for query, text, _ in drawn], sources, lists)
    return {name: _measure(bench, name, folder, material) for name, folder in models.items()}


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
    systems: dict[str, Any] = {default: peer, best: peer if batch == DEFAULT_BATCH else peer.with_batch(batch)}
    systems |= ours | {PLAIN.format(graph): PlainOnnx(folder, graph, MAX_LENGTH) for graph in graphs}
    reference = Peer(folder, device) if on_gpu else peer  # bf16 is compared with fp32
    exact_lists = material.by_list(reference.odds(material.listed))
    of_lists = {system: material.by_list(own.odds(material.listed)) for system, own in ours.items()}
    for own in systems.values():
        own.odds(pairs[:64])  # the first calls choose kernels
    seconds, odds = interleaved({system: partial(own.odds, pairs) for system, own in systems.items()}, bench.rounds)
    exact = reference.odds(pairs) if on_gpu else odds[default]
    lengths = next(iter(ours.values())).reranker.tokenizer.pairs(pairs).lengths
    median = {system: statistics.median(times) for system, times in seconds.items()}
    rows: dict[str, Figures] = {}
    for system in systems:
        rows[system] = row = {
            "pairs_a_second": Spread.of([len(pairs) / spent for spent in seconds[system]]),
            "times_default": median[default] / median[system],
            "times_best": median[best] / median[system], "tokens_a_second": float(lengths.sum()) / median[system],
        }  # fmt: skip
        if on_gpu or system not in (default, best):
            row["difference"] = float(np.abs(1 / (1 + np.exp(-odds[system])) - 1 / (1 + np.exp(-exact))).max())
            row["spearman"] = spearman(odds[system], exact)
        if system in of_lists:
            both = zip(of_lists[system], exact_lists, strict=True)
            row["top_overlap"] = statistics.fmean(top_overlap(*scores, TOP) for scores in both)
    for graph in graphs:
        rows[f"BertReranker {graph}"]["times_plain"] = median[PLAIN.format(graph)] / median[f"BertReranker {graph}"]
    title = f"{name}, {device}: {len(pairs)} pairs ({material.sources})"
    bench.compare(title, ("system",), COLUMNS, {(): rows})
    bench.console.print(
        f"tokens of a pair: mean {lengths.mean():.1f}, longest {lengths.max()}; top-{TOP} over {len(material.lists)} "
        f"candidate lists of {len(material.listed)} pairs"
    )
    return {"device": device, "pairs": len(pairs), "best_batch": batch, "rows": rows}


_OPTIONS = {
    "--device": {"default": "cpu", "help": "cpu (default) or cuda, for all models"},
    "--model": {
        "default": "snapshot:model", "metavar": "FOLDER", "help": "a trained cross-encoder (default: %(default)s)",
    },
}  # fmt: skip
# BM25 is the first: it is to see texts for the first time
_PARTS = {"bm25": bm25_part, "pairs": pairs_part}
SPEC = Spec("rerank", __doc__, _PARTS, (QUICK, DEFAULT, Size()), (1, 3, 3), _OPTIONS, Setup)

if __name__ == "__main__":
    run(SPEC)
