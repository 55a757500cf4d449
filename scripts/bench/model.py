"""The embedded model on the dev parts of its data, which no row of its training comes from: reading and ranking.

    bash run.sh bench model [--full]
    bash run.sh bench model --model DIR --parts reading,ranking

The model is the one of the package, or --model. Beside it stand BM25 and, if the package that carries it is installed, all-MiniLM-L6-v2
as bi-encoder, whose weights the training begins with; --against is another model on the same questions.
"""

import statistics
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from convinse.config import resolve
from convinse.encoder.bi_encoder import BiEncoder
from convinse.encoder.extractive_reader import AnswerSpan, ExtractiveReader
from convinse.encoder.pool import ModelPool
from convinse.encoder.reranker import BertReranker
from convinse.evidence_retrieval_scoring.scorer import reciprocal_ranks
from convinse.language.language import english
from convinse.scoring.convqa import calibration_error
from convinse.scoring.extractive import normalize
from recipes.sources import BASE_PACKAGE, minilm

from .exported import exported
from .harness import Bench, Figures, Spec, run
from .machine import MODELS
from .measures import Rank, answer_scores, best_first, first_right, mean_reciprocal_rank, share_within
from .model_sets import UNANSWERABLE, Question, RankingQuestion, article_sets, ranking_sets, reading_sets

SPANS = 5  # of a text, as the pipeline keeps them
TOP = 20  # that the cross-encoder reads
BM25, BASE, OWN = "BM25", "base bi-encoder", "the model's bi-encoder"
FUSED, CROSS = "BM25 and bi-encoder fused", "cross-encoder"
_PORTION = 20  # questions computed together
_EXACT_F1 = {"EM": ("exact", "{:.1f}"), "F1": ("f1", "{:.1f}")}


class Model:
    """A model through the classes that its users have; they cut long texts as in the pipeline, and share the weights."""

    def __init__(self, name: str, work: Path) -> None:
        self.folder, self._pool = exported(resolve(name), work), ModelPool()
        self._pool.share_spans()  # the reader takes the spans of the pairs that the reranker has just scored

    def _head(self, kind: Any, **settings: Any) -> Any:
        return kind(self.folder, "auto", key="--model", models=self._pool, **settings)

    reranker = cached_property(lambda self: self._head(BertReranker))
    reader = cached_property(lambda self: self._head(ExtractiveReader, best=SPANS))
    bi_encoder = cached_property(lambda self: self._head(BiEncoder))


class Setup:
    def __init__(self, bench: Bench) -> None:
        bench.need(*MODELS)
        self._bench = bench
        self.models = {"measured": Model(bench.options.model, bench.work / "model-onnx")}
        if bench.options.against is not None:
            self.models["against"] = Model(bench.options.against, bench.work / "against-onnx")
        self.model = self.models["measured"]

    @cached_property
    def base(self) -> BiEncoder | None:
        """The bi-encoder whose weights the training begins with."""
        if not self._bench.has(BASE_PACKAGE):
            return None
        return BiEncoder(exported(minilm(), self._bench.work / "minilm-onnx", "embedding"), "auto", precision="fp32")


# -- reading -----------------------------------------------------------------------------------------------------------


class Reading(NamedTuple):
    """The spans that a model finds in the text of a question (context 0) and in its distractors."""

    question: Question
    spans: list[AnswerSpan]

    def best(self, alone: bool) -> AnswerSpan | None:
        spans = (span for span in self.spans if span.context == 0 or not alone)
        return max(spans, key=lambda span: span.score, default=None)


def readings(model: Model, questions: Sequence[Question]) -> list[Reading]:
    made: list[Reading] = []
    for start in range(0, len(questions), _PORTION):
        portion = questions[start : start + _PORTION]
        texts = [[question.text, *question.distractors] for question in portion]
        made += map(Reading, portion, model.reader.read_all([question.query for question in portion], texts))
    return made


def reading_scores(made: Sequence[Reading], alone: bool = True) -> dict[str, float]:
    texts = [best.text if (best := reading.best(alone)) else "" for reading in made]
    return answer_scores(texts, [reading.question.answers for reading in made])


def reading_part(bench: Bench) -> Figures:
    """EM and F1 of the answers in sentences and paragraphs, alone and among distractors."""
    groups: dict[Any, Figures] = {}
    for name, questions in reading_sets(bench.folder, bench.size).items():
        rows = groups[name, str(len(questions))] = {}
        for label, model in bench.state.models.items():
            made = readings(model, questions)
            rows["the paragraph", label] = reading_scores(made)
            if any(question.distractors for question in questions):
                rows["among distractors", label] = reading_scores(made, alone=False)
    bench.compare("reading, in %", ("set", "n", "texts", "model"), _EXACT_F1, groups)
    return _named(groups)


def articles_part(bench: Bench) -> Figures:
    """EM and F1 on paragraphs of held-out articles by kind, and whether the best span's probability is that of being right."""
    sets = article_sets(bench.folder, bench.size)
    groups: dict[Any, Figures] = {}
    calibration: dict[str, Figures] = {}
    for label, model in bench.state.models.items():
        answerable: list[tuple[float, bool]] = []
        for name, questions in sets.items():
            made = readings(model, questions)
            found = [
                (best.probability, _is_right(best, answered.question))
                for answered in made
                if (best := answered.best(True))
            ]
            if name == UNANSWERABLE:
                calibration[label] = certainty(answerable, found)
                continue
            answerable += found
            groups.setdefault((name, str(len(questions))), {})[label] = reading_scores(made)
    bench.compare("reading paragraphs of held-out articles, in %", ("kind", "n", "model"), _EXACT_F1, groups)
    columns = {name: (name, "{:.3f}") for name in next(iter(calibration.values()))}
    title = f"the best span's probability, on these and {len(sets[UNANSWERABLE])} questions without an answer"
    bench.compare(title, ("model",), columns, {(): calibration})
    return {**_named(groups), "calibration": calibration}


def _is_right(span: AnswerSpan, question: Question) -> bool:
    return normalize(span.text) in map(normalize, question.answers)


def certainty(answerable: Sequence[tuple[float, bool]], nothing: Sequence[tuple[float, bool]]) -> dict[str, float]:
    """Return calibration errors of the best spans, and mean probabilities of right and wrong ones."""

    def mean(values: list[float]) -> float:
        return float(np.mean(values or [0.0]))

    return {
        "calibration error": calibration_error(*zip(*answerable, *nothing, strict=True)),
        "answerable only": calibration_error(*zip(*answerable, strict=True)),
        "probability, right": mean([chance for chance, right in answerable if right]),
        "probability, wrong": mean([chance for chance, right in answerable if not right]),
        "probability, no answer": mean([chance for chance, _ in nothing]),
    }


# -- ranking -----------------------------------------------------------------------------------------------------------


def ranks_of(
    model: Model, base: BiEncoder | None, questions: Sequence[RankingQuestion], top: int | None
) -> dict[str, list[Rank]]:
    """The rank of the first right text of each question, by system; the cross-encoder scores the `top` best of the fusion."""
    ranks: dict[str, list[Rank]] = {BM25: []}
    if base is not None:
        pairs = zip(questions, cosines(base, questions), strict=True)
        ranks[BASE] = [first_right(best_first(scores, question.texts), question.right) for question, scores in pairs]
    ranks |= {OWN: [], FUSED: [], CROSS: []}
    form = model.reranker.row_form
    for question, cosine in zip(questions, cosines(model.bi_encoder, questions), strict=True):
        texts = question.texts
        lexical = best_first(english().bm25.scores(question.query, texts), texts)
        dense = best_first(cosine, texts)
        fused = best_first(reciprocal_ranks([lexical, dense], len(texts)), texts)  # as the cascade fuses them
        first = fused[:top]
        odds = model.reranker.predict([(question.query, question.read(form)[place]) for place in first], logits=True)
        order = [first[place] for place in best_first(odds, [texts[place] for place in first])]
        systems = {BM25: lexical, OWN: dense, FUSED: fused, CROSS: [*order, *fused[len(first) :]]}
        for system, places in systems.items():
            ranks[system].append(first_right(places, question.right))
    return ranks


def cosines(encoder: BiEncoder, questions: Sequence[RankingQuestion]) -> list[np.ndarray]:
    """The cosine of each question with each of its texts; each text is embedded once."""
    form = encoder.row_form
    texts = list(dict.fromkeys(text for question in questions for text in question.read(form)))
    vectors = encoder.embed(texts)
    place_of = {text: place for place, text in enumerate(texts)}
    queries = zip(questions, encoder.embed([question.query for question in questions]), strict=True)
    return [vectors[[place_of[text] for text in question.read(form)]] @ query for question, query in queries]


def ranking_part(bench: Bench) -> Figures:
    """MRR and hits of BM25, bi-encoders and the cross-encoder over sentences, passages and rows of tables."""
    groups: dict[Any, Figures] = {}
    for name, questions in ranking_sets(bench.folder, bench.size).items():
        texts = statistics.median(len(question.texts) for question in questions)
        rows = groups[name, str(len(questions)), f"{texts:.0f}"] = {}
        for label, model in bench.state.models.items():
            base = bench.state.base if model is bench.state.model else None
            # of tables the cross-encoder scores all rows
            for system, ranks in ranks_of(model, base, questions, None if name == "tables" else TOP).items():
                shown = "" if system in (BM25, BASE) else label
                rows[system, shown] = {"mrr": mean_reciprocal_rank(ranks), "first": share_within(ranks, 1)}
    columns = {"MRR": ("mrr", "{:.3f}"), "first": ("first", "{:.3f}")}
    bench.compare("ranking", ("set", "n", "texts", "system", "model"), columns, groups)
    return _named(groups)


def _named(groups: dict[Any, Figures]) -> Figures:
    return {
        ", ".join((*group, *([row] if isinstance(row, str) else row))): figures
        for group, rows in groups.items()
        for row, figures in rows.items()
    }


_PARTS = {"reading": reading_part, "articles": articles_part, "ranking": ranking_part}
_OPTIONS = {
    "--model": {"default": "snapshot:model", "metavar": "DIR", "help": "a joint model (default: %(default)s)"},
    "--against": {"metavar": "DIR", "help": "another joint model, read and ranked with in the same tables"},
}
SPEC = Spec("model", __doc__, _PARTS, (10, 200, 500), options=_OPTIONS, prepare=Setup)

if __name__ == "__main__":
    run(SPEC)
