"""Live Wikidata and Wikipedia, answered by a server of the tests in the shapes of the real interfaces. No request leaves the machine."""

import json
import random
import shutil
import time
from pathlib import Path

import pytest

from case_tables import each_case
from convinse.config import load_config
from convinse.knowledge_base.grow import grow
from convinse.knowledge_base.index import KnowledgeBase
from convinse.knowledge_base.layout import read_manifest
from convinse.knowledge_base.question_names import is_doubtful, spans, written_names
from convinse.language.language import english
from convinse.live import look_up_facts, look_up_names
from convinse.pipeline import Pipeline
from convinse.resources import Resources
from convinse.support import web
from convinse.support.cache import Cache
from convinse.support.errors import DataError
from handmade import claim, document, q
from live_world import live_world
from loopback import cut, ok, silent, status
from mediawiki import error
from places import SNAPSHOT
from refusals import refused

DIRECTOR = "Who directed Titanic?"


@pytest.fixture
def wiki():
    with live_world() as server:
        yield server


@pytest.fixture
def asking(wiki, workdir, monkeypatch):
    """Answers a conversation over the server; returns its turns."""
    monkeypatch.setattr(web, "BACK_OFF", 0.01)

    def ask(*questions, sources="kb", with_models=False, **keys):
        settings = {"ers_wikidata_api": wiki.api, "ers_wikipedia_api": wiki.api, "ers_cache_path": "cache", "evs": "bm25", "ha": "entity_voting",
                    "qu_rewriter": None, "live_deadline": 5.0}  # fmt: skip
        if with_models:
            settings = {name: value for name, value in settings.items() if name.startswith(("ers", "live"))}
        settings |= keys
        with Pipeline(load_config("live.yml", **settings)) as pipeline:
            return pipeline.ask(questions, sources)["questions"]

    return ask


def best(turn):
    return next((answer["answer"]["label"] for answer in turn["pred_answers"]), None)


# --- what is asked, and how often


@each_case("live_conversations")
def test_a_conversation_is_answered_with_few_requests(asking, wiki, case):
    turns = asking(*case["questions"], with_models=True)
    assert [best(turn) for turn in turns] == case["answers"]
    asked = [len(turn["live"]["requests"]) for turn in turns]
    assert sum(asked) == len(wiki.requests)
    assert asked[0] <= 6 and all(number <= most for number, most in zip(asked, case["most"], strict=True))
    assert all(turn["live"]["failures"] == [] for turn in turns)


def test_requests_keep_to_wikimedias_manners(asking, wiki):
    asking(DIRECTOR, ers_user_agent="me@example.org")
    assert {request.params["maxlag"] for request in wiki.requests} == {"5"}
    assert all("me@example.org" in request.headers["User-Agent"] for request in wiki.requests)
    assert all("gzip" in request.headers["Accept-Encoding"] for request in wiki.requests)
    assert wiki.most_at_once <= 2


def test_an_evidence_links_to_its_statement_and_revision(asking, wiki):
    (turn,) = asking(DIRECTOR)
    place = turn["pred_answers"][0]["evidences"][0]
    site = wiki.api.removesuffix("/w/api.php")
    assert turn["top_evidences"][place]["origin"] == {
        "url": f"{site}/wiki/Q44578#P57",
        "revision_url": f"{site}/w/index.php?title=Q44578&oldid=2000044578",
        "date": "2026-11-20",
    }


def test_what_was_fetched_is_kept(asking, wiki, monkeypatch):
    asking(DIRECTOR)
    asked = len(wiki.requests)
    assert best(asking(DIRECTOR)[0]) == "James Cameron"
    assert len(wiki.requests) == asked
    monkeypatch.setenv("CONVINSE_OFFLINE", "1")
    (turn,) = asking(DIRECTOR)
    assert best(turn) == "James Cameron" and turn["live"] == {"requests": [], "failures": []}


def test_what_is_too_old_is_asked_for_again_and_used_if_it_cannot_be(asking, wiki, monkeypatch):
    asking(DIRECTOR)
    asked = len(wiki.requests)
    asking(DIRECTOR, live_max_age=0.0)
    assert len(wiki.requests) > asked
    monkeypatch.setenv("CONVINSE_OFFLINE", "1")
    (turn,) = asking(DIRECTOR, live_max_age=0.0)
    assert best(turn) == "James Cameron" and "CONVINSE_OFFLINE" in turn["live"]["failures"][0]


def test_offline_says_so_in_a_line_and_keeps_nothing(asking, wiki, monkeypatch):
    monkeypatch.setenv("CONVINSE_OFFLINE", "1")
    (turn,) = asking(DIRECTOR, with_models=True)
    assert wiki.requests == [] and turn["pred_answers"] == []
    assert turn["abstained"]["reason"].startswith("not all could be looked up")
    assert "unset it to allow requests" in turn["abstained"]["reason"]
    monkeypatch.delenv("CONVINSE_OFFLINE")
    assert best(asking(DIRECTOR)[0]) == "James Cameron"


def test_a_changed_document_replaces_the_older_one(asking, wiki):
    assert best(asking("What is the height of Leonardo DiCaprio?")[0]) == "1.83 metre"
    leo = wiki.document("Q38111")
    leo["claims"]["P2048"][0]["mainsnak"]["datavalue"]["value"]["amount"] = "+1.85"
    wiki.lines["Q38111"] = json.dumps(leo).encode()
    assert best(asking("What is the height of Leonardo DiCaprio?", live_max_age=0.0)[0]) == "1.85 metre"


# --- titles, redirects, disambiguation


def test_a_redirect_of_an_article_and_a_merged_item_lead_to_the_item(asking, wiki):
    wiki.redirects = {"The Ship of Dreams for Everyone": "Titanic (1997 film)"}
    wiki.items = {"Titanic (1997 film)": "Q44578"}
    wiki.merged = {"Q99900900": "Q42574"}
    film = wiki.document("Q44578")
    film["claims"]["P57"] = [claim("P57", q("Q99900900"))]
    film["aliases"] = {"en": [{"language": "en", "value": "The Ship of Dreams for Everyone"}]}
    wiki.lines["Q44578"] = json.dumps(film).encode()
    (turn,) = asking("Who directed The Ship of Dreams for Everyone?")
    assert "Titanic, director, James Cameron" in [evidence["evidence_text"] for evidence in turn["top_evidences"]]


def test_a_page_that_lists_meanings_names_nothing(asking, wiki):
    wiki.disambiguations = {"Titanic"}
    wiki.items = {"Titanic": "Q999"}
    assert best(asking("who directed titanic")[0]) == "James Cameron"


# --- facts about an item


def test_facts_about_an_item_are_searched_where_very_many_link_to_it(asking, wiki):
    films = {
        f"Q{number}": document(f"Q{number}", f"Film {number}", claim("P57", q("Q42574")))
        for number in range(50_000, 50_600)
    }
    wiki.lines |= {name: json.dumps(own).encode() for name, own in films.items()}
    (turn,) = asking("Which films did James Cameron direct?")
    searches = [request.params["gsrsearch"] for request in wiki.requests if "gsrsearch" in request.params]
    assert "P57=Q42574" in searches[0] and len(searches[0]) <= 300
    assert len(turn["live"]["requests"]) <= 6


def test_a_sparql_endpoint_is_asked_for_them(asking, wiki):
    (turn,) = asking("Which films did James Cameron direct?", live_sparql=wiki.sparql)
    assert any(request.path.startswith("/sparql") for request in wiki.requests)
    assert "backlinks" not in {request.params.get("generator") for request in wiki.requests}
    assert {"Titanic", "Avatar"} <= {answer["answer"]["label"] for answer in turn["pred_answers"]}


# --- servers that misbehave


FAULTS = {
    "maxlag": status(200, json.dumps(error("maxlag", "Waiting for db1", lag=9)).encode(), retry_after=0),
    "429": status(429, b"slow down", retry_after=0),
    "503": status(503, b""),
    "cut": cut(b'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"search": ['),
}
LASTING = {
    "html": status(200, b"<html>wrong</html>", content_type="text/html"),
    "null": ok(None),
    "a list": ok([]),
    "an error": ok(error("internal", "no")),
    "another shape": ok({"search": {"id": 5}, "entities": [], "query": 7}),
    "elsewhere": status(302, b"", location="http://127.0.0.1:1/w/api.php"),
    "private": status(301, b"", location="http://10.0.0.1/"),
    "wait an hour": status(429, b"", retry_after=3600),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_that_passes_is_waited_for(asking, wiki, name):
    wiki.faults = [FAULTS[name]]
    (turn,) = asking(DIRECTOR)
    assert best(turn) == "James Cameron" and turn["live"]["failures"] == []


@pytest.mark.parametrize("name", LASTING)
@pytest.mark.parametrize("place", [0, 1])
def test_a_fault_that_lasts_is_said_and_never_kept(asking, wiki, name, place):
    wiki.faults = [None] * place + [LASTING[name]] * 20
    (turn,) = asking(DIRECTOR)
    assert len(turn["live"]["failures"]) == 1 and wiki.api.split("/")[2] in turn["live"]["failures"][0]
    assert "nothing is known" not in turn.get("abstained", {}).get("reason", "")
    wiki.faults = []
    assert best(asking(DIRECTOR)[0]) == "James Cameron"


def test_a_silent_server_ends_with_the_deadline(asking, wiki):
    wiki.faults = [silent(5)] * 9
    start = time.monotonic()
    (turn,) = asking(DIRECTOR, live_deadline=0.3)
    assert time.monotonic() - start < 4 and turn["live"]["failures"]


def test_missing_and_nameless_items_are_asked_for_once(asking, wiki):
    film = wiki.document("Q44578")
    film["claims"]["P161"] = [claim("P161", q("Q777")), claim("P161", q("Q778"))]
    wiki.lines["Q44578"] = json.dumps(film).encode()
    wiki.lines["Q778"] = json.dumps(document("Q778", "")).encode()
    turns = asking(DIRECTOR, "Who is the actor in Titanic?", "Who starred in Titanic?")
    asked = [name for request in wiki.requests for name in request.params.get("ids", "").split("|")]
    assert asked.count("Q777") == asked.count("Q778") == 1
    assert not any("Q77" in evidence["evidence_text"] for turn in turns for evidence in turn["top_evidences"])


def hostile(seed):
    """A step that changes a good answer: drops, repeats, nests and swaps values, or cuts and stains its bytes."""
    chance = random.Random(seed)
    strange = [
        None,
        True,
        0,
        -1,
        1e308,
        "",
        "Q",
        "Q0",
        "Q1|Q2",
        "\ud800",
        "x" * 5000,
        [],
        {},
        [[]],
        {"": None},
        {"id": "P0"},
        {"en": []},
    ]

    def changed(value, depth=0):
        if chance.random() < 0.06:
            return chance.choice(strange)
        if isinstance(value, dict):
            return {chance.choice([key, key, key, key.upper()]) if chance.random() < 0.1 else key: changed(own, depth + 1)
                    for key, own in value.items() if chance.random() > 0.03}  # fmt: skip
        if isinstance(value, list):
            return [changed(own, depth + 1) for own in value] * chance.choice([1, 1, 1, 2])
        return value

    def step(good):
        data = json.dumps(changed(good)).encode()
        if chance.random() < 0.1:
            data = data[: chance.randrange(len(data) + 1)]
        if chance.random() < 0.1:
            data = b"[" * 50_000
        if chance.random() < 0.1:
            place = chance.randrange(len(data))
            data = data[:place] + chance.randbytes(3) + data[place:]
        return status(
            chance.choice([200] * 9 + [404]),
            data,
            content_type=chance.choice(["application/json", "text/html", "image/png"]),
        )

    return step


def test_hostile_answers_end_in_a_line(wiki, workdir, monkeypatch):
    monkeypatch.setattr(web, "BACK_OFF", 0.0)
    settings = {
        "ers_wikidata_api": wiki.api,
        "ers_wikipedia_api": wiki.api,
        "ers_use_cache": False,
        "live_deadline": 0.5,
    }
    config = load_config("live.yml", **settings)
    for seed in range(200):
        wiki.change = hostile(seed)
        with Resources(config) as resources:
            turns = [{"question": DIRECTOR}]
            look_up_names(resources, turns, [[]])
            about = [{"id": "Q44578", "label": "Titanic"}]
            turns[0] |= {
                "representation": {"entities": about, "context": [], "candidates": []},
                "structured_representation": DIRECTOR,
            }
            look_up_facts(resources, turns)
            resources.linker.link(DIRECTOR)
            resources.kb.neighborhood("Q44578")
            assert all("\n" not in failure and len(failure) < 600 for failure in turns[0]["live"]["failures"])


# --- kept as a knowledge base of its own


def test_what_was_fetched_grows_into_a_knowledge_base(asking, wiki, workdir, closed, world_index):
    asking(DIRECTOR)
    cache, at_hand = closed(Cache("cache")), closed(KnowledgeBase(SNAPSHOT / "kb"))
    folder = workdir / "grown"
    grow(folder, cache, wiki.api, at_hand)
    (turn,) = asking(DIRECTOR, kb_path=str(folder))
    assert best(turn) == "James Cameron" and "live" not in turn
    items = read_manifest(folder).items
    asking("Who wrote The Hobbit?")
    grow(folder, cache, wiki.api, at_hand)
    assert read_manifest(folder).items > items
    ours = Path(shutil.copytree(world_index, workdir / "ours"))
    before = read_manifest(ours).items
    grow(ours, cache, wiki.api, at_hand)
    assert read_manifest(ours).items == before  # it has them all, and loses none
    (turn,) = asking(DIRECTOR, kb_path=str(ours))
    assert best(turn) == "James Cameron"
    refused(DataError, lambda: grow(folder, closed(Cache("other")), wiki.api, at_hand), "--live")


# --- what questions name


@each_case("question_names")
def test_names_of_a_question(case):
    assert written_names(case["question"], english()) == case["names"]
    assert is_doubtful(case["question"], english()) == case.get("doubtful", False)
    assert set(case.get("spans", ())) <= set(spans(case["question"], english()))
