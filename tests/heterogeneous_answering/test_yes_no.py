"""Yes or no from facts and sentences."""

import math

import pytest
from literal_evidence import ENGLISH, fact

from convinse.heterogeneous_answering.yes_no import YesNoFeatures, decide
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


# -- what a trained decision learns from -------------------------------------------------------------------------------


def odds(probability):
    return math.log(probability / (1 - probability))


def features(question, *evidences, read=None):
    judge = None if read is None else lambda asked, passage: read
    return decide(question, evidences, NAMES, ENGLISH, judge).features


@pytest.mark.parametrize(
    ("question", "evidences", "yes"),
    [
        ("Did James Cameron direct Titanic?", [DIRECTED], 0.95),
        ("Was Titanic directed by Steven Spielberg?", [DIRECTED, JAWS], 0.05),
        ("Has James Cameron won any awards?", [AWARD], 0.75),
        (AIRED, [SIMPSONS, NETWORKS["Fox"]], 0.95),
        (AIRED, [SIMPSONS, NETWORKS["NBC"]], 0.05),
    ],
)
def test_what_facts_decide_is_stated_and_neither_worded_nor_read(question, evidences, yes):
    own = features(question, *evidences, STAGE, read=0.3)
    assert own == YesNoFeatures(stated=pytest.approx(odds(yes)))


def test_what_numbers_decide_is_stated():
    names = PropertyNames([("P2130", "cost", ["budget"])], ENGLISH.properties)
    cost = fact("Titanic", "cost", "200000000")
    for limit, yes in (("100", 0.95), ("300", 0.05)):
        own = decide(f"Did Titanic cost more than {limit} million dollars?", [cost], names, ENGLISH).features
        assert own == YesNoFeatures(stated=pytest.approx(odds(yes)))


@pytest.mark.parametrize(
    ("sentence", "yes"),
    [
        ("Eleanor Roosevelt visited camps and believed the story.", True),
        ("Eleanor Roosevelt visited camps and never believed the story.", False),
        ("Eleanor Roosevelt visited camps.", False),
    ],
)
def test_what_words_decide_is_worded(sentence, yes):
    own = features(ELEANOR, text(sentence))
    assert own == YesNoFeatures(worded=own.worded) and (own.worded > 0.0) is yes and own.worded != 0.0
    read = features(ELEANOR, text(sentence), read=0.7)
    assert read == YesNoFeatures(worded=pytest.approx(own.worded), read=pytest.approx(odds(0.7)))


def test_features_of_a_certain_model_are_bounded():
    for read in (0.0, 1.0):
        own = features(ELEANOR, text("Eleanor Roosevelt believed the story."), read=read)
        assert own.read == pytest.approx(odds(0.98 if read else 0.02))


def test_where_nothing_is_said_all_features_are_0():
    assert features("Was it?") == features("Was it?", NOTHING) == features("Did he sing?", NOTHING) == YesNoFeatures()
    assert features("Was it a success?", read=0.9) == YesNoFeatures()
