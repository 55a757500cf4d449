from hypothesis import given
from hypothesis import strategies as st

from case_tables import each_case
from convinse.wikipedia.entities import PageNames, short_forms
from convinse.wikipedia.snippets import Link, Snippet

PAGE = {"id": "Q636", "label": "Kate Bush"}
ITEMS = {
    "New York City": {"id": "Q60", "label": "New York City"},
    "New York (state)": {"id": "Q1384", "label": "New York"},
    "Peter Gabriel": {"id": "Q175195", "label": "Peter Gabriel"},
    "London": {"id": "Q84", "label": "London"},
    "1986 FIFA World Cup": {"id": "Q46938", "label": "1986 FIFA World Cup"},
}


def linked(text, links=None):
    """A snippet whose links are anchor -> target."""
    found = [Link(text.index(anchor), text.index(anchor) + len(anchor), to) for anchor, to in (links or {}).items()]
    return Snippet(text, tuple(found), "text")


def annotate(snippet, *others, title="Kate Bush", lead=0):
    return PageNames(PAGE, title, [*others, snippet], ITEMS).annotate(snippet, lead)


def surfaces(snippet, mentions):
    return [[snippet.text[place["start"] : place["end"]], place["id"]] for place in mentions]


@each_case("mentions", "mentions")
def test_mentions(case):
    snippet = linked(case["text"], case.get("links"))
    others = [linked(other["text"], other["links"]) for other in case.get("others", ())]
    mentions, _ = annotate(snippet, *others)
    assert surfaces(snippet, mentions) == case["mentions"]


@each_case("mentions", "forms")
def test_short_forms_of_titles(case):
    assert short_forms(case["title"]) == case["forms"]


def test_the_lead_is_the_page_and_is_not_looked_into():
    snippet = Snippet("Nineteen 1984, It appeared in 1949.", (), "text")
    mentions, entities = annotate(snippet, title="Nineteen 1984", lead=len("Nineteen 1984"))
    assert surfaces(snippet, mentions) == [["Nineteen 1984", "Q636"], ["1949", "1949-01-01T00:00:00Z"]]
    assert [entity["id"] for entity in entities] == ["Q636", "1949-01-01T00:00:00Z"]


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
    mentions, entities = annotate(Snippet(text, tuple(links), "text"))
    end = 0
    for place in mentions:
        assert end <= place["start"] < place["end"] <= len(text)  # in order, one behind the other
        end = place["end"]
    ids = [place["id"] for place in mentions]
    assert set(ids) == {entity["id"] for entity in entities}
    assert ids.count("Q84") >= sum(link.target == "London" for link in links)
