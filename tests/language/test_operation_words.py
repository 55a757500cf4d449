import pytest

from convinse.language.language import english

OPERATIONS = english().operations


@pytest.mark.parametrize(
    ("question", "by", "highest", "place", "noun"),
    [
        ("What was their first album?", (), False, 1, ("album",)),
        ("What is her most recent film?", (), True, 1, ("film",)),
        ("What was the third album?", (), False, 3, ("album",)),
        ("the second longest song", ("length",), True, 2, ("song",)),
        ("Which is the biggest city?", ("popul",), True, 1, ("citi",)),
        ("the shortest book", ("page",), False, 1, ("book",)),
        ("In which season did he score the most goals?", ("goal",), True, 1, ("goal",)),
        ("the fewest episodes", ("episod",), False, 1, ("episod",)),
        ("her most successful film", ("gross",), True, 1, ("film",)),
    ],
)
def test_an_order_has_its_measure_its_end_its_place_and_what_it_orders(question, by, highest, place, noun):
    order = OPERATIONS.order(question)
    assert (order.highest, order.place, order.noun) == (highest, place, noun)
    assert set(by) <= order.by and bool(by) == bool(order.by)


@pytest.mark.parametrize(
    "question",
    ["Who directed it?", "Did at most ten people come?", "Most of it was shot where?", "And the last one by them?", ""],
)
def test_a_question_without_an_order_has_none(question):
    assert OPERATIONS.order(question) is None


@pytest.mark.parametrize(("question", "offers"), [("Is it Alien or Aliens?", True), ("Who made it?", False)])
def test_a_choice_offers_things(question, offers):
    assert OPERATIONS.offers(question) is offers


@pytest.mark.parametrize(
    ("question", "several", "others"),
    [
        ("Who are its members?", True, False),
        ("Which films did he direct?", True, False),
        ("What else did she write?", True, True),
        ("And the others?", True, True),
        ("List all the awards of Titanic.", True, False),
        ("Which film did he direct?", False, False),
        ("Who directed Titanic?", False, False),
        ("Which class was it?", False, False),
    ],
)
def test_a_question_for_several_answers_and_for_others(question, several, others):
    assert bool(OPERATIONS.several.search(question)) is several
    assert bool(OPERATIONS.excluding.search(question)) is others
