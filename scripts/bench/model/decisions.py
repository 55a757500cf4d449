"""Yes or no on BoolQ's held-out questions: by the more frequent answer, by words, by the model's head, by both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from convinse.encoder.yes_no_reader import has_yes_no
from convinse.heterogeneous_answering.yes_no import decide
from convinse.language.language import english
from convinse.language.property_names import PropertyNames
from recipes.embedded.negatives import part_of
from recipes.embedded.ranking_sets import Decided, boolq_questions

from ..harness import Bench, Figures
from .reading import sentences
from .sets import SEED, sample
from .setup import counted

if TYPE_CHECKING:
    from convinse.records.evidence import Evidence

DECIDED = 4  # times as many questions as of other sets: an answer of two tells little
_PORTION = 64  # questions between two signs of progress
FREQUENT, WORDS, HEAD, BOTH = "the more frequent answer", "words", "the head, whole passage", "words and the head"


def decision_part(bench: Bench) -> Figures:
    """Accuracy and log loss."""
    held_out = [row for row in boolq_questions(bench.folder) if part_of("boolq", row.key) == "dev"]
    questions = sample(held_out, DECIDED * bench.state.questions, SEED)
    yes = np.array([row.yes for row in questions])
    figures = {name: decision_scores(values, yes) for name, values in probabilities(bench, questions).items()}
    table = [(name, f"{row['accuracy']:.3f}", f"{row['log loss']:.3f}") for name, row in figures.items()]
    bench.show(f"yes or no, {len(questions)} questions of BoolQ", ("decided by", "accuracy", "log loss"), table)
    if HEAD in figures:
        least = figures[FREQUENT]["accuracy"]
        bench.want("yes or no: accuracy (the more frequent answer's)", figures[HEAD]["accuracy"], least)
    return {"questions": len(questions), **figures}


def probabilities(bench: Bench, questions: Sequence[Decided]) -> dict[str, np.ndarray]:
    """[n] probability of yes by each way to decide; by the head where the model has one."""
    model, names = bench.state.model, PropertyNames([], english().properties)
    texts = [[_evidence(text) for text in sentences(row.passage)] for row in questions]
    ways = {
        FREQUENT: np.full(len(questions), np.mean([row.yes for row in questions])),
        WORDS: np.array(
            [decide(row.question, own, names, english()).yes for row, own in zip(questions, texts, strict=True)]
        ),
    }
    if not has_yes_no(model.folder):
        bench.console.print("the model has no yes/no head")
        return ways

    def probability(question: str, text: str) -> float:
        return float(model.yes_no.probabilities([(question, text)])[0])

    head, both = [], []
    with counted("yes or no", len(questions)) as advance:
        for start in range(0, len(questions), _PORTION):
            portion = questions[start : start + _PORTION]
            head += model.yes_no.probabilities([(row.question, row.passage) for row in portion]).tolist()
            own = zip(portion, texts[start : start + _PORTION], strict=True)
            both += [decide(row.question, evidences, names, english(), probability).yes for row, evidences in own]
            advance(len(portion))
    return {**ways, HEAD: np.array(head), BOTH: np.array(both)}


def decision_scores(values: np.ndarray, yes: np.ndarray) -> dict[str, float]:
    """Accuracy and log loss of probabilities [n] of yes."""
    right = np.where(yes, values, 1 - values).clip(1e-6, 1)
    return {"accuracy": float(((values > 0.5) == yes).mean()), "log loss": float(-np.log(right).mean())}


def _evidence(text: str) -> Evidence:
    return {"evidence_text": text, "source": "text", "disambiguations": [], "wikidata_entities": []}
