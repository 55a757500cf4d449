import copy

import pytest
from literal_evidence import Known

from convinse.config import parse_config
from convinse.heterogeneous_answering.entity_voting import EntityVoting
from convinse.resources import Resources
from convinse.testing import HeterogeneousAnsweringContract
from evidences import evidence

ITEMS = {
    "Q42574": ("James Cameron", "human", "film director"),
    "Q202765": ("Kate Winslet", "human", "actor"),
    "Q38111": ("Leonardo DiCaprio", "human", "actor"),
    "Q44578": ("Titanic", "film"),
    "Q24871": ("Avatar", "film"),
    "Q84": ("London", "city"),
    "Q1299": ("The Beatles", "musical group"),
    "Q130232": ("drama film", "film genre"),
}
DAY, YEAR = "1997-12-19T00:00:00Z", "1997-01-01T00:00:00Z"
LABELS = {item: label for item, (label, *_) in ITEMS.items()} | {
    DAY: "19 December 1997",
    YEAR: "1997",
    "194": "194",
    "12": "12",
}


FREQUENCY: dict[str, int] = {}
KB = Known(
    {item: tuple(classes) for item, (_, *classes) in ITEMS.items()},
    [
        ("P577", "publication date", ["opened", "release date"]),
        ("P2047", "duration", ["running time"]),
        ("P57", "director", ["directed by"]),
    ],
    FREQUENCY,
)


def said(text, *ids, score=1.0, source="text", own="Q44578"):
    more = {"retrieved_for_entity": {"id": own, "label": LABELS[own]}, "score": score}
    return evidence(text, source, *((LABELS[item], item) for item in ids), **more)


CAST = [
    said("Titanic, director, James Cameron", "Q44578", "Q42574", score=9.0, source="kb"),
    said("Titanic, It opened on 19 December 1997 in London.", "Q44578", DAY, "Q84", score=8.0),
    said("Titanic, Running time, 194 minutes", "Q44578", "194", score=7.0, source="info"),
    said("Titanic, Kate Winslet starred.", "Q44578", "Q202765", score=3.0),
    said("Titanic, genre, drama film", "Q44578", "Q130232", score=7.5, source="kb"),
]


def turn_of(question, evidences, **more):
    return {"question": question, "top_evidences": copy.deepcopy(evidences), **more}


def module(**keys):
    config = parse_config(keys)
    return EntityVoting(config, Resources(config, kb=KB))


@pytest.fixture
def voting():
    return module()


def answer(voting, question, evidences, **more):
    turn = turn_of(question, evidences, **more)
    answers = voting.inference_on_turn(turn, ("kb", "text"))
    assert turn == turn_of(question, evidences, **more)  # a module returns; it does not write
    return answers


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("Who made Titanic?", "James Cameron"),
        ("When did Titanic open?", "19 December 1997"),
        ("Where did Titanic open?", "London"),
        ("Which city saw Titanic first?", "London"),
        ("How long is Titanic?", "194"),
        ("Which genre is Titanic?", "drama film"),
    ],
)
def test_the_expected_type_is_respected_whatever_the_scores(voting, question, label):
    for evidences in (CAST, CAST[::-1]):
        assert answer(voting, question, evidences)[0]["answer"]["label"] == label


WINSLET, DICAPRIO = said("Titanic, x, Kate Winslet", "Q202765", score=5.0), "Titanic, y{}, Leonardo DiCaprio"
DIRECTOR = said("The Beatles, x, James Cameron", "Q42574", score=9.0, own="Q1299")
AVATAR = said("The Beatles, y, Avatar", "Q24871", score=8.0, own="Q1299")


@pytest.mark.parametrize(
    ("question", "evidences", "label"),
    [
        ("Which film?", [DIRECTOR, AVATAR], "Avatar"),  # a film director is no film
        ("Who?", [WINSLET, said(DICAPRIO, "Q38111", score=2.0)], "Kate Winslet"),  # the better evidence decides
        ("Who?", [said(DICAPRIO, "Q38111", score=2.0), WINSLET], "Kate Winslet"),
        ("Who?", [WINSLET, *(said(DICAPRIO.format(n), "Q38111", score=5.0) for n in range(3))], "Leonardo DiCaprio"),
        ("When did it open?", [CAST[0], CAST[3]], None),  # nothing of the expected kind
        ("Who?", [], None),
        ("Who?", [said("Titanic", "Q44578")], None),
    ],
)
def test_the_best_answer(voting, question, evidences, label):
    labels = [ranked["answer"]["label"] for ranked in answer(voting, question, evidences)]
    assert labels[:1] == ([] if label is None else [label])


def test_the_type_of_the_representation_goes_before_that_of_the_question(voting):
    best, *_ = answer(voting, "And?", CAST, structured_representation="Titanic || Titanic || opened || date")
    assert best["answer"] == {"id": DAY, "label": LABELS[DAY]}


def test_the_question_s_own_entities_are_no_answers(voting):
    other = said("Avatar, director, James Cameron", "Q24871", "Q42574", "Q44578", own="Q24871", score=9.0)
    ids = {one["answer"]["id"] for one in answer(voting, "Which film?", [*CAST, other])}
    assert "Q42574" in ids and not {"Q44578", "Q24871"} & ids


def test_of_equal_votes_the_item_with_more_facts_wins_and_of_unequal_ones_it_does_not(voting, monkeypatch):
    def first(*scores):
        items = zip(("Q42574", "Q202765"), scores, strict=True)
        evidences = [said(f"Titanic with {LABELS[item]}", item, score=score) for item, score in items]
        return answer(voting, "Who was it?", evidences)[0]["answer"]["id"]

    for known in ("Q42574", "Q202765"):
        monkeypatch.setitem(FREQUENCY, known, 1000)
        assert first(5.0, 5.0) == known
        assert (first(9.0, 5.0), first(5.0, 9.0)) == ("Q42574", "Q202765")
        monkeypatch.delitem(FREQUENCY, known)


def test_nearness_to_the_asked_words_decides_within_an_evidence(voting):
    row = said("Titanic, Actor is Kate Winslet, Producer is James Cameron", "Q202765", "Q42574", source="table")
    assert answer(voting, "Who is the producer of Titanic?", [row])[0]["answer"]["id"] == "Q42574"
    assert answer(voting, "Who is the actor in Titanic?", [row])[0]["answer"]["id"] == "Q202765"


def test_each_label_of_an_item_is_held_against_the_question(voting):
    plain, echoing = said("Titanic, x", "Q202765"), said("Titanic, y", "Q202765")
    echoing["wikidata_entities"][0]["label"] = "Starring Kate"
    cameron = said("Titanic, z", "Q42574")
    for evidences in ([plain, echoing, cameron, cameron], [echoing, plain, cameron, cameron]):
        answers = answer(voting, "Who is starring?", evidences)
        scores = {ranked["answer"]["id"]: ranked["score"] for ranked in answers}
        assert scores["Q202765"] / scores["Q42574"] == pytest.approx(1.1 / 2, abs=1e-5)  # an echo counts a tenth


def test_ranked_answers_have_falling_scores_and_the_evidences_that_hold_them(voting):
    answers = answer(voting, "Who was in Titanic?", CAST)
    assert [ranked["rank"] for ranked in answers] == [1, 2, 3, 4]  # no date and no number is one to "who"
    scores = [ranked["score"] for ranked in answers]
    assert scores == sorted(scores, reverse=True) and all(0 <= score <= 1 for score in scores)
    assert len({ranked["answer"]["id"] for ranked in answers}) == 4
    for ranked in answers:
        assert ranked["evidences"]
        assert all(ranked["answer"] in CAST[place]["wikidata_entities"] for place in ranked["evidences"])
        assert ranked["reasons"] == ["votes"]
    assert answer(module(ha_max_answers=2), "Who was in Titanic?", CAST) == answers[:2]


@pytest.mark.parametrize("change", [{"score": 0.0}, {"score": -1.0}, {"score": None}, {"retrieved_for_entity": None}])
def test_worthless_scores_and_missing_keys_still_give_answers(voting, change):
    evidences = [{key: value for key, value in {**given, **change}.items() if value is not None} for given in CAST]
    assert answer(voting, "When did Titanic open?", evidences)[0]["answer"]["label"] == "19 December 1997"


class TestContract(HeterogeneousAnsweringContract):
    def make(self, config):
        return EntityVoting(config)


PREMIERES = [CAST[1], said("Titanic, Opened, 1997", YEAR, score=7.0, source="info")]


@pytest.mark.parametrize(
    "question", ["What year did Titanic open?", "In which year was it opened?", "Year of release?"]
)
def test_a_question_for_a_year_is_answered_with_the_year(voting, question):
    found = answer(voting, question, PREMIERES)
    assert [(one["answer"], one["rank"]) for one in found] == [({"id": "1997-01-01T00:00:00Z", "label": "1997"}, 1)]
    assert found[0]["score"] == pytest.approx(1) and found[0]["evidences"] and found[0]["reasons"] == ["dates"]


def test_a_stated_number_comes_before_more_frequent_ones(voting):
    other = [said(f"Titanic, y{n}, 1997 and 12 more", "12", score=9.0) for n in range(5)]
    found = answer(voting, "How many minutes is it?", [*other, CAST[2]])
    assert [one["answer"]["id"] for one in found] == ["194", "12"]
    assert found[0]["evidences"] == [5]
    assert [one["reasons"] for one in found] == [["numbers", "votes"], ["votes"]]
