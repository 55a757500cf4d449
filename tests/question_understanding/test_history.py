"""Parts of the history in a representation: those that naive concatenation puts in, and the notes of what it was made of."""

import pytest

from convinse.config import parse_config
from convinse.language.language import english
from convinse.question_understanding.history import parts_with_words
from convinse.question_understanding.naive_concat import NcAll, NcInit, NcInitPrev, NcPrev

HISTORY = [
    {"question": "Who directed Titanic?", "answers": [{"id": "Q42574", "label": "James Cameron"}]},
    {"question": " When was he born? ", "answers": [{"id": "1954-08-16T00:00:00Z", "label": "16 August 1954"}]},
    {"question": "Which stars?", "answers": [{"id": "Q1", "label": "Leo"}, {"id": "Q2", "label": "Kate"}]},
]
PARTS = [
    ("Who directed Titanic?", "James Cameron"),
    ("When was he born?", "16 August 1954"),
    ("Which stars?", "Leo, Kate"),
]


def represent(variant, history):
    turn = {"question": "And where?", "answers": [{"id": "Q9", "label": "SECRET"}]}
    made = variant(parse_config({})).inference_on_turn(turn, history)
    notes = [(part["turn"], part["part"], part["text"]) for part in made["history_used"]]
    return made["structured_representation"], notes


@pytest.mark.parametrize(
    ("variant", "places"),  # of the turns that are kept, after so many turns
    [
        (NcAll, [(), (0,), (0, 1), (0, 1, 2)]),
        (NcInit, [(), (0,), (0,), (0,)]),
        (NcPrev, [(), (0,), (1,), (2,)]),
        (NcInitPrev, [(), (0,), (0, 1), (0, 2)]),
    ],
)
def test_earlier_questions_and_answers_stand_before_the_question(variant, places):
    numbered = [{"turn": number, **turn} for number, turn in enumerate(HISTORY, 5)]
    for turns, expected in enumerate(places):
        text = " ".join([*(part for place in expected for part in PARTS[place]), "And where?"])
        named = [(place, list(zip(("question", "answer"), PARTS[place], strict=True))) for place in expected]
        for history, first in ((HISTORY[:turns], 0), (numbered[:turns], 5)):  # without numbers places count
            notes = [(first + place, *note) for place, pair in named for note in pair]
            assert represent(variant, history) == (text, notes)


@pytest.mark.parametrize("answers", [{}, {"answers": []}])
def test_an_unanswered_turn_gives_its_question(answers):
    assert represent(NcAll, [{"question": "Who?", **answers}]) == ("Who? And where?", [(0, "question", "Who?")])


ASKED = [
    {"turn": 0, "question": "Who directed Inception?", "answers": [{"id": "Q25191", "label": "Christopher Nolan"}]},
    {"turn": 1, "question": "Who starred in it?", "answers": [{"id": "Q38111", "label": "Leonardo DiCaprio"}]},
    {"turn": 2, "question": "And when?", "answers": []},
]
TWO = [{"turn": 3, "question": "Who?", "answers": [{"id": "Q1", "label": "Ann Lee"}, {"id": "Q2", "label": "Bo Ray"}]}]


@pytest.mark.parametrize(
    ("representation", "question", "history", "parts"),
    [
        ("Inception || Leonardo DiCaprio || born", "When was he born?", ASKED,
         [(0, "question", "Inception"), (1, "answer", "Leonardo DiCaprio")]),
        ("Inception || released", "When was Inception released?", ASKED, []),  # words of its own
        ("starring", "And those?", ASKED, [(1, "question", "starred")]),  # a form of the same word
        ("Bo Ray || born", "When born?", TWO, [(3, "answer", "Bo Ray")]),  # of several answers
        ("who in it", "And?", ASKED, []),  # stop words say nothing
    ],
)  # fmt: skip
def test_words_that_the_question_lacks_come_from_the_history(representation, question, history, parts):
    found = parts_with_words(representation, question, history, english().words)
    assert found == [{"turn": turn, "part": part, "text": text} for turn, part, text in parts]
