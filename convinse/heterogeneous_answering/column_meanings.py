"""The column of a table that a question asks for in other words than its header: "boss" of "Manager", "address" of "Street"."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

import numpy as np

from ..language.text import fold
from ..records.literals import is_document_item
from .question import Question
from .ranked_answers import AnswerCandidate
from .tables import Column, Table

# Of the cosines of a question without its name and of headers, and of "none of these": learnt from 371 questions of SimpleQuestions that have
# no word of the property that they ask for (`recipes.column_meanings`)
_SCALE, _NONE = 15.6, 6.5
_LEAST = 0.6  # probability of a column
_ALIKE = 0.3  # cosine of a question and a header: nine of ten of those questions have more with their property, one of six with another
_NAME = "it"  # stands for what a question names
_WORD = re.compile(r"[\w'’-]+")


def column_by_meaning(question: Question, table: Table, row: int, matched: AbstractSet[str]) -> Column | None:
    """Return the column whose header means what a question asks for, of those with the expected kind of value; None if none does.

    Args:
        question: that has no word of a header.
        table: of a document.
        row: that the question selects.
        matched: the words of the question that select it.
    """
    words = question.language.properties.keywords(question.in_full)
    if table.pairs or not is_document_item(table.rows[row]["page"]) or words & table.headers:
        return None
    name = table.name_column.cells[row] if table.name_column else None
    if name is None or not matched <= question.language.properties.keywords(name["text"]):
        return None  # a person in another column has not what the row has
    others = [column for column in table.columns if column.keywords and _may_answer(question, column, row, matched)]
    vectors = question.embed([_without_names(question, matched), *(column.header for column in others)])
    if vectors is None or not others:
        return None
    scores = np.append(_SCALE * (vectors[1:] @ vectors[0]), _NONE)
    chances = np.exp(scores - scores.max())
    best = int(chances[:-1].argmax())
    return others[best] if chances[best] >= _LEAST * chances.sum() else None


def _may_answer(question: Question, column: Column, row: int, matched: AbstractSet[str]) -> bool:
    """Return True if a column does not have the name in a question, and its cells are of the kind that the question asks for."""
    types, cell = question.language.answer_types, column.cells[row]
    if cell is not None and not question.language.properties.keywords(cell["text"]).isdisjoint(matched):
        return False
    kind = types.expected_type(question.in_full).kind
    if not any(map(str.isalpha, column.header)):  # a year
        return False
    if kind == "date":  # "Date" says nothing of what happened
        words = {*fold(column.header).split()}
        return (column.is_dated or column.is_timed) and not words <= types.date_nouns
    if kind == "number":
        return not column.is_dated and all(any(map(str.isdigit, text)) for text in column.texts)
    if kind == "person":
        return column.may_be_people
    return kind != "place" or column.order is None


def is_of_other_column(question: Question, best: AnswerCandidate) -> bool:
    """Return True if a reader found an answer in a cell of a file whose header means something else: "How tall is Mia?" of a shoe size."""
    if best.reasons[:1] != ("reader",) or not best.places:
        return False
    read, keywords = question.evidences[best.places[0]], question.language.properties.keywords
    words, answer = keywords(question.in_full), keywords(best.entity["label"])
    if not read.is_of_document or "row" not in read.evidence or not answer:
        return False
    name, *others = read.evidence["row"]["cells"]
    cell = next((cell for cell in others if answer <= keywords(cell["text"])), None)
    is_for_value = question.language.answer_types.expected_type(question.in_full).kind in ("date", "number", "place")
    if cell is None and is_for_value and answer <= keywords(name["text"]):
        cell = name
    if cell is None or not keywords(cell["header"]).isdisjoint(words):
        return False
    named = frozenset[str]().union(*(keywords(each["text"]) for each in (name, *others) if each is not cell))
    if named.isdisjoint(words):  # the row is not asked for by a name
        return False
    text, least = _without_names(question, named), _ALIKE
    if question.language.answer_types.expected_type(text).kind == "person":
        # "who has the cellar key?" says little of a column "Held by"; "who is the wife of Rolf Meier?" does not ask for his manager
        if not question.language.steps.identifying.match(text):
            return False
        least = _NONE / _SCALE
    vectors = question.embed([text, cell["header"]])
    return vectors is not None and float(vectors[1] @ vectors[0]) < least


def _without_names(question: Question, matched: AbstractSet[str]) -> str:
    """Return a question with a pronoun for the words that select a row."""
    keyword = question.language.properties.keyword
    words = [_NAME if keyword(fold(word)) in matched else word for word in _WORD.findall(question.in_full)]
    return " ".join(word for place, word in enumerate(words) if word != _NAME or words[place - 1 : place] != [_NAME])
