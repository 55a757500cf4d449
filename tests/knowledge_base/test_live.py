"""Live Wikidata and Wikipedia, answered by a server of the tests in the shapes of the real interfaces."""

import json
import random
import shutil
import time
from pathlib import Path

import pytest

from case_tables import each_case, slow_but
from convinse.config import load_config
from convinse.knowledge_base import live
from convinse.knowledge_base.grow import grow
from convinse.knowledge_base.index import KnowledgeBase
from convinse.knowledge_base.layout import read_manifest
from convinse.knowledge_base.question_names import is_doubtful, spans, written_names
from convinse.language.language import english
from convinse.pipeline import Pipeline
from convinse.support import web
from convinse.support.cache import Cache
from convinse.support.errors import DataError
from handmade import claim, document, q
from live_world import live_world
from loopback import cut, ok, silent, status
from mediawiki import error
from patience import BUSY, PATIENCE
from places import SNAPSHOT
from refusals import refused

DIRECTOR = "Who directed Titanic?"


@pytest.fixture
def wiki():
    with live_world() as server:
        yield server


@pytest.fixture
def ask(wiki, workdir, monkeypatch):
    """Answers a conversation over the server; returns its turns."""
    monkeypatch.setattr(web, "BACK_OFF", 0.01)
    monkeypatch.setattr(live, "SECONDS", float(PATIENCE))

    def answered(*questions, **keys):
        servers = {"ers_wikidata_api": wiki.api, "ers_wikipedia_api": wiki.api, "ers_cache_path": "cache"}
        settings = {"evs": "bm25", "ha": "entity_voting", "qu_rewriter": None}
        with Pipeline(load_config("live.yml", **{**servers, **settings, **keys})) as pipeline:
            return pipeline.ask(questions, "kb")["questions"]

    return answered


def best(turn):
    return next((answer["answer"]["label"] for answer in turn["pred_answers"]), None)


def change(wiki, item, **fields):
    wiki.lines[item] = json.dumps({**wiki.document(item), **fields}).encode()


@each_case("live_conversations")
def test_a_conversation_needs_few_requests(ask, wiki, case):
    models = {"evs": "auto", "ha": "extractive", "qu_rewriter": "snapshot:model"}
    turns = ask(*case["questions"], **models)
    assert [best(turn) for turn in turns] == case["answers"]
    numbers = [len(turn["live"]["requests"]) for turn in turns]
    assert sum(numbers) == len(wiki.requests)
    assert all(number <= most for number, most in zip(numbers, case["most"], strict=True))
    assert all(turn["live"]["failures"] == [] for turn in turns)


def test_requests_keep_to_wikimedias_manners(ask, wiki, monkeypatch):
    monkeypatch.setenv("CONVINSE_CONTACT", "me@example.org")
    ask(DIRECTOR)
    assert {request.params["maxlag"] for request in wiki.requests} == {"5"}
    assert all("me@example.org" in request.headers["User-Agent"] for request in wiki.requests)
    assert all("gzip" in request.headers["Accept-Encoding"] for request in wiki.requests)
    assert wiki.most_at_once <= 2


def test_an_evidence_links_to_its_statement_and_revision(ask, wiki):
    (turn,) = ask(DIRECTOR)
    place = turn["pred_answers"][0]["evidences"][0]
    site = wiki.api.removesuffix("/w/api.php")
    assert turn["top_evidences"][place]["origin"] == {
        "url": f"{site}/wiki/Q44578#P57",
        "revision_url": f"{site}/w/index.php?title=Q44578&oldid=2000044578",
        "date": "2026-11-20",
    }


def test_answers_are_cached_until_they_are_too_old_and_then_a_fallback(ask, wiki, monkeypatch):
    ask(DIRECTOR)
    number = len(wiki.requests)
    assert best(ask(DIRECTOR)[0]) == "James Cameron" and len(wiki.requests) == number
    ask(DIRECTOR, live_max_age=0.0)
    assert len(wiki.requests) > number
    monkeypatch.setenv("CONVINSE_OFFLINE", "1")
    (turn,) = ask(DIRECTOR)
    assert best(turn) == "James Cameron" and turn["live"] == {"requests": [], "failures": []}
    (turn,) = ask(DIRECTOR, live_max_age=0.0)
    assert best(turn) == "James Cameron" and "CONVINSE_OFFLINE" in turn["live"]["failures"][0]


def test_offline_is_the_reason_to_abstain_and_is_not_cached(ask, wiki, monkeypatch):
    monkeypatch.setenv("CONVINSE_OFFLINE", "1")
    (turn,) = ask(DIRECTOR, ha="extractive")
    assert wiki.requests == [] and turn["pred_answers"] == []
    assert turn["abstained"]["reason"].startswith("not all could be looked up")
    monkeypatch.delenv("CONVINSE_OFFLINE")
    assert best(ask(DIRECTOR)[0]) == "James Cameron"


def test_a_changed_document_replaces_the_older_one(ask, wiki):
    question = "What is the height of Leonardo DiCaprio?"
    assert best(ask(question)[0]) == "1.83 metre"
    claims = wiki.document("Q38111")["claims"]
    claims["P2048"][0]["mainsnak"]["datavalue"]["value"]["amount"] = "+1.85"
    change(wiki, "Q38111", claims=claims)
    assert best(ask(question, live_max_age=0.0)[0]) == "1.85 metre"


def test_redirects_of_articles_and_merged_items_are_followed(ask, wiki):
    name = "The Ship of Dreams for Everyone"
    wiki.redirects = {name: "Titanic (1997 film)"}
    wiki.items = {"Titanic (1997 film)": "Q44578"}
    wiki.merged = {"Q99900900": "Q42574"}
    aliases = {"en": [{"language": "en", "value": name}]}
    change(wiki, "Q44578", claims={"P57": [claim("P57", q("Q99900900"))]}, aliases=aliases)
    (turn,) = ask(f"Who directed {name}?")
    assert "Titanic, director, James Cameron" in [evidence["evidence_text"] for evidence in turn["top_evidences"]]


def test_a_disambiguation_page_names_nothing(ask, wiki):
    wiki.disambiguations = {"Titanic"}
    wiki.items = {"Titanic": "Q999"}
    assert best(ask("who directed titanic")[0]) == "James Cameron"


def test_facts_about_an_item_of_very_many_are_searched_by_property(ask, wiki):
    for name in (f"Q{number}" for number in range(50_000, 50_600)):
        wiki.lines[name] = json.dumps(document(name, f"Film {name}", claim("P57", q("Q42574")))).encode()
    (turn,) = ask("Which films did James Cameron direct?")
    searches = [request.params["gsrsearch"] for request in wiki.requests if "gsrsearch" in request.params]
    assert "P57=Q42574" in searches[0] and len(searches[0]) <= 300
    assert len(turn["live"]["requests"]) <= 6


def test_facts_about_an_item_from_a_sparql_endpoint(ask, wiki):
    (turn,) = ask("Which films did James Cameron direct?", live_sparql=wiki.sparql)
    assert any(request.path.startswith("/sparql") for request in wiki.requests)
    assert "backlinks" not in {request.params.get("generator") for request in wiki.requests}
    assert {"Titanic", "Avatar"} <= {answer["answer"]["label"] for answer in turn["pred_answers"]}


PASSING = {
    "maxlag": status(200, json.dumps(error("maxlag", "Waiting for db1", lag=9)).encode(), retry_after=0),
    "503": status(503, b""),
    "cut": cut(b'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"search": ['),
}
LASTING = {
    "html": status(200, b"<html>wrong</html>", content_type="text/html"),
    "a list": ok([]),
    "an error": ok(error("internal", "no")),
    "another shape": ok({"search": {"id": 5}, "entities": [], "query": 7}),
    "redirect": status(301, b"", location="http://10.0.0.1/"),
    "wait an hour": status(429, b"", retry_after=3600),
}


@pytest.mark.parametrize("name", PASSING)
def test_a_passing_fault_is_tried_again(ask, wiki, name):
    wiki.faults = [PASSING[name]]
    (turn,) = ask(DIRECTOR)
    assert best(turn) == "James Cameron" and turn["live"]["failures"] == []


@pytest.mark.parametrize("name", LASTING)
@pytest.mark.parametrize("place", slow_but([1], [0, 1]))
def test_a_lasting_fault_is_reported_and_never_cached(ask, wiki, name, place):
    wiki.faults = [None] * place + [LASTING[name]] * 20
    (turn,) = ask(DIRECTOR)
    assert len(turn["live"]["failures"]) == 1 and wiki.api.split("/")[2] in turn["live"]["failures"][0]
    assert "nothing is known" not in turn.get("abstained", {}).get("reason", "")
    wiki.faults = []
    assert best(ask(DIRECTOR)[0]) == "James Cameron"


def test_a_silent_server_ends_with_the_deadline(ask, wiki, monkeypatch):
    monkeypatch.setattr(live, "SECONDS", 0.3)
    wiki.faults = [silent(PATIENCE)] * 9
    start = time.monotonic()
    (turn,) = ask(DIRECTOR)
    assert time.monotonic() - start < BUSY and turn["live"]["failures"]


def test_missing_and_nameless_items_are_requested_once(ask, wiki):
    change(wiki, "Q44578", claims={"P161": [claim("P161", q("Q777")), claim("P161", q("Q778"))]})
    wiki.lines["Q778"] = json.dumps(document("Q778", "")).encode()
    turns = ask(DIRECTOR, "Who is the actor in Titanic?", "Who starred in Titanic?")
    ids = [name for request in wiki.requests for name in request.params.get("ids", "").split("|")]
    assert ids.count("Q777") == ids.count("Q778") == 1
    assert not any("Q77" in evidence["evidence_text"] for turn in turns for evidence in turn["top_evidences"])


STRANGE = [None, True, -1, 1e308, "", "Q0", "Q1|Q2", "\ud800", "x" * 5000, [], {}, [[]], {"": None}, {"id": "P0"}]


def hostile(seed):
    """A step that changes a good answer: drops, repeats and swaps values, or cuts and stains its bytes."""
    chance = random.Random(seed)

    def changed(value):
        if chance.random() < 0.02:
            return chance.choice(STRANGE)
        if isinstance(value, dict):
            return {key: changed(part) for key, part in value.items() if chance.random() > 0.01}
        if isinstance(value, list):
            return [changed(part) for part in value] * chance.choice([1, 1, 1, 2])
        return value

    def step(good):
        data = json.dumps(changed(good)).encode()
        place = chance.randrange(len(data) + 1)
        damaged = [data[:place], b"[" * 50_000, data[:place] + chance.randbytes(3) + data[place:]]
        return status(chance.choice([200] * 9 + [404]), chance.choice([data] * 7 + damaged))

    return step


@pytest.mark.parametrize("seeds", slow_but([range(12)], [range(12), range(12, 120)]))
def test_hostile_answers_are_failures_of_one_line(ask, wiki, monkeypatch, seeds):
    monkeypatch.setattr(web, "BACK_OFF", 0.0)
    monkeypatch.setattr(live, "SECONDS", 0.5)
    for seed in seeds:
        wiki.change = hostile(seed)
        (turn,) = ask(DIRECTOR, ers_use_cache=False)
        assert all("\n" not in failure and len(failure) < 600 for failure in turn["live"]["failures"])


def test_cached_documents_grow_into_a_knowledge_base(ask, wiki, workdir, closed, world_index):
    ask(DIRECTOR)
    cache, at_hand = closed(Cache("cache")), closed(KnowledgeBase(SNAPSHOT / "kb"))
    folder = workdir / "grown"
    grow(folder, cache, wiki.api, at_hand)
    (turn,) = ask(DIRECTOR, kb_path=str(folder))
    assert best(turn) == "James Cameron" and "live" not in turn
    items = read_manifest(folder).items
    ask("Who wrote The Hobbit?")
    grow(folder, cache, wiki.api, at_hand)
    assert read_manifest(folder).items > items
    ours = Path(shutil.copytree(world_index, workdir / "ours"))
    before = read_manifest(ours).items
    grow(ours, cache, wiki.api, at_hand)
    assert read_manifest(ours).items == before  # it has them all, and loses none
    refused(DataError, lambda: grow(folder, closed(Cache("other")), wiki.api, at_hand), "--live")


@each_case("question_names")
def test_names_of_a_question(case):
    assert written_names(case["question"], english()) == case["names"]
    assert is_doubtful(case["question"], english()) == case.get("doubtful", False)
    assert set(case.get("spans", ())) <= set(spans(case["question"], english()))
