"""Dates of what a question asks for."""

from literal_evidence import ENGLISH, NAMES, evidence

from convinse.heterogeneous_answering.dates import date_question, date_weights


def weights(question, evidences):
    """The weight of the weightiest date of each evidence."""
    asked = date_question(question, evidences, ENGLISH)
    return [max(date_weights(one, asked, NAMES, ENGLISH).values(), default=None) for one in evidences]


def test_a_date_of_the_asked_property_weighs_most():
    born = evidence("George Weah, Date of birth, 1 October 1966", "info")
    spoken = evidence("George Weah moved in 1988.", "text")
    other = evidence("George Weah, Running time, 1995", "info")
    found = weights("When was George Weah born?", [born, spoken, other])
    assert 1 >= found[0] > found[1] > found[2] > 0


def test_the_evidence_that_holds_the_asked_words_weighs_more():
    rows = [evidence(f"Aretha Franklin, Awards, Award is {name}, Year is {year}", "table")
            for name, year in (("Medal of Freedom", 2005), ("Medal of Arts", 1999))]  # fmt: skip
    found = weights("What year did Aretha Franklin receive the Medal of Freedom?", rows)
    assert found[0] > found[1] > 0
    assert weights("When?", [evidence("It, Pages, 464", "info")]) == [None]


def test_general_words_ask_for_no_property():
    born = evidence("Arthur Conan Doyle, date of birth, 22 May 1859", "info")
    award = evidence("He became a Dame in 1971.", "text")
    found = weights("What date did he become a Dame?", [born, award])
    assert found[0] < found[1]
    assert weights("What is his date of birth?", [born])[0] > weights("What is the date?", [born])[0]


def test_words_of_names_ask_for_no_property_in_any_evidence():
    named = evidence("The Length, Running time, 1905", "info", ("The Length", "Q1"))
    other = evidence("The Tower, Running time, 1905", "info", ("The Tower", "Q2"))
    unnamed = weights("When was the length opened?", [other])[0]
    assert all(weight < unnamed for weight in weights("When was The Length opened?", [named, other]))
