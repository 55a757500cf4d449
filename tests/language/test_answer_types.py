"""What questions ask for and which answers fit; the cases are in tests/cases/answer_types.yml."""

from hypothesis import given
from hypothesis import strategies as st

from case_tables import each_case
from convinse.language.answer_types import AnswerType
from convinse.language.language import english

TYPES = english().answer_types
DATE, NUMBER, ITEM = "1952-03-11T00:00:00Z", "42", "Q42"
KINDS = ("yesno", "date", "number", "person", "place", "item", "any")


@each_case("answer_types", "question")
def test_a_question_asks_for_a_type_for_yes_or_no_and_for_a_year(case):
    expected = TYPES.expected_type(case["question"])
    if "kind" in case:
        assert expected.kind == case["kind"]
    if "words" in case:
        assert expected == AnswerType(case["kind"], tuple(case["words"]))
    if "existential" in case:
        assert TYPES.is_existential(case["question"]) is case["existential"]
    if "year" in case:
        assert TYPES.asks_for_year(case["question"]) is case["year"]


@each_case("answer_types", "misfits")
def test_a_place_of_the_wanted_class_fits_better_than_another_and_that_better_than_a_film(case):
    expected = TYPES.expected_type(case["question"])
    assert [expected.label] == case["words"]
    best, other, film = (TYPES.fit(expected, ITEM, (name,)) for name in (case["fits"], case["misfits"], "film"))
    assert best == 1 and 0.5 > other >= film and film < 0.1


@each_case("answer_types", "class")
def test_the_type_of_the_items_of_a_class_reads_back_from_its_label(case):
    found = TYPES.of_class(case["class"])
    assert found == (case["kind"], tuple(case["words"]))
    if case["kind"] != "place" or case["words"]:
        assert TYPES.parse_label(found.label) == found


@each_case("answer_types", "wanted")
def test_answers_of_the_kind_fit_and_others_do_not(case):
    right, wrong = (TYPES.fit(AnswerType(case["wanted"]), *case[name]) for name in ("right", "wrong"))
    assert right == 1.0 and wrong < 0.5


@each_case("answer_types", "entity")
def test_the_kind_of_an_entity(case):
    assert TYPES.entity_kind(case["entity"], case["types"]) == case["entity_kind"]


def test_a_noun_fits_its_synonyms_best_and_an_unknown_class_better_than_another():
    movie = AnswerType("item", ("movie",))
    assert TYPES.fit(movie, ITEM, ["feature film"]) == 1.0
    assert 0 < TYPES.fit(movie, ITEM, ["human"]) < TYPES.fit(movie, ITEM, []) < 1
    assert TYPES.noun_types("movie") == TYPES.noun_types("movies") == TYPES.noun_types("film")


def test_adjectives_and_unknown_words_name_no_class():
    names = ["national", "National", "nationality", "country", "band", "zebra"]
    assert [TYPES.names_class(name) for name in names] == [False, False, True, True, True, False]


@given(st.text(max_size=40))
def test_every_text_has_a_type_and_its_label_reads_back(text):
    expected = TYPES.expected_type(text)
    assert expected.kind in KINDS
    if expected.kind != "item":
        assert TYPES.parse_label(expected.label) == expected


@given(
    st.sampled_from(KINDS),
    st.sampled_from([DATE, NUMBER, ITEM]),
    st.lists(st.sampled_from(["human", "film", "city", "band"])),
)
def test_a_fit_is_from_0_to_1(kind, entity_id, types):
    assert 0 <= TYPES.fit(AnswerType(kind, ("film",) if kind == "item" else ()), entity_id, types) <= 1
