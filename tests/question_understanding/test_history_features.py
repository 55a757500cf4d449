import pytest

from convinse.language.language import english
from convinse.question_understanding.history_features import FeatureReader, Features
from convinse.question_understanding.referents import Asked, Choice, Focus, as_referent
from histories import BagOfWords


@pytest.fixture
def embedder():
    return BagOfWords()


@pytest.fixture
def reader(world_kb, embedder):
    return FeatureReader(world_kb, embedder)


TITANIC, AVATAR, CAMERON, WINSLET, DICAPRIO = "Q44578", "Q24871", "Q42574", "Q202765", "Q38111"
BEATLES, LENNON, HOBBIT, NOLAN, INCEPTION = "Q1299", "Q1203", "Q74287", "Q25191", "Q25188"


@pytest.fixture
def read(world_kb, reader):
    """The features of each referent, by id."""

    def refer(ids):
        return tuple(as_referent(world_kb, english().answer_types, one, world_kb.label(one)) for one in ids)

    def features(question, *turns, named=(), predicate="", elliptical=False, rules=((), ())):
        """Of a question after turns of (question, ids asked about, ids answered)."""
        asked = Asked(
            question, refer(named), tuple(predicate.split()), english().answer_types.expected_type(question), elliptical
        )
        foci = [Focus(refer(asked), refer(answered)) for _, asked, answered in turns]
        history = [{"question": text, "answers": []} for text, _, _ in turns]
        found = reader.read(asked, Choice(refer(rules[0]), refer(rules[1])), foci, history)
        return {one.id: row for one, row in zip(reader.referents(asked, foci), found, strict=True)}

    return features


WHO_DIRECTED = ("Who directed Titanic?", [TITANIC], [CAMERON])
WHO_PLAYED = ("Who played Rose?", [TITANIC], [WINSLET])


def test_where_things_were_talked_about(read):
    found = read("And when?", WHO_DIRECTED, WHO_PLAYED)
    assert list(found) == [WINSLET, TITANIC, CAMERON], "the latest first, answers before what was asked about"
    winslet, titanic, cameron = found.values()
    assert (winslet.answered_last, winslet.asked_last, winslet.turns_since, winslet.times) == (1, 0, 0, 0)
    assert (titanic.asked_last, titanic.asked_before, titanic.first_topic, titanic.times) == (1, 1, 1, 1)
    assert (cameron.answered_last, cameron.answered_before, cameron.turns_since, cameron.first_topic) == (0, 1, 1, 0)


def test_what_the_question_names_is_none_of_the_history(read):
    assert set(read("Who is Kate Winslet?", WHO_PLAYED, named=[WINSLET])) == {TITANIC}


@pytest.mark.parametrize(
    ("question", "about", "agrees", "disagrees"),
    [
        ("When was he born?", CAMERON, 1, 0),
        ("When was he born?", TITANIC, 0, 1),
        ("When was it released?", TITANIC, 1, 0),
        ("When did they split?", CAMERON, 0.5, 0),
        ("When did they split?", TITANIC, 0, 1),
        ("When was the premiere?", TITANIC, 0, 0),
    ],
)
def test_pronouns(read, question, about, agrees, disagrees):
    row = read(question, WHO_DIRECTED)[about]
    assert (row.agrees, row.disagrees) == (agrees, disagrees)


def test_they_are_rather_the_band_than_one_of_its_members(read):
    found = read("When did they split?", ("Who was in the Beatles?", [BEATLES], [LENNON]))
    assert found[BEATLES].agrees > found[LENNON].agrees > 0


@pytest.mark.parametrize(
    ("question", "pointed"),
    [("Who wrote that one?", 1), ("Who directed that?", 1), ("That one, who made it?", 1), ("Who wrote that book?", 0)],
)
def test_that_one_points_at_the_turn_before(read, question, pointed):
    found = read(question, WHO_DIRECTED, ("Who wrote The Hobbit?", [HOBBIT], []))
    assert (found[HOBBIT].pointed_at, found[TITANIC].pointed_at) == (pointed, 0)


def test_the_film_is_a_film(read):
    found = read("Who starred in the film?", WHO_DIRECTED)
    assert (found[TITANIC].class_named, found[TITANIC].class_missed) == (1, 0)
    assert (found[CAMERON].class_named, found[CAMERON].class_missed) == (0, 1)


def test_a_named_thing_near_what_was_talked_about(read):
    found = read("Was Leonardo DiCaprio in it?", WHO_DIRECTED, named=[DICAPRIO])
    assert found[TITANIC].near_named == 1 and found[TITANIC].names_item == 1 and found[TITANIC].complete == 0


def test_another_thing_of_its_class_is_a_rival(read):
    found = read("Who directed Inception?", WHO_DIRECTED, named=[INCEPTION])
    assert (found[TITANIC].rival_of_named, found[TITANIC].near_named, found[TITANIC].complete) == (1, 0, 1)
    assert found[CAMERON].rival_of_named == 0


def test_an_ellipsis_leans_on_the_turn_before(read):
    found = read("And when?", WHO_DIRECTED, ("Who wrote The Hobbit?", [HOBBIT], []), elliptical=True)
    assert (found[HOBBIT].elliptical_last, found[TITANIC].elliptical_last, found[TITANIC].elliptical) == (1, 0, 1)


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


def test_a_question_like_an_earlier_one_about_it(read):
    found = read("Who directed it?", ("Who directed Titanic?", [TITANIC], []), ("Born where?", [CAMERON], []))
    assert found[TITANIC].alike > found[CAMERON].alike


def test_what_the_rules_take(read):
    found = read("When?", WHO_DIRECTED, rules=([CAMERON], [TITANIC]))
    assert (found[CAMERON].rules_entity, found[CAMERON].rules_context) == (1, 0)
    assert (found[TITANIC].rules_entity, found[TITANIC].rules_context) == (0, 1)


def test_the_order_of_answers_changes_nothing(read):
    turns = ("Who starred in Titanic?", [TITANIC], [WINSLET, DICAPRIO])
    assert read("When was she born?", turns) == read("When was she born?", (*turns[:2], turns[2][::-1]))


def test_an_item_that_the_knowledge_base_does_not_know(read):
    row = read("When was he born?", ("Who?", ["Q999999"], [CAMERON]), predicate="born")["Q999999"]
    assert (row.has_property, row.has_answer, row.property_alike, row.near_named) == (0, 0, 0, 0)


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


def test_every_feature_is_told_what_it_means():
    assert all(name in Features.__doc__ for name in Features._fields)
