"""Who bears a name."""

import pytest
from asked_turns import asked_of, meant, thing
from literal_evidence import evidence

from convinse.heterogeneous_answering.operations import bearers, operated

BOWIE = thing("David Bowie")
PAGE = evidence("David Bowie, He called himself ZIGGY STARDUST.", "text")
OTHER = evidence("David Bowie, He was born in London.", "text")


def named(question, words="Ziggy Stardust", *entities):
    own = meant(*(entities or (BOWIE,)), candidates=[(BOWIE, words)])
    return asked_of(question, OTHER, PAGE, representation=own)


@pytest.mark.parametrize(
    "question",
    [
        "Who was Ziggy Stardust in real life?",
        "Who was Ziggy Stardust?",
        "Who was called Ziggy Stardust?",
        "ziggy stardust?",
    ],
)
def test_who_bears_a_name_is_the_item_of_that_name(question):
    asked = named(question)
    (answer,) = bearers(asked)
    assert answer.entity == BOWIE and answer.score == 1.0 and answer.reasons == ("name",)
    assert answer.places == (1,)  # of the evidence that has the name
    trust, (again,) = operated(asked)
    assert 0.5 < trust < 1 and again == answer


@pytest.mark.parametrize(
    "question",
    ["Who produced Ziggy Stardust?", "When was Ziggy Stardust born?", "Who was Ziggy Stardust's wife in real life?"],
)
def test_a_question_for_something_else_is_not_for_the_bearer(question):
    assert bearers(named(question)) == []


def test_an_item_that_is_called_by_its_label_is_no_answer():
    assert bearers(named("Who was Bowie in real life?", "Bowie")) == []
    assert bearers(asked_of("Who was Ziggy Stardust?", PAGE, representation=meant(BOWIE))) == []
    assert bearers(asked_of("Who was Ziggy Stardust?", PAGE)) == []


def test_several_that_bear_a_name_share_it():
    king, jordan = thing("Elvis Presley"), thing("Michael Jordan")
    own = meant(king, jordan, candidates=[(king, "the King"), (jordan, "the King")])
    answers = bearers(asked_of("Who was the King?", representation=own))
    assert [(answer.entity, answer.score) for answer in answers] == [(king, 0.5), (jordan, 0.5)]
    own["candidates"][1]["question_word"] = "His Airness"
    assert len(bearers(asked_of("Who was the King?", representation=own))) == 1
    assert (
        bearers(asked_of("Who was the King, His Airness?", representation=own)) == []
    )  # more than one name is asked for
