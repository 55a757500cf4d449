"""Yes or no on BoolQ's held-out questions: by the more frequent answer, by words, by the model's head, by both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.model.reading import sentences
from bench.model.sets import SEED, sample
from bench.model.setup import Bench, counted, table_of
from convinse.encoder.yes_no_reader import has_yes_no
from convinse.heterogeneous_answering.yes_no import decide
from convinse.language.property_names import PropertyNames
from recipes.embedded.negatives import part_of
from recipes.embedded.ranking_sets import Decided, boolq_questions

if TYPE_CHECKING:
    from convinse.records.evidence import Evidence

DECIDED = 4  # times as many questions as of other sets: an answer of two tells little
_PORTION = 64  # questions between two signs of progress
FREQUENT, WORDS, HEAD, BOTH = "the more frequent answer", "words", "the head, whole passage", "words and the head"


def decision_part(bench: Bench) -> None:
    """Accuracy and log loss."""
    held_out = [one for one in boolq_questions(bench.folder) if part_of("boolq", one.key) == "dev"]
    questions = sample(held_out, DECIDED * bench.size.questions, SEED)
    found = probabilities(bench, questions)
    yes = np.array([one.yes for one in questions])
    table = table_of(f"yes or no, {len(questions)} questions of BoolQ", ("decided by", "accuracy", "log loss"), 1)
    rows: dict[str, Any] = {}
    for name, values in found.items():
        rows[name] = decision_scores(values, yes)
        table.add_row(name, f"{rows[name]['accuracy']:.3f}", f"{rows[name]['log loss']:.3f}")
    bench.console.print(table)
    if HEAD in rows:
        bench.want(
            "yes or no: accuracy (the more frequent answer's)", rows[HEAD]["accuracy"], rows[FREQUENT]["accuracy"]
        )
    bench.figures["yes_no"] = {"questions": len(questions), **rows}


def probabilities(bench: Bench, questions: Sequence[Decided]) -> dict[str, np.ndarray]:
    """[n] probability of yes by each way to decide; by the head where the model has one."""
    share = np.mean([one.yes for one in questions])
    names, texts = PropertyNames([]), [[_evidence(text) for text in sentences(one.passage)] for one in questions]
    found = {
        FREQUENT: np.full(len(questions), share),
        WORDS: np.array([decide(one.question, own, names).yes for one, own in zip(questions, texts, strict=True)]),
    }
    if not has_yes_no(bench.model.folder):
        bench.console.print("the model has no yes/no head")
        return found
    head, both = [], []
    with counted("yes or no", len(questions)) as advance:
        for start in range(0, len(questions), _PORTION):
            portion = questions[start : start + _PORTION]
            head += bench.model.yes_no.probabilities([(one.question, one.passage) for one in portion]).tolist()
            for one, own in zip(portion, texts[start : start + _PORTION], strict=True):
                both.append(
                    decide(
                        one.question, own, names, lambda q, t: float(bench.model.yes_no.probabilities([(q, t)])[0])
                    ).yes
                )
            advance(len(portion))
    return {**found, HEAD: np.array(head), BOTH: np.array(both)}


def decision_scores(values: np.ndarray, yes: np.ndarray) -> dict[str, float]:
    """Accuracy and log loss of probabilities [n] of yes."""
    right = np.where(yes, values, 1 - values).clip(1e-6, 1)
    return {"accuracy": float(((values > 0.5) == yes).mean()), "log loss": float(-np.log(right).mean())}


def _evidence(text: str) -> Evidence:
    return {"evidence_text": text, "source": "text", "disambiguations": [], "wikidata_entities": []}
