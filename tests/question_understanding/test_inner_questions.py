"""The questions inside a question of a conversation: those for the two dates of an age."""

import pytest

from convinse.language.language import english
from convinse.question_understanding.steps import steps_of

CAMERON, TITANIC = {"id": "Q42574", "label": "James Cameron"}, {"id": "Q44578", "label": "Titanic"}
HISTORY = [
    {
        "question": "Who directed it?",
        "resolved_question": "Who directed Titanic?",
        "answers": [CAMERON],
        "representation": {"entities": [TITANIC], "context": [], "predicate": "directed", "answer_type": "person"},
    }
]
AGES = [
    ("how old was James Cameron when Titanic came out", "When did Titanic came out?"),
    ("how old was James Cameron when the film came out?", "When did Titanic came out?"),
    ("how old was James Cameron when it came out", "When did Titanic came out?"),
    ("at what age did James Cameron die?", "When did James Cameron die?"),
    ("how old was James Cameron", "When did James Cameron die?"),
    ("how old was James Cameron then?", "When was Titanic published or released?"),
    ("how old was James Cameron in Titanic?", "When was Titanic published or released?"),
    ("how old was James Cameron in 1997", ""),
    ("how old is James Cameron?", ""),
    ("James Cameron's age at the time of Titanic", "When did Titanic?"),
]


def steps(text, kb, history=HISTORY):
    names = [(text.index(name), text.index(name) + len(name)) for name in ("James Cameron", "Titanic") if name in text]
    return steps_of(text, names, history, kb, english())


@pytest.mark.parametrize(("text", "then"), AGES, ids=[text for text, _ in AGES])
def test_an_age_needs_a_birth_and_a_time(world_kb, text, then):
    born, later = steps(text, world_kb)
    assert born["question"] == "When was James Cameron born?" and (born["use"], later["use"]) == ("born", "then")
    assert later["question"] == then and (then or later["text"] == ("1997" if "1997" in text else ""))


OWNERS = [
    ("how old was Titanic's director when it came out", "When was Titanic's director born?"),
    ("how old was the director of Titanic then", "When was the director of Titanic born?"),
    ("how old was the author at that time (Titanic)?", "When was the author of Titanic born?"),
    ("how old was the lead actress when Titanic came out", "When was the lead actress of Titanic born?"),
    ("at what age did the singer die (Titanic)?", "When was the singer of Titanic born?"),
    ("how old was rolling then (Titanic)", "When was rolling born?"),
    ("how old was it then (Titanic)?", "When was Titanic born?"),
]


@pytest.mark.parametrize(("text", "question"), OWNERS, ids=[text for text, _ in OWNERS])
def test_an_age_may_be_that_of_somebody_described(world_kb, text, question):
    born, later = steps(text, world_kb)
    assert born["question"] == question and (born["use"], later["use"]) == ("born", "then")


@pytest.mark.parametrize("text", ["When was Ice Age released?", "how old is he", "What is the age limit?"])
def test_no_age_is_computed(world_kb, text):
    assert not any("use" in step for step in steps(text, world_kb, []))


def test_what_is_told_before_a_question_has_no_step(world_kb):
    assert steps("Titanic's director was tired. who did he marry", world_kb) == []
    (step,) = steps("it was long. where was Titanic's director born", world_kb)
    assert step["question"] == "Who is Titanic's director?"


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("who had recommended Titanic's director", "Who is Titanic's director?"),
        ("who mentored the director of Titanic", "Who is the director of Titanic?"),
        ("who befriended the man who wrote Titanic", "Who wrote Titanic?"),
        ("who is ed gein", None),
        ("who was mohammed", None),
    ],
)
def test_a_verb_that_no_list_has_is_no_name(world_kb, text, inner):
    assert [step["question"] for step in steps(text, world_kb)] == ([inner] if inner else [])
