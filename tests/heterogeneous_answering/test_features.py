import pytest
from asked_turns import knowledge_over, question_of, representation_of, thing
from literal_evidence import evidence, fact, item_id, row

from convinse.heterogeneous_answering.features import measure
from convinse.heterogeneous_answering.finding import find_candidates
from convinse.heterogeneous_answering.ranked_answers import AnswerCandidate

KNOWLEDGE = knowledge_over(
    [("P57", "director", ["directed by"]), ("P161", "cast member", ["starring", "played"]), ("P580", "start time", [])],
    {item_id(name): ("human",) for name in ("Scott", "Weaver", "Holm")},
    {item_id("Scott"): 900, item_id("Weaver"): 90},
)
ALIEN = thing("Alien")
DIRECTED = {**fact("Alien", "director", "Scott"), "score": 2.0}
CAST = [{**fact("Alien", "cast member", name), "score": 1.0} for name in ("Weaver", "Holm")]


def features(text, *evidences, about=(ALIEN,), read=()):
    question = question_of(text, *evidences, knowledge=KNOWLEDGE, representation=representation_of(*about))
    read = [AnswerCandidate(thing(name), share, (0,), ("reader",)) for name, share in read]
    candidates = find_candidates(question, read)
    rows, _ = measure(question, candidates, 0.8)
    return {candidate.entity["label"]: row for candidate, row in zip(candidates, rows, strict=True)}


@pytest.mark.parametrize(
    ("feature", "more", "less"),
    [
        ("read", "Scott", "Weaver"),
        ("covered", "Scott", "Weaver"),
        ("score", "Scott", "Weaver"),
        ("prior", "Scott", "Weaver"),
        ("prior", "Weaver", "Holm"),
    ],
)
def test_the_candidate_that_has_more_of_a_feature(feature, more, less):
    rows = features("Who directed Alien?", DIRECTED, *CAST, read=[("Scott", 0.9)])
    assert getattr(rows[more], feature) > getattr(rows[less], feature)


def test_the_kind_of_a_candidate():
    text = evidence("Alien, In 1979 Mary Ann Lee paid 5 dollars.", "text", retrieved_for_entity=ALIEN)
    rows = features("What was it?", text)
    assert [rows["1979"].is_date, rows["5"].is_number] == [1.0, 1.0]
    assert rows["Mary Ann Lee"].is_date == rows["Mary Ann Lee"].is_number == 0.0


def test_subjects_are_those_of_the_question():
    other = {**fact("Jaws", "director", "Spielberg"), "score": 1.0}
    rows = features("Who directed Alien?", DIRECTED, other)
    assert rows["Scott"].subjects == 1.0 and rows["Spielberg"].subjects == 0.0


TENURES = [
    row("It", "Coaches", ("Coach", name), ("From", first), ("To", last), page="Q1", table=0, number=number)
    for number, (name, first, last) in enumerate([("Old Man", "1980", "1984"), ("New Man", "1990", "1999")])
]


@pytest.mark.parametrize(("year", "holding", "contradicting"), [(1982, "1980", "1999"), (1995, "1999", "1980")])
def test_candidates_agree_with_the_time_of_the_question(year, holding, contradicting):
    rows = features(f"What of it in {year}?", *TENURES, about=())
    assert rows[holding].timely == 1.0 and contradicting not in rows


def test_features_of_a_question():
    question = question_of(
        "Who directed Alien?", DIRECTED, knowledge=KNOWLEDGE, representation=representation_of(ALIEN)
    )
    _, rows = measure(question, find_candidates(question), 0.8)
    assert (rows.surest, rows.score, rows.linked) == (0.8, 2.0, 1.0)
    _, nothing = measure(question_of("Who?", knowledge=KNOWLEDGE), [])
    assert (nothing.candidates, nothing.score, nothing.covered) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("scores", "shares"), [([2.0, 1.0, -1.0], [1.0, 0.5, 0.0]), ([0.0, -1.0], [1.0, 1.0]), ([], [])]
)
def test_scores_as_shares_of_the_best(scores, shares):
    evidences = [{**CAST[0], "score": score} for score in scores]
    assert question_of("Who?", *evidences, knowledge=KNOWLEDGE).shares == shares
