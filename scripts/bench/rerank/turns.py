"""Turns: seconds with thousands of candidates, answers that the cascade keeps, BM25 beside rank_bm25."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from rich.table import Table

from convinse.evidence_retrieval_scoring.bm25 import BM25Scorer, QueryExpansion
from convinse.language.bm25 import bm25_scores
from convinse.language.text import stems

from .data import Candidates, Pool, pools, widened
from .measures import Bench, Size, best_first, first_hit, kept, presence, timed
from .systems import MAX_LENGTH, SETTINGS, Dense, E, Ours, new_cascade

CUTS = (5, 10, 20, E)
KNOWN, NEW, ALL = "cascade, embeddings known", "cascade, embeddings new", "cross-encoder over all"
BM25_KNOWN, BM25_NEW = "BM25 alone, texts known", "BM25 alone, texts new"
SECONDS = {KNOWN: 1.0, NEW: 12.0}
BM25_QUERIES = 5  # of a pool


def turn_part(bench: Bench) -> None:
    """Seconds of a turn: BM25, the cascade with and without known embeddings, the cross-encoder over all candidates."""
    from convinse.encoder.bi_encoder import BiEncoder

    size = bench.size
    name, cross = list(bench.models.items())[-1]
    pool, other = pools(bench.gathered.questions, size.candidates)[:2]
    queries = spread(pool.queries, size.warm_turns + 1)
    bm25 = BM25Scorer(QueryExpansion(bench.gathered.properties))
    bm25.rank(other.queries[0], other.evidences[:50], E)
    first = timed(lambda: bm25.rank(queries[0], pool.evidences, E))[0]
    again = [timed(lambda query=query: bm25.rank(query, pool.evidences, E))[0] for query in queries]
    seconds: dict[str, dict[str, float]] = {BM25_NEW: {"": first}, BM25_KNOWN: {"": statistics.median(again)}}
    for precision in ("bf16",) if bench.on_gpu else ("fp32", "int8"):
        scorer = Ours(cross, bench.device, precision)
        encoder = BiEncoder(bench.bi_encoder, bench.device, precision=precision, max_length=MAX_LENGTH)  # type: ignore[arg-type]
        for row, value in _neural_seconds(bench, bm25, scorer, encoder, (pool, other), queries).items():
            seconds.setdefault(row, {})[precision] = value
            if row in SECONDS and size.candidates == Size.candidates:
                bench.want(f"turn, {row}, {precision}: seconds", value, SECONDS[row], at_least=False)
    precisions = list(seconds[ALL])
    chosen = SETTINGS.evs_cascade
    table = Table(
        title=f"seconds of a turn, {size.candidates} candidates, {bench.device}; cross-encoder {name}",
        title_justify="left",
    )
    for column in ("scorer", *precisions, "wanted"):
        table.add_column(column, justify="left" if column == "scorer" else "right")
    for row, values in seconds.items():
        cells = [f"{values.get(precision, values.get('')):.3f}" for precision in precisions]
        table.add_row(
            row,
            *(cells[:1] + [""] * (len(cells) - 1) if "" in values else cells),
            f"< {SECONDS[row]:.0f}" if row in SECONDS else "",
        )
    bench.console.print(table)
    bench.console.print(
        f"the cross-encoder sees {chosen.lexical} by BM25 and {chosen.dense} by the bi-encoder; known: median of "
        f"{size.warm_turns} turns, embeddings read from the disk, evidences tokenised anew"
    )
    bench.figures["turn"] = {"model": name, "device": bench.device, "candidates": size.candidates, "seconds": seconds}


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


def presence_part(bench: Bench) -> None:
    """Answer presence of BM25, of the cascade, and of the cascade's last step over all candidates."""
    from convinse.encoder.bi_encoder import BiEncoder
    from convinse.support.vector_cache import VectorCache

    size, trained = bench.size, len(bench.models) > 1
    name, cross = list(bench.models.items())[-1] if trained else ("all-MiniLM-L6-v2 as bi-encoder", None)
    encoder = BiEncoder(bench.bi_encoder, bench.device, max_length=MAX_LENGTH)
    bm25 = BM25Scorer(QueryExpansion(bench.gathered.properties))
    scorer = None if cross is None else Ours(cross, bench.device, "auto")
    folder = bench.work / "presence"
    vectors = VectorCache(folder, encoder.model_id, encoder.dimension)
    last = "cross-encoder over all" if scorer is not None else "bi-encoder over all"
    systems = {
        "BM25": bm25,
        "cascade": new_cascade(bm25, scorer, encoder, folder),
        last: Dense(encoder, vectors) if scorer is None else scorer.reranker,
    }
    questions = [question for question in bench.gathered.questions if question.one_hop][: size.questions]
    others = list({e["evidence_text"]: e for question in bench.gathered.questions for e in question.evidences}.values())
    wide = size.cross_candidates if trained else size.candidates
    some = every_nth(questions, size.cross_pairs // wide) if trained and not bench.full else questions
    groups = {
        "as retrieved": [(question, question.facts) for question in questions],
        f"widened to {wide}": [(one, widened(one, others, wide, seed)) for seed, one in enumerate(some)],
    }
    table = Table(
        title=f"answers among the best e, one-hop questions, {bench.device}; {name}; in %", title_justify="left"
    )
    for column in ("candidates", "n", "scorer", *(f"e={e}" for e in CUTS), *(f"kept {e}" for e in CUTS)):
        table.add_column(column, justify="left" if column in ("candidates", "scorer") else "right")
    figures: dict[str, Any] = {"model": name, "device": bench.device}
    for label, turns in groups.items():
        hits = {system: _hits(scorer, turns) for system, scorer in systems.items()}
        figures[label] = {"questions": len(turns), "candidates": statistics.median(len(found) for _, found in turns)}
        for system, found in hits.items():
            shares = {str(e): presence(found, e) for e in CUTS}
            keeps = {str(e): kept(found, hits[last], e) for e in CUTS}
            figures[label][system] = {"presence": shares, "kept": keeps}
            start = (
                (f"{label}, median {figures[label]['candidates']:.0f}", str(len(turns)))
                if system == "BM25"
                else ("", "")
            )
            cells = [*shares.values(), *(None if system == last else keep for keep in keeps.values())]
            table.add_row(*start, system, *("" if cell is None else f"{cell:.1%}".rstrip("%") for cell in cells))
        table.add_section()
        bench.want(f"answers kept at {E}, {label}", figures[label]["cascade"]["kept"][str(E)], 0.99)
    bench.console.print(table)
    bench.console.print(
        "kept: of the questions that the scorer over all candidates has an answer for; widened: by evidences of other "
        "questions that hold no answer"
    )
    bench.figures["presence"] = figures


def every_nth(questions: Sequence[Candidates], most: int) -> list[Candidates]:
    """At most so many questions, from everywhere."""
    step = -(-len(questions) // max(1, most))
    return list(questions[:: max(1, step)])


def _hits(scorer: Any, turns: list[tuple[Candidates, list[Any]]]) -> list[int | None]:
    return [first_hit(scorer.rank(question.query, found, E), question.gold) for question, found in turns]


def bm25_part(bench: Bench) -> None:
    """BM25 beside rank_bm25, which indexes the candidates of each turn anew; of the texts that no other part uses."""
    found = pools(bench.gathered.questions, Size.candidates)
    scorer = BM25Scorer(QueryExpansion(bench.gathered.properties))
    scorer.rank("warm up", [{"evidence_text": "warm up", "source": "kb"}], 1)
    times: dict[str, list[float]] = {}
    same: list[bool] = []
    differences = [0.0]
    for number, pool in enumerate(found[max(0, len(found) - bench.size.bm25_turns) :]):
        _bm25_pool(pool, scorer, number, times, same, differences)
    ms = {name: statistics.median(values) * 1000 for name, values in times.items()}
    ratios = {"new": ms["peer"] / ms["new"], "known": ms["peer, tokens given"] / ms["known"]}
    table = Table(title=f"BM25 over {Size.candidates} candidates, milliseconds of a turn", title_justify="left")
    for column in ("scorer", "turns", "ms", "times faster"):
        table.add_column(column, justify="left" if column == "scorer" else "right")
    for label, key in (
        ("scores, texts new", "new"),
        ("rank_bm25 BM25Okapi: the same tokeniser, index, scores", "peer"),
        ("scores, texts known", "known"),
        ("rank_bm25 BM25Okapi, tokens given: index, scores", "peer, tokens given"),
        ("rank_bm25 BM25Okapi, index given: scores", "peer, index given"),
        (f"BM25Scorer.rank, expanded query, best {E}, texts known", "rank"),
    ):
        table.add_row(label, str(len(times[key])), f"{ms[key]:.2f}", f"{ratios[key]:.1f}" if key in ratios else "")
    bench.console.print(table)
    bench.console.print(
        f"the same formula (okapi) gives the same ranking in {sum(same)} of {len(same)} turns, the largest difference "
        f"of a score is {max(differences):.1e}; times faster: than rank_bm25 in the next row"
    )
    bench.figures["bm25"] = {
        "milliseconds": ms, "times_faster": ratios, "same_ranking": sum(same), "turns": len(same),
        "difference": max(differences),
    }  # fmt: skip
    bench.want("BM25Scorer.rank: milliseconds", ms["rank"], 25, at_least=False)
    bench.want("BM25, texts new: milliseconds", ms["new"], 25, at_least=False)
    bench.want("BM25, texts new: times rank_bm25", ratios["new"], 3)
    bench.want("BM25, texts known: times rank_bm25 with tokens given", ratios["known"], 3)
    bench.want("BM25: share of equal rankings", sum(same) / len(same), 1)


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
    wanted = list(dict.fromkeys(stems(query)))
    first_calls = {
        "new": lambda: bm25_scores(query, texts, "okapi"),
        "peer": lambda: BM25Okapi([stems(text) for text in texts]).get_scores(wanted),
    }
    for name in first_calls if number % 2 else reversed(first_calls):  # the second one finds the words stemmed
        times.setdefault(name, []).append(timed(first_calls[name])[0])
    tokens = [stems(text) for text in texts]
    for query in spread(pool.queries, BM25_QUERIES):
        wanted = list(dict.fromkeys(stems(query)))
        of_index, index = timed(lambda: BM25Okapi(tokens))
        of_scores, theirs = timed(lambda: index.get_scores(wanted))  # noqa: B023 - called at once
        seconds, ours = timed(lambda: bm25_scores(query, texts, "okapi"))  # noqa: B023
        of_rank, _ = timed(lambda: scorer.rank(query, pool.evidences, E))  # noqa: B023
        measured = {"peer, tokens given": of_index + of_scores, "peer, index given": of_scores, "known": seconds}
        for name, value in (measured | {"rank": of_rank}).items():
            times.setdefault(name, []).append(value)
        same.append(best_first(ours, texts) == best_first(theirs, texts))
        differences.append(max(abs(a - b) for a, b in zip(ours, theirs, strict=True)))
