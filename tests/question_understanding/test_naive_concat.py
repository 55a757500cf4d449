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
    ("variant", "places"), [(NcAll, (0, 1, 2)), (NcInit, (0,)), (NcPrev, (2,)), (NcInitPrev, (0, 2))]
)
def test_earlier_questions_and_answers_stand_before_the_question(variant, places):
    numbered = [{"turn": number, **turn} for number, turn in enumerate(HISTORY, 5)]
    parts = [(PARTS[place], place) for place in places]
    text = " ".join([*(word for pair, _ in parts for word in pair), "And where?"])
    for history, first in ((HISTORY, 0), (tuple(HISTORY), 0), (numbered, 5)):  # without numbers places count
        notes = [
            (first + place, *note) for pair, place in parts for note in zip(("question", "answer"), pair, strict=True)
        ]
        assert represent(variant, history) == (text, notes)


@pytest.mark.parametrize("variant", [NcAll, NcInit, NcPrev, NcInitPrev])
def test_the_first_two_turns_have_what_is_there_once(variant):
    assert represent(variant, []) == ("And where?", [])
    assert represent(variant, HISTORY[:1])[0] == f"{' '.join(PARTS[0])} And where?"
    two = {NcInit: PARTS[:1], NcPrev: PARTS[1:2]}.get(variant, PARTS[:2])
    assert represent(variant, HISTORY[:2])[0] == " ".join([*(word for pair in two for word in pair), "And where?"])


@pytest.mark.parametrize("answers", [{}, {"answers": []}])
def test_an_unanswered_turn_gives_its_question(answers):
    assert represent(NcAll, [{"question": "Who?", **answers}]) == ("Who? And where?", [(0, "question", "Who?")])
