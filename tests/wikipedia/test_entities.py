import pytest
from hypothesis import given
from hypothesis import strategies as st

from convinse.wikipedia.entities import PageNames, short_forms
from convinse.wikipedia.snippets import Link, Snippet

PAGE = {"id": "Q636", "label": "Kate Bush"}
ITEMS = {
    "New York City": {"id": "Q60", "label": "New York City"},
    "New York (state)": {"id": "Q1384", "label": "New York"},
    "Peter Gabriel": {"id": "Q175195", "label": "Peter Gabriel"},
    "London": {"id": "Q84", "label": "London"},
}


def linked(text, *links):
    """A snippet whose links are given as (anchor, target)."""
    found = []
    for anchor, target in links:
        start = text.index(anchor)
        found.append(Link(start, start + len(anchor), target))
    return Snippet(text, tuple(found), "text")


def surfaces(snippet, annotated):
    """The mentions as (surface form, id)."""
    return [[snippet.text[place["start"] : place["end"]], place["id"]] for place in annotated.mentions]


def annotate(snippet, *others, title="Kate Bush", lead=0):
    return PageNames(PAGE, title, [*others, snippet], ITEMS).annotate(snippet, lead)


def test_links_dates_and_the_own_name_are_annotated_in_reading_order():
    text = "In 1986 Kate Bush and Peter Gabriel met in London on 3 May 1987."
    snippet = linked(text, ("Peter Gabriel", "Peter Gabriel"), ("London", "London"))
    found = annotate(snippet)
    assert surfaces(snippet, found) == [
        ["1986", "1986-01-01T00:00:00Z"],
        ["Kate Bush", "Q636"],
        ["Peter Gabriel", "Q175195"],
        ["London", "Q84"],
        ["3 May 1987", "1987-05-03T00:00:00Z"],
    ]
    assert [entity["label"] for entity in found.entities] == [surface for surface, _ in surfaces(snippet, found)]


CITY = linked("In New York City and elsewhere.", ("New York City", "New York City"))
STATE = linked("In upstate New York.", ("New York", "New York (state)"))
LONDON = linked("London calling.", ("London", "London"))
HEROES = linked("She wrote (Heroes) once.", ("(Heroes)", "London"))
GENRE = linked("She sang art rock, and the song of it.", ("art rock", "London"), ("and", "Peter Gabriel"))
MENTIONS = {
    "the title": (linked("Then Kate Bush's song came."), [], [["Kate Bush", "Q636"]]),
    "the surname": (linked("Then Bush's song came."), [], [["Bush", "Q636"]]),
    "inside a word": (linked("Bushes grow. An ambush."), [], []),
    "in other letters": (linked("the bush and Kates"), [], []),
    "a name linked once is known on the whole page": (
        linked("Gabriel sang."), [linked("She met Gabriel.", ("Gabriel", "Peter Gabriel"))], [["Gabriel", "Q175195"]]),
    "the longest name wins and none lies in another": (
        linked("New York City is not New York."), [CITY, STATE], [["New York City", "Q60"], ["New York", "Q1384"]]),
    "a name that runs into a link leaves room for a shorter one": (
        linked("New York City Hall", ("City Hall", "City Hall")), [CITY, STATE], [["New York", "Q1384"]]),
    "nothing is looked for inside a link, also to no known item": (
        linked("The London Bush Theatre of 1972.", ("London Bush Theatre", "Bush Theatre")), [LONDON],
        [["1972", "1972-01-01T00:00:00Z"]]),
    "a linked year still is a year": (
        linked("In 1978 and in 1985 in music.", ("1978", "1978 in music"), ("1985 in music", "1985 in music")), [],
        [["1978", "1978-01-01T00:00:00Z"], ["1985", "1985-01-01T00:00:00Z"]]),
    "link texts in small letters are names, common words are none": (
        linked("More art rock and art rocks."), [GENRE], [["art rock", "Q84"]]),
    "link texts without letters are no names": (
        linked("Of 12,500 one."), [linked("It has 12,500 rooms.", ("12,500", "London"))], [["12,500", "12500"]]),
    "numbers of coordinates are no entities": (
        linked("At 38.5°N in 1986."), [], [["1986", "1986-01-01T00:00:00Z"]]),
    "names that begin with a sign are found at word borders": (
        linked("Then (Heroes) and x(Heroes) came."), [HEROES], [["(Heroes)", "Q84"]]),
}  # fmt: skip


@pytest.mark.parametrize(("snippet", "others", "mentions"), MENTIONS.values(), ids=MENTIONS)
def test_mentions(snippet, others, mentions):
    assert surfaces(snippet, annotate(snippet, *others)) == mentions


@pytest.mark.parametrize(
    ("title", "forms"),
    [
        ("Titanic (1997 film)", ["Titanic", "Titanic (1997 film)"]),
        ("Zinedine Zidane", ["Zidane", "Zinedine Zidane"]),
        ("J. R. R. Tolkien", ["J. R. R. Tolkien", "Tolkien"]),
        ("Lady Gaga", ["Gaga", "Lady Gaga"]),
        ("Dracula", ["Dracula"]),
        ("Springfield, Illinois", ["Springfield", "Springfield, Illinois"]),
        ("May 1, 1990", ["May 1, 1990"]),
        ("The Lord of the Rings", ["The Lord of the Rings"]),
    ],
)
def test_short_forms_of_titles(title, forms):
    assert short_forms(title) == forms


@pytest.mark.parametrize(("title", "part"), [("Arsenal F.C.", "F.C."), ("Real Madrid C.F.", "C.F.")])
def test_an_abbreviation_that_many_clubs_share_is_no_short_form(title, part):
    assert part not in short_forms(title)


def test_a_date_inside_a_linked_item_is_no_mention_of_its_own():
    items = {**ITEMS, "1986 FIFA World Cup": {"id": "Q46938", "label": "1986 FIFA World Cup"}}
    snippet = linked("At the 1986 FIFA World Cup.", ("1986 FIFA World Cup", "1986 FIFA World Cup"))
    found = PageNames(PAGE, "Kate Bush", [snippet], items).annotate(snippet, 0)
    assert surfaces(snippet, found) == [["1986 FIFA World Cup", "Q46938"]]


def test_the_lead_is_the_page_and_is_not_looked_into():
    snippet = Snippet("Nineteen 1984, It appeared in 1949.", (), "text")
    found = PageNames(PAGE, "Nineteen 1984", [snippet], ITEMS).annotate(snippet, len("Nineteen 1984"))
    assert surfaces(snippet, found) == [["Nineteen 1984", "Q636"], ["1949", "1949-01-01T00:00:00Z"]]
    assert [entity["id"] for entity in found.entities] == ["Q636", "1949-01-01T00:00:00Z"]


_NAMES = ["Kate Bush", "Bush", "New York", "New York City", "London", "Peter"]
_PARTS = st.sampled_from([*_NAMES, "1986", "3 May 1987", "12,500", "a", "the", ","])


@given(st.lists(st.tuples(_PARTS, st.sampled_from([None, *ITEMS])), max_size=9))
def test_mentions_are_exact_pieces_of_the_text_that_do_not_overlap(parts):
    text, links = "", []
    for part, target in parts:
        text += " " if text else ""
        if target:
            links.append(Link(len(text), len(text) + len(part), target))
        text += part
    found = annotate(Snippet(text, tuple(links), "text"))
    end = 0
    for place in found.mentions:
        assert end <= place["start"] < place["end"] <= len(text)  # in order, one behind the other
        end = place["end"]
    ids = [place["id"] for place in found.mentions]
    assert set(ids) == {entity["id"] for entity in found.entities}
    assert ids.count("Q84") >= sum(link.target == "London" for link in links)
