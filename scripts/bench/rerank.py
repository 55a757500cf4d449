"""Evidence scoring beside its peers: pairs a second, and BM25.

    bash run.sh bench rerank [--full] [--model FOLDER]
    bash run.sh bench rerank --device cuda --parts pairs

Pairs are scored with the shipped model, or --model. The peers are sentence-transformers' CrossEncoder, and ONNX Runtime as it is:
the same graphs, pairs sorted by length, batches of 32 on all cores. On a GPU both compute in bf16, without ONNX Runtime. The pairs are those of bench/candidates.py.
"""

import statistics
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from convinse.config import Backend, Config, Precision, resolve
from convinse.encoder.exported import read_exported
from convinse.encoder.joint import register
from convinse.encoder.reranker import BertReranker
from convinse.evidence_retrieval_scoring.bm25 import BM25Scorer, QueryExpansion
from convinse.evidence_retrieval_scoring.okapi import okapi_scores
from convinse.language.language import english
from convinse.records.evidence import Evidence

from .candidates import Gathered, draw_lists, draw_pairs, gather
from .exported import PlainOnnx, exported, tokenizers
from .harness import Bench, Figures, Spec, note, run
from .machine import MODELS
from .measures import best_first, spearman, top_overlap
from .timing import Spread, interleaved, timed

E, MAX_LENGTH = Config().evs_max_evidences, BertReranker.usual.max_length
TOP = 20
PEERS = {"bm25": ("rank_bm25",), "pairs": ("sentence_transformers", *MODELS)}
PEER = "CrossEncoder, batches of 32"
PLAIN = "plain ONNX Runtime {}, sorted by length"
COLUMNS = {
    "pairs/s": ("pairs_a_second", "{:.0f}"), "x CrossEncoder": ("times_peer", "{:.2f}"),
    "x plain": ("times_plain", "{:.2f}"), "max |diff|": ("difference", "{:.1e}"),
    "Spearman": ("spearman", "{:.4f}"), f"top-{TOP}": ("top_overlap", "{:.1%}"),
}  # fmt: skip
BM25_NEW, PEER_NEW = "scores, texts new", "rank_bm25 BM25Okapi: the same tokeniser, index, scores"
BM25_AGAIN, PEER_AGAIN = "scores, texts known", "rank_bm25 BM25Okapi, tokens given: index, scores"
RANK = f"BM25Scorer.rank, expanded query, best {E}, texts known"
BM25_QUERIES = 5  # for the same candidates


class Size(NamedTuple):
    pairs: int
    list_pairs: int  # some lists have hundreds
    candidates: int
    bm25_turns: int
    questions: int | None = None  # that candidates are retrieved for


def prepare(bench: Bench) -> Gathered:
    bench.need(*(package for part in bench.options.parts for package in PEERS[part]))
    note("building knowledge base and Wikipedia dump, retrieving ...")
    return gather(bench.folder, bench.cache, bench.size.questions)


# -- BM25 --------------------------------------------------------------------------------------------------------------


def bm25_part(bench: Bench) -> Figures:
    """BM25 beside rank_bm25, which indexes the candidates of each turn anew; of texts that no other part uses."""
    size, questions = bench.size.candidates, bench.state.questions
    distinct = {evidence["evidence_text"]: evidence for question in questions for evidence in question.evidences}
    evidences = list(distinct.values())[-bench.size.bm25_turns * size :]
    queries = [question.query for question in questions[:BM25_QUERIES]]
    scorer = BM25Scorer(QueryExpansion(bench.state.properties))
    scorer.rank("warm up", [{"evidence_text": "warm up", "source": "kb"}], 1)
    times: dict[str, list[float]] = defaultdict(list)
    same: list[bool] = []
    for start in range(0, len(evidences), size):
        same += _bm25_turn(queries, evidences[start : start + size], scorer, times)
    rows = {name: {"turns": len(taken), "ms": 1000 * statistics.median(taken)} for name, taken in times.items()}
    for name, peer in ((BM25_NEW, PEER_NEW), (BM25_AGAIN, PEER_AGAIN)):
        rows[name]["times_faster"] = rows[peer]["ms"] / rows[name]["ms"]
    columns = {"turns": ("turns", "{}"), "ms": ("ms", "{:.2f}"), "times faster": ("times_faster", "{:.1f}")}
    bench.compare(f"BM25 over {size} candidates, milliseconds of a turn", ("scorer",), columns, {(): rows})
    bench.console.print(f"ers: clocq_bm25 gives the ranking of rank_bm25 in {sum(same)} of {len(same)} turns")
    return {"candidates": size, "rows": rows, "same_ranking": sum(same), "turns": len(same)}


def _bm25_turn(
    queries: Sequence[str], evidences: Sequence[Evidence], scorer: BM25Scorer, times: dict[str, list[float]]
) -> list[bool]:
    """Add the seconds by system, and return whether our form of the peer's formula ranks as the peer does."""
    from rank_bm25 import BM25Okapi

    texts = [evidence["evidence_text"] for evidence in evidences]
    stems, bm25, same = english().words.stems, english().bm25, []
    for number, query in enumerate(queries):
        terms = list(dict.fromkeys(stems(query)))
        if number == 0:
            calls: dict[str, Any] = {
                BM25_NEW: partial(bm25.scores, query, texts),
                PEER_NEW: lambda terms=terms: BM25Okapi([stems(text) for text in texts]).get_scores(terms),
            }
            # the second one finds the words stemmed, so they take turns
            for name in calls if len(times[BM25_NEW]) % 2 else reversed(calls):
                times[name].append(timed(calls[name])[0])
            tokens = [stems(text) for text in texts]
        indexing, index = timed(partial(BM25Okapi, tokens))
        scoring, scores = timed(partial(index.get_scores, terms))
        times[BM25_AGAIN].append(timed(partial(bm25.scores, query, texts))[0])
        times[PEER_AGAIN].append(indexing + scoring)
        times[RANK].append(timed(partial(scorer.rank, query, evidences, E))[0])
        same.append(best_first(okapi_scores(terms, tokens), texts) == best_first(scores.tolist(), texts))
    return same


# -- pairs -------------------------------------------------------------------------------------------------------------


class Ours:
    """`BertReranker`, which tokenises anew at each call: it would know the texts of the round before."""

    def __init__(self, folder: Path, device: str, precision: Precision, backend: Backend) -> None:
        self.reranker = BertReranker(folder, device, precision=precision, backend=backend, max_length=MAX_LENGTH)
        self._new_tokenizer = tokenizers(folder, MAX_LENGTH)

    def odds(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        self.reranker.tokenizer = self._new_tokenizer()
        return self.reranker.predict(pairs, logits=True)


class Peer:
    """sentence-transformers' `CrossEncoder`, fed as its users do."""

    def __init__(self, folder: Path, device: str) -> None:
        import torch
        from sentence_transformers import CrossEncoder

        self._encoder = CrossEncoder(
            str(folder), device=device, max_length=MAX_LENGTH, local_files_only=True,
            model_kwargs={"dtype": "float32" if device == "cpu" else "bfloat16"},
        )  # fmt: skip
        self._raw = torch.nn.Identity()

    def odds(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        logits = self._encoder.predict(
            list(pairs), show_progress_bar=False, activation_fn=self._raw, convert_to_numpy=True
        )
        return logits if logits.ndim == 1 else logits[:, 1] - logits[:, 0]


def pairs_part(bench: Bench) -> Figures:
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    register()  # sentence-transformers is to know the joint model
    folder = exported(resolve(bench.options.model), bench.work / "exported", "sequence-classification")
    device = bench.options.device
    graphs = sorted(read_exported(folder, str(folder)).graphs) if device == "cpu" else []
    systems: dict[str, Any] = {PEER: Peer(folder, device)}
    systems |= {f"BertReranker {graph}": Ours(folder, device, graph, "onnx") for graph in graphs}
    precision: Precision = "fp32" if device == "cpu" else "bf16"
    systems[f"BertReranker {precision}, PyTorch"] = Ours(folder, device, precision, "torch")
    systems |= {PLAIN.format(graph): PlainOnnx(folder, graph, MAX_LENGTH) for graph in graphs}
    drawn = draw_pairs(bench.state.questions, bench.size.pairs)
    pairs = [(query, text) for query, text, _ in drawn]
    for system in systems.values():
        system.odds(pairs[:64])  # the first calls choose kernels
    calls = {name: partial(system.odds, pairs) for name, system in systems.items()}
    seconds, odds = interleaved(calls, bench.rounds)
    median = {name: statistics.median(times) for name, times in seconds.items()}
    lists = draw_lists(bench.state.questions, 2 * TOP, bench.size.list_pairs)
    of_lists = {name: _of_lists(system, lists) for name, system in systems.items() if "plain" not in name}
    rows: dict[str, Figures] = {}
    for name in systems:
        rows[name] = row = {
            "pairs_a_second": Spread.of([len(pairs) / spent for spent in seconds[name]]),
            "times_peer": median[PEER] / median[name],
        }
        if name != PEER:
            row["difference"] = float(np.abs(1 / (1 + np.exp(-odds[name])) - 1 / (1 + np.exp(-odds[PEER]))).max())
            row["spearman"] = spearman(odds[name], odds[PEER])
            if name in of_lists:
                scores = zip(of_lists[name], of_lists[PEER], strict=True)
                row["top_overlap"] = statistics.fmean(top_overlap(*both, TOP) for both in scores)
    for graph in graphs:
        rows[f"BertReranker {graph}"]["times_plain"] = median[PLAIN.format(graph)] / median[f"BertReranker {graph}"]
    sources = ", ".join(f"{source} {count}" for source, count in Counter(source for *_, source in drawn).most_common())
    bench.compare(f"{bench.options.model}, {device}: {len(pairs)} pairs ({sources})", ("system",), COLUMNS, {(): rows})
    return {"pairs": len(pairs), "lists": len(lists), "rows": rows}


def _of_lists(system: Any, lists: Sequence[tuple[str, list[str]]]) -> list[np.ndarray]:
    scores = system.odds([(query, text) for query, texts in lists for text in texts])
    return np.split(scores, np.cumsum([len(texts) for _, texts in lists])[:-1])


_MODEL = {"default": "snapshot:model", "metavar": "FOLDER", "help": "a trained cross-encoder (default: %(default)s)"}
_DEVICE = {"default": "cpu", "help": "cpu (default) or cuda, for all models"}
_SIZES = (Size(60, 100, 120, 1, 60), Size(500, 4000, 3000, 4), Size(2000, 12000, 3000, 4))
# BM25 is the first: it is to see texts for the first time
_PARTS = {"bm25": bm25_part, "pairs": pairs_part}
SPEC = Spec("rerank", __doc__, _PARTS, _SIZES, (1, 3, 3), {"--model": _MODEL, "--device": _DEVICE}, prepare)

if __name__ == "__main__":
    run(SPEC)
