"""The notes of which parts of the history a representation was made of."""

import pytest

from convinse.language.language import english
from convinse.question_understanding.history import parts_with_words

HISTORY = [
    {"turn": 0, "question": "Who directed Inception?", "answers": [{"id": "Q25191", "label": "Christopher Nolan"}]},
    {"turn": 1, "question": "Who starred in it?", "answers": [{"id": "Q38111", "label": "Leonardo DiCaprio"}]},
    {"turn": 2, "question": "And when?", "answers": []},
]


def part(turn, kind, text, **more):
    return {"turn": turn, "part": kind, "text": text, **more}


ANSWERED = [
    {"turn": 3, "question": "Who?", "answers": [{"id": f"Q{name}", "label": name} for name in ("Ann Lee", "Bo Ray")]}
]


@pytest.mark.parametrize(
    ("representation", "question", "history", "parts"),
    [
        ("Inception || Leonardo DiCaprio || born", "When was he born?", HISTORY,
         [part(0, "question", "Inception"), part(1, "answer", "Leonardo DiCaprio")]),
        ("Inception || released", "When was Inception released?", HISTORY, []),  # words of its own
        ("starring", "And those?", HISTORY, [part(1, "question", "starred")]),  # a form of the same word
        ("Bo Ray || born", "When born?", ANSWERED, [part(3, "answer", "Bo Ray")]),  # of several answers
        ("who in it", "And?", HISTORY, []),  # stop words say nothing
    ],
)  # fmt: skip
def test_words_that_the_question_lacks_come_from_the_history(representation, question, history, parts):
    assert parts_with_words(representation, question, history, english().words) == parts
