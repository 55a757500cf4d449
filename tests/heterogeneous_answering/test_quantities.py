"""Counts of what is listed, and numbers that a question sets a limit to."""

import pytest
from asked_turns import knowledge_over, meant, question_of, thing
from literal_evidence import attribute, evidence, fact, row

from convinse.heterogeneous_answering.quantities import asked_quantity, compared_with_limit, counted

KNOWLEDGE = knowledge_over(
    [
        ("P1113", "number of episodes", ["episodes"]),
        ("P463", "member of", ["band member of", "membership"]),
        ("P40", "child", ["children", "kids"]),
        ("P166", "award received", ["awards", "win"]),
    ]
)


def about(item, *labels):
    """A fact that was retrieved for an item."""
    return fact(*labels, own=item)


def question(text, evidences):
    items = {own["retrieved_for_entity"]["id"]: own["retrieved_for_entity"] for own in evidences
             if "retrieved_for_entity" in own}  # fmt: skip
    return question_of(text, *evidences, knowledge=KNOWLEDGE, representation={
        **meant(*(items.values() or [thing("It")])), "answer_type": "number"})  # fmt: skip


def page_of(title):
    """A function that makes attributes of a page's infobox."""

    def made(*parts, **more):
        return {**attribute(*parts, **more), "retrieved_for_entity": thing(title)}

    return made


MEMBERS = [about("U2", name, "member of", "U2") for name in ("Bono", "The Edge", "Larry Mullen", "Adam Clayton")]
RADIOHEAD = "Radiohead", "Background information, in short"
YORKE, GREENWOOD, SELWAY = (
    {"id": f"Q{n}", "label": label} for n, label in enumerate(("Thom Yorke", "C. Greenwood", "P. Selway"))
)
LISTED = page_of("Radiohead")(
    "Radiohead", [*RADIOHEAD[1:], "Members"], "Thom Yorke (voice, guitar)", "Colin Greenwood", "Philip Selway"
)
IN_A_LINE = page_of("Radiohead")(
    "Radiohead", ["Members"], "Thom Yorke, C. Greenwood, P. Selway", entities=[[YORKE, GREENWOOD, SELWAY]]
)
LABELS = page_of("Radiohead")("Radiohead", [*RADIOHEAD[1:], "Labels"], "Parlophone", "XL")
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
    for text, expected, *given in COUNTED[rule]:
        results = [own.entity["id"] for own in counted(question(text, given))]
        assert results == ([] if expected is None else [expected]), text


def test_a_count_names_its_evidences():
    rows = [fact("Messi", "genre", "x"), fact("Messi", "child", "Thiago"), fact("Messi", "child", "Mateo")]
    (result,) = counted(question("How many kids does Messi have?", rows))
    assert (result.entity["id"], result.operation, result.places) == ("2", "count", (1, 2)) and "2" in result.sentence


@pytest.mark.parametrize(
    ("text", "head", "countable"),
    [
        ("How many league goals did he score?", "goal", True),
        ("How long is it?", "long", False),
        ("How much did it make?", "money", False),
        ("The number of kids?", "kid", True),
        ("Who is it?", None, None),
    ],
)
def test_the_quantity_that_is_asked_for(text, head, countable):
    quantity = asked_quantity(text, KNOWLEDGE.language)
    assert (quantity and quantity.head, quantity and quantity.countable) == (head, countable)


IT = [
    evidence("It, Box office, 264,118,201", "info") | {"score": 1.0},
    evidence("It, Fee, €222 million", "info") | {"score": 0.5},
    evidence("It, Cost, $60,000,000", "info") | {"score": 1.0},
    fact("It", "number of episodes", "12"),
]


@pytest.mark.parametrize(
    ("text", "holds"),
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
        ("Did it fly over the moon?", None),
        ("Is it more than a film?", None),
        ("Did it win more than 3 races?", None),
        ("Does it have twelve episodes?", None),
    ],
)
@pytest.mark.parametrize("order", [1, -1])
def test_numbers_are_compared_with_the_limit_of_the_question(text, holds, order):
    found = compared_with_limit(question_of(text, *IT[::order], knowledge=KNOWLEDGE))
    assert (None if found is None else found.holds) == holds
    if found is not None:
        assert any(map(str.isdigit, IT[::order][found.place]["evidence_text"]))
