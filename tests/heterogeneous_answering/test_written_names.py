import pytest
from asked_turns import knowledge_over, question_of

from case_tables import each_case
from convinse.heterogeneous_answering.written_names import NamesInEvidences
from evidences import evidence

CAMERON, CAMEROON, TITANIC = ("James Cameron", "Q42574"), ("Cameroon", "Q1009"), ("Titanic", "Q44578")
RELEASED = ("19 December 1997", "1997-12-19T00:00:00Z")
EVIDENCES = [
    evidence("Titanic, director, James Cameron", "kb", TITANIC, CAMERON),
    evidence("Titanic was released on 19 December 1997", "text", TITANIC, RELEASED),
    evidence("Jack Dawson travels by ship from Cameroon", "text", CAMEROON),
]


def named(text, *evidences, question="Who?", **more):
    evidences = evidences or EVIDENCES
    return NamesInEvidences(question_of(question, *evidences, **more), range(len(evidences))).named(text)


@each_case("written_names")
def test_a_written_text_names_an_entity_of_the_evidences(case):
    found = named(case["text"])
    if case["id"] is None:
        assert found is None
        return
    assert (found.entity["id"], list(found.places)) == (case["id"], case["places"])
    assert found.score == pytest.approx(case.get("likeness", 1), abs=1e-4)


def test_without_names_only_words_of_the_evidences_count():
    plain = evidence("Jack Dawson drew her", "text")
    assert named("Jack Dawson", plain).entity == {"id": "Jack Dawson", "label": "Jack Dawson"}
    assert named("Rose", plain) is None
    assert NamesInEvidences(question_of("Who?"), []).named("Jack") is None


def test_of_two_things_of_one_name_the_fitting_one_is_meant():
    both = [evidence("Titanic sank", "text", ("Titanic", "Q25173")), evidence("Titanic opened", "text", TITANIC)]
    over = knowledge_over(classes={"Q25173": ("ship",), "Q44578": ("film",)})
    turn = {"structured_representation": "a || b || c || film", "knowledge": over}
    assert named("Titanic", *both, **turn).entity["id"] == "Q44578"
    assert named("Titanic", *both[:1], **turn).entity["id"] == "Q25173"
    ship = {"structured_representation": "a || b || c || ship", "knowledge": over}
    assert named("Titanic", *both[::-1], **ship).entity["id"] == "Q25173"


def test_the_name_with_the_smallest_distance_for_its_length_is_meant():
    both = [evidence("Anna, abcd", "text", ("abcd", "Q1")), evidence("abcdexyz", "text", ("abcdexyz", "Q2"))]
    assert named("abce", *both).entity["id"] == "Q1"  # one edit of four against four of eight
    assert named("abcdezzz", *both).score == 6 / 8
    assert named("azzzz", *both) is None
