"""Yes or no from facts and sentences."""

import pytest
from literal_evidence import ENGLISH, fact

from convinse.heterogeneous_answering.yes_no import decide
from convinse.language.property_names import PropertyNames
from convinse.records.border import structured
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


def text(sentence, source="text"):
    return structured(evidence(sentence, source))


def answer(question, *evidences):
    return decide(question, evidences, NAMES, ENGLISH).candidates()[0].entity["id"]


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


ACTS = fact("Kate Winslet", "occupation", "actor")
PLAYS = fact("Titanic", "cast member", "Kate Winslet")
FILM = fact("Titanic", "instance of", "film")
CARRIE = structured(evidence("Carrie, director, Carrie", "kb", ("Carrie", "Q2"), ("Carrie", "Q1"), disambiguations=[]))
QUEEN = (fact("Margrethe of Denmark", "occupation", "Denmark"), fact("Anna", "occupation", "Dominion of India"))
SIMPSONS = fact("The Simpsons", "original broadcaster", "Fox")
NETWORKS = {name: fact("Seinfeld", "original broadcaster", name) for name in ("Fox", "NBC")}
ELEANOR, AIRED = "Did Eleanor Roosevelt believe the story?", "Did Seinfeld air on the same network as The Simpsons?"
U2 = text("U2, country, Ireland") | {"retrieved_for_entity": {"id": "Q1", "label": "U2"}}
NOTHING = text("Something else, not about it.")
DECIDED = {
    "two things in a fact of another property are no yes": [
        ("Was Kate Winslet the writer of Titanic?", "No",
         ACTS, PLAYS, WROTE, fact("Avatar", "screenwriter", "Kate Winslet")),  # somewhere else she is a possible value
        ("Was Kate Winslet in Titanic?", "Yes", ACTS, PLAYS, WROTE),
        ("Is Kate Winslet an actor?", "Yes", ACTS, PLAYS),
    ],
    "two items of one name are one": [("Was Carrie directed in a castle by Hitchcock?", "No", CARRIE)],
    "a name within a name is not named itself": [
        ("Is Dominion of India the occupation of Margrethe of Denmark?", "No", *QUEEN),
    ],
    "the same value": [(AIRED, "Yes", SIMPSONS, NETWORKS["Fox"]), (AIRED, "No", SIMPSONS, NETWORKS["NBC"])],
    "a sentence that covers the question says yes unless it denies it": [
        (ELEANOR, "Yes", text("Eleanor Roosevelt visited camps and believed the story.")),
        (ELEANOR, "No", text("Eleanor Roosevelt visited camps and never believed the story.")),
        (ELEANOR, "No", text("Eleanor Roosevelt refused to believe the story.")),
        (ELEANOR, "No", text("Eleanor Roosevelt visited camps.")),
        ("Did he never believe the story?", "Yes", text("He never believed the story.")),
    ],
    "words of the same meaning and the best of several evidences count": [
        ("Did he win an Oscar for Dune?", "Yes", NOTHING, text("Dune, Academy Award, Result is Win", "table")),
        ("Did he like Kubrick's movie?", "Yes", NOTHING, text("He liked the film of Kubrick.")),
    ],
    "names weigh less than what is said of them": [("Did Kate Winslet sing?", "No", text("Kate Winslet danced."))],
    "the name of the item alone says nothing": [
        ("Have U2 always been the same?", "No", U2),
        ("Have U2 toured Ireland?", "Yes", U2 | {"evidence_text": "U2, They toured Ireland."}),
    ],
    "without evidences or words it is no": [("Was it?", "No"), ("Was it?", "No", DIRECTED)],
}  # fmt: skip


@pytest.mark.parametrize("rule", DECIDED)
def test_what_is_decided(rule):
    for question, expected, *evidences in DECIDED[rule]:
        assert answer(question, *evidences) == expected, question


def test_a_name_that_can_be_no_value_of_the_property_excludes_nothing():
    assert answer("Was the film Titanic directed by a woman named Kate on a ship?", FILM, DIRECTED) == "No"  # by words
    assert decide("Has the film Titanic a director?", [FILM, DIRECTED], NAMES, ENGLISH).yes > 0.05


@pytest.mark.parametrize("question", ["Did James Cameron direct Titanic?", "Did Steven Spielberg sing?", "Was it?"])
def test_both_answers_are_ranked_with_shares(question):
    first, second = decide(question, [DIRECTED, JAWS, text("no")], NAMES, ENGLISH).candidates()
    assert {first.entity["id"], second.entity["id"]} == {"Yes", "No"}
    assert first.score >= second.score >= 0
    assert first.score + second.score == pytest.approx(1)
    assert first.reasons == second.reasons == ("yes_no",) and first.places == second.places


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
    assert not seen and verdict.candidates()[0].entity["id"] == "No"
