"""The embedded model on the dev parts of its data, which no row of its training comes from: reading and ranking.

    bash run.sh bench model [--full]
    bash run.sh bench model --model DIR --precision int8 --only reading,ranking

The model is the one of the package, or --model. Beside it stand BM25 and, where the package that carries it is installed,
all-MiniLM-L6-v2, whose weights the training begins with, as bi-encoder; --against is another model, such as the one
before, on the same questions. 200 questions of a set by default, 500 with --full.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np

from convinse.encoder.yes_no_reader import has_yes_no
from convinse.support.progress import progress
from recipes.embedded.examples import chooses
from recipes.embedded.negatives import part_of
from recipes.embedded.ranking_sets import Decided, boolq_questions, infotabs_statements
from recipes.embedded.yes_no import thirds

from ..harness import MODELS, Bench, Figures, Spec, run
from ..measures import mean_reciprocal_rank, presence, presence_columns, share_within
from . import ranking, reading
from .answer_types import types_part
from .sets import SEED, UNANSWERABLE, Question, sample
from .setup import AGAINST, DEFAULT, MEASURED, QUICK, Setup, Size

ABOVE_OTHER = 0.02  # of MRR, the model of --against
PRESENCE = {5: 0.6, 20: 0.8, 100: 0.9}
SENTENCE_LAYOUT = (reading.ALONE, reading.WHOLE, reading.SPAN)
ALL_ROWS = ("tables",)  # of which the cross-encoder scores everything
QAMR, BOTH = "qamr", "both"
_EXACT_F1 = {"EM": ("exact", "{:.1f}"), "F1": ("f1", "{:.1f}")}


def reading_part(bench: Bench) -> Figures:
    """EM and F1 of the answers in sentences and paragraphs, by what is read and how the best span is chosen."""
    setup = bench.state
    sets: dict[str, tuple[Question, ...]] = {QAMR: setup.sets.sentences, **setup.sets.paragraphs}
    groups: dict[Any, Figures] = {}
    figures: Figures = {}
    for label, model in setup.models.items():
        read = {}
        for name, questions in sets.items():
            with progress(name, len(questions), "questions") as advance:
                read[name] = reading.readings(model, questions, advance, by_sentence=name != QAMR)
        asked = {**sets, BOTH: tuple(question for name in setup.sets.paragraphs for question in sets[name])}
        read[BOTH] = [reading for name in setup.sets.paragraphs for reading in read[name]]
        for name, questions in asked.items():
            layouts = [SENTENCE_LAYOUT] if name == QAMR else reading.LAYOUTS
            scores = reading.reading_scores(questions, read[name], layouts)
            rows = groups.setdefault((name, str(len(questions))), {})
            rows |= {(*layout, label): own for layout, own in scores.items()}
            own = {", ".join(layout): own for layout, own in scores.items()}
            if label == MEASURED:
                figures[name] = {"questions": len(questions), **own}
            else:
                figures[name][label] = own
    bench.compare("reading, in %", ("set", "n", "texts", "read", "best span by", "model"), _EXACT_F1, groups)
    return figures


def articles_part(bench: Bench) -> Figures:
    """EM and F1 on paragraphs of held-out articles by kind, and whether the best span's probability is that of being right."""
    setup = bench.state
    groups: dict[Any, Figures] = {}
    figures: Figures = {}
    calibration: dict[str, Figures] = {}
    for label, model in setup.models.items():
        answerable: list[reading.Certain] = []
        for name, questions in setup.articles.items():
            with progress(name, len(questions), "questions") as advance:
                read = reading.readings(model, questions, advance, by_sentence=False)
            certain = reading.certainties(questions, read)
            if name == UNANSWERABLE:
                calibration[label] = reading.calibration(answerable, certain)
                continue
            answerable += certain
            scores = reading.reading_scores(questions, read, [SENTENCE_LAYOUT])[SENTENCE_LAYOUT]
            groups.setdefault((name, str(len(questions))), {})[label] = scores
            figures.setdefault(name, {"questions": len(questions)})[label] = scores
    bench.compare("reading paragraphs of held-out articles, in %", ("kind", "n", "model"), _EXACT_F1, groups)
    columns = {name: (name, "{:.3f}") for name in next(iter(calibration.values()))}
    title = f"the best span's probability, on these and {len(setup.articles[UNANSWERABLE])} questions without an answer"
    bench.compare(title, ("model",), columns, {(): calibration})
    return {**figures, "calibration": calibration}


def ranking_part(bench: Bench) -> Figures:
    """MRR and hits of BM25, bi-encoders and the cross-encoder over sentences, passages and rows of tables."""
    setup = bench.state
    groups: dict[Any, Figures] = {}
    figures: Figures = {}
    for name, asked in setup.sets.ranked.items():
        top = None if name in ALL_ROWS else ranking.TOP
        texts = statistics.median(len(question.texts) for question in asked)
        shown = groups[name, str(len(asked)), f"{texts:.0f}"] = {}
        for label, model in setup.models.items():
            with progress(name, len(asked), "questions") as advance:
                base = setup.base if label == MEASURED else None
                ranks, weights = ranking.rank_sets(model, base, asked, advance, top)
            rows = {
                system: {"mrr": mean_reciprocal_rank(own), "first": share_within(own, 1)}
                for system, own in ranks.items()
                if label == MEASURED or system not in ranking.WITHOUT_MODEL
            }
            shown |= {(system, "" if system in ranking.WITHOUT_MODEL else label): own for system, own in rows.items()}
            if label == MEASURED:
                figures[name] = {"questions": len(asked), "texts": texts, "scored": top, "weights": weights, **rows}
            else:
                figures[name][label] = {"weights": weights, **rows}
        _want_ranks(bench, name, figures[name])
    columns = {"MRR": ("mrr", "{:.3f}"), "first": ("first", "{:.3f}")}
    bench.compare("ranking", ("set", "n", "texts", "system", "model"), columns, groups)
    bench.console.print(
        f"the cross-encoder scores the {ranking.TOP} best of the fusion, of tables all rows; its blend adds the cosine "
        "with the weight that is best for the other half of the questions"
    )
    return figures


def _want_ranks(bench: Bench, name: str, figures: Figures) -> None:
    if ranking.BASE in figures:
        _own, _base = figures[ranking.OWN]["mrr"], figures[ranking.BASE]["mrr"]
    for system in (ranking.OWN, ranking.CROSS, ranking.BLENDED):
        if AGAINST in figures:
            figures[AGAINST][system]["mrr"] + ABOVE_OTHER


def evidence_part(bench: Bench) -> Figures:
    """Answer presence among the best facts of one-hop questions."""
    setup = bench.state
    groups: dict[Any, Figures] = {}
    figures: Figures = {}
    for kind, facts in setup.pools.evidences.items():
        with progress(f"facts {kind}", len(facts), "questions") as advance:
            rows = presence(ranking.evidence_ranks(setup.model, setup.base, setup.pools, kind, advance), PRESENCE)
        median = statistics.median(map(len, facts))
        figures[kind] = {"questions": len(facts), "candidates": median, **rows}
        groups[f"{kind}, median {median:.0f}", str(len(facts))] = rows
    title = "one-hop questions: answers among the best e facts"
    bench.compare(title, ("candidates", "n", "system"), presence_columns(PRESENCE), groups)
    bench.console.print("widened: by the best by BM25 of all facts two hops away that hold no answer")
    return figures


DECIDED = 4  # times as many questions as of other sets: an answer of two tells little
_PORTION = 64  # questions between two signs of progress
FREQUENT, HEAD = "the more frequent answer", "the head, whole passage"


def decision_part(bench: Bench) -> Figures:
    held_out = [
        row for row in boolq_questions(bench.folder) if part_of("boolq", row.key) == "dev" and not chooses(row.key)
    ]
    questions = sample(held_out, DECIDED * bench.size.questions, SEED)
    yes = np.array([row.yes for row in questions])
    figures = {name: decision_scores(values, yes) for name, values in probabilities(bench, questions).items()}
    columns = {name: (name, "{:.3f}") for name in ("accuracy", "log loss")}
    bench.compare(f"yes or no, {len(questions)} questions of BoolQ", ("decided by",), columns, {(): figures})
    statements = sample(infotabs_statements(bench.folder, "dev"), DECIDED * bench.size.questions, SEED)
    said = thirds(np.array([row.yes for row in statements]))
    verdicts = {
        name: {"accuracy": float((thirds(values) == said).mean())}
        for name, values in probabilities(bench, statements).items()
    }
    title = f"yes, no or not said, {len(statements)} statements of InfoTabS (dev) on four attributes"
    bench.compare(title, ("decided by",), {"accuracy": ("accuracy", "{:.3f}")}, {(): verdicts})
    return {"questions": len(questions), **figures, "statements": len(statements), "verdicts": verdicts}


def probabilities(bench: Bench, questions: Sequence[Decided]) -> dict[str, np.ndarray]:
    """[n] probability of yes by each way to decide; by the head if the model has one."""
    model = bench.state.model
    ways = {FREQUENT: np.full(len(questions), np.mean([row.yes for row in questions]))}
    if not has_yes_no(model.folder):
        bench.console.print("the model has no yes/no head")
        return ways
    head = []
    with progress("yes or no", len(questions), "questions") as advance:
        for start in range(0, len(questions), _PORTION):
            portion = questions[start : start + _PORTION]
            head += model.yes_no.probabilities([(row.question, row.passage) for row in portion]).tolist()
            advance(len(portion))
    return {**ways, HEAD: np.array(head)}


def decision_scores(values: np.ndarray, yes: np.ndarray) -> dict[str, float]:
    """Accuracy and log loss of probabilities [n] of yes."""
    right = np.where(yes, values, 1 - values).clip(1e-6, 1)
    return {"accuracy": float(((values > 0.5) == yes).mean()), "log loss": float(-np.log(right).mean())}


MODEL = "snapshot:model"
PRECISIONS = ("auto", "fp32", "fp16", "bf16", "int8")
PARTS = {
    "reading": reading_part, "articles": articles_part, "ranking": ranking_part, "evidence": evidence_part, "decisions": decision_part,
    "types": types_part,
}  # fmt: skip


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", default=MODEL, metavar="DIR", help=f"a joint model (default: {MODEL})")
    parser.add_argument("--against", metavar="DIR", help="another joint model, read and ranked with in the same tables")
    parser.add_argument("--precision", choices=PRECISIONS, default="auto", help="of reading, ranking and evidence")
    parser.add_argument("--device", default="auto", help="auto (default), cpu or cuda")


SPEC = Spec(
    "model", __doc__, PARTS, (QUICK, DEFAULT, Size()), options=_options, prepare=Setup,
    needs=dict.fromkeys(PARTS, MODELS), peers=("onnxruntime", *MODELS),
)  # fmt: skip

if __name__ == "__main__":
    run(SPEC)
