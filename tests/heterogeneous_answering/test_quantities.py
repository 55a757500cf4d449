"""Stated numbers before counts of what is listed."""

import pytest
from literal_evidence import ENGLISH, attribute, evidence, fact, row

from convinse.heterogeneous_answering.quantities import asked_quantity, compared, counted, stated
from convinse.language.property_names import PropertyNames

NAMES = PropertyNames(
    [
        ("P1113", "number of episodes", ["episodes"]),
        ("P2047", "duration", ["running time", "length"]),
        ("P463", "member of", ["band member of", "membership"]),
        ("P40", "child", ["children", "kids"]),
        ("P166", "award received", ["awards", "win"]),
        ("P1082", "population", ["inhabitants"]),
    ],
    ENGLISH.properties,
)


def ranked(question, evidences, rank=stated):
    asked = asked_quantity(question, question, ENGLISH)
    return [candidate.entity["id"] for candidate in rank(asked, evidences, NAMES, ENGLISH)]


def count(question, evidences):
    return ranked(question, evidences, counted)


def about(item, *labels):
    """A fact that was retrieved for an item."""
    return fact(*labels, own=item)


GOALS = [
    evidence("David Beckham, Number of children, 4", "info"),
    evidence("David Beckham, League matches, Club is Paris, Appearances is 10, Goals is 0", "table"),
    evidence("David Beckham, League matches, Club is Manchester United, Appearances is 265, Goals is 62", "table"),
    evidence("David Beckham scored 2 times for England against Greece.", "text"),
]


@pytest.mark.parametrize("order", [1, -1])
def test_the_header_and_the_row_that_fit(order):
    question = "How many league goals did David Beckham score for Manchester United?"
    assert ranked(question, GOALS[::order]) == ["62", "0"]
    assert ranked("How many league goals did David Beckham score for Paris?", GOALS[::order]) == ["0", "62"]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many minutes does an episode last?", "42"),
        ("How many episodes are there?", "154"),
        ("How long is an episode of it?", "42"),
        ("How many people can watch a game there?", "41507"),
        ("How much did it make?", "18000000"),
        ("How many million euros did they pay?", "222000000"),
        ("What is the population?", "5000"),
        ("Which shirt number does he wear?", "23"),
        ("The number of kids?", "3"),
    ],
)
def test_property_attribute_unit_and_other_words_for_them(question, expected):
    evidences = [
        fact("It", "number of episodes", "154"),
        evidence("It, Running time, 42 minutes", "info"),
        evidence("It, Capacity, 41,507", "info"),
        evidence("It, Box office, 18,000,000", "info"),
        evidence("It, Fee, €222 million", "info"),
        fact("It", "population", "5000"),
        evidence("It, Shirt number in Madrid, 23", "info"),
        evidence("It, Children, 3", "info"),
        evidence("It, Founded, 1999", "info"),
    ]
    assert ranked(question, evidences)[0] == expected


def test_the_better_evidence_decides_between_equal_fits():
    one, other = evidence("It, Pages, 464", "info"), evidence("It, Pages, 500", "info")
    assert ranked("How many pages?", [one | {"score": 1.0}, other | {"score": 2.0}]) == ["500", "464"]
    assert ranked("How many pages?", [one | {"score": 2.0}, other | {"score": 1.0}]) == ["464", "500"]


def test_the_number_of_the_whole_comes_before_those_of_its_parts():
    rows = [evidence(f"It, Seasons, Season is {n}, Episodes is {20 + n}", "table") for n in (1, 2, 3)]
    whole = evidence("It, No. of episodes, 66", "info")
    assert ranked("How many episodes are there?", [*rows, whole])[0] == "66"
    assert ranked("How many episodes are there in season 2?", [*rows, whole])[0] == "22"


def test_a_name_of_several_words():
    awards = [evidence("It, National Film Awards, 7", "info"), evidence("It, Film Awards of Asia, 3", "info")]
    assert ranked("How many national film awards does it have?", awards)[0] == "7"


def test_dates_and_numbers_of_something_else_are_not_stated():
    assert ranked("How many goals did he score in 1999?", [evidence("He, Years is 1999, Caps is 7", "table")]) == []
    assert asked_quantity("Who is it?", "Who is it?", ENGLISH) is None


MEMBERS = [about("U2", name, "member of", "U2") for name in ("Bono", "The Edge", "Larry Mullen", "Adam Clayton")]
RADIOHEAD = "Radiohead", "Background information, in short"
YORKE, GREENWOOD, SELWAY = (
    {"id": f"Q{n}", "label": label} for n, label in enumerate(("Thom Yorke", "C. Greenwood", "P. Selway"))
)
LISTED = attribute(
    "Radiohead", [*RADIOHEAD[1:], "Members"], "Thom Yorke (voice, guitar)", "Colin Greenwood", "Philip Selway"
)
IN_A_LINE = attribute(
    "Radiohead", ["Members"], "Thom Yorke, C. Greenwood, P. Selway", entities=[[YORKE, GREENWOOD, SELWAY]]
)
LABELS = attribute("Radiohead", [*RADIOHEAD[1:], "Labels"], "Parlophone", "XL")
AWARDS = ("Academy Award for Best Picture", "Academy Award for Best Director", "Golden Globe Award")
SONGS = [row("Abbey Road", "Songs", ("No.", str(n)), ("Title", f"Song {n}")) for n in (1, 2, 3)]
SAME_YEAR = [
    row("It", "Songs, in order", ("Year", "1999"), ("Title", title), page=page, table=table, number=number)
    for title, page, table, number in (
        ("A, is B", "Q1", 0, 0), ("C", "Q1", 0, 1), ("C, too", "Q1", 0, 1), ("D", "Q1", 1, 2), ("E", "Q2", 0, 3),
    )
]  # fmt: skip
WINNERS = [about("Grammy Award", name, "award received", "Grammy Award") for name in ("Adele", "Bono")]
IN_U2, IN_RADIOHEAD = "How many members are in the band U2?", "How many members does the band Radiohead have?"
COUNTED = {
    "facts in both directions": [
        (IN_U2, "4", *MEMBERS, MEMBERS[0], fact("U2", "genre", "rock")),
        ("How many kids does Messi have?", "2", *(fact("Messi", "child", name) for name in ("Thiago", "Mateo"))),
    ],
    "what an infobox lists": [
        (IN_RADIOHEAD, "3", LABELS, LISTED),
        (IN_RADIOHEAD, "3", about("Radiohead", "Thom Yorke", "member of", "Radiohead"), LISTED),  # the longer of two lists
        (IN_RADIOHEAD, "3", IN_A_LINE),
        (IN_RADIOHEAD, None, LABELS),
        ("How many children has he?", None, attribute("Stephen King", ["Children"], "3", "including Joe")),
    ],
    "things of a name, not all of the property": [
        ("How many Oscars did Titanic win?", "2", *(fact("Titanic", "award received", name) for name in AWARDS)),
    ],
    "rows, once each": [
        ("How many songs are there on the album?", "3",
         *SONGS, SONGS[0], row("Abbey Road", "Charts", ("Country", "Norway"), ("Position", "1"))),
        ("How many songs are there?", "2", *SAME_YEAR),  # a row in two parts is one; other tables have their own rows
    ],
    "nothing that is about the counted class itself": [
        ("The number of wins in the Grammy Awards?", None, *WINNERS), ("How many awards did they win?", None, *WINNERS),
    ],
    "no facts of other items, and no measures": [
        ("How many kids does Messi have?", None, about("Messi", "Neymar", "child", "Davi")),
        ("How long is the membership?", None, about("U2", "Bono", "member of", "U2")),
    ],
}  # fmt: skip


@pytest.mark.parametrize("rule", COUNTED)
def test_what_is_counted(rule):
    for question, expected, *given in COUNTED[rule]:
        assert count(question, given) == ([] if expected is None else [expected]), question


def test_members_are_not_stated():
    assert ranked(IN_U2, MEMBERS) == []


def test_counts_and_statements_name_their_evidences():
    rows = [fact("Messi", "genre", "x"), fact("Messi", "child", "Thiago"), fact("Messi", "child", "Mateo")]
    asked = asked_quantity("How many kids?", "How many kids does Messi have?", ENGLISH)
    (answer,) = counted(asked, rows, NAMES, ENGLISH)
    assert answer == ({"id": "2", "label": "2"}, 1.0, (1, 2), ("numbers",))
    (three,) = stated(asked, [*rows, evidence("Messi, Children, 3", "info")], NAMES, ENGLISH)
    assert three == ({"id": "3", "label": "3"}, 1.0, (3,), ("numbers",))


def test_a_property_is_asked_for_by_its_id():
    names = PropertyNames([("P1", "part", ["pieces"]), ("P2", "part", ["kids"])], ENGLISH.properties)
    asked = asked_quantity("How many kids?", "How many kids?", ENGLISH)
    for number, expected in (("P1", []), ("P2", ["2"])):
        facts = [fact("Messi", "part", name, ids=[("part", number)]) for name in ("Thiago", "Mateo")]
        assert [candidate.entity["id"] for candidate in counted(asked, facts, names, ENGLISH)] == expected


IT = [
    evidence("It, Box office, 264,118,201", "info") | {"score": 1.0},
    evidence("It, Fee, €222 million", "info") | {"score": 0.5},
    evidence("It, Cost, $60,000,000", "info") | {"score": 1.0},
    fact("It", "number of episodes", "12"),
    about("It", "Ann", "member of", "It"),
    about("It", "Bob", "member of", "It"),
]


@pytest.mark.parametrize(
    ("question", "holds"),
    [
        ("Did it gross more than a hundred million dollars at the box office?", True),
        ("Did it make over a 100 million?", True),
        ("Did it make over 300 million dollars?", False),
        ("Did it make less than $300,000,000?", True),
        ("Was the fee over €200 million?", True),
        ("Was the fee over €230 million?", False),
        ("Did it cost more than 50 million dollars?", True),
        ("Did it cost over $100 million?", False),
        ("Was the fee under 1 billion euros?", True),
        ("Does it have more than twelve episodes?", False),
        ("Does it have at least 12 episodes?", True),
        ("Does it have at most twelve episodes?", True),
        ("Does it have fewer than 12.5 episodes?", True),
        ("Does it have more than one member?", True),
        ("Does it have more than two members?", False),
        ("Did it fly over the moon?", None),
        ("Is it more than a film?", None),
        ("Did it win more than 3 races?", None),
        ("Does it have twelve episodes?", None),
    ],
)
@pytest.mark.parametrize("order", [1, -1])
def test_numbers_are_compared_with_the_one_of_the_question(question, holds, order):
    found = compared(question, IT[::order], NAMES, ENGLISH)
    assert (None if found is None else found.holds) == holds


def test_a_comparison_names_its_evidence():
    assert compared("Does it have more than ten episodes?", IT, NAMES, ENGLISH).evidences == [3]
