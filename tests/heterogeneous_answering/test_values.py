"""Dates and numbers of evidences with what names them, and the words that ask for properties."""

import re

import pytest
from literal_evidence import ENGLISH, NAMES, attribute, evidence, fact, named, row, words

from convinse.heterogeneous_answering.values import FAR, nearness, values
from convinse.language.property_names import PropertyNames

KEYWORDS = ENGLISH.properties.keywords


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (attribute("The Wire", ["Running time"], "55–60 minutes (final episode: 93)"),
         {"93": ("Running time",)}),
        (attribute("Blade Runner", ["Release", "Release date"], "June 25, 1982"),
         {"1982-06-25T00:00:00Z": ("Release", "Release date")}),
        (attribute("Aaron Sorkin", ["Born"], "Aaron Benjamin Sorkin", "June 9, 1961", "New York City, U.S."),
         {"1961-06-09T00:00:00Z": ("Born",)}),
        (attribute("Pelé", ["Senior career, without cups"], ("Years", "1956–1974"), ("Goals, in all", "643")),
         {"1974-01-01T00:00:00Z": ("Senior career, without cups", "Years"),
          "643": ("Senior career, without cups", "Goals, in all")}),
        (evidence("Chelsea F.C., Record attendance, 82,905 (v Arsenal, 12 October 1935)", "infobox"),
         {"82905": ("Record attendance",), "1935-10-12T00:00:00Z": ("Record attendance",)}),
        (row("David Beckham", "League matches", ("Club", "Paris"), ("Years", "2013"), ("Appearances", "10"), ("Goals", "0")),
         {"2013-01-01T00:00:00Z": ("Years",), "10": ("Appearances",), "0": ("Goals",)}),
        (row("It", "What is new, 1999", ("Name, as is", "This is it, 2001, Year is"), ("Year, if known", "2002"), ("", "7")),
         {"1999-01-01T00:00:00Z": (), "2001-01-01T00:00:00Z": ("Name, as is",),
          "2002-01-01T00:00:00Z": ("Year, if known",), "7": ()}),
        (evidence("Pelé scored 77 goals in 1958.", "text"), {"77": (), "1958-01-01T00:00:00Z": ()}),
    ],
)  # fmt: skip
def test_what_names_a_value(given, expected):
    labels = {value.entity["id"]: words(value.labels) for value in values(given, ENGLISH)}
    assert {key: labels[key] for key in expected} == expected


def test_values_of_a_fact_have_property_and_qualifier():
    years = [("1991", "1991-01-01T00:00:00Z"), ("1994", "1994-01-01T00:00:00Z")]
    given = fact(
        "Franklin, Aretha", "award received, of all", "Grammy, is Legend", "point in time", "1991", "end", "1994",
        ids=[*years, ("award received, of all", "P166"), ("end", "P582")],
    )  # fmt: skip
    start, end = values(given, ENGLISH)
    assert (start.entity["label"], words(start.labels)) == ("1991", ("award received, of all", "point in time"))
    assert end.labels == (named("award received, of all", "P166"), named("end", "P582"))
    (age,) = values(fact("It", "age", "7"), ENGLISH)
    assert words(age.labels) == ("age",)


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


ROLES = row("Titanic", "Cast", ("Actor", "Kate Winslet"), ("Producer", "James Cameron"), ("Year", "1997"))


def mentioning(given, *names):
    """An evidence in which the names are mentioned, each wherever it stands."""
    text = given["evidence_text"]
    places = [(place.start(), place.end(), name) for name in names for place in re.finditer(name, text)]
    return {
        **given,
        "mentions": [{"start": start, "end": end, "id": f"Q {name}"} for start, end, name in sorted(places)],
    }


def test_nearness_to_the_asked_words():
    cast = mentioning(ROLES, "Kate Winslet", "James Cameron", "Titanic")
    near = nearness(cast, {"produc"}, ENGLISH.words)
    assert near["Q James Cameron"] > near["Q Kate Winslet"] > FAR  # what stands behind a word is nearer
    assert nearness(cast, {"actor"}, ENGLISH.words)["Q Kate Winslet"] == near["Q James Cameron"] <= 1
    assert set(nearness(cast, {"director"}, ENGLISH.words).values()) == {FAR}
    assert nearness(cast, {"kate"}, ENGLISH.words)["Q Kate Winslet"] == FAR  # its own words are not near to it


def test_nearness_is_that_of_the_nearest_mention_and_counts_words():
    given = mentioning(
        evidence("Anna and Bo – the Élan of old – had a book of Anna, & of Bo.", "text"), "Anna", "Bo", "Élan"
    )
    words = ["anna", "and", "bo", "the", "elan", "of", "old", "had", "a", "book", "of", "anna", "and", "of", "bo"]
    book = words.index("book")
    near = nearness(given, {"book"}, ENGLISH.words)
    expected = {"Anna": words.index("anna", book) - book, "Bo": words.index("bo", book) - book,
                "Élan": 3 * (book - words.index("elan"))}  # fmt: skip
    assert near == {f"Q {name}": pytest.approx(FAR + (1 - FAR) / (1 + gap / 3)) for name, gap in expected.items()}
    assert nearness(evidence("", "text"), {"book"}, ENGLISH.words) == {}


def test_nearness_is_that_of_the_mentions_at_hand_whatever_the_text_was_read_with_before():
    given = evidence("The book of Anna and of Bo", "text")
    for names in (["Anna"], ["Bo"], ["Anna", "Bo"]):
        assert set(nearness(mentioning(given, *names), {"book"}, ENGLISH.words)) == {f"Q {name}" for name in names}


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
    assert NAMES.asked(named(label), KEYWORDS(question)) == pytest.approx(share)


def test_the_words_that_ask_for_a_property():
    assert NAMES.asking(named("author"), KEYWORDS("Who wrote The Hobbit?")) == {"write"}
    assert NAMES.asking(named("duration"), KEYWORDS("What is the length and the running time?")) == {
        "length",
        "run",
        "time",
    }
    assert NAMES.asking(named("duration"), KEYWORDS("What time is it?")) == frozenset()


def test_a_property_of_a_known_id_has_its_own_names():
    names = PropertyNames([("P1", "part", ["piece"]), ("P2", "part", ["role"])], ENGLISH.properties)
    roles = KEYWORDS("which role")
    assert names.asked(named("part", "P2"), roles) == 1.0 and names.asking(named("part", "P2"), roles) == {"role"}
    assert names.asked(named("part", "P1"), roles) == 0.0 == names.asked(named("part"), roles)
    assert names.asked(named("role", "an id of nothing"), roles) == 1.0


def test_an_alias_that_is_the_label_of_another_property_names_that_one():
    names = PropertyNames(
        [("P31", "instance of", ["member of", "kind"]), ("P463", "member of", ["membership"])], ENGLISH.properties
    )
    assert names.asked(named("instance of"), KEYWORDS("how many members")) == 0.0
    assert names.asked(named("member of"), KEYWORDS("how many members")) == 1.0
    assert names.asked(named("instance of"), KEYWORDS("what kind")) == 1.0
