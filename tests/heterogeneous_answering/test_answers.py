"""From spans to ranked answers, and two rankings of answers as one."""

import copy

import pytest
from literal_evidence import ENGLISH

from convinse.encoder.extractive_reader import AnswerSpan
from convinse.heterogeneous_answering.answers import _named, _names, _words, rank_answers
from convinse.heterogeneous_answering.ranking import combined
from evidences import evidence

DAY = {"id": "1969-06-11T00:00:00Z", "label": "11 June 1969"}
DINKLAGE = {"id": "Q310937", "label": "Peter Dinklage"}
HOBBIT = {"id": "Q74287", "label": "The Hobbit"}
TOLKIEN = {"id": "Q892", "label": "J. R. R. Tolkien"}


def holding(*entities, surfaces=(), own=None):
    """An evidence of the entities, which it calls so."""
    found = {"wikidata_entities": list(entities), "disambiguations": [list(pair) for pair in surfaces]}
    return evidence("not looked at", **found, **({"retrieved_for_entity": own} if own else {}))


def span(text, context=0, probability=0.5, start=0):
    return AnswerSpan(text, context, start, start + len(text), 1.0, probability, 0.1)


def anything(_):
    return 1.0


def rank(spans, evidences, weights=None, fit=anything, most=10):
    return rank_answers(spans, evidences, weights or [1.0] * len(evidences), fit, most, ENGLISH.words)


def labels(answers):
    return [answer["answer"]["label"] for answer in answers]


def find_entity(text, given, fit):
    return _named(text, given, fit, _names(given), None) or _words(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("J. R. R. Tolkien", TOLKIEN),
        ("JRR Tolkien", TOLKIEN),
        ("j.r.r. tolkien's", TOLKIEN),
        ("Professor", TOLKIEN),  # as this evidence calls him
        ("the hobbit", HOBBIT),
        ("Peter  Dinklagé", DINKLAGE),
        ("Dinklage, Peter", DINKLAGE),  # nearly
        ("Peter Dinklagge", DINKLAGE),
        ("the writer Peter Dinklage", DINKLAGE),  # held
        ("June 11, 1969", DAY),
        ("on 11 June 1969", DAY),
        ("1969-06-11", DAY),
        ("11th of June 1969", DAY),
        ("about 1,250.50", {"id": "1250.5", "label": "1250.5"}),
        ("300", {"id": "300", "label": "300"}),
        ("in 1937", {"id": "1937-01-01T00:00:00Z", "label": "1937"}),
        ("Bilbo \n Baggins", {"id": "Bilbo Baggins", "label": "Bilbo Baggins"}),
        ("Pet", {"id": "Pet", "label": "Pet"}),
        ("Peter", {"id": "Peter", "label": "Peter"}),
        ("—", {"id": "—", "label": "—"}),
        ("between 3 and 5 of them", {"id": "between 3 and 5 of them", "label": "between 3 and 5 of them"}),
        ("the 39 steps of the house", {"id": "the 39 steps of the house", "label": "the 39 steps of the house"}),
    ],
)
def test_what_a_span_stands_for(text, expected):
    given = holding(TOLKIEN, HOBBIT, DINKLAGE, surfaces=[("the Professor", "Q892"), ("Professor", "Q892")])
    assert find_entity(text, given, anything) == expected


SEVEN, BOOK, LENGTH = (
    {"id": "Q483941", "label": "Seven"},
    {"id": "Q208460", "label": "1984"},
    {"id": "194", "label": "194 minute"},
)
YORK, NEW_YORK = {"id": "Q1", "label": "York"}, {"id": "Q2", "label": "New York"}


@pytest.mark.parametrize(
    ("text", "given", "expected"),
    [
        ("1984", holding(BOOK), "Q208460"),  # a name of the evidence comes before a number
        ("Se7en", holding(SEVEN, surfaces=[("Se7en", "Q483941")]), "Q483941"),
        ("194 minutes", holding(LENGTH), "194"),  # nearly
        ("194", holding(LENGTH, surfaces=[("194", "194")]), "194"),
        ("somewhere in New York tonight", holding(YORK, NEW_YORK), "Q2"),  # the longest name
        ("Dinklage", holding(own=DINKLAGE), "Q310937"),  # the item of the evidence itself
        ("Ink", holding(own=DINKLAGE), "Ink"),
        ("?", holding(own=DINKLAGE), "?"),
    ],
)
def test_what_a_span_stands_for_in_its_evidence(text, given, expected):
    entity = find_entity(text, given, anything)
    assert entity["id"] == expected
    assert entity in given["wikidata_entities"] or entity in (DINKLAGE, {"id": text, "label": text})


def test_what_does_not_fit_the_expected_type_stands_for_nothing():
    assert find_entity("Dinklage", holding(own=DINKLAGE), lambda _: 0.4)["id"] == "Dinklage"
    spans, evidences = [span("The Hobbit"), span("Hobbit", 1)], [holding(HOBBIT), holding()]
    assert rank(spans, evidences, fit=lambda entity: float(entity["id"] != "Q74287")) == []


def test_a_part_of_a_date_is_the_date_of_its_place():
    given = holding() | {"evidence_text": "born on 11 June 1969 and married in June 1970"}
    spans = [span("June 1969", start=11), span("11 June", start=8), span("June 1970", start=36)]
    assert [answer["answer"]["label"] for answer in rank(spans, [given])] == ["11 June 1969", "June 1970"]
    assert find_entity("June 1969", given, anything)["label"] == "June 1969"  # where its place is not known


def test_probabilities_are_added_up_over_evidences():
    evidences = [holding(TOLKIEN), holding(DINKLAGE), holding(TOLKIEN)]
    spans = [span("Peter Dinklage", 1, 0.6), span("Tolkien, J. R. R.", 0, 0.4), span("J. R. R. Tolkien", 2, 0.3)]
    first, second = ({"score": pytest.approx(share / 1.3, abs=1e-6)} for share in (0.7, 0.6))
    assert rank(spans, evidences) == [
        {"answer": TOLKIEN, **first, "rank": 1, "evidences": [0, 2]},
        {"answer": DINKLAGE, **second, "rank": 2, "evidences": [1]},
    ]


def test_weights_of_evidences_and_the_fit_of_answers():
    evidences = [holding(TOLKIEN), holding(DINKLAGE)]
    spans = [span("J. R. R. Tolkien", 0, 0.5), span("Peter Dinklage", 1, 0.5)]
    assert labels(rank(spans, evidences, [0.2, 1.0])) == ["Peter Dinklage", "J. R. R. Tolkien"]
    assert labels(rank(spans, evidences, [1.0, 0.2])) == ["J. R. R. Tolkien", "Peter Dinklage"]
    assert labels(rank(spans, evidences, [1.0, 0.2], lambda entity: float(entity == DINKLAGE))) == ["Peter Dinklage"]
    assert rank(spans, evidences, fit=lambda _: 0.0) == []
    assert rank(spans, evidences, [0.0, 0.0]) == [] == rank([], [])
    scores = [answer["score"] for answer in rank(spans, evidences, [1.0, 0.6], lambda e: 0.5 if e == DINKLAGE else 1)]
    assert scores == [pytest.approx(1 / 1.3, abs=1e-6), pytest.approx(0.3 / 1.3, abs=1e-6)]


def test_dates_written_in_two_ways_are_one_answer():
    answers = rank([span("11 June 1969"), span("June 11, 1969", 1), span("12 June 1969", 1)], [holding(), holding()])
    assert [(answer["answer"]["id"], answer["evidences"]) for answer in answers] == [
        ("1969-06-11T00:00:00Z", [0, 1]),
        ("1969-06-12T00:00:00Z", [1]),
    ]
    assert len(rank([span("12,500"), span("12500", 1), span("12500.0", 1)], [holding(), holding()])) == 1


def test_spellings_of_the_same_words_are_one_answer_in_the_commonest_spelling():
    spellings = ["Ring-bearer", "the ring bearer", "The  Ring Bearer!", "Ring-bearer", "a Ríng bearer", "other"]
    answers = rank([span(text, place) for place, text in enumerate(spellings)], [holding() for _ in spellings])
    assert labels(answers) == ["Ring-bearer", "other"]
    assert answers[0]["answer"] == {"id": "Ring-bearer", "label": "Ring-bearer"}
    assert answers[0]["score"] == pytest.approx(5 / 6, abs=1e-6)
    late = ["the ring bearer", "Ring Bearer", "Ring Bearer"]
    assert labels(rank([span(text, place) for place, text in enumerate(late)], [holding()] * 3)) == ["Ring Bearer"]


def test_words_without_letters_are_answers_of_their_own():
    spans = [span("+"), span("-"), span("the"), span("The", 1)]
    assert sorted(labels(rank(spans, [holding(), holding()]))) == ["+", "-", "the"]


def test_words_that_name_an_item_elsewhere_stand_for_it():
    evidences = [holding(HOBBIT), holding(), holding()]
    spans = [span("The Hobbit", 0, 0.1), span("Hobbit", 1, 0.3), span("the “Hobbit”", 2, 0.2), span("Gollum", 2, 0.5)]
    answers = rank(spans, evidences)
    assert [(answer["answer"], answer["evidences"]) for answer in answers] == [
        (HOBBIT, [1, 2, 0]),
        ({"id": "Gollum", "label": "Gollum"}, [2]),
    ]
    assert answers[0]["score"] == pytest.approx(0.6 / 1.1, abs=1e-6)


def test_of_two_items_of_one_name_the_stronger_gets_the_words():
    film = {"id": "Q80379", "label": "The Hobbit"}
    spans = [span("The Hobbit", 0, 0.2), span("Hobbit", 1, 0.4), span("hobbit", 2, 0.1)]
    answers = rank(spans, [holding(HOBBIT), holding(film, surfaces=[("Hobbit", "Q80379")]), holding()])
    assert [(answer["answer"]["id"], answer["score"]) for answer in answers] == [
        ("Q80379", pytest.approx(0.5 / 0.7, abs=1e-6)),
        ("Q74287", pytest.approx(0.2 / 0.7, abs=1e-6)),
    ]


def test_ranks_count_from_one_without_ties_and_most_bounds_them():
    evidences = [holding({"id": f"Q{n}", "label": f"item number {n} here"}) for n in range(6)]
    spans = [span(f"item number {n} here", n, 0.5) for n in (3, 1, 5, 0, 2, 4)]
    answers = rank(spans, evidences)
    assert [answer["rank"] for answer in answers] == [1, 2, 3, 4, 5, 6]
    assert [answer["answer"]["id"] for answer in answers] == [f"Q{n}" for n in range(6)]  # of equal scores by id
    assert rank(spans[::-1], evidences) == answers
    assert rank(spans, evidences, most=2) == answers[:2]


def test_the_support_is_of_the_evidences_that_add_most():
    spans = [span("J. R. R. Tolkien", place, probability) for place, probability in enumerate((0.1, 0.4, 0.2, 0.3))]
    spans.append(span("Tolkien, J. R. R.", 1, 0.35))
    (answer,) = rank(spans, [holding(TOLKIEN)] * 4)
    assert answer["evidences"] == [1, 3, 2]


def test_evidences_and_entities_are_not_changed():
    given = [holding(TOLKIEN)]
    (answer,) = rank([span("Tolkien, J. R. R.")], given)
    answer["answer"]["label"] = "changed"
    assert given == [holding({"id": "Q892", "label": "J. R. R. Tolkien"})]


# -- two rankings as one -----------------------------------------------------------------------------------------------


def ranking(*answers):
    """A ranking of (id, score), each supported by one evidence of its own place."""
    return [
        {"answer": {"id": name, "label": f"label of {name}"}, "score": score, "rank": rank, "evidences": [rank]}
        for rank, (name, score) in enumerate(answers, 1)
    ]


def shown(answers):
    return [(answer["answer"]["id"], answer["score"]) for answer in answers]


READ = ranking(("A", 0.5), ("B", 0.3), ("C", 0.2))
VOTED = ranking(("C", 0.6), ("D", 0.4))


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (0.0, [("A", 0.5), ("B", 0.3), ("C", 0.2)]),
        (0.25, [("A", 0.375), ("C", 0.3), ("B", 0.225), ("D", 0.1)]),
        (0.5, [("C", 0.4), ("A", 0.25), ("D", 0.2), ("B", 0.15)]),
        (1.0, [("C", 0.6), ("D", 0.4)]),
    ],
)
def test_scores_of_two_rankings_are_added_by_their_shares(share, expected):
    found = combined(READ, VOTED, share, 10)
    assert shown(found) == [(name, pytest.approx(score, abs=1e-6)) for name, score in expected]
    assert [answer["rank"] for answer in found] == list(range(1, len(expected) + 1))
    assert sum(answer["score"] for answer in found) == pytest.approx(1)
    assert combined(VOTED, READ, 1 - share, 10) == [  # the other way around only labels and evidences differ
        {**answer, "evidences": [1] if answer["answer"]["id"] == "C" else answer["evidences"]} for answer in found
    ]


def test_label_and_evidences_of_an_answer_in_both_are_those_of_the_first():
    other = [{"answer": {"id": "A", "label": "another label"}, "score": 1.0, "rank": 1, "evidences": [7, 8, 9]}]
    (best, *_) = combined(READ, other, 0.9, 10)
    assert best["answer"] == {"id": "A", "label": "label of A"} and best["evidences"] == [1]
    (best,) = combined([], other, 0.9, 10)
    assert best == {**other[0], "score": 0.9}


def test_answers_of_equal_scores_are_ordered_by_id():
    first, second = ranking(("Q9", 0.4), ("Q10", 0.4), ("Q7", 0.2)), ranking(("Q8", 0.4), ("Q7", 0.4), ("Q1", 0.2))
    found = combined(first, second, 0.5, 10)
    assert [name for name, _ in shown(found)] == ["Q7", "Q10", "Q8", "Q9", "Q1"]
    assert combined(first[::-1], second[::-1], 0.5, 10) == found
    unequal_in_the_last_digit = ranking(("b", 0.1 + 0.2)), ranking(("a", 0.3))
    assert [name for name, _ in shown(combined(*unequal_in_the_last_digit, 0.5, 10))] == ["a", "b"]


def test_at_most_so_many_of_both_and_none_of_score_0():
    assert shown(combined(READ, VOTED, 0.5, 2)) == [("C", 0.4), ("A", 0.25)]
    assert combined(READ, VOTED, 0.5, 0) == [] == combined([], [], 0.5, 5)
    assert shown(combined(ranking(("A", 1.0), ("B", 0.0)), ranking(("B", 0.0)), 0.5, 10)) == [("A", 0.5)]


def test_the_given_rankings_are_not_changed():
    first, second = copy.deepcopy(READ), copy.deepcopy(VOTED)
    for answer in combined(first, second, 0.5, 10):
        answer["score"], answer["rank"] = -1.0, -1
    assert (first, second) == (READ, VOTED)


@pytest.mark.parametrize(
    ("text", "marked", "whole"),
    [
        ("Pulp Fiction, director, Quentin Tarantino", "ntino", "Tarantino"),
        ("played by Zoë Kravitz.", "o", "Zoë"),
        ("in the 1990s", "1990", "1990"),
        ("Quentin Tarantino", "Quentin Tarantino", "Quentin Tarantino"),
        ("서울에서 만났다", "서울", "서울"),
    ],
)
def test_a_part_of_a_word_is_the_word(text, marked, whole):
    place = text.index("Zo") + 1 if marked == "o" else text.index(marked)
    own = {**holding(), "evidence_text": text}
    assert labels(rank([span(marked, start=place)], [own])) == [whole]
