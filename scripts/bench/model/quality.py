"""The parts of `bench model` that say how good the model is: reading, ranking, evidence."""

from __future__ import annotations

import statistics

from ..harness import Bench, Figures
from ..measures import mean_reciprocal_rank, share_within
from . import ranking, reading
from .sets import Question
from .setup import counted

QAMR_F1, PARAGRAPH_F1 = 86, 60
ABOVE_BI_ENCODER = 0.05  # of MRR
PRESENCE = {5: 0.6, 20: 0.8, 100: 0.9}
ROW_FIRST = 0.6
# the rows of the tables that this is wanted of
TARGET_LAYOUT = (reading.AMONG, reading.WHOLE, reading.RELEVANCE)
SENTENCE_LAYOUT = (reading.ALONE, reading.WHOLE, reading.SPAN)
RANKED_SYSTEM = ranking.CROSS
ALL_ROWS = ("tables",)  # of which the cross-encoder scores everything
BOTH = "both"


def reading_part(bench: Bench) -> Figures:
    """EM and F1 of the answers in sentences and paragraphs, by what is read and how the best span is chosen."""
    setup = bench.state
    groups = []
    figures: Figures = {}
    sets: dict[str, tuple[Question, ...]] = {"qamr": setup.sets.sentences, **setup.sets.paragraphs}
    read = {}
    for name, questions in sets.items():
        with counted(name, len(questions)) as advance:
            read[name] = reading.readings(setup.model, questions, advance, by_sentence=name != "qamr")
    sets[BOTH] = tuple(question for name in setup.sets.paragraphs for question in sets[name])
    read[BOTH] = [reading for name in setup.sets.paragraphs for reading in read[name]]
    for name, questions in sets.items():
        target, wanted = (QAMR_F1, SENTENCE_LAYOUT) if name == "qamr" else (PARAGRAPH_F1, TARGET_LAYOUT)
        layouts = [SENTENCE_LAYOUT] if name == "qamr" else reading.LAYOUTS
        scores = reading.reading_scores(questions, read[name], layouts)
        is_wanted = name in ("qamr", BOTH)
        rows = []
        for layout, values in scores.items():
            cells = ("a sentence", "", "") if name == "qamr" else layout
            bound = f">= {target:g}" if is_wanted and layout == wanted else ""
            rows.append([*cells, f"{values.exact:.1f}", f"{values.f1:.1f}", bound])
        groups.append(((name, str(len(questions))), rows))
        own = {", ".join(layout): values._asdict() for layout, values in scores.items()}
        figures[name] = {"questions": len(questions), **own}
        if is_wanted:
            bench.want(f"reading, {name}: F1", scores[wanted].f1, target)
    bench.show_groups(
        "reading, in %", ("set", "n", "texts", "read", "best span by", "EM", "F1", "F1 wanted"), groups, 5
    )
    return figures


def ranking_part(bench: Bench) -> Figures:
    """MRR and hits of BM25, bi-encoders and the cross-encoder over sentences, passages and rows of tables."""
    setup = bench.state
    groups = []
    figures: Figures = {}
    for name, asked in setup.sets.ranked.items():
        top = None if name in ALL_ROWS else ranking.TOP
        with counted(name, len(asked)) as advance:
            ranked = ranking.rank_sets(setup.model, setup.base, asked, advance, top)
        mrr = {system: mean_reciprocal_rank(ranks) for system, ranks in ranked.ranks.items()}
        wanted = {}
        if name == "squad_sentences":
            reference = ranking.BASE if ranking.BASE in mrr else ranking.OWN
            target = mrr[reference] + ABOVE_BI_ENCODER
            wanted[RANKED_SYSTEM] = f"MRR >= {target:.3f}"
            bench.want(f"ranking, {name}: MRR ({ABOVE_BI_ENCODER} above {reference})", mrr[RANKED_SYSTEM], target)
        if name in ALL_ROWS:
            wanted[RANKED_SYSTEM] = f"first >= {ROW_FIRST}"
            bench.want(f"ranking, {name}: row first", share_within(ranked.ranks[RANKED_SYSTEM], 1), ROW_FIRST)
        texts = statistics.median(len(question.texts) for question in asked)
        figures[name] = {"questions": len(asked), "texts": texts, "scored": top, "weights": ranked.weights}
        rows = []
        for system, ranks in ranked.ranks.items():
            first = share_within(ranks, 1)
            rows.append([system, f"{mrr[system]:.3f}", f"{first:.3f}", wanted.get(system, "")])
            figures[name][system] = {"mrr": mrr[system], "first": first}
        groups.append(((name, str(len(asked)), f"{texts:.0f}"), rows))
    bench.show_groups("ranking", ("set", "n", "texts", "system", "MRR", "first", "wanted"), groups, 4)
    bench.console.print(
        f"the cross-encoder scores the {ranking.TOP} best of the fusion, of tables all rows; its blend adds the cosine "
        "with the weight that is best for the other half of the questions"
    )
    return figures


def evidence_part(bench: Bench) -> Figures:
    """Answer presence among the best facts of one-hop questions."""
    setup, cuts = bench.state, ranking.CUTS
    groups = []
    figures: Figures = {}
    for kind, facts in setup.pools.evidences.items():
        with counted(f"facts {kind}", len(facts)) as advance:
            by_system = ranking.evidence_ranks(setup.model, setup.base, setup.pools, kind, advance)
        median = statistics.median(map(len, facts))
        figures[kind] = {"questions": len(facts), "candidates": median}
        rows = []
        for system, ranks in by_system.items():
            shares = {e: share_within(ranks, e) for e in cuts}
            wanted = ""
            if system == ranking.CASCADE:
                wanted = " / ".join(f"{PRESENCE[e]:.2f}" for e in cuts)
                for e in cuts:
                    bench.want(f"evidence, {kind}: presence at {e}", shares[e], PRESENCE[e])
            rows.append([system, *(f"{share:.3f}" for share in shares.values()), wanted])
            figures[kind][system] = {str(e): share for e, share in shares.items()}
        groups.append(((f"{kind}, median {median:.0f}", str(len(facts))), rows))
    columns = ("candidates", "n", "system", *(f"e={e}" for e in cuts), "wanted")
    bench.show_groups("one-hop questions: answers among the best e facts", columns, groups, 3)
    bench.console.print("widened: by the best by BM25 of all facts two hops away that hold no answer")
    return figures
