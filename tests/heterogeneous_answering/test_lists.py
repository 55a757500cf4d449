import pytest
from asked_turns import knowledge_over, question_of, representation_of, thing
from literal_evidence import evidence, fact, item_id

from convinse.heterogeneous_answering.finding import find_candidates
from convinse.heterogeneous_answering.lists import with_list
from convinse.heterogeneous_answering.ranked_answers import AnswerCandidate

KNOWLEDGE = knowledge_over([("P527", "has part", ["members"]), ("P264", "record label", [])])
BAND = [fact("The Trio", "has part", name) for name in ("Ann", "Bob", "Cat")]
LABEL = fact("The Trio", "record label", "Disco")
SENTENCE = evidence("The Trio, Its fans are Dan and Eve.", "text", ("Dan", item_id("Dan")), ("Eve", item_id("Eve")))


def answered(text, scores, said=()):
    """The labels of the ranked answers, and of those that are listed."""
    question = question_of(text, *BAND, LABEL, SENTENCE, knowledge=KNOWLEDGE, representation=representation_of(thing("The Trio")),
                           history_answers=[thing(name) for name in said])  # fmt: skip
    candidates = find_candidates(question)
    ranked = [AnswerCandidate(thing(name), score, (), ()) for name, score in scores.items()]
    ranked = with_list(question, candidates, ranked)
    return [answer.entity["label"] for answer in ranked], [
        answer.entity["label"] for answer in ranked if answer.is_listed
    ]


SCORES = {"Ann": 0.4, "Disco": 0.3, "Bob": 0.2, "Cat": 0.001, "Dan": 0.1, "Eve": 0.05}


@pytest.mark.parametrize(
    ("text", "listed"),
    [
        ("Who are its members?", ["Ann", "Bob"]),  # Cat is too improbable
        ("Who is its first member?", []),
        ("Who were the members of The Trio?", ["Ann", "Bob"]),
        ("show me the members of The Trio", ["Ann", "Bob"]),
        ("and its members", ["Ann", "Bob"]),
        ("what is the line-up of The Trio", ["Ann", "Bob"]),
        ("show me the first member of The Trio", []),
    ],
)
def test_values_of_the_same_property_are_listed(text, listed):
    ranked, marked = answered(text, SCORES)
    assert marked == listed and ranked[: len(listed)] == listed
    assert sorted(ranked) == sorted(SCORES)


def test_names_of_a_sentence_are_listed():
    assert answered("Who are its fans?", {"Dan": 0.5, "Ann": 0.2, "Eve": 0.2})[1] == ["Dan", "Eve"]


@pytest.mark.parametrize(("text", "listed"), [("And the others?", ["Bob", "Cat"]), ("Who else?", ["Bob", "Cat"])])
def test_others_are_those_that_were_not_said(text, listed):
    scores = {"Ann": 0.6, "Bob": 0.2, "Cat": 0.15}
    ranked, marked = answered(text, scores, said=["Ann"])
    assert ranked == listed and marked == listed


def test_what_stands_beside_those_who_were_said_is_no_other():
    parts = [fact("Alien", "has part", name, "role", part) for name, part in (("Ann", "Ripley"), ("Bob", "Ash"))]
    question = question_of(
        "Who was in it besides Ann?", *parts, knowledge=KNOWLEDGE, representation=representation_of(thing("Alien"))
    )
    ranked = [AnswerCandidate(thing(name), 0.2, (), ()) for name in ("Ripley", "Ann", "Bob", "Ash")]
    others = with_list(question, find_candidates(question), ranked)
    assert [answer.entity["label"] for answer in others] == ["Bob", "Ash"]


def test_a_single_answer_is_no_list():
    assert answered("Which labels did it have?", {"Disco": 0.9, "Ann": 0.1}) == (["Disco", "Ann"], [])
    assert answered("Who else?", {}) == ([], [])
