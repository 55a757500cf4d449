"""The MediaWiki client against a wiki that behaves and one that does not. No request leaves the machine."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from case_tables import each_case
from convinse.support.errors import NetworkError
from convinse.support.mediawiki import until
from convinse.wikipedia.api import MediaWikiApi
from loopback import ok, status
from mediawiki import error, mediawiki


@pytest.fixture
def wiki():
    with mediawiki() as server:
        server.pages = {"Titanic": "<p>A film.</p>", "James Cameron": "<p>A director.</p>"}
        server.items = {"Titanic": "Q44578", "James Cameron": "Q42574"}
        server.sitelinks = {"Q44578": "Titanic", "Q5": ""}
        yield server


@pytest.fixture
def client(wiki, closed):
    return closed(MediaWikiApi(wiki.api, wiki.api))


def soon():
    return until(5)


def linked(client, titles):
    return {title: item for batch in client.items_of(titles, soon()) for title, item in batch.items()}


def test_a_page_is_requested_in_the_documented_way_and_redirects_are_followed(wiki, client):
    page = client.page("Titanic", soon())
    assert (page.title, page.html, page.revision, page.item, page.redirects) == (
        "Titanic",
        "<p>A film.</p>",
        7,
        "Q44578",
        [],
    )
    params = wiki.requests[0].params
    expected = {"action": "parse", "page": "Titanic", "redirects": "1", "format": "json", "formatversion": "2"}
    assert expected.items() <= params.items() and params["maxlag"] == "5"
    assert {"text", "revid"} <= set(params["prop"].split("|"))
    wiki.redirects = {"Titanic movie": "Titanic"}
    page = client.page("titanic_movie", soon())
    assert page.title == "Titanic" and page.redirects


@pytest.mark.parametrize("code", ["missingtitle", "invalidtitle", "pagecannotexist"])
def test_a_missing_page_is_none(wiki, client, code):
    wiki.faults = [ok(error(code))]
    assert client.page("Nowhere", soon()) is None


def test_titles_of_items(wiki, client):
    assert client.title_of("Q44578", soon()) == "Titanic"
    assert client.title_of("Q5", soon()) is None  # no article
    assert client.title_of("Q404404", soon()) is None  # no item
    wiki.faults = [ok(error("no-such-entity", "Could not find an entity"))]
    assert client.title_of("Q404405", soon()) is None
    expected = {"action": "wbgetentities", "ids": "Q44578", "props": "sitelinks", "sitefilter": "enwiki"}
    assert expected.items() <= wiki.requests[0].params.items()


def test_the_title_of_an_item_that_was_merged_into_another(wiki, client):
    merged = {"id": "Q2", "redirects": {"from": "Q1", "to": "Q2"}, "sitelinks": {"enwiki": {"title": "Two"}}}
    wiki.faults = [ok({"entities": {"Q1": merged}, "success": 1})]
    assert client.title_of("Q1", soon()) == "Two"


@each_case("addresses", "wiki")
def test_the_site_is_that_of_the_address(case):
    assert MediaWikiApi(case["wiki"], case["wiki"]).site == case["site"]


def test_items_come_back_under_the_titles_as_linked(wiki, client):
    wiki.redirects = {"Cameron": "Jim Cameron", "Jim Cameron": "James Cameron", "A": "B", "B": "A"}
    wiki.pages["Draft of it"] = "<p>x</p>"
    found = linked(client, ["james_Cameron", "Cameron", "Titanic", "Nowhere", "A", "Draft of it"])
    cameron = ("Q42574", "James Cameron")
    assert found == {
        "james_Cameron": cameron, "Cameron": cameron, "Titanic": ("Q44578", "Titanic"),
        "Nowhere": None, "A": None, "Draft of it": None,
    }  # fmt: skip
    expected = {"action": "query", "prop": "pageprops", "ppprop": "wikibase_item", "redirects": "1"}
    assert expected.items() <= wiki.requests[0].params.items()


def test_addresses_stay_short_enough(wiki, client):
    titles = [f"{'語' * 80}{number}" for number in range(50)]
    wiki.items = {titles[49]: "Q1"}
    assert linked(client, titles)[titles[49]] == ("Q1", titles[49])
    assert len(wiki.requests) > 1 and all(len(request.path) < 8000 for request in wiki.requests)


def test_an_invalid_title_is_left_out(wiki, client):
    assert linked(client, ["a|b", "a#b", "", "  ", "{x}", "x" * 256, "a\nb"]) == {}
    assert wiki.requests == []


def test_a_query_that_continues_is_read_to_its_end(wiki, client):
    def part(title, item, **more):
        return ok({"query": {"pages": [{"title": title, "pageprops": {"wikibase_item": item}}]}, **more})

    wiki.faults = [part("A", "Q1", **{"continue": {"ppcontinue": 9, "continue": "||"}}), part("B", "Q2")]
    assert linked(client, ["A", "B"]) == {"A": ("Q1", "A"), "B": ("Q2", "B")}
    assert wiki.requests[1].params["ppcontinue"] == "9"


def test_a_query_without_end_is_an_error(wiki, client):
    wiki.faults = [ok({"query": {"pages": []}, "continue": {"ppcontinue": "9"}})] * 100
    with pytest.raises(NetworkError, match="without end"):
        linked(client, ["A"])


# --- faults that pass


PASSING = {
    "said to be gzip": status(200, b'{"parse": 1}', content_encoding="gzip"),
    "maxlag": status(200, json.dumps(error("maxlag", "Waiting for db1: 9 s lagged", lag=9)).encode(), retry_after=0),
    "ratelimited": ok(error("ratelimited")),
    "readonly": ok(error("readonly")),
    "internal": ok(error("internal_api_error_DBQueryError")),
}


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING)
def test_faults_that_pass_are_waited_out_and_others_are_errors(wiki, client, fault):
    wiki.faults = [fault, fault]
    assert client.page("Titanic", soon()).title == "Titanic"
    assert len(wiki.requests) == 3
    wiki.faults = [fault] * 100
    with pytest.raises(NetworkError, match=r"ers_wikipedia_api"):
        client.page("Titanic", soon())
    assert len(wiki.requests) == 8


def test_never_more_than_two_requests_at_once(wiki):
    wiki.delay = 0.03
    clients = [MediaWikiApi(wiki.api, wiki.api) for _ in range(2)]
    with ThreadPoolExecutor(12) as pool:
        list(pool.map(lambda n: clients[n % 2].page("Titanic", soon()), range(12)))
    assert len(wiki.requests) == 12 and wiki.most_at_once == 2
    for client in clients:
        client.close()


# --- faults that stay


STAYING = {
    "error of the API": (ok(error("badtoken", "Invalid <token>")), "badtoken"),
    "error without a code": (ok({"error": "no"}), "unknown"),
    "a list": (ok([]), "a list"),
    "another shape": (ok({"parse": {"title": 5}}), "another shape"),
    "no page": (ok({}), "another shape"),
    "text of formatversion 1": (ok({"parse": {"title": "T", "text": {"*": "<p>"}}}), "another shape"),
    "an empty page": (ok({"parse": {"title": "T", "text": " \n"}}), "an empty page"),
}


@pytest.mark.parametrize(("fault", "word"), STAYING.values(), ids=STAYING)
def test_an_unusable_answer_is_an_error_at_once(wiki, client, fault, word):
    wiki.faults = [fault]
    with pytest.raises(NetworkError, match=word) as caught:
        client.page("Titanic", soon())
    assert "\n" not in str(caught.value) and f"127.0.0.1:{wiki.server_port}" in str(caught.value)
    assert len(wiki.requests) == 1


def test_wrong_answers_about_items_are_errors(wiki, client):
    answers = {"query": {"pages": {"1": {}}}}, {}, {"entities": {}}, {"entities": {"Q1": {"sitelinks": []}}}
    wiki.faults = [ok(answer) for answer in answers]
    for call in (lambda: linked(client, ["A"]), lambda: client.title_of("Q1", soon())):
        for _ in range(2):
            with pytest.raises(NetworkError):
                call()


def test_batches_before_a_failure_are_good(wiki, client):
    titles = [f"Page {number}" for number in range(60)]
    wiki.faults = [None, ok(error("badtoken"))]
    batches = client.items_of(titles, soon())
    assert len(next(batches)) == 50
    with pytest.raises(NetworkError):
        next(batches)
