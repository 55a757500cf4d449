"""Representations as fields and as a string; strings with their slots are in tests/cases/slots.yml."""

from case_tables import each_case
from convinse.records.representation import (
    answer_type_of,
    certain,
    question_entities,
    read_slots,
    render,
    without_answer_type,
)

TITANIC, CAMERON = {"id": "Q44578", "label": "Titanic"}, {"id": "Q42574", "label": "James Cameron"}
FIELDS = {"context": [TITANIC], "entities": [CAMERON], "predicate": "born", "answer_type": "date"}


def candidate(item, word, rank=0):
    return {"item": item, "question_word": word, "score": 0.5, "rank": rank}


def test_the_string_is_a_rendering_of_the_fields():
    assert render(FIELDS, " || ") == "Titanic || James Cameron || born || date"
    fields = {**FIELDS, "context": [], "entities": [CAMERON, TITANIC]}
    assert render(fields, "##") == "##James Cameron, Titanic##born##date"


def test_a_name_of_several_items_stays_as_it_was_written():
    ship = {"id": "Q25173", "label": "RMS Titanic"}
    candidates = [candidate(CAMERON, "cameron"), candidate(TITANIC, "the titanic"), candidate(ship, "the titanic", 1)]
    assert render({**FIELDS, "candidates": candidates}, " || ") == "the titanic || James Cameron || born || date"


@each_case("slots", "representation")
def test_slots_of_a_string(case):
    assert read_slots(case["representation"], " || ") == (case["slots"] or [])


def test_the_answer_type_names_nothing():
    text = "Titanic || James Cameron || born || yes or no"
    assert without_answer_type(text, " || ") == "Titanic | James Cameron | born"
    assert without_answer_type("Titanic || James Cameron", " || ") == "Titanic || James Cameron"


def test_the_answer_type_is_the_field_or_the_last_slot():
    text = "a || b || c || place"
    assert answer_type_of({"representation": FIELDS, "structured_representation": text}, " || ") == "date"
    assert answer_type_of({"structured_representation": text}, " || ") == "place"
    assert answer_type_of({"structured_representation": "Where was he born?"}, " || ") is None
    assert answer_type_of({}, " || ") is None


def test_the_items_of_a_representation_as_clocq_lists_them():
    listed = question_entities(FIELDS)
    expected = [(CAMERON, "James Cameron", 0), (TITANIC, "Titanic", 0)]
    assert [(entity["item"], entity["question_word"], entity["rank"]) for entity in listed] == expected
    candidates = [candidate(TITANIC, "titanic")]
    assert question_entities({**FIELDS, "candidates": candidates}) == candidates
    assert len(certain(TITANIC, TITANIC)) == 1
