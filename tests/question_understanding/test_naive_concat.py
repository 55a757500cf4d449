import pytest

from convinse.config import parse_config
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
    """The representation of a question, and the notes of what it was made of."""
    turn = {"question": "And where?", "answers": [{"id": "Q9", "label": "SECRET"}]}
    made = variant(parse_config({})).inference_on_turn(turn, history)
    return made["structured_representation"], [
        (part["turn"], part["part"], part["text"]) for part in made["history_used"]
    ]


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
    for turns, kept in enumerate(places):
        text = " ".join([*(part for place in kept for part in PARTS[place]), "And where?"])
        for history, first in ((HISTORY[:turns], 0), (numbered[:turns], 5)):  # without numbers places count
            notes = [
                (first + place, *note)
                for place in kept
                for note in zip(("question", "answer"), PARTS[place], strict=True)
            ]
            assert represent(variant, history) == (text, notes)


@pytest.mark.parametrize("answers", [{}, {"answers": []}])
def test_an_unanswered_turn_gives_its_question(answers):
    assert represent(NcAll, [{"question": "Who?", **answers}]) == ("Who? And where?", [(0, "question", "Who?")])
