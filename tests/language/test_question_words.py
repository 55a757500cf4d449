"""Numbers in words, and words that count, order, choose and list; the cases are in tests/cases/question_words.yml."""

from case_tables import each_case
from convinse.language.language import english

LITERALS, OPERATIONS = english().literals, english().operations


@each_case("question_words", "numbered")
def test_the_number_of_a_thing_is_in_digits(case):
    assert LITERALS.in_digits(case["numbered"]) == case["text"]


@each_case("question_words", "in_words")
def test_a_number_in_words(case):
    assert LITERALS.number_in_words(case["in_words"]) == case["number"]


@each_case("question_words", "counting")
def test_the_scale_that_a_question_counts_in(case):
    assert LITERALS.asked_scale(case["counting"]) == case["scale"]


@each_case("question_words", "ordering")
def test_an_order_has_a_measure_an_end_a_rank_and_a_noun(case):
    order = OPERATIONS.order(case["ordering"])
    assert (order.highest, order.place, list(order.noun)) == (case["highest"], case["place"], case["noun"])
    assert set(case["by"]) <= order.by and bool(case["by"]) == bool(order.by)


@each_case("question_words", "unordered")
def test_a_question_without_an_order(case):
    assert OPERATIONS.order(case["unordered"]) is None


@each_case("question_words", "choosing")
def test_a_choice_offers_things(case):
    assert OPERATIONS.offers(case["choosing"]) is case["offers"]


@each_case("question_words", "listing")
def test_a_question_for_several_answers_and_for_others(case):
    assert bool(OPERATIONS.several.search(case["listing"])) is case["several"]
    assert bool(OPERATIONS.excluding.search(case["listing"])) is case["others"]


@each_case("asked_again")
def test_a_follow_up_over_a_list_is_a_sentence(case):
    parts = OPERATIONS.asked_again(case["ask"], case["last"])
    assert (f"{''.join(parts)}?" if parts else None) == case["full"]
