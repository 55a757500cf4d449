"""Numbers in words, and what a question counts in."""

import pytest

from convinse.language.language import english

LITERALS = english().literals


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("eight", 8),
        ("Eight", 8),
        ("one", 1),
        ("nineteen", 19),
        ("sixty-four", 64),
        ("ninety nine", 99),
        ("hundred", 100),
        ("a hundred", 100),
        ("a hundred and five", 105),
        ("six hundred six", 606),
        ("nineteen hundred", 1900),
        ("two thousand and one", 2001),
        ("forty-two thousand", 42_000),
        ("five hundred thousand", 500_000),
        ("thirty million", 30_000_000),
        ("twelve hundred million", 1_200_000_000),
        ("one million two hundred and three thousand and forty-five", 1_203_045),
        ("a million", 1_000_000),
    ],
)
def test_a_number_in_words(text, number):
    assert LITERALS.number_in_words(text) == number


@pytest.mark.parametrize(
    "text",
    [
        "", "—", "a", "the", "and", "eights", "8", "8 million", "half", "two and a half", "the two", "two of them",
        "Seven Samurai", "five and", "and five", "a hundred and", "a hundred and a", "hundred and of five",
        "two or three", "one of two", "one by one", "two and two", "seven eleven", "twenty twenty", "twenty eleven", "ten five",
        "nineteen eighty-four", "twenty and four", "one two three", "a hundred hundred", "two thousand thousand",
        "two thousand million", "two thousand three million", "two million thousand", "hundred million hundred million",
    ],
)  # fmt: skip
def test_what_is_no_number_in_words(text):
    assert LITERALS.number_in_words(text) is None


@pytest.mark.parametrize(
    ("question", "scale"),
    [
        ("How many million copies did it sell?", 10**6),
        ("how many millions did it make", 10**6),
        ("How many thousand people live there?", 1000),
        ("What is the number of billions?", 10**9),
        ("How many copies did it sell in a million places?", 1),
        ("Who sold a million copies?", 1),
        ("How many?", 1),
        ("", 1),
    ],
)
def test_what_a_question_counts_in(question, scale):
    assert LITERALS.asked_scale(question) == scale
