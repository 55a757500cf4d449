"""The embedded model on the dev parts of its data, which no row of its training comes from: reading and ranking.

    bash run.sh bench model [--full]
    bash run.sh bench model --model DIR --parts reading,ranking

The model is the one of the package, or --model. Beside it stand BM25 and, if the package that carries it is installed, all-MiniLM-L6-v2
as bi-encoder, whose weights the training begins with; --against is another model on the same questions.
"""

import statistics
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from convinse.config import Config, resolve
from convinse.encoder.answer_classes import YES_NO
from convinse.encoder.bi_encoder import BiEncoder, KeptEmbeddings
from convinse.encoder.extractive_reader import AnswerSpan, ExtractiveReader
from convinse.encoder.pool import ModelPool
from convinse.encoder.question_readers import AnswerTypeReader, YesNoReader
from convinse.encoder.reranker import BertReranker
from convinse.evidence_retrieval_scoring.bm25 import BM25Scorer, QueryExpansion
from convinse.evidence_retrieval_scoring.cascade import Cascade, reciprocal_ranks
from convinse.language.language import english
from convinse.scoring.convqa import calibration_error
from convinse.scoring.extractive import normalize
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
from .measures import Rank, answer_scores, best_first, first_right, mean_reciprocal_rank, share_within
from .model_sets import UNANSWERABLE, Question, RankingQuestion, article_sets, ranking_sets, reading_sets, sample

SPANS = 5  # of a text, as the pipeline keeps them
TOP = 20  # that the cross-encoder reads
DECIDED, TYPED = (
    4,
    20,
)  # times as many questions as of other sets: an answer of two tells little, and questions are short
BM25, BASE, OWN = "BM25", "base bi-encoder", "the model's bi-encoder"
FUSED, CROSS = "BM25 and bi-encoder fused", "cross-encoder"
EXPANDED, CASCADE = "BM25, expanded query", "cascade"
CUTS = (5, 20, 100)  # evidences
_PORTION = 20  # questions computed together
_EXACT_F1 = {"EM": ("exact", "{:.1f}"), "F1": ("f1", "{:.1f}")}


class Size(NamedTuple):
    questions: int  # of a set
    evidence: int


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
    for name, questions in reading_sets(bench.folder, bench.size.questions).items():
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
    sets = article_sets(bench.folder, bench.size.questions)
    groups: dict[Any, Figures] = {}
    calibration: dict[str, Figures] = {}
    for label, model in bench.state.models.items():
        answerable: list[tuple[float, bool]] = []
        for name, questions in sets.items():
            made = readings(model, questions)
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
        fused = best_first(reciprocal_ranks([lexical, dense]), texts)  # as the cascade fuses them
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
    for name, questions in ranking_sets(bench.folder, bench.size.questions).items():
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


def evidence_part(bench: Bench) -> Figures:
    """Answer presence among the best facts for one-hop questions of ConvQuestions, about whose items no training fact is."""
    note("building the knowledge base, retrieving facts ...")
    gathered = gather(bench.folder, bench.kept)
    one_hop = [question for question in gathered.questions if question.one_hop][: bench.size.evidence]
    questions = [
        RankingQuestion.of(own.query, ((fact["evidence_text"], is_right(fact, own.gold)) for fact in own.facts))
        for own in one_hop
    ]
    model, scorer, cuts = bench.state.model, BM25Scorer(QueryExpansion(gathered.properties)), Config().evs_cascade
    ranks = ranks_of(model, bench.state.base, questions, None)
    embeddings = KeptEmbeddings(model.bi_encoder)
    cascade = Cascade(scorer, model.reranker, embeddings, lexical=cuts.lexical, dense=cuts.dense)
    ranks[EXPANDED], ranks[CASCADE] = [], []
    for question, own in zip(questions, one_hop, strict=True):
        order = best_first(scorer.scores(question.query, own.facts), question.texts)
        ranks[EXPANDED].append(first_right(order, question.right))
        ranks[CASCADE].append(first_hit(cascade.rank(own.query, own.facts, CUTS[-1]), own.gold))
    median = statistics.median(len(question.facts) for question in one_hop)
    rows = {system: {f"e={e}": share_within(found, e) for e in CUTS} for system, found in ranks.items()}
    title = f"one-hop questions: answers among the best e of {median:.0f} facts (median)"
    columns = {f"e={e}": (f"e={e}", "{:.1%}") for e in CUTS}
    bench.compare(title, ("n", "system"), columns, {str(len(one_hop)): rows})
    return rows


def _named(groups: dict[Any, Figures]) -> Figures:
    return {
        ", ".join((*group, *([row] if isinstance(row, str) else row))): figures
        for group, rows in groups.items()
        for row, figures in rows.items()
    }


# -- decisions and types -----------------------------------------------------------------------------------------------


def decision_part(bench: Bench) -> Figures:
    """Accuracy of yes or no on held-out questions of BoolQ, and of three verdicts on statements of InfoTabS (dev)."""
    most = DECIDED * bench.size.questions
    boolq = [
        own for own in boolq_questions(bench.folder) if part_of("boolq", own.key) == "dev" and not chooses(own.key)
    ]
    questions, statements = sample(boolq, most), sample(infotabs_statements(bench.folder, "dev"), most)
    yes = np.array([question.yes for question in questions])
    reader = YesNoReader(bench.state.model.folder)
    figures = {}
    for name, values in probabilities(reader, questions).items():
        right = np.where(yes, values, 1 - values).clip(1e-6, 1)
        figures[name] = {"accuracy": ((values > 0.5) == yes).mean(), "log loss": float(-np.log(right).mean())}
    columns = {name: (name, "{:.3f}") for name in ("accuracy", "log loss")}
    bench.compare(f"yes or no, {len(questions)} questions of BoolQ", ("decided by",), columns, {(): figures})
    gold = thirds(np.array([statement.yes for statement in statements]))
    ways = probabilities(reader, statements)
    verdicts = {name: {"accuracy": (thirds(values) == gold).mean()} for name, values in ways.items()}
    title = f"yes, no or not said, {len(statements)} statements of InfoTabS (dev) on four attributes"
    bench.compare(title, ("decided by",), columns, {(): verdicts})
    return {"questions": len(questions), **figures, "statements": len(statements), "verdicts": verdicts}


def probabilities(reader: YesNoReader, questions: Sequence[Decided]) -> dict[str, np.ndarray]:
    """[n] probability of yes by each way to decide."""
    pairs = [(question.question, question.passage) for question in questions]
    return {
        "the more frequent answer": np.full(len(questions), np.mean([question.yes for question in questions])),
        "the head, whole passage": np.array(reader.probabilities(pairs)),
    }


def types_part(bench: Bench) -> Figures:
    """Which questions' answers are of the likeliest class, and of the type that the word lists expect."""
    typed = typed_questions(bench.folder, bench.kept)
    held_out = [question for question in typed.questions if question.part == "dev" and question.known]
    questions = sample(held_out, TYPED * bench.size.questions)
    reader = AnswerTypeReader(bench.state.model.folder)
    is_verb_first = [begins_with_verb(question) for question in questions]
    chances = reader.probabilities([question.text for question in questions], is_verb_first)
    names, labels = list(reader.classes.names), known_labels(bench.folder, bench.kept)
    right = [own.classes.get(names[top], 0) > 0 for own, top in zip(questions, chances.argmax(axis=1), strict=True)]
    by_lists = [_word_lists_are_right(question, labels) for question in questions]
    rows: Figures = {}
    for group in ("all", *sorted({question.source for question in questions})):
        places = [row for row, question in enumerate(questions) if group in ("all", question.source)]
        shares = (np.mean([flags[place] for place in places]) for flags in (right, by_lists))
        rows[group] = dict(zip(("n", "head", "word lists"), (len(places), *shares), strict=True))
    columns = {"n": ("n", "{}"), **{name: (name, "{:.3f}") for name in ("head", "word lists")}}
    bench.compare(f"answer types, {len(questions)} questions of other templates", ("questions",), columns, {(): rows})
    return {**rows, "calibration error": calibration_error(chances.max(axis=1), right)}


def _word_lists_are_right(question: TypedQuestion, labels: Callable[[str], Sequence[str]]) -> bool:
    language = english().answer_types
    expected = language.expected_type(question.text)
    if expected.kind == "yesno":
        return YES_NO in question.classes
    fits = (language.fit(expected, answer, labels(answer)) for answer in question.answers)
    return expected.kind != "any" and any(fit >= 0.5 for fit in fits)


_PARTS: dict[str, Callable[[Bench], Figures]] = {
    "reading": reading_part, "articles": articles_part, "ranking": ranking_part, "evidence": evidence_part,
    "decisions": decision_part, "types": types_part,
}  # fmt: skip
_OPTIONS = {
    "--model": {"default": "snapshot:model", "metavar": "DIR", "help": "a joint model (default: %(default)s)"},
    "--against": {"metavar": "DIR", "help": "another joint model, read and ranked with in the same tables"},
}
_SIZES = (Size(10, 4), Size(200, 40), Size(500, 1000))
SPEC = Spec("model", __doc__, _PARTS, _SIZES, options=_OPTIONS, prepare=Setup)

if __name__ == "__main__":
    run(SPEC)
