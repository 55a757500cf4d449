import cProfile
from contextlib import closing

import pytest

from case_tables import each_case
from convinse.config import ClocqParams
from convinse.knowledge_base.index import KnowledgeBase
from convinse.knowledge_base.linking import EntityLinker
from handmade import HUMAN, claim, document, human, q, world
from places import SNAPSHOT


@pytest.fixture
def linker(world_kb):
    return EntityLinker(world_kb, ClocqParams())


@pytest.fixture(scope="module")
def embedded():
    with closing(KnowledgeBase(SNAPSHOT / "kb")) as kb:
        yield EntityLinker(kb, ClocqParams())


def ids(linker, text):
    return [mention.candidates[0].id for mention in linker.link(text)]


def labels(linker, text):
    """The label of the best candidate of every name, and whether it is certain."""
    return [[mention.candidates[0].label, mention.is_certain] for mention in linker.link(text)]


@each_case("linking", "world")
def test_names_are_found_however_they_are_written(linker, case):
    assert ids(linker, case["text"]) == case["world"]


@each_case("linking", "world_among")
def test_possessives_are_found(linker, case):
    mentions = [[candidate.id for candidate in mention.candidates] for mention in linker.link(case["text"])]
    assert [case["world_among"] in candidates for candidates in mentions] == [True]


@each_case("linking", "titanic")
def test_ambiguous_names_are_decided_by_the_context(linker, case):
    mentions = [mention for mention in linker.link(case["text"]) if "Titanic" in mention.surface]
    assert [mention.candidates[0].id for mention in mentions] == [case["titanic"]]


@each_case("linking", "embedded")
def test_names_of_the_embedded_knowledge_base(embedded, case):
    for mention, expected in zip(labels(embedded, case["text"]), case["embedded"], strict=True):
        assert mention == expected if isinstance(expected, list) else mention[0] == expected


@pytest.mark.parametrize(
    "text",
    [
        "Was Kate Winslet in Titanic with Leonardo di Caprio?",
        "Titanic || James Cameron || directed || person",
        "Who wrote The Hobbit, J.R.R. Tolkien?",
        "Kate Winslet's film Titanic; Inception? Avatar! Game of throne",
        "ünïcödé Titanic’s — Avatar…",
    ],
)
def test_mentions_are_exact_spans_in_order_without_overlap(linker, text):
    mentions = linker.link(text)
    assert mentions
    last = 0
    for mention in mentions:
        assert last <= mention.start < mention.end <= len(text)
        last = mention.end
        assert text[mention.start : mention.end].rstrip(".") == mention.surface
        scores = [score for _, score in mention.scored]
        assert scores == sorted(scores, reverse=True)
        assert len({candidate.id for candidate in mention.candidates}) == len(mention.candidates) > 0
    assert linker.link(text) == mentions


def test_k_and_d_bound_the_candidates(world_kb):
    for params, count in ((ClocqParams(k=1), 1), (ClocqParams(k=2), 2), (ClocqParams(k=2, d=1), 1)):
        (titanic,) = EntityLinker(world_kb, params).link("Who directed the film Titanic?")
        assert len(titanic.candidates) == count


@pytest.mark.parametrize(("signal", "item"), [("h_conn", "Q44578"), ("h_rel", "Q25173")])
def test_the_weights_of_the_signals_decide(world_kb, signal, item):
    weights = {"h_match": 0.0, "h_rel": 0.0, "h_conn": 0.0, "h_coh": 0.0, signal: 1.0}
    linker = EntityLinker(world_kb, ClocqParams(**weights, k=1))
    assert ids(linker, "Did James Cameron see the British passenger ship Titanic?")[-1] == item


def test_long_and_small_names(kb_of):
    names = enumerate(("New York", "York", "New York City Ballet", "New York City"), 1)
    cities = [document(f"Q{number}", name, claim("P31", q("Q515"))) for number, name in names]
    band = document("Q48", "a-ha", claim("P31", q("Q215380"))), document("Q215380", "musical group")
    linker = EntityLinker(kb_of(*world(), *cities, document("Q515", "city"), *band), ClocqParams())
    assert ids(linker, "Who leads the New York City Ballet?") == ["Q3"]
    assert ids(linker, "Is New York City in New York or in York?") == ["Q4", "Q1", "Q2"]
    assert ids(linker, "Did a-ha tour with Kate Winslet?") == ["Q48", "Q202765"]


def test_people_of_one_name_are_linked_by_their_work(kb_of):
    journalist = {"description": "British journalist and writer"}
    kb = kb_of(*world(), document("Q900", "James Cameron", claim("P31", q(HUMAN)), **journalist))
    linker = EntityLinker(kb, ClocqParams(k=1))
    assert ids(linker, "Did James Cameron direct Avatar?") == ["Q42574", "Q24871"]
    assert ids(linker, "Where did the British journalist James Cameron work?")[-1] == "Q900"


@pytest.mark.parametrize("unit", ["Paris London ", "ab ", "Titanic ", "A b ", "abcdefghi"])
def test_a_long_text_costs_as_much_as_it_is_long(world_kb, unit):
    """Calls are counted, not timed."""
    costs = []
    for times in (100, 400):
        linker, profile = EntityLinker(world_kb, ClocqParams()), cProfile.Profile()
        profile.runcall(linker.link, unit * times)
        costs.append(sum(entry.callcount for entry in profile.getstats()))
    assert costs[1] < 5 * costs[0] + 1000


def test_a_name_that_is_spelt_well_is_not_corrected(kb_of):
    marta = human("Q900", "Marta Vidal")
    linker = EntityLinker(kb_of(*world(), human("Q901", "Marika"), marta), ClocqParams())
    assert labels(linker, "When was Marikka born?") == [["Marika", False]]
    assert labels(linker, "When was Vidal born?") == [["Marta Vidal", False]]
    near = document("Q902", "Vidalo", claim("P31", q(HUMAN)))
    linker = EntityLinker(kb_of(*world(), near, document("Q903", "Vidal Plain")), ClocqParams())
    assert labels(linker, "When was Vidal born?") == []


def test_short_names_and_those_with_several_wrong_letters_are_not_guessed(kb_of):
    linker = EntityLinker(kb_of(*world(), human("Q901", "Nadja")), ClocqParams())
    for question in ("When was Nadia born?", "who directed inciptoin", "Who directed Xinception?"):
        assert labels(linker, question) == [], question
