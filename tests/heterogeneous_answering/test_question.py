import pytest
from asked_turns import knowledge_over, question_of, representation_of, thing
from literal_evidence import attribute, fact

from case_tables import each_case
from convinse.heterogeneous_answering.question import questions_of
from convinse.language.answer_types import AnswerType
from evidences import evidence as plain

KNOWLEDGE = knowledge_over(
    [("P1", "cast member", ["starring", "played"])], {"Q1": ("human",), "Q2": ("film genre",), "Q3": ("film",)}
)
SLOTS = "a film || Titanic || opened || date"


def fields(answer_type):
    return {**representation_of(thing("Titanic", "Q3")), "answer_type": answer_type}


@pytest.mark.parametrize(
    ("text", "more", "kind", "in_full", "spoken"),
    [
        ("Who was it?", {}, "person", "Who was it?", "Who was it?"),
        ("And?", {"structured_representation": SLOTS}, "date", "a film | Titanic | opened", SLOTS),
        ("And?", {"structured_representation": SLOTS, "resolved_question": "When did it open?"}, "date",
         "When did it open?", "When did it open?"),
        ("And?", {"structured_representation": SLOTS, "representation": fields("number")}, "number",
         "a film | Titanic | opened", SLOTS),
        ("Who?", {"structured_representation": SLOTS, "representation": fields("")}, "any", "a film | Titanic | opened", SLOTS),
    ],
)  # fmt: skip
def test_the_type_and_the_words_of_a_question(text, more, kind, in_full, spoken):
    question = question_of(text, **more)
    assert (question.text, question.expected.kind, question.in_full, question.spoken) == (text, kind, in_full, spoken)


class Typing:
    """A model that expects one type of answer of every question, and notes the questions."""

    def __init__(self, kind):
        self.expected, self.calls = AnswerType(kind), []

    def likely(self, questions):
        self.calls.append(list(questions))
        return [self] * len(questions)

    def fit(self, entity_id):
        return 0.4

    def fit_of_name(self, is_number):
        return 0.35 if is_number else 0.3


def test_the_answer_type_head_reads_all_questions_at_once_and_tells_what_fits():
    typing = Typing("number")
    turns = [
        {"question": "And?", "resolved_question": "When did it open?", "top_evidences": []},
        {"question": "Who?", "top_evidences": []},
    ]
    first, second = questions_of(turns, knowledge_over(typing=typing))
    assert typing.calls == [[("And?", "When did it open?"), ("Who?", "Who?")]]
    assert first.expected.kind == second.expected.kind == "number"
    assert first.fit(thing("Kate Winslet", "Q1")) == 0.4 and first.fit(thing("Franz John", "Franz John")) == 0.3


@each_case("fits", "question")
def test_an_entity_fits_the_expected_type(case):
    question = question_of(case["question"], knowledge=KNOWLEDGE)
    assert question.fit(thing(case["label"], case["id"])) == pytest.approx(case["fit"])


@pytest.mark.parametrize(
    ("text", "full", "is_year"),
    [
        ("In which year did it open?", "", True),
        ("When did it open?", "", False),
        ("And Titanic?", "In which year did Titanic open?", True),
    ],
)
def test_a_year_is_asked_for(text, full, is_year):
    more = {"structured_representation": SLOTS, "resolved_question": full} if full else {}
    day, year = "1997-12-19T00:00:00Z", "1997-01-01T00:00:00Z"
    shortened = question_of(text, **more).as_asked
    for name, expected in ((day, year if is_year else day), (year, year), ("7", "7"), ("Q7", "Q7")):
        assert shortened({"id": name, "label": name})["id"] == expected


def test_a_question_is_about_the_items_of_its_representation_else_of_its_evidences():
    titanic, jaws = thing("Titanic"), thing("Jaws")
    found = plain("x", retrieved_for_entity=jaws)
    question = question_of(
        "And it?", found, representation=representation_of(titanic, context=[jaws], unlinked=["Bo Bix"])
    )
    assert (list(question.about), list(question.unlinked)) == ([titanic, jaws], ["Bo Bix"])
    bare = question_of("And it?", found)
    assert (list(bare.about), list(bare.unlinked)) == ([jaws], [])


def test_evidences_without_structure_get_it_and_with_it_keep_it():
    evidences = [fact("Titanic", "cast member", "Kate Winslet"), attribute("Titanic", ["Running time"], "194 minutes")]
    bare = plain("Titanic, Cast, Name is Ann", "table", ("Ann", "Q5"))
    *read, plain_row = [read.evidence for read in question_of("Who?", *evidences, bare).evidences]
    assert read == evidences and plain_row["row"]["cells"][0]["text"] == "Ann"
    assert "row" not in bare


@pytest.mark.parametrize(("number", "is_at_hand"), [(1, True), (2, False)])
def test_a_row_is_asked_about_if_it_is_among_the_evidences(number, is_at_hand):
    row = {"page": "Q3", "table": 0, "number": number, "caption": "", "section": "", "cells": []}
    representation = {**fields("any"), "row": row}
    evidences = [{**plain("Films, Year is 1997"), "row": {**row, "number": 1}}]
    question = question_of("and the next one?", *evidences, representation=representation)
    assert (question.row is not None) == is_at_hand
