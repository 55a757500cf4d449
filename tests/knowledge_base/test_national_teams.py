from contextlib import closing

import pytest

from case_tables import each_case
from convinse.config import ClocqParams
from convinse.knowledge_base.build import build
from convinse.knowledge_base.index import KnowledgeBase
from convinse.knowledge_base.linking import EntityLinker
from convinse.knowledge_base.national_teams import NationalTeams
from convinse.language.language import english
from handmade import claim, document, q, write

LABELS = [
    *(f"{country} national football team" for country in ("Germany", "England", "Greece")),
    "United States men's national soccer team",
    "United States women's national soccer team",
    "Netherlands national football team",
    "Germany national under-21 football team",
    "Austria national football team",
    "Australia national cricket team",
    "Germany national handball team",
    "Chile national football team",
]


@pytest.fixture(scope="module")
def kb(tmp_path_factory):
    folder = tmp_path_factory.mktemp("teams")
    documents = [document("P31", "instance of"), document("Q100", "national team"), document("Q101", "country")]
    documents += [document(f"Q{number}", label, claim("P31", q("Q100"))) for number, label in enumerate(LABELS, 1)]
    documents += [
        document("Q200", "England", claim("P31", q("Q101"))),
        document("Q201", "Elizabeth II", aliases=["Queen of England", "The Queen of England"]),
        document("Q202", "German", claim("P31", q("Q203"))),
        document("Q203", "language"),
        document("Q204", "Chelsea F.C.", aliases=["Chelsea"]),
        document("Q300", "human"),
        document("Q205", "Louis the German", claim("P31", q("Q300"))),
    ]
    build(write(folder / "dump.json", documents), folder / "kb")
    with closing(KnowledgeBase(folder / "kb")) as base:
        yield base


def teams(kb, text):
    """The names of teams, and the items that each may be."""
    mentions = NationalTeams(kb, english().teams).mentions(text)
    return [[text[mention.start : mention.end], sorted(one.id for one in mention.candidates)] for mention in mentions]


@each_case("linking", "teams")
def test_a_team_is_named_by_its_country_or_its_people(kb, case):
    assert teams(kb, case["text"]) == case["teams"]


def test_teams_are_linked_in_place_of_their_words(kb):
    linker = EntityLinker(kb, ClocqParams())

    def linked(text):
        return [(mention.surface, mention.candidates[0].id) for mention in linker.link(text)]

    questions = [("German national football team", "Q1"), ("Chelsea", "Q204")]
    assert linked("Who led the German national football team against Chelsea?") == questions
    assert linked("Who is captain of the England team?") == [("England team", "Q2")]
    assert linked("Who got the England job?") == [("England", "Q200")]  # no adjective, and not the Queen
    assert linked("Which German businessman owns Chelsea?") == [("Chelsea", "Q204")]  # not Louis the German
    assert linked("Greece national football team") == [("Greece national football team", "Q3")]
