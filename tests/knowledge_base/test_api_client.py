"""Retrieval over the CLOCQ API: the same as the embedded engine's, and errors that are never results."""

import json
from contextlib import closing

import pytest

from case_tables import each_case
from convinse.config import ClocqParams, parse_config
from convinse.evidence_retrieval_scoring.clocq_retriever import ClocqRetriever
from convinse.knowledge_base.api_client import ClocqApi
from convinse.knowledge_base.build import build
from convinse.knowledge_base.index import KnowledgeBase
from convinse.support.cache import Cache
from convinse.support.errors import ConfigError, NetworkError
from handmade import claim, document, q, string, world, write
from loopback import clocq_server, ok, scripted_server, status

QUESTIONS = [
    "Who directed Titanic with Kate Winslet?",
    "When was Leonardo DiCaprio born?",
    "game of thrones",
    "Titanic || Who played in it? || human",
    "The Quoted Book",
    "Who wrote it?",
    "",
]
EMPTY = {"kb_item_tuple": [], "search_space": []}


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("quoted")
    quoted = document("Q77", "The Quoted Book", claim("P31", q("Q7725634")), claim("P453", string('"To be" "or not"')),
                      claim("P50", string('"Quoted"')))  # fmt: skip
    build(write(folder / "dump.json", [*world(), quoted]), folder / "kb")
    return folder / "kb"


@pytest.fixture(scope="module")
def port(index):
    with closing(KnowledgeBase(index)) as kb, clocq_server(kb) as port:
        yield port


@pytest.fixture
def make(workdir, index, closed):
    """A retriever; with `port`, over the API and without any index at hand."""

    def retriever(port=None, **config):
        data = {"kb_path": str(index), "ers_wikipedia_dump": None, "ers_use_cache": False, **config}
        if port is not None:
            data |= {"clocq_use_api": True, "clocq_host": "http://127.0.0.1", "clocq_port": port, "kb_path": "nowhere"}
        return closed(ClocqRetriever(parse_config(data)), "store_cache")

    return retriever


@pytest.fixture
def api(closed):
    return lambda port: closed(ClocqApi("http://127.0.0.1", port))


PARAMETERS = [
    {},
    {"clocq_params": {"k": 3, "d": 5, "h_match": 0.1, "h_conn": 0.8}},
    {"clocq_params": {"bm25_limit": 4}},
    {"clocq_params": {"bm25_limit": False, "p_setting": 3}},
    {"clocq_p": 2},
    {"clocq_p": 50, "clocq_params": {"p_setting": 1}},
]


@pytest.mark.parametrize("config", PARAMETERS, ids=str)
def test_both_engines_retrieve_the_same(make, port, config):
    embedded, remote = make(**config), make(port, **config)
    for question in QUESTIONS:
        assert remote.retrieve_KB_facts(question) == embedded.retrieve_KB_facts(question)
        assert remote.retrieve_evidences(question, ["kb"]) == embedded.retrieve_evidences(question, ["kb"])
    assert embedded.retrieve_KB_facts(QUESTIONS[0])[0]
    for item in ("Q44578", "Q5", "Q77", "P57", "Q999999999"):
        assert remote.retrieve_kb_facts_for_item(item) == embedded.retrieve_kb_facts_for_item(item)
    entities = embedded.retrieve_KB_facts(QUESTIONS[0])[1]
    retrieved = remote.retrieve_evidences("|| Titanic || directed || person", ["kb"], entities)
    assert retrieved == embedded.retrieve_evidences("|| Titanic || directed || person", ["kb"], entities)
    assert retrieved[0] and retrieved[1] == entities


def test_a_result_is_cached_under_address_and_parameters(make, port, workdir):
    cache = {"ers_use_cache": True, "ers_cache_path": str(workdir / "cache")}
    first = make(port, **cache).retrieve_KB_facts(QUESTIONS[0])
    keys = set(Cache(workdir / "cache").keys())
    assert len(keys) == 1 and f"http://127.0.0.1:{port}" in next(iter(keys))
    with scripted_server(ok(EMPTY)) as other:
        assert make(other.server_port, **cache).retrieve_KB_facts(QUESTIONS[0]) == ([], [])
        make(port, **cache, clocq_p=1).retrieve_KB_facts(QUESTIONS[0])
        make(**cache).retrieve_KB_facts(QUESTIONS[0])
    assert len(set(Cache(workdir / "cache").keys())) == 4
    again = make(port, **cache)
    again.facts.search = None  # the cache answers
    assert again.retrieve_KB_facts(QUESTIONS[0]) == first


@pytest.mark.parametrize("step", [status(503), status(200, b"<html>"), status(200, b"{}")])
def test_a_failure_is_raised_and_never_cached(make, workdir, step):
    config = {"ers_use_cache": True, "ers_cache_path": str(workdir / "cache")}
    found = {"kb_item_tuple": [{"item": {"id": "Q1", "label": "one"}, "question_word": "one", "score": 1, "rank": 0}],
             "search_space": [[{"id": "Q1", "label": "one"}, {"id": "P1", "label": "is"}, {"id": "Q2", "label": "two"}]]}  # fmt: skip
    with scripted_server(step) as server:
        retriever = make(server.server_port, **config)
        for call in (
            lambda: retriever.retrieve_KB_facts("one"),
            lambda: retriever.retrieve_evidences("one", ["kb", "text"]),
            lambda: retriever.retrieve_kb_facts_for_item("Q1"),
        ):
            with pytest.raises(NetworkError, match=f"127.0.0.1:{server.server_port}.*clocq_host"):
                call()
        assert list(Cache(workdir / "cache").keys()) == []
        server.steps = [ok(found)]
        evidences, entities = retriever.retrieve_KB_facts("one")
    assert [one["evidence_text"] for one in evidences] == ["one, is, two"] and len(entities) == 1


def test_requests_have_the_shapes_of_clocq_s_client(api):
    with scripted_server(ok(EMPTY), ok([])) as server:
        client = api(server.server_port)
        client.search_space("a?", ClocqParams(k=2, p_setting=500), 100)
        client.neighborhood("Q1", 7)
        first, second = server.requests
    assert (first.path, second.path) == ("/search_space", "/neighborhood")
    assert json.loads(first.body) == {
        "question": "a?",
        "parameters": {"h_match": 0.4, "h_rel": 0.2, "h_conn": 0.3, "h_coh": 0.1, "d": 20, "k": 2, "p_setting": 100, "bm25_limit": 0},
        "include_labels": True,
        "include_type": False,
    }  # fmt: skip
    assert json.loads(second.body) == {"item": "Q1", "p": 7, "include_labels": True, "include_type": False}


def test_answers_of_the_public_server_are_brought_into_shape(api):
    """It repeats facts of two items, maps words to properties, and quotes dates."""
    fact = [{"id": "Q1", "label": "one"}, {"id": "P1", "label": "since"}, {"id": '"1952-03-11T00:00:00Z"', "label": "11 March 1952"}]  # fmt: skip
    entity = {"item": {"id": "Q1", "label": "one"}, "question_word": "one", "score": 0.5, "rank": 0}
    prop = {"item": {"id": "P1", "label": "since"}, "question_word": "since", "score": 0.4, "rank": 0}
    answer = {"kb_item_tuple": [prop, entity, {**entity, "rank": 1}], "search_space": [fact, fact]}
    with scripted_server(ok(answer)) as server:
        facts, entities = api(server.server_port).search_space("one", ClocqParams(), 1000)
    bare = [fact[0], fact[1], {"id": "1952-03-11T00:00:00Z", "label": "11 March 1952"}]
    assert facts == [(bare, fact[0])]  # for the item in it, rather than for the property that stands before it
    assert entities == [prop, entity]


def test_padding_and_nulls_of_the_public_server_are_passed_over(make):
    """It fills up the items of a word with `id: null`; what has no id names nothing."""
    none, titanic = {"id": None, "label": "None"}, {"id": "Q44578", "label": "Titanic"}
    director, role = {"id": "P57", "label": "director"}, {"id": "P453", "label": "role"}
    cameron = {"id": "Q42574", "label": None}
    padded = {"item": none, "question_word": "Titanic", "score": 0, "rank": 1}
    mentioned = {"item": titanic, "question_word": None, "score": None, "rank": None}
    fact = [titanic, director, cameron]
    answer = {
        "kb_item_tuple": [padded, None, {**padded, "item": None}, mentioned, padded],
        "search_space": [fact, [], None, [none, director, cameron], [*fact, role, none], [*fact, None, cameron], [titanic, director],
                         [titanic, None, cameron]],
    }  # fmt: skip
    named = [titanic, director, {"id": "Q42574", "label": "Q42574"}]
    with scripted_server(ok(answer), ok(answer["search_space"])) as server:
        retriever = make(server.server_port)
        evidences, entities = retriever.retrieve_evidences("Titanic", ["kb"])
        facts = retriever.retrieve_kb_facts_for_item("Q44578")
    assert entities == [{"item": titanic, "question_word": "", "score": 0.0, "rank": 0}]
    assert [evidence["fact"] for evidence in evidences] == [named]
    assert facts == [named] * 3


@each_case("addresses", "host")
def test_addresses(case):
    if case["address"] is not None:
        assert ClocqApi(case["host"], case["port"]).address == case["address"]
        return
    with pytest.raises(ConfigError, match=case.get("key", "clocq_host")):
        ClocqApi(case["host"], case["port"])
