import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convinse.language.answer_types import AnswerType
from convinse.language.language import english

TYPES = english().answer_types
DATE, NUMBER, ITEM = "1952-03-11T00:00:00Z", "42", "Q42"


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Who wrote The Lord of the Rings?", "person"),
        ("when was it released", "date"),
        ("Which year did they split up?", "date"),
        ("Where was she born?", "place"),
        ("How many seasons are there?", "number"),
        ("how long is it", "number"),
        ("Is he still alive?", "yesno"),
        ("and did they win?", "yesno"),
        ("and the director?", "person"),
        ("release date?", "date"),
        ("what about the second season?", "any"),
        ("What was the year that the league began?", "date"),
        ("Number of Oscars it won in the league?", "number"),
        ("Director of the film?", "person"),
        ("name of the director?", "person"),
        ("Can you tell me who directed it?", "person"),
        ("Which people founded it?", "person"),
        ("Which comedian hosts it?", "person"),
        ("Do you know when it was released?", "date"),
        ("", "any"),
    ],
)
def test_the_kind_of_answer_that_a_question_asks_for(question, kind):
    assert TYPES.expected_type(question).kind == kind


@pytest.mark.parametrize(
    ("question", "noun"),
    [
        ("Which band did he join?", "band"),
        ("what genre is it?", "genre"),
        ("Which book came first?", "book"),
        ("Which was their last album?", "album"),
        ("Which one is his best film?", "film"),
        ("Which of his books was filmed?", "books"),
    ],
)
def test_the_noun_of_a_question_names_the_type(question, noun):
    assert TYPES.expected_type(question) == AnswerType("item", (noun,))


@pytest.mark.parametrize(
    "question", ["Which of them is older?", "Which of these?", "Which was released first?", "Which of"]
)
def test_which_without_a_noun_names_no_type(question):
    assert TYPES.expected_type(question) == AnswerType("any")


@pytest.mark.parametrize(
    ("question", "noun", "fits", "misfits"),
    [
        ("In which city was he born?", "city", "big city", "country"),
        ("what town does she live in", "town", "municipality of Norway", "sovereign state"),
        ("which country is the band from?", "country", "sovereign state", "big city"),
        ("And the county?", "county", "county of England", "village"),
    ],
)
def test_a_place_of_the_wanted_class_fits_better_than_another_and_that_better_than_a_film(
    question, noun, fits, misfits
):
    expected = TYPES.expected_type(question)
    assert expected == AnswerType("place", (noun,)) and expected.label == noun
    values = [TYPES.fit(expected, ITEM, (name,)) for name in (fits, misfits, "film")]
    assert values == sorted(values, reverse=True) and values[0] == 1 and values[1] < 0.5 and values[2] < 0.1


def test_national_says_what_something_is_like_and_nationality_names_a_class():
    assert not TYPES.names_class("national") and not TYPES.names_class("National")
    assert TYPES.names_class("nationality") and TYPES.names_class("country")


@given(st.text(max_size=40))
def test_every_text_has_a_type_and_its_label_reads_back(text):
    expected = TYPES.expected_type(text)
    assert expected.kind in ("yesno", "date", "number", "person", "place", "item", "any")
    if expected.kind != "item":
        assert TYPES.parse_label(expected.label) == expected


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [("human", "person", ()), ("country", "place", ("country",)), ("human settlement", "place", ()), ("film", "item", ("film",)),
     ("television series", "item", ("television", "series")), ("city of the United States", "place", ())],
)  # fmt: skip
def test_the_type_of_the_items_of_a_class(name, kind, words):
    assert TYPES.of_class(name) == (kind, words)
    if kind != "place" or words:
        assert TYPES.parse_label(TYPES.of_class(name).label) == TYPES.of_class(name)


NAMES_LIKE_VERBS = [
    "Isabel Allende, when was she born?", "Isabel", "Document of the year?", "Doña Flor, who wrote it?",
    unicodedata.normalize("NFD", "Dóra, who is her husband?"), "Hasbro's founder?", "Canada, who leads it?",
    "Amélie, who directed it?",
]  # fmt: skip


@pytest.mark.parametrize(
    ("expected", "questions"),
    [
        (True, ["Is it?", "Well, are they?", "does he sing", "And so was it good?"]),
        (False, NAMES_LIKE_VERBS),
        (False, ["What is it?", "Could you please tell me his name?", "who was he", "", "the island is where?"]),
    ],
)
def test_existential(expected, questions):
    assert [TYPES.is_existential(question) for question in questions] == [expected] * len(questions)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What year was it?", True),
        ("In which year did it come out?", True),
        ("release year?", True),
        ("When was it released?", False),
        ("When in that year was it released?", False),
        ("What was the date, and the year?", False),
        ("How many years did it take?", False),
        ("", False),
    ],
)
def test_questions_for_a_year(question, expected):
    assert TYPES.asks_for_year(question) is expected


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        ("date", (DATE, []), (ITEM, ["human"])),
        ("date", (DATE, []), (NUMBER, [])),
        ("number", (NUMBER, []), (DATE, [])),
        ("person", (ITEM, ["human"]), (ITEM, ["film"])),
        ("person", (ITEM, ["human"]), (DATE, [])),
        ("person", (ITEM, ["human"]), (ITEM, ["human settlement"])),
        ("place", (ITEM, ["big city"]), (ITEM, ["human"])),
    ],
)
def test_what_fits_a_kind(kind, right, wrong):
    expected = AnswerType(kind)
    assert TYPES.fit(expected, *right) == 1.0
    assert TYPES.fit(expected, *wrong) < 0.5


def test_what_fits_a_noun():
    movie = AnswerType("item", ("movie",))
    assert TYPES.fit(movie, ITEM, ["feature film"]) == 1.0
    assert 0 < TYPES.fit(movie, ITEM, ["human"]) < TYPES.fit(movie, ITEM, []) < 1


@given(
    st.sampled_from(["yesno", "date", "number", "person", "place", "item", "any"]),
    st.sampled_from([DATE, NUMBER, ITEM]),
    st.lists(st.sampled_from(["human", "film", "city", "band"])),
)
def test_a_fit_is_a_share(kind, entity_id, types):
    assert 0 <= TYPES.fit(AnswerType(kind, ("film",) if kind == "item" else ()), entity_id, types) <= 1


def test_nouns_and_classes():
    assert TYPES.noun_types("movie") == TYPES.noun_types("movies") == TYPES.noun_types("film")
    assert TYPES.names_class("band")
    assert not TYPES.names_class("zebra")


@pytest.mark.parametrize(
    ("entity_id", "types", "kind"),
    [
        (DATE, [], "date"),
        (NUMBER, [], "number"),
        (ITEM, ["human"], "person"),
        (ITEM, ["fictional character"], "person"),
        (ITEM, ["rock band"], "group"),
        (ITEM, ["human settlement"], "place"),
        (ITEM, ["film"], "thing"),
        (ITEM, [], "thing"),
    ],
)
def test_the_kind_of_an_entity(entity_id, types, kind):
    assert TYPES.entity_kind(entity_id, types) == kind
