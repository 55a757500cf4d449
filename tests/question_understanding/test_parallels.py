"""Half a sentence gives another name of a column than the question before."""

import pytest

from convinse.language.language import english
from convinse.question_understanding.parallels import Parallels

ACTOR = {"id": "Q7", "label": "Uma Thurman"}
CAST = [("Butch Coolidge", "Bruce Willis"), ("Mia Wallace", "Uma Thurman"), ("Captain Koons", "Christopher Walken")]
ALBUMS = [("Animals", "1977"), ("The Wall", "1979"), ("Whiskey in the Jar", "1998"), ("Turn the Page", "1998")]


def rows(table, cells):
    for texts in cells:
        yield {
            "row": {
                "table": table,
                "cells": [
                    {"text": text, "column": column, "entities": [ACTOR] if text == ACTOR["label"] else []}
                    for column, text in enumerate(texts)
                ],
            }
        }


class Pages:
    """A dump of one page."""

    def get(self, item):
        return [{"evidence_text": "no row"}, *rows(0, CAST), *rows(1, ALBUMS)] if item == "Q1" else None


@pytest.fixture
def parallels():
    return Parallels(Pages(), english())


@pytest.mark.parametrize(
    ("question", "before", "expected"),
    [
        ("and mia?", "Who was Butch in Pulp Fiction?", "Who was mia in Pulp Fiction?"),  # rare words of names
        ("What about Mia Wallace?", "Who played butch?", "Who played Mia Wallace?"),
        ("and the wall?", "What year did they release animals", "What year did they release the wall"),
        ("and the wall?", "When did they release the animals?", "When did they release the wall?"),
        ("and Turn the Page?", "Whose song is Whiskey in the Jar?", "Whose song is Turn the Page?"),
        ("Koons?", "Who was mia in it?", "Who was Koons in it?"),
        ("and koons's voice?", "Who is the voice of mia?", "Who is the voice of koons?"),
    ],
)
def test_a_name_takes_the_place_of_one_of_its_column(parallels, question, before, expected):
    assert parallels.find(question, before, ["Q9", "Q1"]).in_full == expected


@pytest.mark.parametrize(
    ("question", "before"),
    [
        ("and mia?", "Who directed Pulp Fiction?"),  # nothing of the column
        ("and mia?", "Who is Bruce Willis?"),  # of another column
        ("and the captain?", "Who was Butch?"),  # a common word is no name
        ("and the page?", "Whose song is Whiskey in the Jar?"),
        ("and 1979?", "What came out in 1977?"),  # numbers are alternatives of whatever they count
        ("mia's birthday in Vienna?", "Who was Butch?"),  # says more
        ("and mia?", "Who played it (Butch Coolidge)?"),  # which the question itself does not say
        ("and?", "Who was Butch?"),
        ("and butch?", "Who was Butch?"),
    ],
)
def test_other_words_take_no_place(parallels, question, before):
    assert parallels.find(question, before, ["Q1"]) is None


def test_where_it_stands_and_what_it_is(parallels):
    found = parallels.find("and uma thurman?", "Who is Bruce Willis?", ["Q1"])
    assert (found.old, found.page, found.items) == ("Bruce Willis", "Q1", {"Q7"})
    assert "and uma thurman?"[found.start : found.end] == "uma thurman"


def test_without_pages():
    assert Parallels(None, english()).find("and mia?", "Who was Butch?", ["Q1"]) is None
