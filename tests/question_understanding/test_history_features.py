from types import SimpleNamespace

import pytest

from convinse.language.language import english
from convinse.question_understanding.history_features import FeatureReader
from convinse.question_understanding.referents import Asked, ChosenReferents, Focus, as_referent
from histories import BagOfWords


@pytest.fixture
def embedder():
    return BagOfWords()


TITANIC, CAMERON, WINSLET, DICAPRIO = "Q44578", "Q42574", "Q202765", "Q38111"
BEATLES, LENNON, HOBBIT, INCEPTION = "Q1299", "Q1203", "Q74287", "Q25188"


@pytest.fixture
def read(world_kb, embedder):
    """The features of each referent, by id."""
    reader = FeatureReader(world_kb, embedder)

    def refer(ids):
        return tuple(as_referent(world_kb, english().answer_types, item, world_kb.label(item)) for item in ids)

    def features(question, *turns, named=(), predicate="", elliptical=False, rules=((), ()), likely=None):
        """Of a question after turns of (question, ids asked about, ids answered)."""
        expected = english().answer_types.expected_type(question)
        asked = Asked(question, refer(named), tuple(predicate.split()), expected, elliptical, likely)
        foci = [Focus(refer(asked), refer(answered)) for _, asked, answered in turns]
        history = [{"question": text, "answers": []} for text, _, _ in turns]
        found = reader.read(asked, ChosenReferents(refer(rules[0]), refer(rules[1])), foci, history)
        return {referent.id: row for referent, row in zip(reader.referents(asked, foci), found, strict=True)}

    return features


WHO_DIRECTED = ("Who directed Titanic?", [TITANIC], [CAMERON])
WHO_PLAYED = ("Who played Rose?", [TITANIC], [WINSLET])


WROTE = ("Who wrote The Hobbit?", [HOBBIT], [])
# by rule: (question, turns before, options, the features of each referent)
FEATURES = {
    "where things were talked about": [
        ("And when?", (WHO_DIRECTED, WHO_PLAYED), {}, {
            WINSLET: {"answered_last": 1, "asked_last": 0, "turns_since": 0, "times": 0},
            TITANIC: {"asked_last": 1, "asked_before": 1, "first_topic": 1, "times": 1},
            CAMERON: {"answered_last": 0, "answered_before": 1, "turns_since": 1, "first_topic": 0},
        }),
    ],
    "pronouns": [
        (question, (WHO_DIRECTED,), {}, {item: {"agrees": agrees, "disagrees": disagrees}})
        for question, item, agrees, disagrees in (
            ("When was he born?", CAMERON, 1, 0), ("When was he born?", TITANIC, 0, 1),
            ("When was it released?", TITANIC, 1, 0), ("When did they split?", CAMERON, 0.5, 0),
            ("When did they split?", TITANIC, 0, 1), ("When was the premiere?", TITANIC, 0, 0),
        )
    ],
    "that one points at the turn before": [
        (question, (WHO_DIRECTED, WROTE), {}, {HOBBIT: {"pointed_at": pointed}, TITANIC: {"pointed_at": 0}})
        for question, pointed in (
            ("Who wrote that one?", 1), ("Who directed that?", 1), ("That one, who made it?", 1), ("Who wrote that book?", 0),
        )
    ],
    "the film is a film": [
        ("Who starred in the film?", (WHO_DIRECTED,), {}, {
            TITANIC: {"class_named": 1, "class_missed": 0}, CAMERON: {"class_named": 0, "class_missed": 1},
        }),
    ],
    "a named thing near what was talked about": [
        ("Was Leonardo DiCaprio in it?", (WHO_DIRECTED,), {"named": [DICAPRIO]},
         {TITANIC: {"near_named": 1, "names_item": 1, "complete": 0}}),
    ],
    "another thing of its class is a rival": [
        ("Who directed Inception?", (WHO_DIRECTED,), {"named": [INCEPTION]},
         {TITANIC: {"rival_of_named": 1, "near_named": 0, "complete": 1}, CAMERON: {"rival_of_named": 0}}),
    ],
    "an ellipsis leans on the turn before": [
        ("And when?", (WHO_DIRECTED, WROTE), {"elliptical": True},
         {HOBBIT: {"elliptical_last": 1}, TITANIC: {"elliptical_last": 0, "elliptical": 1}}),
    ],
    "what the rules take": [
        ("When?", (WHO_DIRECTED,), {"rules": ([CAMERON], [TITANIC])}, {
            CAMERON: {"rules_entity": 1, "rules_context": 0}, TITANIC: {"rules_entity": 0, "rules_context": 1},
        }),
    ],
    "an item that the knowledge base does not know": [
        ("When was he born?", (("Who?", ["Q999999"], [CAMERON]),), {"predicate": "born"},
         {"Q999999": {"has_property": 0, "has_answer": 0, "property_alike": 0, "near_named": 0}}),
    ],
}  # fmt: skip


@pytest.mark.parametrize("rule", FEATURES)
def test_features_of_what_was_talked_about(read, rule):
    for question, turns, options, expected in FEATURES[rule]:
        rows = read(question, *turns, **options)
        shown = {item: {name: getattr(rows[item], name) for name in wanted} for item, wanted in expected.items()}
        assert shown == expected, question


def test_the_latest_comes_first_and_answers_before_what_was_asked_about(read):
    assert list(read("And when?", WHO_DIRECTED, WHO_PLAYED)) == [WINSLET, TITANIC, CAMERON]


def test_what_the_question_names_is_none_of_the_history(read):
    assert set(read("Who is Kate Winslet?", WHO_PLAYED, named=[WINSLET])) == {TITANIC}


def test_they_are_rather_the_band_than_one_of_its_members(read):
    found = read("When did they split?", ("Who was in the Beatles?", [BEATLES], [LENNON]))
    assert found[BEATLES].agrees > found[LENNON].agrees > 0


def test_who_was_born_has_a_date_of_birth(read):
    found = read("When was the birth?", WHO_DIRECTED, predicate="birth")
    assert found[CAMERON].has_property > 0 and found[TITANIC].has_property == 0
    assert found[CAMERON].has_answer == found[CAMERON].has_property, "its value is a date, as is asked for"
    assert (found[CAMERON].has_most, found[TITANIC].has_most) == (1, 0)
    assert found[CAMERON].property_alike > found[TITANIC].property_alike
    assert found[CAMERON].property_lead == pytest.approx(-found[TITANIC].property_lead)


def test_a_property_with_values_of_another_type_has_no_answer(read):
    found = read("When was the director?", WHO_DIRECTED, predicate="director")
    assert found[TITANIC].has_property == 1 and found[TITANIC].has_answer < 0.1


def test_what_is_asked_for_is_not_what_is_asked_about(read):
    found = read("Which film did he direct?", WHO_DIRECTED)
    assert found[TITANIC].may_answer > 0.9 > 0.1 > found[CAMERON].may_answer


def test_what_may_answer_tells_the_model_where_it_has_the_head(read):
    likely = SimpleNamespace(fit=lambda entity: {TITANIC: 0.7, CAMERON: 0.2}.get(entity, 0.1))
    found = read("When was the director?", WHO_DIRECTED, predicate="director", likely=likely)
    assert (found[TITANIC].may_answer, found[CAMERON].may_answer) == (0.7, 0.2)
    assert found[TITANIC].has_answer == pytest.approx(0.2 * found[TITANIC].has_property)


def test_a_question_like_an_earlier_one_about_it(read):
    found = read("Who directed it?", ("Who directed Titanic?", [TITANIC], []), ("Born where?", [CAMERON], []))
    assert found[TITANIC].alike > found[CAMERON].alike


def test_the_order_of_answers_changes_nothing(read):
    turns = ("Who starred in Titanic?", [TITANIC], [WINSLET, DICAPRIO])
    assert read("When was she born?", turns) == read("When was she born?", (*turns[:2], turns[2][::-1]))


def test_dates_and_numbers_are_not_asked_about(read):
    assert set(read("And he?", ("When?", [TITANIC], ["1997-12-19T00:00:00Z", "194"]))) == {TITANIC}


def test_nothing_talked_about_embeds_nothing(read, embedder):
    assert read("Who directed it?", ("Hello?", [], [])) == {} and embedder.texts == []


def test_an_empty_question_has_features(read):
    assert all(isinstance(value, float) for value in read("", WHO_DIRECTED)[TITANIC])


def test_texts_are_embedded_once(read, embedder):
    read("When was he born?", WHO_DIRECTED, predicate="born")
    read("When was she born?", WHO_DIRECTED, WHO_PLAYED, predicate="born")
    assert len(embedder.texts) == len(set(embedder.texts))
