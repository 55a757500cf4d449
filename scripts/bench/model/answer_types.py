"""The part of `bench model` on what kind of answer a question asks for."""

from __future__ import annotations

from convinse.encoder.answer_classes import has_answer_type
from recipes.embedded.answer_classes import known_labels, typed_questions
from recipes.embedded.answer_type import begins_with_verb, measured

from ..harness import Bench, Figures
from .sets import SEED, sample

TYPED = 20  # times as many questions as of other sets: they are short
_SHOWN = {"n": ("n", "{:.0f}"), **{name: (name, "{:.3f}") for name in ("head", "word lists", "told", "of told")}}


def types_part(bench: Bench) -> Figures:
    """Which questions' answers are of the likeliest class, and of the type that the word lists expect."""
    model = bench.state.model
    if not has_answer_type(model.folder):
        bench.console.print("the model has no answer type head")
        return {}
    typed = typed_questions(bench.folder, bench.kept)
    held_out = [question for question in typed.questions if question.part == "dev" and question.known]
    questions = sample(held_out, TYPED * bench.size.questions, SEED)
    texts, verb_first = (
        [question.text for question in questions],
        [begins_with_verb(question) for question in questions],
    )
    chances = model.answer_type.probabilities(texts, verb_first)
    names = list(model.answer_type.classes.names)
    rows, error = measured(questions, chances, names, known_labels(bench.folder, bench.kept))
    title = f"answer types, {len(questions)} questions of other templates"
    bench.compare(title, ("questions",), _SHOWN, {(): rows})
    bench.console.print(f"expected calibration error of the likeliest class: {error:.3f}")
    return {**rows, "calibration error": error}
