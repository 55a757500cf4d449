"""Half sentences and references over the embedded world, with its pages: what is asked, and about what."""

import pytest

from convinse.config import load_config
from convinse.question_understanding.base import found_about, history_turn
from convinse.question_understanding.slots import Slots
from convinse.resources import Resources
from histories import play


@pytest.fixture(scope="module")
def slots(tmp_path_factory):
    cache = tmp_path_factory.mktemp("cache")
    with Resources(load_config("lexical.yml", ers_cache_path=str(cache))) as resources:
        yield Slots(resources.config, resources)


def understood(slots, *turns):
    """The last turn; of each earlier one the question and an answer that is no item."""
    return play(slots, *[(question, *[(answer, answer) for answer in answers]) for question, *answers in turns])[0]


BUTCH = ("Who was Butch in Pulp Fiction?", "Bruce Willis")


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        ([BUTCH, ("and mia?",)], "Who was mia in Pulp Fiction?"),  # not the singer M.I.A.
        ([BUTCH, ("What did it cost?", "much"), ("and mia?",)], "Who was mia in Pulp Fiction?"),
        ([("whose song is Whiskey in the Jar, the one Metallica covered", "Thin Lizzy"), ("and Turn the Page?",)],
         "Whose song is Turn the Page, the one Metallica covered"),
        ([("How many episodes did season two of Breaking Bad have?", "13"), ("and the first?",)],
         "How many episodes did the first season of Breaking Bad have?"),
        ([("who wrote the sherlock episode the great game", "Mark Gatiss"), ("and The Reichenbach Fall?", "Steve Thompson"),
          ("who directed that one",)], "Who directed Reichenbach Fall (Sherlock)"),
        ([("against whom did real madrid win the final of 1998", "Juventus"), ("and two years later?",)],
         "Against whom did real madrid win the final in 2000 (Real Madrid FC)"),
    ],
)  # fmt: skip
def test_the_question_in_full(slots, turns, expected):
    assert understood(slots, *turns)["resolved_question"] == expected


def test_the_old_name_is_gone_from_the_predicate(slots):
    assert understood(slots, BUTCH, ("and mia?",))["representation"]["predicate"] == "mia"


def test_a_page_that_tells_of_a_name_keeps_the_topic(slots):
    turn = understood(
        slots, ("Who was Audrey Horne in Twin Peaks?", "Sherilyn Fenn"), ("What did Diane Keaton direct?",)
    )
    assert [item["label"] for item in turn["representation"]["context"]] == ["Twin Peaks"]


def test_what_has_no_page_is_looked_up_on_that_of_its_namesake(slots):
    meant = understood(slots, ("who was tom joad in the 1940 film of the grapes of wrath",))["representation"]
    assert [item["id"] for item in meant["entities"]] == ["Q676039"]  # the film
    assert {named["item"]["id"] for named in meant["candidates"]} == {"Q676039", "Q215983"}  # and the book


@pytest.mark.parametrize(
    ("turns", "unplaced"),
    [
        ([BUTCH, ("And for the rest?",)], ["for the rest?"]),
        ([BUTCH, ("And in The Godfather?",)], None),
        ([("Who did she marry?",)], ["she"]),
        ([("Who directed Titanic?",), ("When did she die?",)], ["she"]),
        ([("Where was Jodie Foster born?", "there"), ("When did she begin?",)], None),
    ],
)
def test_words_without_a_meaning_are_told(slots, turns, unplaced):
    assert understood(slots, *turns)["representation"].get("unplaced") == unplaced


def test_where_nothing_was_linked_later_turns_are_about_what_was_found():
    item = {"id": "Q631", "label": "Inter Milan"}
    turn = {
        "question": "who beat inter",
        "representation": {"context": [], "entities": [], "predicate": "beat", "answer_type": ""},
        "pred_answers": [{"answer": {"id": "Q1", "label": "one"}, "score": 0.9, "rank": 1, "evidences": [1, 0]}],
        "top_evidences": [{"evidence_text": "none"}, {"evidence_text": "one", "retrieved_for_entity": item}],
    }
    assert history_turn(turn, use_gold_answers=False)["representation"]["entities"] == [item]
    assert history_turn(turn, use_gold_answers=True)["representation"]["entities"] == []
    assert turn["representation"]["entities"] == []  # stays as it was
    assert found_about({**turn, "abstained": {"reason": "unsure"}}) == []
    assert found_about({**turn, "pred_answers": []}) == []
    named = {**turn, "representation": {**turn["representation"], "entities": [{"id": "Q2", "label": "two"}]}}
    assert history_turn(named, use_gold_answers=False)["representation"]["entities"] == [{"id": "Q2", "label": "two"}]
