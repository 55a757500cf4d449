"""Names as people write them, over the embedded knowledge base: without capitals, short, misspelt, or common words."""

from contextlib import closing

import pytest

from convinse.config import ClocqParams
from convinse.knowledge_base.index import KnowledgeBase
from convinse.knowledge_base.linking import EntityLinker
from handmade import HUMAN, claim, document, human, q, world
from places import SNAPSHOT


@pytest.fixture(scope="module")
def embedded():
    with closing(KnowledgeBase(SNAPSHOT / "kb")) as kb:
        yield EntityLinker(kb, ClocqParams())


def linked(linker, text):
    """The label of the best candidate of every name, and whether it is certain."""
    return [(mention.candidates[0].label, mention.is_certain) for mention in linker.link(text)]


@pytest.mark.parametrize(
    ("text", "label"),
    [
        # stage names, short names and acronyms, in any case
        ("who is gaga", "Lady Gaga"),
        ("Who is Gaga?", "Lady Gaga"),
        ("who was bowie", "David Bowie"),
        ("who was in the rhcp", "Red Hot Chili Peppers"),
        ("who wrote lotr", "The Lord of the Rings"),
        ("who created btvs", "Buffy the Vampire Slayer"),
        ("mls cup winners", "Major League Soccer"),
        ("MLS cup winners", "Major League Soccer"),
        ("what did hbo produce", "HBO"),
        ("who coached man utd", "Manchester United F.C."),
        ("who plays for barca", "FC Barcelona"),
        ("what is u2", "U2"),
        # a title that is a year in words
        ("who wrote 1984", "Nineteen Eighty-Four"),
        # of namesakes, what has what is asked of the name
        ("which coach of chelsea was that", "Chelsea F.C."),
        ("Who was Chelsea's coach?", "Chelsea F.C."),
        # wrong letters: one missing, one too many, another one, two in the wrong order
        ("Who directed Pulp Fction?", "Pulp Fiction"),
        ("who directed pulp fcition", "Pulp Fiction"),
        ("Who directed The Godfater?", "The Godfather"),
        ("who directed the godfater", "The Godfather"),
        ("who directed silence of the lams", "The Silence of the Lambs"),
        ("who wrote drakula", "Dracula"),
        ("who directed casblanca", "Casablanca"),
        ("when did radiohed form", "Radiohead"),
        ("who founded metalica", "Metallica"),
        ("Who sang in the Beetles?", "The Beatles"),
        ("who sang in the beetles", "The Beatles"),
        ("who created braking bad", "Breaking Bad"),
        ("who created seinfield", "Seinfeld"),
        ("who created futrama", "Futurama"),
        ("who is steven king", "Stephen King"),
        ("Who is Steven King?", "Stephen King"),
        ("Who wrote Grapes of Wrath?", "The Grapes of Wrath"),
        # common words that the question asks a property of
        ("who directed alien", "Alien"),
        ("when did friends start", "Friends"),
        ("Who directed Alien?", "Alien"),
    ],
)
def test_a_name_is_linked(embedded, text, label):
    assert [name for name, _ in linked(embedded, text)] == [label]


@pytest.mark.parametrize(
    "text",
    [
        "who is the singer",
        "who is the lead singer",
        "what is love",
        "Who is the singer?",
        "who is the best player",
        "what is the theme song",
        "who was dan smith",  # another Smith
        "who is fred cameron",
        "who won the cup",
        "Who directed Breking?",  # too far from any name
        "who wrote the draft",  # spelt well, however near a name is
    ],
)
def test_words_that_name_nothing_are_not_linked(embedded, text):
    assert linked(embedded, text) == []


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("how many friends does he have", "Friends"),
        ("who lost the match", "Lost"),
        ("who is the alien", "Alien"),
        ("who was the king", "Elvis Presley"),
        ("Is Scott married?", "Ridley Scott"),
        ("who sang in the beetles", "The Beatles"),
        ("Where was King born?", "Stephen King"),  # rather than the college that is called so, too
    ],
)
def test_words_that_may_mean_something_else_are_not_certain(embedded, text, label):
    assert linked(embedded, text) == [(label, False)]


@pytest.mark.parametrize(
    "text",
    ["who is gaga", "who was bowie", "who wrote lotr", "who directed casblanca", "who wrote drakula", "Who is Steven King?",
     "who directed alien", "who directed the godfather", "MLS cup winners"],
)  # fmt: skip
def test_names_that_the_text_tells_are_certain(embedded, text):
    assert [is_certain for _, is_certain in linked(embedded, text)] == [True]


def test_a_common_word_beside_a_name_is_none(embedded):
    assert [label for label, _ in linked(embedded, "how many friends did bowie have")] == ["David Bowie"]
    assert [label for label, _ in linked(embedded, "who lost against real madrid")] == ["Real Madrid FC"]


def test_a_name_that_is_spelt_well_is_not_corrected(kb_of):
    marta = human("Q900", "Marta Vidal")
    linker = EntityLinker(kb_of(*world(), human("Q901", "Marika"), marta), ClocqParams())
    assert linked(linker, "When was Marikka born?") == [("Marika", False)]
    assert linked(linker, "When was Vidal born?") == [("Marta Vidal", False)]
    near = document("Q902", "Vidalo", claim("P31", q(HUMAN)))
    linker = EntityLinker(kb_of(*world(), near, document("Q903", "Vidal Plain")), ClocqParams())
    assert linked(linker, "When was Vidal born?") == []


def test_short_names_and_those_with_several_wrong_letters_are_not_guessed(kb_of):
    linker = EntityLinker(kb_of(*world(), human("Q901", "Nadja")), ClocqParams())
    for question in ("When was Nadia born?", "who directed inciptoin", "Who directed Xinception?"):
        assert linked(linker, question) == [], question


@pytest.mark.parametrize("text", ["who won in 1984", "the film of the year 1984", "from 1983 to 1984", "who won 1985"])
def test_a_year_is_no_title(embedded, text):
    assert "Nineteen Eighty-Four" not in dict(linked(embedded, text))
