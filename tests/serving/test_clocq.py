"""The CLOCQ HTTP API, driven as CLOCQ's own client drives it and as it should not be driven."""

import json
from contextlib import closing
from unittest.mock import Mock

import pytest

from convinse.config import ClocqParams
from convinse.knowledge_base.index import KnowledgeBase
from convinse.knowledge_base.search_space import SearchSpace
from convinse.support.errors import IndexFileError
from loopback import clocq_server
from services import ask, asked

TITANIC, CAMERON, DICAPRIO, FILM = "Q44578", "Q42574", "Q38111", "Q11424"
QUESTION = "Who directed Titanic with Kate Winslet?"
UNKNOWN = "Q999999999"
DATE = "1997-12-19T00:00:00Z"


@pytest.fixture(scope="module")
def kb(world_index):
    with closing(KnowledgeBase(world_index)) as kb:
        yield kb


@pytest.fixture(scope="module")
def port(kb):
    with clocq_server(kb) as port:
        yield port


@pytest.fixture
def post(port):
    """The JSON answer to a request."""
    return lambda path, **request: asked(port, "POST", path, request)


@pytest.fixture
def refuse(port):
    """The error of a request that is wrong."""

    def send(path, body):
        value = asked(port, "POST", path, body, 400)
        assert list(value) == ["error"] and "Traceback" not in value["error"] and "\n" not in value["error"]
        return value["error"]

    return send


def labels(fact):
    return [entity["label"] for entity in fact]


def test_test(port):
    status, _, body = ask(port, "GET", "/test")
    assert status == 200 and b"successful" in body


def test_items(post):
    assert [post("/item_to_label", item=item) for item in (TITANIC, "P57")] == ["Titanic", "director"]
    assert post("/item_to_labels", item=TITANIC) == ["Titanic"]
    assert [post("/item_to_aliases", item=item) for item in ("Q25173", TITANIC)] == [["RMS Titanic"], [TITANIC]]
    assert post("/item_to_description", item=TITANIC) == "1997 American romantic disaster film"
    assert post("/item_to_types", item=TITANIC) == [{"id": FILM, "label": "film"}]
    assert post("/item_to_type", item=TITANIC) == {"id": FILM, "label": "film"}
    assert post("/frequency", item=TITANIC) == [5, 0]
    assert post("/frequency", item=CAMERON) == [3, 2]


def test_unknown_items_have_the_answers_of_clocq(post):
    for item in (UNKNOWN, "Q99999999999999999", "P99999"):
        assert post("/item_to_label", item=item) == item
        assert post("/item_to_labels", item=item) == [item]
        assert post("/item_to_aliases", item=item) == [item]
        assert post("/item_to_description", item=item) == "None"
        assert post("/item_to_types", item=item) == []
        assert post("/item_to_type", item=item) is None
        assert post("/frequency", item=item) == [0, 0]
        assert post("/neighborhood", item=item) == post("/two_hop_neighborhood", item=item) == []
        assert post("/connect", item1=item, item2=TITANIC) is None
        assert post("/connectivity_check", item1=TITANIC, item2=item) == 0


def test_dates_are_items_without_facts(post):
    assert post("/item_to_label", item=DATE) == "19 December 1997"
    assert post("/item_to_label", item="1952-01-01T00:00:00Z") == "1952"
    assert post("/item_to_type", item=DATE) is None
    assert post("/neighborhood", item=DATE, p=10) == []
    assert post("/frequency", item=DATE) == [0, 0]
    assert post("/connectivity_check", item1=TITANIC, item2=DATE) == 0


def test_neighborhood(post, kb):
    facts = post("/neighborhood", item=TITANIC, p=1000, include_labels=True, include_type=False)
    assert facts == kb.neighborhood(TITANIC, 1000)
    assert ["Titanic", "cast member", "Kate Winslet", "character role", "Rose"] in map(labels, facts)
    assert post("/neighborhood", item=TITANIC) == facts  # the client's defaults are the server's
    assert post("/neighborhood", item=TITANIC, p=None, include_labels=None, include_type=None) == facts


def test_neighborhood_without_labels(post):
    facts = post("/neighborhood", item=TITANIC, p=1000, include_labels=False, include_type=False)
    assert [TITANIC, "P57", CAMERON] in facts
    assert [TITANIC, "P577", DATE] in facts
    assert post("/neighborhood", item=TITANIC, include_labels=False, include_type=True) == facts  # as CLOCQ does


def test_neighborhood_with_types(post):
    facts = post("/neighborhood", item=TITANIC, include_type=True)
    director = next(fact for fact in facts if fact[1]["id"] == "P57")
    assert director == [
        {"id": TITANIC, "label": "Titanic", "type": {"id": FILM, "label": "film"}},
        {"id": "P57", "label": "director", "type": None},
        {"id": CAMERON, "label": "James Cameron", "type": {"id": "Q5", "label": "human"}},
    ]
    release = next(fact for fact in facts if fact[1]["id"] == "P577")
    assert release[2] == {"id": DATE, "label": "19 December 1997", "type": None}


def test_two_hop_neighborhood(post, kb):
    facts = post("/two_hop_neighborhood", item=TITANIC, p=1000, include_labels=True, include_type=False)
    assert facts == kb.two_hop_neighborhood(TITANIC, 1000)
    assert ["Avatar", "director", "James Cameron"] in map(labels, facts)
    ids = post("/two_hop_neighborhood", item=TITANIC, include_labels=False)
    assert ids == [[entity["id"] for entity in fact] for fact in facts]


def test_connections(post):
    assert post("/connect", item1=TITANIC, item2=CAMERON) == [
        [[{"id": TITANIC, "label": "Titanic"}, {"id": "P57", "label": "director"}, {"id": CAMERON, "label": "James Cameron"}]]
    ]  # fmt: skip
    paths = post("/connect", item1=CAMERON, item2=DICAPRIO)
    assert paths and all(len(path) == 2 for path in paths)
    assert post("/connect", item1=TITANIC, item2=CAMERON, hop=None)  # an older client's key


@pytest.mark.parametrize(
    ("other", "distance"), [(CAMERON, b"1"), (DICAPRIO, b"1"), ("Q25188", b"0.5"), ("Q1203", b"0")]
)
def test_connectivity_is_a_bare_number(port, other, distance):
    status, _, body = ask(port, "POST", "/connectivity_check", {"item1": TITANIC, "item2": other})
    assert (status, body) == (200, distance)
    assert float(body) == float(distance)


def test_search_space(post, kb):
    found = post("/search_space", question=QUESTION, parameters={}, include_labels=True, include_type=False)
    facts, entities = SearchSpace(kb, ClocqParams(), 1000).search(QUESTION)
    assert found == {"kb_item_tuple": entities, "search_space": [fact.fact for fact in facts]}
    assert {one["item"]["id"] for one in found["kb_item_tuple"]} >= {TITANIC, "Q202765"}
    assert all(set(one) == {"item", "question_word", "score", "rank"} for one in found["kb_item_tuple"])
    assert ["Titanic", "director", "James Cameron"] in map(labels, found["search_space"])
    assert post("/search_space", question=QUESTION) == found
    assert post("/search_space", question=QUESTION, parameters=None) == found


def test_search_space_without_labels_and_with_types(post):
    facts = post("/search_space", question=QUESTION)["search_space"]
    plain = post("/search_space", question=QUESTION, include_labels=False)
    assert plain["search_space"] == [[entity["id"] for entity in fact] for fact in facts]
    assert plain["kb_item_tuple"][0]["item"]["label"]
    typed = post("/search_space", question=QUESTION, include_type=True)["search_space"]
    assert all("type" in entity for fact in typed for entity in fact)
    assert [[{"id": one["id"], "label": one["label"]} for one in fact] for fact in typed] == facts


def test_questions_without_items(post):
    for question in ("", "Who wrote it?", "\0", "?" * 10_000, "日本"):
        assert post("/search_space", question=question) == {"kb_item_tuple": [], "search_space": []}
        assert post("/entity_linking", question=question) == {"linkings": [], "mentions": []}


ITEM_PATHS = ["/item_to_label", "/item_to_labels", "/item_to_aliases", "/item_to_description", "/item_to_types",
              "/item_to_type", "/frequency", "/neighborhood", "/two_hop_neighborhood"]  # fmt: skip
QUESTION_PATHS = ["/search_space", "/entity_linking", "/relation_linking"]
MISSING = {
    "/neighborhood": [],
    "/two_hop_neighborhood": [],
    **dict.fromkeys(["/item_to_types", "/item_to_type", "/connect", "/connectivity_check"]),
}


@pytest.mark.parametrize("path", ITEM_PATHS)
@pytest.mark.parametrize("item", [42, [], {}, True])
def test_an_item_that_is_no_text(refuse, path, item):
    assert "item" in refuse(path, {"item": item})


@pytest.mark.parametrize("path", [*ITEM_PATHS, "/connect", "/connectivity_check"])
@pytest.mark.parametrize("body", [{}, {"item": None, "item1": None, "item2": "Q5"}, {"item1": "Q5"}])
def test_no_item_has_the_answer_of_clocq_or_is_refused(post, refuse, path, body):
    if path in MISSING:
        assert post(path, **body) == MISSING[path]
    else:  # CLOCQ's server fails
        assert "item" in refuse(path, body)


@pytest.mark.parametrize("wrong", [{"p": -1}, {"p": 10**30}, {"p": True}, {"include_type": 1}], ids=str)
def test_options_of_a_wrong_type_or_size(refuse, wrong):
    assert next(iter(wrong)) in refuse("/neighborhood", {"item": TITANIC, **wrong})


@pytest.mark.parametrize("path", QUESTION_PATHS)
@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"question": 5}, "question"),
        ({"question": "x" * 10_001}, "question"),
        ({"question": "x", "parameters": []}, "parameters"),
        ({"question": "x", "parameters": {"h_mach": 1}}, "h_mach"),
        ({"question": "x", "parameters": {"h_match": "a lot"}}, "parameters.h_match"),
        ({"question": "x", "parameters": {"k": 0}}, "parameters.k"),
        ({"question": "x", "parameters": {"bm25_limit": True}}, "parameters.bm25_limit"),
        ({"question": "x", "p": -1}, "p: '-1'"),
        ({"question": "x", "k": "many"}, "parameters.k"),
        ({"question": "x", "include_labels": 3}, "include_labels"),
    ],
)
def test_questions_and_parameters_that_are_wrong(refuse, path, wrong, words):
    assert words in refuse(path, wrong)


def test_a_fault_of_the_server_is_no_traceback(world_kb, monkeypatch, caplog):
    secret, told = "a secret", "kb: damaged; build it again"
    with clocq_server(world_kb) as port:
        for error in (ValueError(secret), IndexFileError(told)):
            monkeypatch.setattr(world_kb, "aliases", Mock(side_effect=error))
            status, _, body = ask(port, "POST", "/item_to_aliases", {"item": "Q42"})
            assert status == 500 and secret not in body.decode() and list(json.loads(body)) == ["error"]
    assert json.loads(body) == {"error": told}
    assert secret in caplog.text


@pytest.mark.parametrize("prefix", ["/api", "/linking_api"])
def test_the_prefixes_of_the_public_server(post, prefix):
    for path, request in (("/item_to_label", {"item": TITANIC}), ("/entity_linking", {"question": QUESTION})):
        assert post(prefix + path, **request) == post(path, **request)
