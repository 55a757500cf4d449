"""What benchmarks give as answers, and the ids of the contract."""

import pytest

from convinse.formats.conversations.answers import contract_answer, item_id

WHEN, HOW_MANY = "When was it published?", "How many copies were sold?"


def answered(text, label="", question=WHEN):
    found = contract_answer(text, label, question)
    assert list(found) == ["id", "label"]
    return tuple(found.values())


@pytest.mark.parametrize(
    "text",
    [
        "Q42",
        " Q42 ",
        "https://www.wikidata.org/wiki/Q42",
        "http://www.wikidata.org/entity/Q42",
        "https://m.wikidata.org/wiki/Q42",
        "https://www.wikidata.org/wiki/Q42.",
        "https://www.wikidata.org/wiki/Q42?wprov=srpw1_0",
        "https://www.wikidata.org/wiki/Q42#P31",
        "Q42?wprov=srpw1_0",
    ],
)
def test_an_item_is_its_id(text):
    assert item_id(text) == "Q42"
    assert answered(text, "Douglas Adams") == ("Q42", "Douglas Adams")
    assert answered(text) == ("Q42", "Q42")


OTHER_TEXTS = [
    *("", "Q", "Q0", "Quentin", "Q42 Q43", "P31", "https://www.wikidata.org/wiki/Property:P31", "https://q42.org/Q42"),
    *("18 September 18", "31 February 1999", "1999-13-01T00:00:00Z", "1990-1995", "the 1990s"),
    *("2 million", "21 Savage", "7.11.1", "+1-866-418-0232", "263A", "1,23", "4 Non Blondes"),
    *("San Francisco", "There and Back again", "n/a", "https://www.mlssoccer.com/", "РКП(б)"),
]


@pytest.mark.parametrize("text", OTHER_TEXTS)
def test_what_is_no_item_date_or_number_is_its_own_id(text):
    assert item_id(text) is None
    assert answered(text) == (text, text)
    assert answered(text, "a label") == (text, "a label")


@pytest.mark.parametrize(
    ("text", "stamp", "label"),
    [
        ("12 June 1929", "1929-06-12T00:00:00Z", "12 June 1929"),
        ("01 April 1993", "1993-04-01T00:00:00Z", "1 April 1993"),
        ("25 May 1977.", "1977-05-25T00:00:00Z", "25 May 1977"),
        ("October 17, 1972", "1972-10-17T00:00:00Z", "17 October 1972"),
        ("1972-10-17", "1972-10-17T00:00:00Z", "17 October 1972"),
        ("June 1929", "1929-06-01T00:00:00Z", "June 1929"),
        ("1937", "1937-01-01T00:00:00Z", "1937"),
        ('"1937"', "1937-01-01T00:00:00Z", "1937"),
        ("1937-01-01T00:00:00Z", "1937-01-01T00:00:00Z", "1937"),
        ("1937-00-00T00:00:00Z", "1937-01-01T00:00:00Z", "1937"),
        ("1929-06-12T00:00:00Z", "1929-06-12T00:00:00Z", "12 June 1929"),
        ("-0442-01-01T00:00:00Z", "-0442-01-01T00:00:00Z", "443 BC"),
        ("-442-01-01T00:00:00Z", "-0442-01-01T00:00:00Z", "443 BC"),
    ],
)
def test_a_date_is_a_time_stamp_with_a_label_in_words(text, stamp, label):
    assert answered(text, text) == (stamp, label)


def test_the_label_of_a_time_stamp_is_kept():
    assert answered("1937-01-01T00:00:00Z", "1 January 1937") == ("1937-01-01T00:00:00Z", "1 January 1937")


def test_four_digits_are_a_year_unless_a_number_is_asked_for():
    assert answered("1937", question="Release date of the first movie?")[0] == "1937-01-01T00:00:00Z"
    assert answered("1937", question=HOW_MANY) == ("1937", "1937")
    assert answered("12 June 1929", question=HOW_MANY)[0] == "1929-06-12T00:00:00Z"
    assert answered("8458") == ("8458", "8458")  # no year


@pytest.mark.parametrize("text", ["Yes", "yes", "YES", "yes.", '"Yes"'])
def test_yes_is_written_in_one_way(text):
    assert answered(text, text) == ("Yes", "Yes")
    assert answered(text.lower().replace("yes", "no"), "no") == ("No", "No")


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("7", "7"),
        ("49780", "49780"),
        ("677,463,813", "677463813"),
        ("332.0", "332"),
        ("0.479", "0.479"),
        ("-12", "-12"),
        ("+27", "27"),
        ("$294,800,000", "294800000"),
        ("6 years", "6"),
        ("157 centimetre", "157"),
        ("202,000,000 dollars", "202000000"),
    ],
)
def test_a_number_is_its_digits_and_its_unit_part_of_the_label(text, digits):
    assert answered(text) == (digits, text)
    assert answered(text, "a label") == (digits, "a label")


@pytest.mark.parametrize(
    "text", ["Q42", "12 June 1929", "1937", "yes", "6 years", "$5", "San Francisco", "-442-01-01T00:00:00Z"]
)
def test_what_is_converted_stays_the_same(text):
    once = contract_answer(text, text, WHEN)
    assert contract_answer(once["id"], once["label"], WHEN) == once
