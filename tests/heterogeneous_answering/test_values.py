"""Dates and numbers of evidences with what names them, and the words that ask for properties."""

import pytest
from literal_evidence import ENGLISH, NAMES, evidence

import evidences
from convinse.heterogeneous_answering.values import values
from convinse.language.property_names import PropertyNames

KEYWORDS = ENGLISH.properties.keywords


@pytest.mark.parametrize(
    ("text", "source", "expected"),
    [
        ("The Wire, Running time, 55–60 minutes (final episode: 93)", "info",
         {"60": ("Running time",), "93": ("Running time",)}),
        ("Blade Runner, Release, Release date, June 25, 1982", "info",
         {"1982-06-25T00:00:00Z": ("Release", "Release date")}),
        ("Chelsea F.C., Record attendance, 82,905 (v Arsenal, 12 October 1935)", "infobox",
         {"82905": ("Record attendance",), "1935-10-12T00:00:00Z": ("Record attendance",)}),
        ("David Beckham, League matches, Club is Paris, Years is 2013, Appearances is 10, Goals is 0", "table",
         {"2013-01-01T00:00:00Z": ("Years",), "10": ("Appearances",), "0": ("Goals",)}),
        ("Pelé scored 77 goals in 1958.", "text", {"77": (), "1958-01-01T00:00:00Z": ()}),
    ],
)  # fmt: skip
def test_what_names_a_value(text, source, expected):
    found = {value.entity["id"]: value.labels for value in values(evidence(text, source), ENGLISH)}
    assert {key: found[key] for key in expected} == expected


def test_values_of_a_fact_have_property_and_qualifier():
    entities = [("Aretha Franklin", "Q1"), ("Grammy, Legend Award", "Q2"), ("1991", "1991-01-01T00:00:00Z")]
    text = "Aretha Franklin, award received, Grammy, Legend Award, point in time, 1991"
    given = evidences.evidence(text, "kb", *entities)
    (value,) = values(given, ENGLISH)
    assert (value.entity["label"], value.labels) == ("1991", ("award received", "point in time"))


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("Height, 193 centimetre", {"centimetr"}),
        ("Fee, €222 million", {"million", "euro"}),
        ("Length, 47 minutes", {"minut"}),
        ("Sales, 150 million copies sold (estimate)", {"million", "copi", "sold"}),
        ("Pages, 464", set()),
    ],
)
def test_units(text, unit):
    (value,) = values(evidence(f"It, {text}", "info"), ENGLISH)
    assert value.unit == unit


@pytest.mark.parametrize(
    ("label", "question", "share"),
    [
        ("duration", "what is its length", 1.0),
        ("Running time", "what is its length", 1.0),  # an infobox calls the property so
        ("number of episodes", "how many episodes", 1.0),
        ("date of birth", "when was she born", 1.0),
        ("author", "who wrote it", 1.0),
        ("Goals", "how many goals", 1.0),  # no property at all
        ("Shirt number", "which shirt", 1.0),
        ("running time", "what time is it", 1 / 2),
        ("date of birth", "when did she die", 0.0),
        ("", "when", 0.0),
    ],
)
def test_how_much_a_property_is_asked_for(label, question, share):
    assert NAMES.asked(label, KEYWORDS(question)) == pytest.approx(share)


def test_the_words_that_ask_for_a_property():
    assert NAMES.asking("author", KEYWORDS("Who wrote The Hobbit?")) == {"write"}
    assert NAMES.asking("duration", KEYWORDS("What is the length and the running time?")) == {"length", "run", "time"}
    assert NAMES.asking("duration", KEYWORDS("What time is it?")) == frozenset()


def test_an_alias_that_is_the_label_of_another_property_names_that_one():
    names = PropertyNames(
        [("P31", "instance of", ["member of", "kind"]), ("P463", "member of", ["membership"])], ENGLISH.properties
    )
    assert names.asked("instance of", KEYWORDS("how many members")) == 0.0
    assert names.asked("member of", KEYWORDS("how many members")) == 1.0
    assert names.asked("instance of", KEYWORDS("what kind")) == 1.0
