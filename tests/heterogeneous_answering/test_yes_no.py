"""Yes or no from facts and sentences."""

import pytest
from literal_evidence import ENGLISH

from convinse.heterogeneous_answering.yes_no import decide
from convinse.language.property_names import PropertyNames
from evidences import evidence

NAMES = PropertyNames(
    [
        ("P57", "director", ["directed by", "film director"]),
        ("P58", "screenwriter", ["written by", "writer"]),
        ("P161", "cast member", ["starring", "actor", "film starring"]),
        ("P166", "award received", ["win", "award won", "awards"]),
        ("P449", "original broadcaster", ["network", "channel"]),
        ("P106", "occupation", ["profession"]),
        ("P31", "instance of", ["is a"]),
    ],
    ENGLISH.properties,
)


def fact(*parts):
    """A kb evidence of subject, property, object, qualifier property, qualifier value ..."""
    entities = [(part, f"Q{part.replace(' ', '_')}") for part in dict.fromkeys(parts[::2])]
    return evidence(", ".join(parts), "kb", *entities)


def text(sentence, source="text"):
    return evidence(sentence, source)


def answer(question, *evidences):
    return decide(question, evidences, NAMES, ENGLISH).answers()[0]["answer"]["id"]


DIRECTED = fact("Titanic", "director", "James Cameron")
WROTE = fact("Titanic", "screenwriter", "James Cameron")
JAWS = fact("Jaws", "director", "Steven Spielberg")
AWARD = fact("James Cameron", "award received", "Saturn Award", "for work", "Aliens")


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Did James Cameron direct Titanic?", "Yes"),
        ("Was Steven Spielberg the director of Titanic?", "No"),
        ("Was Titanic directed by Steven Spielberg?", "No"),
        ("Was James Cameron also the writer of Titanic?", "Yes"),
        ("Did James Cameron win the Saturn Award for Aliens?", "Yes"),
        ("Has James Cameron won any awards?", "Yes"),
        ("Has James Cameron won more awards?", "Yes"),
    ],
)
def test_facts_that_hold_or_exclude_what_is_asked(question, expected, order):
    assert answer(question, *[DIRECTED, WROTE, JAWS, AWARD][::order]) == expected


def test_the_facts_that_decided_are_named():
    yes = decide("Did James Cameron direct Titanic?", [JAWS, WROTE, DIRECTED], NAMES, ENGLISH)
    assert yes.evidences == [2] and yes.yes > 0.9
    no = decide("Did Steven Spielberg direct Titanic?", [JAWS, WROTE, DIRECTED], NAMES, ENGLISH)
    assert no.evidences == [2] and no.yes < 0.1


def test_two_things_in_a_fact_of_another_property_are_no_yes():
    person = fact("Kate Winslet", "occupation", "actor")
    cast = fact("Titanic", "cast member", "Kate Winslet")
    wrote = fact("Avatar", "screenwriter", "Kate Winslet")  # somewhere else she is a possible value
    assert answer("Was Kate Winslet the writer of Titanic?", person, cast, WROTE, wrote) == "No"
    assert answer("Was Kate Winslet in Titanic?", person, cast, WROTE) == "Yes"
    assert answer("Is Kate Winslet an actor?", person, cast) == "Yes"


def test_a_name_that_can_be_no_value_of_the_property_excludes_nothing():
    film = fact("Titanic", "instance of", "film")
    assert answer("Was the film Titanic directed by a woman named Kate on a ship?", film, DIRECTED) == "No"  # by words
    assert decide("Has the film Titanic a director?", [film, DIRECTED], NAMES, ENGLISH).yes > 0.05


def test_two_items_of_one_name_are_one():
    based = evidence("Carrie, director, Carrie", "kb", ("Carrie", "Q2"), ("Carrie", "Q1"), disambiguations=[])
    assert answer("Was Carrie directed in a castle by Hitchcock?", based) == "No"


def test_a_name_within_a_name_is_not_named_itself():
    queen = fact("Margrethe of Denmark", "occupation", "Denmark")
    others = [fact("Anna", "occupation", "Dominion of India")]
    assert answer("Is Dominion of India the occupation of Margrethe of Denmark?", queen, *others) == "No"


@pytest.mark.parametrize(("network", "expected"), [("Fox", "Yes"), ("NBC", "No")])
def test_the_same_value(network, expected):
    evidences = [fact("The Simpsons", "original broadcaster", "Fox"), fact("Seinfeld", "original broadcaster", network)]
    assert answer("Did Seinfeld air on the same network as The Simpsons?", *evidences) == expected


def test_a_sentence_that_covers_the_question_says_yes_unless_it_denies_it():
    asked = "Did Eleanor Roosevelt believe the story?"
    assert answer(asked, text("Eleanor Roosevelt visited camps and believed the story.")) == "Yes"
    assert answer(asked, text("Eleanor Roosevelt visited camps and never believed the story.")) == "No"
    assert answer(asked, text("Eleanor Roosevelt refused to believe the story.")) == "No"
    assert answer(asked, text("Eleanor Roosevelt visited camps.")) == "No"
    assert answer("Did he never believe the story?", text("He never believed the story.")) == "Yes"


def test_words_of_the_same_meaning_and_the_best_of_several_evidences_count():
    other = text("Something else, not about it.")
    assert answer("Did he win an Oscar for Dune?", other, text("Dune, Academy Award, Result is Win", "table")) == "Yes"
    assert answer("Did he like Kubrick's movie?", other, text("He liked the film of Kubrick.")) == "Yes"


def test_names_weigh_less_than_what_is_said_of_them():
    assert answer("Did Kate Winslet sing?", text("Kate Winslet danced.")) == "No"


def test_the_name_of_the_item_alone_says_nothing():
    own = text("U2, country, Ireland") | {"retrieved_for_entity": {"id": "Q1", "label": "U2"}}
    assert answer("Have U2 always been the same?", own) == "No"
    assert answer("Have U2 toured Ireland?", own | {"evidence_text": "U2, They toured Ireland."}) == "Yes"


def test_without_evidences_or_words_it_is_no():
    assert answer("Was it?") == "No"
    assert answer("Was it?", DIRECTED) == "No"
    assert decide("Was it?", [], NAMES, ENGLISH).evidences == []


@pytest.mark.parametrize("question", ["Did James Cameron direct Titanic?", "Did Steven Spielberg sing?", "Was it?"])
def test_both_answers_are_ranked_with_shares(question):
    first, second = decide(question, [DIRECTED, JAWS, text("no")], NAMES, ENGLISH).answers()
    assert {first["answer"]["id"], second["answer"]["id"]} == {"Yes", "No"}
    assert (first["rank"], second["rank"]) == (1, 2)
    assert first["score"] >= second["score"] >= 0
    assert first["score"] + second["score"] == pytest.approx(1)
    assert len(first["evidences"]) <= 3


STAGE = text("Amadeus, Mark Hamill, who had taken over the part of Mozart on the stage, met Luke Skywalker.")
OTHER = text("Amadeus, The film was shot in Prague.")


def judged(question, *evidences, read=0.9):
    seen = []

    def judge(asked, passage):
        seen.append((asked, passage))
        return read

    return decide(question, evidences, NAMES, ENGLISH, judge), seen


def test_what_no_fact_decides_is_read_too():
    question = "Did Mark Hamill ever play Mozart on stage?"
    words = decide(question, [OTHER, STAGE], NAMES, ENGLISH).yes
    verdict, seen = judged(question, OTHER, STAGE)
    assert verdict.yes == pytest.approx((words + 0.9) / 2) and verdict.evidences[0] == 1
    ((asked, passage),) = seen
    assert asked == question and passage == f"{STAGE['evidence_text']} {OTHER['evidence_text']}"  # the best one first
    assert judged(question, OTHER, STAGE, read=0.1)[0].yes < verdict.yes


def test_facts_are_not_read():
    for question in ("Did James Cameron direct Titanic?", "Was Titanic directed by Steven Spielberg?"):
        verdict, seen = judged(question, DIRECTED, JAWS, read=0.5)
        assert not seen and verdict == decide(question, [DIRECTED, JAWS], NAMES, ENGLISH)


@pytest.mark.parametrize("source", ["table", "info", "kb"])
def test_only_sentences_are_read(source):
    question, row = "Did Mark Hamill ever play Mozart on stage?", text(STAGE["evidence_text"], source)
    verdict, seen = judged(question, row)
    assert not seen and verdict == decide(question, [row], NAMES, ENGLISH)
    assert judged(question, row, OTHER)[1] == [(question, OTHER["evidence_text"])]


def test_without_evidence_nothing_is_read():
    verdict, seen = judged("Was it a success?")
    assert not seen and verdict.answers()[0]["answer"]["id"] == "No"
