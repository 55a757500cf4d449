"""The embedded model on the dev parts of its data, which no row of its training comes from: reading and ranking.

    bash run.sh bench model [--full]
    bash run.sh bench model --model DIR --precision int8 --only reading,ranking

The model is the one of the package, or --model. Beside it stand BM25 and, if the package that carries it is installed,
all-MiniLM-L6-v2, whose weights the training begins with, as bi-encoder; --against is another model, such as the one
before, on the same questions. 200 questions of a set by default, 500 with --full.
"""

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from convinse.config import Config, Precision, resolve
from convinse.encoder.answer_classes import YES_NO, has_answer_type
from convinse.encoder.bi_encoder import BiEncoder, KeptEmbeddings
from convinse.encoder.extractive_reader import AnswerSpan, ExtractiveReader
from convinse.encoder.pool import ModelPool
from convinse.encoder.question_readers import AnswerTypeReader, YesNoReader, has_yes_no
from convinse.encoder.reranker import BertReranker
from convinse.evidence_retrieval_scoring.bm25 import BM25Scorer, QueryExpansion
from convinse.evidence_retrieval_scoring.cascade import Cascade, reciprocal_ranks
from convinse.language.language import english
from convinse.scoring.convqa import calibration_error
from convinse.scoring.extractive import normalize
from convinse.support.errors import ModelError
from convinse.support.progress import progress
from recipes.embedded.answer_classes import TypedQuestion, known_labels, typed_questions
from recipes.embedded.answer_type import begins_with_verb
from recipes.embedded.examples import chooses
from recipes.embedded.negatives import part_of
from recipes.embedded.ranking_sets import Decided, boolq_questions, infotabs_statements
from recipes.embedded.yes_no import thirds
from recipes.sources import BASE_PACKAGE, minilm

from .candidates import first_hit, gather, is_right
from .exported import exported
from .harness import Bench, Figures, Spec, note, run
from .machine import MODELS
from .measures import Rank, answer_scores, best_first, first_right, mean_reciprocal_rank, presence, share_within
from .model_sets import UNANSWERABLE, Asked, Question, article_sets, ranking_sets, reading_sets, sample

MEASURED, AGAINST = "measured", "against"  # the model of --model, and that of --against
SPANS = 5  # of a text, as the pipeline keeps them
TOP = 20  # that the cross-encoder reads
ALL_ROWS = ("tables",)  # of which the cross-encoder scores everything
DECIDED, TYPED = (
    4,
    20,
)  # times as many questions as of other sets: an answer of two tells little, and questions are short
BM25, BASE, OWN = "BM25", "base bi-encoder", "the model's bi-encoder"
FUSED, CROSS = "BM25 and bi-encoder fused", "cross-encoder"
EXPANDED, CASCADE = "BM25, expanded query", "cascade"
CUTS = (5, 20, 100)  # evidences
_DEEP = 100  # evidences that the cascade gives
_PORTION = 20  # questions computed together
_EXACT_F1 = {"EM": ("exact", "{:.1f}"), "F1": ("f1", "{:.1f}")}


@dataclass(frozen=True)
class Size:
    questions: int = 500  # of a set
    evidence: int = 1000


DEFAULT, QUICK = Size(200, 40), Size(10, 4)


class Model:
    """A model through the classes that its users have; they cut long texts as in the pipeline, and share the weights."""

    def __init__(self, name: str, option: str, work: Path, options: Any) -> None:
        folder = resolve(name)
        if not folder.is_dir():
            raise ModelError(f"{option}: {folder}: no such model; name one such as: bash run.sh train embedded")
        self.folder = exported(folder, work)
        self._device, self._precision, self._pool = options.device, options.precision, ModelPool()
        self._pool.share_spans()  # the reader takes the spans of the pairs that the reranker has just scored

    def _head(self, kind: Any, **settings: Any) -> Any:
        given = {"precision": self._precision, "key": "--model", "models": self._pool, **settings}
        return kind(self.folder, self._device, **given)

    # the last two need a folder with their heads
    reranker = cached_property(lambda self: self._head(BertReranker))
    reader = cached_property(lambda self: self._head(ExtractiveReader, best=SPANS))
    bi_encoder = cached_property(lambda self: self._head(BiEncoder))
    yes_no = cached_property(lambda self: self._head(YesNoReader))
    answer_type = cached_property(lambda self: self._head(AnswerTypeReader))


class Setup:
    def __init__(self, bench: Bench) -> None:
        bench.need(*MODELS)
        options, self._bench = bench.options, bench
        self.model = Model(options.model, "--model", bench.work / "model-onnx", options)
        self.models = {MEASURED: self.model}
        if options.against is not None:
            self.models[AGAINST] = Model(options.against, "--against", bench.work / "against-onnx", options)
        backend = self.model.reranker.engine.backend
        self.on_gpu = backend.device.startswith("cuda")
        bench.console.print(f"{self.model.folder}, {backend.device}, {backend.precision}")

    @cached_property
    def base(self) -> BiEncoder | None:
        """The bi-encoder whose weights the training begins with."""
        if not self._bench.has(BASE_PACKAGE):
            return None
        folder = exported(minilm(), self._bench.work / "minilm-onnx", "embedding")
        precision: Precision = "auto" if self.on_gpu else "fp32"
        return BiEncoder(folder, self._bench.options.device, precision=precision)


# -- reading -----------------------------------------------------------------------------------------------------------


class Reading(NamedTuple):
    """The spans that a model finds in the text of a question (context 0) and in its distractors."""

    question: Question
    spans: list[AnswerSpan]

    def best(self, alone: bool) -> AnswerSpan | None:
        own = (span for span in self.spans if span.context == 0 or not alone)
        return max(own, key=lambda span: span.score, default=None)


def readings(model: Model, name: str, questions: Sequence[Question]) -> list[Reading]:
    made = []
    with progress(name, len(questions), "questions") as advance:
        for start in range(0, len(questions), _PORTION):
            portion = questions[start : start + _PORTION]
            texts = [[question.text, *question.distractors] for question in portion]
            found = model.reader.read_all([question.query for question in portion], texts)
            made += map(Reading, portion, found)
            advance(len(portion))
    return made


def reading_scores(made: Sequence[Reading], alone: bool = True) -> dict[str, float]:
    texts = [best.text if (best := reading.best(alone)) else "" for reading in made]
    return answer_scores(texts, [reading.question.answers for reading in made])


def reading_part(bench: Bench) -> Figures:
    """EM and F1 of the answers in sentences and paragraphs, alone and among distractors."""
    note("building the dev sets ...")
    sets = reading_sets(bench.folder, bench.size.questions)
    groups: dict[Any, Figures] = {}
    for label, model in bench.state.models.items():
        for name, questions in sets.items():
            made = readings(model, name, questions)
            rows = groups.setdefault((name, str(len(questions))), {})
            rows["the paragraph", label] = reading_scores(made)
            if any(question.distractors for question in questions):
                rows["among distractors", label] = reading_scores(made, alone=False)
    bench.compare("reading, in %", ("set", "n", "texts", "model"), _EXACT_F1, groups)
    return _named(groups)


def articles_part(bench: Bench) -> Figures:
    """EM and F1 on paragraphs of held-out articles by kind, and whether the best span's probability is that of being right."""
    note("building the dev part of the reading files ...")
    sets = article_sets(bench.folder, bench.size.questions)
    groups: dict[Any, Figures] = {}
    calibration: dict[str, Figures] = {}
    for label, model in bench.state.models.items():
        answerable: list[tuple[float, bool]] = []
        for name, questions in sets.items():
            made = readings(model, name, questions)
            found = [(best.probability, _is_right(best, own.question)) for own in made if (best := own.best(True))]
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
    """Of the best spans: the calibration error with and without questions that have no answer, mean probabilities."""

    def mean(values: Iterable[float]) -> float:
        return float(np.mean([*values] or [0.0]))

    return {
        "calibration error": calibration_error(*zip(*answerable, *nothing, strict=True)),
        "answerable only": calibration_error(*zip(*answerable, strict=True)),
        "probability, right": mean(chance for chance, right in answerable if right),
        "probability, wrong": mean(chance for chance, right in answerable if not right),
        "probability, no answer": mean(chance for chance, _ in nothing),
    }


# -- ranking -----------------------------------------------------------------------------------------------------------


def ranks_of(
    model: Model, base: BiEncoder | None, name: str, asked: Sequence[Asked], top: int | None
) -> dict[str, list[Rank]]:
    """The rank of the first right text of each question, by system; the cross-encoder scores the `top` best of the fusion."""
    own = cosines(model.bi_encoder, asked)
    ranks: dict[str, list[Rank]] = {BM25: []}
    if base is not None:
        two = zip(asked, cosines(base, asked), strict=True)
        ranks[BASE] = [first_right(best_first(scores, question.texts), question.right) for question, scores in two]
    ranks |= {OWN: [], FUSED: [], CROSS: []}
    form = model.reranker.row_form
    with progress(name, len(asked), "questions") as advance:
        for question, cosine in zip(asked, own, strict=True):
            texts = question.texts
            lexical = best_first(english().bm25.scores(question.query, texts), texts)
            dense = best_first(cosine, texts)
            fused = best_first(reciprocal_ranks([lexical, dense]), texts)  # as the cascade fuses them
            first = fused[:top]
            odds = model.reranker.predict(
                [(question.query, question.read(form)[place]) for place in first], logits=True
            )
            order = [first[place] for place in best_first(odds, [texts[place] for place in first])]
            systems = {BM25: lexical, OWN: dense, FUSED: fused, CROSS: [*order, *fused[len(first) :]]}
            for system, places in systems.items():
                ranks[system].append(first_right(places, question.right))
            advance()
    return ranks


def cosines(encoder: BiEncoder, asked: Sequence[Asked]) -> list[np.ndarray]:
    """The cosine of each question with each of its texts; each text is embedded once."""
    form = encoder.row_form
    texts = list(dict.fromkeys(text for question in asked for text in question.read(form)))
    vectors = encoder.embed(texts)
    place_of = {text: place for place, text in enumerate(texts)}
    queries = zip(asked, encoder.embed([question.query for question in asked]), strict=True)
    return [vectors[[place_of[text] for text in question.read(form)]] @ query for question, query in queries]


def ranking_part(bench: Bench) -> Figures:
    """MRR and hits of BM25, bi-encoders and the cross-encoder over sentences, passages and rows of tables."""
    setup = bench.state
    note("building the dev sets ...")
    groups: dict[Any, Figures] = {}
    for name, asked in ranking_sets(bench.folder, bench.size.questions).items():
        texts = statistics.median(len(question.texts) for question in asked)
        rows = groups[name, str(len(asked)), f"{texts:.0f}"] = {}
        for label, model in setup.models.items():
            base = setup.base if label == MEASURED else None
            for system, ranks in ranks_of(model, base, name, asked, None if name in ALL_ROWS else TOP).items():
                own = "" if system in (BM25, BASE) else label
                rows[system, own] = {"mrr": mean_reciprocal_rank(ranks), "first": share_within(ranks, 1)}
    columns = {"MRR": ("mrr", "{:.3f}"), "first": ("first", "{:.3f}")}
    bench.compare("ranking", ("set", "n", "texts", "system", "model"), columns, groups)
    bench.console.print(f"the cross-encoder scores the {TOP} best of the fusion, of tables all rows")
    return _named(groups)


def evidence_part(bench: Bench) -> Figures:
    """Answer presence among the best facts that are retrieved for the one-hop questions of ConvQuestions."""
    note("building the knowledge base, retrieving facts ...")
    gathered = gather(bench.folder, bench.kept)
    questions = [question for question in gathered.questions if question.one_hop][: bench.size.evidence]
    asked = [
        Asked.of(question.query, ((fact["evidence_text"], is_right(fact, question.gold)) for fact in question.facts))
        for question in questions
    ]
    model, scorer = bench.state.model, BM25Scorer(QueryExpansion(gathered.properties))
    ranks = ranks_of(model, bench.state.base, "facts", asked, None)
    cuts = Config().evs_cascade
    embeddings = KeptEmbeddings(model.bi_encoder)
    cascade = Cascade(scorer, model.reranker, embeddings, lexical=cuts.lexical, dense=cuts.dense)
    ranks[EXPANDED], ranks[CASCADE] = [], []
    for question, own in zip(asked, questions, strict=True):
        order = best_first(scorer.scores(question.query, own.facts), question.texts)
        ranks[EXPANDED].append(first_right(order, question.right))
        ranks[CASCADE].append(first_hit(cascade.rank(own.query, own.facts, _DEEP), own.gold))
    median = statistics.median(len(question.facts) for question in questions)
    rows = presence(ranks, CUTS)
    title = f"one-hop questions: answers among the best e of {median:.0f} facts (median)"
    columns = {f"e={e}": (f"e={e}", "{:.1%}") for e in CUTS}
    bench.compare(title, ("n", "system"), columns, {str(len(questions)): rows})
    return rows


def _named(groups: dict[Any, Figures]) -> Figures:
    return {
        ", ".join((*group, *([row] if isinstance(row, str) else row))): own
        for group, rows in groups.items()
        for row, own in rows.items()
    }


# -- decisions and types -----------------------------------------------------------------------------------------------


def decision_part(bench: Bench) -> Figures:
    """Accuracy of yes or no on held-out questions of BoolQ, and of three verdicts on statements of InfoTabS (dev)."""
    most = DECIDED * bench.size.questions
    boolq = [
        question
        for question in boolq_questions(bench.folder)
        if part_of("boolq", question.key) == "dev" and not chooses(question.key)
    ]
    questions, statements = sample(boolq, most), sample(infotabs_statements(bench.folder, "dev"), most)
    yes = np.array([question.yes for question in questions])
    figures = {}
    for name, values in probabilities(bench, questions).items():
        right = np.where(yes, values, 1 - values).clip(1e-6, 1)
        figures[name] = {"accuracy": ((values > 0.5) == yes).mean(), "log loss": float(-np.log(right).mean())}
    columns = {name: (name, "{:.3f}") for name in ("accuracy", "log loss")}
    bench.compare(f"yes or no, {len(questions)} questions of BoolQ", ("decided by",), columns, {(): figures})
    said = thirds(np.array([statement.yes for statement in statements]))
    verdicts = {
        name: {"accuracy": (thirds(values) == said).mean()} for name, values in probabilities(bench, statements).items()
    }
    title = f"yes, no or not said, {len(statements)} statements of InfoTabS (dev) on four attributes"
    bench.compare(title, ("decided by",), columns, {(): verdicts})
    return {"questions": len(questions), **figures, "statements": len(statements), "verdicts": verdicts}


def probabilities(bench: Bench, questions: Sequence[Decided]) -> dict[str, np.ndarray]:
    """[n] probability of yes by each way to decide; by the head if the model has one."""
    model = bench.state.model
    ways = {"the more frequent answer": np.full(len(questions), np.mean([question.yes for question in questions]))}
    if has_yes_no(model.folder):
        pairs = [(question.question, question.passage) for question in questions]
        ways["the head, whole passage"] = np.array(model.yes_no.probabilities(pairs))
    return ways


def types_part(bench: Bench) -> Figures:
    """Which questions' answers are of the likeliest class, and of the type that the word lists expect."""
    model = bench.state.model
    if not has_answer_type(model.folder):
        bench.console.print("the model has no answer type head")
        return {}
    typed = typed_questions(bench.folder, bench.kept)
    held_out = [question for question in typed.questions if question.part == "dev" and question.known]
    questions = sample(held_out, TYPED * bench.size.questions)
    texts = [question.text for question in questions]
    chances = model.answer_type.probabilities(texts, [begins_with_verb(question) for question in questions])
    names = list(model.answer_type.classes.names)
    right = [own.classes.get(names[top], 0) > 0 for own, top in zip(questions, chances.argmax(axis=1), strict=True)]
    labels = known_labels(bench.folder, bench.kept)
    by_lists = [_word_lists_are_right(question, labels) for question in questions]
    rows: Figures = {}
    for group in ("all", *sorted({question.source for question in questions})):
        own = [row for row, question in enumerate(questions) if group in ("all", question.source)]
        shares = {"head": np.mean([right[row] for row in own]), "word lists": np.mean([by_lists[row] for row in own])}
        rows[group] = {"n": len(own), **shares}
    columns = {"n": ("n", "{}"), **{name: (name, "{:.3f}") for name in ("head", "word lists")}}
    bench.compare(f"answer types, {len(questions)} questions of other templates", ("questions",), columns, {(): rows})
    error = calibration_error(chances.max(axis=1), right)
    bench.console.print(f"expected calibration error of the likeliest class: {error:.3f}")
    return {**rows, "calibration error": error}


def _word_lists_are_right(question: TypedQuestion, labels: Callable[[str], Sequence[str]]) -> bool:
    """Whether an answer fits the type that the word lists expect; False if they expect none."""
    language = english().answer_types
    expected = language.expected_type(question.text)
    if expected.kind == "yesno":
        return YES_NO in question.classes
    fits = (language.fit(expected, answer, labels(answer)) for answer in question.answers)
    return expected.kind != "any" and any(fit >= 0.5 for fit in fits)


_PARTS: dict[str, Callable[[Bench], Figures]] = {
    "reading": reading_part,
    "articles": articles_part,
    "ranking": ranking_part,
    "evidence": evidence_part,
    "decisions": decision_part,
    "types": types_part,
}
_OPTIONS = {
    "--model": {"default": "snapshot:model", "metavar": "DIR", "help": "a joint model (default: %(default)s)"},
    "--against": {"metavar": "DIR", "help": "another joint model, read and ranked with in the same tables"},
    "--precision": {"choices": ("auto", "fp32", "fp16", "bf16", "int8"), "default": "auto", "help": "of all heads"},
    "--device": {"default": "auto", "help": "auto (default), cpu or cuda"},
}
SPEC = Spec("model", __doc__, _PARTS, (QUICK, DEFAULT, Size()), options=_OPTIONS, prepare=Setup)

if __name__ == "__main__":
    run(SPEC)
