"""Tells answers from a column of a file that means something else than a question asks for: a shoe size for "How tall is Mia?"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from ...language.text import fold
from ...records.evidence import Cell
from ...records.literals import is_date
from ...records.units import quantity_of
from ...records.written_values import day_in
from ..question import Question
from ..ranked_answers import AnswerCandidate
from .columns import Column
from .words import is_of_one_way

# Least cosine of a question and of the header above its answer. Of 371 questions of SimpleQuestions that have no word of their property nine of
# ten are nearer than that to its name, and one of six to the name of another one. On 97 questions over four folders that had no say it leaves
# eight wrong and sure answers unsaid, and two right ones.
_ALIKE = 0.3
# The same for "who is the wife of Rolf?", where many headers name people: seven of ten are nearer to their property, one of twenty to another.
_ALIKE_PERSON = 0.41
_ASKED = 0.35  # of a verb and its column: "does it speak it" and "Languages" have .40, "does it teach it" has .30
# The same for "how fast is it", whose measures have names: "Time" has .49, "Price per day" .43, and "Hours per week" .42 for what it earns.
_ASKED_MEASURE = 0.44
_NAME = "it"  # stands for what a question names
_WORD = re.compile(r"[\w'’-]+")


def is_of_other_column(question: Question, best: AnswerCandidate) -> bool:
    """Return True if a reader found an answer in a cell of a file whose header means something else than the question asks for."""
    if best.reasons[:1] != ("reader",) or not best.places:
        return False
    read, keywords = question.evidences[best.places[0]], question.language.properties.keywords
    words, answer = keywords(question.in_full), keywords(best.entity["label"])
    if not read.is_of_document or "row" not in read.evidence or not answer:
        return False
    name, *others = read.evidence["row"]["cells"]
    cell = next((cell for cell in others if answer <= keywords(cell["text"]) or _is_day(best, cell)), None)
    is_for_value = question.language.answer_types.expected_type(question.in_full).kind in ("date", "number", "place")
    if cell is None and is_for_value and answer <= keywords(name["text"]):
        cell = name
    if cell is None or not keywords(cell["header"]).isdisjoint(words):
        return False
    if is_of_one_way(cell["header"], question):
        return False  # "Out" says little of a meaning
    if quantity_of(cell["header"]) == question.language.literals.quantity(question.in_full) == "money":
        return False  # "Parts (EUR)" for what it costs
    named = frozenset[str]().union(*(keywords(each["text"]) for each in (name, *others) if each is not cell))
    if named.isdisjoint(words):  # the row is not asked for by a name
        return False
    text, least = _without_names(question, named), _ALIKE
    if question.language.answer_types.expected_type(text).kind == "person":
        # "who has the cellar key?" says little of a column "Held by"
        if not question.language.steps.identifying.match(text):
            return False
        least = _ALIKE_PERSON
    vectors = question.embed([text, cell["header"]])
    return vectors is not None and float(vectors[1] @ vectors[0]) < least


def _is_day(answer: AnswerCandidate, cell: Cell) -> bool:
    """Return True if an answer is the day of a cell, written in another way."""
    day = day_in(cell["text"]) if is_date(answer.entity["id"]) else None
    return day is not None and day.entity["id"] == answer.entity["id"]


def meant_column(question: Question, columns: Sequence[Column], named: AbstractSet[str]) -> tuple[Column | None, float]:
    """Return the column that a question means without a word of its header, and their cosine; None for the column if none is near.

    "What does Jan speak?" means "Languages"; `named` are the keywords by which it names a row.
    """
    vectors = question.embed([_without_names(question, named), *(column.header for column in columns)])
    if vectors is None or not columns:
        return None, 0.0
    likeness = vectors[1:] @ vectors[0]
    best = int(likeness.argmax())
    is_for_person = question.language.answer_types.expected_type(question.in_full).kind == "person"
    least = _ALIKE_PERSON if is_for_person else _ASKED
    names_of = question.language.literals.names_of
    if any(len(names_of(word)) > 1 for word in question.language.properties.keywords(question.in_full) - named):
        least = _ASKED_MEASURE
    is_near = likeness[best] >= least
    return (columns[best] if is_near else None), float(likeness[best])


def _without_names(question: Question, matched: AbstractSet[str]) -> str:
    """Return a question with a pronoun for the words that select a row."""
    keyword = question.language.properties.keyword
    words = [_NAME if keyword(fold(word)) in matched else word for word in _WORD.findall(question.in_full)]
    return " ".join(word for place, word in enumerate(words) if word != _NAME or words[place - 1 : place] != [_NAME])
