"""Turns: seconds with thousands of candidates, answers that the cascade keeps, BM25 beside rank_bm25."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from convinse.encoder.bi_encoder import BiEncoder
from convinse.evidence_retrieval_scoring.bm25 import BM25Scorer, QueryExpansion
from convinse.language.language import english
from convinse.support.vector_cache import VectorCache

from ..candidates import Candidates, Pool, first_hit, pools, widened
from ..harness import Bench, Figures, timed
from ..measures import best_first, kept, share_within
from .systems import MAX_LENGTH, SETTINGS, Dense, E, Ours, Size, new_cascade

CUTS = (5, 10, 20, E)
KNOWN, NEW, ALL = "cascade, embeddings known", "cascade, embeddings new", "cross-encoder over all"
BM25_KNOWN, BM25_NEW = "BM25 alone, texts known", "BM25 alone, texts new"
SECONDS = {KNOWN: 1.0, NEW: 12.0}
BM25_QUERIES = 5  # of a pool


def turn_part(bench: Bench) -> Figures:
    """Seconds of a turn: BM25, the cascade with and without known embeddings, the cross-encoder over all candidates."""
    size, setup = bench.size, bench.state
    name, cross = list(setup.models.items())[-1]
    pool, other = pools(setup.gathered.questions, size.candidates)[:2]
    queries = spread(pool.queries, size.warm_turns + 1)
    bm25 = BM25Scorer(QueryExpansion(setup.gathered.properties))
    bm25.rank(other.queries[0], other.evidences[:50], E)
    first = timed(lambda: bm25.rank(queries[0], pool.evidences, E))[0]
    again = [timed(lambda query=query: bm25.rank(query, pool.evidences, E))[0] for query in queries]
    precisions = ("bf16",) if setup.on_gpu else ("fp32", "int8")
    seconds: dict[str, dict[str, float]] = defaultdict(dict)
    seconds |= {BM25_NEW: {precisions[0]: first}, BM25_KNOWN: {precisions[0]: statistics.median(again)}}
    for precision in precisions:
        scorer = Ours(cross, setup.device, precision)
        encoder = BiEncoder(setup.bi_encoder, setup.device, precision=precision, max_length=MAX_LENGTH)  # type: ignore[arg-type]
        for row, value in _neural_seconds(bench, bm25, scorer, encoder, (pool, other), queries).items():
            seconds[row][precision] = value
            if row in SECONDS and size.candidates == Size.candidates:
                bench.want(f"turn, {row}, {precision}: seconds", value, SECONDS[row], at_least=False)
    rows = [
        (row, *(f"{values[precision]:.3f}" if precision in values else "" for precision in precisions),
         f"< {SECONDS[row]:.0f}" if row in SECONDS and size.candidates == Size.candidates else "")
        for row, values in seconds.items()
    ]  # fmt: skip
    title = f"seconds of a turn, {size.candidates} candidates, {setup.device}; cross-encoder {name}"
    bench.show(title, ("scorer", *precisions, "wanted"), rows)
    chosen = SETTINGS.evs_cascade
    bench.console.print(
        f"the cross-encoder sees {chosen.lexical} by BM25 and {chosen.dense} by the bi-encoder; known: median of "
        f"{size.warm_turns} turns, embeddings read from the disk, evidences tokenised anew"
    )
    return {"model": name, "device": setup.device, "candidates": size.candidates, "seconds": seconds}


def _neural_seconds(
    bench: Bench, bm25: BM25Scorer, scorer: Ours, encoder: Any, two: tuple[Pool, Pool], queries: list[str]
) -> dict[str, float]:
    pool, other = two
    new_cascade(bm25, scorer, encoder, bench.work / "other").rank(
        other.queries[0], other.evidences[:100], E
    )  # chooses kernels

    def turn(query: str) -> float:
        scorer.forget()
        cascade = new_cascade(bm25, scorer, encoder, bench.work / "vectors")
        return timed(lambda: cascade.rank(query, pool.evidences, E))[0]

    new = turn(queries[0])
    known = statistics.median(turn(query) for query in queries[1:])
    scorer.forget()
    return {KNOWN: known, NEW: new, ALL: timed(lambda: scorer.reranker.rank(queries[0], pool.evidences, E))[0]}


def spread(queries: Sequence[str], number: int) -> list[str]:
    """So many queries, over and over where there are fewer."""
    return [queries[place % len(queries)] for place in range(number)]


def presence_part(bench: Bench) -> Figures:
    """Answer presence of BM25, of the cascade, and of the cascade's last step over all candidates."""
    size, setup = bench.size, bench.state
    trained = len(setup.models) > 1
    name, cross = list(setup.models.items())[-1] if trained else ("all-MiniLM-L6-v2 as bi-encoder", None)
    encoder = BiEncoder(setup.bi_encoder, setup.device, max_length=MAX_LENGTH)
    bm25 = BM25Scorer(QueryExpansion(setup.gathered.properties))
    scorer = None if cross is None else Ours(cross, setup.device, "auto")
    folder = bench.work / "presence"
    vectors = VectorCache(folder, encoder.model_id, encoder.dimension)
    last = "cross-encoder over all" if scorer is not None else "bi-encoder over all"
    systems = {
        "BM25": bm25,
        "cascade": new_cascade(bm25, scorer, encoder, folder),
        last: Dense(encoder, vectors) if scorer is None else scorer.reranker,
    }
    gathered = setup.gathered.questions
    questions = [question for question in gathered if question.one_hop][: size.questions]
    others = list({e["evidence_text"]: e for question in gathered for e in question.evidences}.values())
    wide = size.cross_candidates if trained else size.candidates
    some = every_nth(questions, size.cross_pairs // wide) if trained and not bench.options.full else questions
    groups = {
        "as retrieved": [(question, question.facts) for question in questions],
        f"widened to {wide}": [(question, widened(question, others, wide, seed)) for seed, question in enumerate(some)],
    }
    tables = []
    figures: Figures = {"model": name, "device": setup.device}
    for label, turns in groups.items():
        hits = {system: _hits(scorer, turns) for system, scorer in systems.items()}
        median = statistics.median(len(evidences) for _, evidences in turns)
        figures[label] = {"questions": len(turns), "candidates": median}
        rows = []
        for system, ranks in hits.items():
            shares = {str(e): share_within(ranks, e) for e in CUTS}
            keeps = {str(e): kept(ranks, hits[last], e) for e in CUTS}
            figures[label][system] = {"presence": shares, "kept": keeps}
            cells = [*shares.values(), *(None if system == last else keep for keep in keeps.values())]
            percents = ("" if cell is None else f"{cell:.1%}".rstrip("%") for cell in cells)
            rows.append([system, *percents])
        tables.append(((f"{label}, median {median:.0f}", str(len(turns))), rows))
        bench.want(f"answers kept at {E}, {label}", figures[label]["cascade"]["kept"][str(E)], 0.99)
    columns = ("candidates", "n", "scorer", *(f"e={e}" for e in CUTS), *(f"kept {e}" for e in CUTS))
    bench.show_groups(f"answers among the best e, one-hop questions, {setup.device}; {name}; in %", columns, tables, 3)
    bench.console.print(
        "kept: of the questions that the scorer over all candidates has an answer for; widened: by evidences of other "
        "questions that hold no answer"
    )
    return figures


def every_nth(questions: Sequence[Candidates], most: int) -> list[Candidates]:
    """At most so many questions, from everywhere."""
    step = -(-len(questions) // max(1, most))
    return list(questions[:: max(1, step)])


def _hits(scorer: Any, turns: list[tuple[Candidates, list[Any]]]) -> list[int | None]:
    return [first_hit(scorer.rank(question.query, found, E), question.gold) for question, found in turns]


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
        _bm25_pool(pool, scorer, number, times, same, differences)
    ms = {name: statistics.median(values) * 1000 for name, values in times.items()}
    ratios = {"new": ms["peer"] / ms["new"], "known": ms["peer, tokens given"] / ms["known"]}
    labels = {
        "new": "scores, texts new", "peer": "rank_bm25 BM25Okapi: the same tokeniser, index, scores",
        "known": "scores, texts known", "peer, tokens given": "rank_bm25 BM25Okapi, tokens given: index, scores",
        "peer, index given": "rank_bm25 BM25Okapi, index given: scores",
        "rank": f"BM25Scorer.rank, expanded query, best {E}, texts known",
    }  # fmt: skip
    rows = [(label, str(len(times[key])), f"{ms[key]:.2f}", f"{ratios[key]:.1f}" if key in ratios else "")
            for key, label in labels.items()]  # fmt: skip
    bench.show(f"BM25 over {size} candidates, milliseconds of a turn", ("scorer", "turns", "ms", "times faster"), rows)
    bench.console.print(
        f"the same formula (okapi) gives the same ranking in {sum(same)} of {len(same)} turns, the largest difference "
        f"of a score is {max(differences):.1e}; times faster: than rank_bm25 in the next row"
    )
    if size == Size.candidates:
        bench.want("BM25Scorer.rank: milliseconds", ms["rank"], 25, at_least=False)
        bench.want("BM25, texts new: milliseconds", ms["new"], 25, at_least=False)
    bench.want("BM25, texts new: times rank_bm25", ratios["new"], 3)
    bench.want("BM25, texts known: times rank_bm25 with tokens given", ratios["known"], 3)
    bench.want("BM25: share of equal rankings", sum(same) / len(same), 1)
    return {
        "candidates": size, "milliseconds": ms, "times_faster": ratios, "same_ranking": sum(same), "turns": len(same),
        "difference": max(differences),
    }  # fmt: skip


def _bm25_pool(
    pool: Pool,
    scorer: BM25Scorer,
    number: int,
    times: dict[str, list[float]],
    same: list[bool],
    differences: list[float],
) -> None:
    from rank_bm25 import BM25Okapi

    texts = [evidence["evidence_text"] for evidence in pool.evidences]
    query = pool.queries[0]
    wanted = list(dict.fromkeys(english().words.stems(query)))
    first_calls = {
        "new": lambda: english().bm25.scores(query, texts, "okapi"),
        "peer": lambda: BM25Okapi([english().words.stems(text) for text in texts]).get_scores(wanted),
    }
    for name in first_calls if number % 2 else reversed(first_calls):  # the second one finds the words stemmed
        times[name].append(timed(first_calls[name])[0])
    tokens = [english().words.stems(text) for text in texts]
    for query in spread(pool.queries, BM25_QUERIES):
        wanted = list(dict.fromkeys(english().words.stems(query)))
        of_index, index = timed(lambda: BM25Okapi(tokens))
        of_scores, theirs = timed(lambda: index.get_scores(wanted))  # noqa: B023 - called at once
        seconds, ours = timed(lambda: english().bm25.scores(query, texts, "okapi"))  # noqa: B023
        of_rank, _ = timed(lambda: scorer.rank(query, pool.evidences, E))  # noqa: B023
        measured = {"peer, tokens given": of_index + of_scores, "peer, index given": of_scores, "known": seconds}
        for name, value in (measured | {"rank": of_rank}).items():
            times[name].append(value)
        same.append(best_first(ours, texts) == best_first(theirs, texts))
        differences.append(max(abs(a - b) for a, b in zip(ours, theirs, strict=True)))
