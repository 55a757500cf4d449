import json
import logging
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone

import pytest

from convinse.config import parse_config
from convinse.evidence_retrieval_scoring.wikipedia_retriever import WikipediaRetriever, wikipedia_retriever
from convinse.records.evidence import check_evidence
from convinse.wikipedia import page as pages
from convinse.wikipedia.dump import write_dump
from evidences import evidence
from loopback import cut, ok, status
from mediawiki import error, mediawiki


def about(text, items=0, source="text"):
    """An evidence with so many items."""
    return evidence(text, source, *((f"item {number}", f"Q{number}") for number in range(1, items + 1)))


PAGE = [about("Titanic, A film.", 1), about("Titanic, Gross, much", 2, "info")]


@pytest.fixture
def retriever(workdir):
    def make(evidences=PAGE, **config):
        write_dump(workdir / "wikipedia.db", [("Q44578", list(evidences)), ("Q1", [])])
        data = {"ers_wikipedia_dump": str(workdir / "wikipedia.db"), "evr_require_entity": False, **config}
        return WikipediaRetriever(parse_config(data))

    return make


def found(retriever, item="Q44578"):
    return [evidence_["evidence_text"] for evidence_ in retriever.retrieve_wp_evidences(item)]


def test_the_evidences_of_a_page_come_as_they_are(retriever):
    made = retriever()
    assert made.retrieve_wp_evidences("Q44578") == PAGE
    assert made.retrieve_wp_evidences("Q1") == []
    assert made.retrieve_wp_evidences("Q404404") == []


LONG = [about("x" * size) for size in (2, 3, 10, 400, 401)]
DATED = evidence("with dates", "text", *(("1", "Q1"), ("2", "Q2"), ("1997", "1997-12-19T00:00:00Z"), ("194", "194")))
FEW = [about("one", 1), about("two", 2), about("three", 3), DATED]
OWN, YEAR = ("Titanic", "Q44578"), ("1997", "1997-01-01T00:00:00Z")
NAMING = [about("none"), evidence("own", "text", OWN), evidence("dated", "text", OWN, YEAR), about("other", 1)]
LETTERS = [about(text) for text in ("abc123", "abc1234", "1 2 3 4", "été 12")]


@pytest.mark.parametrize(
    ("evidences", "config", "places"),
    [
        (LONG, {"evr_min_evidence_length": 3, "evr_max_evidence_length": 400}, [1, 2, 3]),
        (LONG, {"evr_min_evidence_length": 4, "evr_max_evidence_length": 399}, [2]),
        (LONG, {"evr_min_evidence_length": 10, "evr_max_evidence_length": 10}, [2]),
        (LONG, {"evr_min_evidence_length": 0, "evr_max_evidence_length": 1000}, [0, 1, 2, 3, 4]),
        (LONG, {}, [1, 2, 3]),
        (FEW, {"evr_max_entities": 2}, [0, 1, 3]),  # items are counted, no dates or numbers
        ([about("ten", 10), about("eleven", 11)], {}, [0]),
        (LETTERS, {}, [0, 1, 2, 3]),
        (LETTERS, {"evr_min_letter_share": 0.5}, [0, 3]),  # CONVINSE's rule
        (NAMING, {"evr_require_entity": True}, [2, 3]),  # besides the page's own
        (NAMING, {"evr_require_entity": False}, [0, 1, 2, 3]),
    ],
)
def test_filters_include_their_bounds(retriever, evidences, config, places):
    assert found(retriever(evidences, **config)) == [evidences[place]["evidence_text"] for place in places]
    assert parse_config({}).evr_require_entity is False  # a name without an item may be the answer


def rows(*texts, table=0):
    """Evidences of a table's rows, a cell each."""
    place = {"caption": "", "section": "", "page": "Q44578", "table": table}
    for number, text in enumerate(texts):
        cell = {"header": "", "text": text, "entities": [], "start": 0, "column": 0}
        yield evidence(text, "table", row={**place, "number": number, "cells": [cell]})


def test_equal_rows_are_retrieved_once_and_the_table_has_both(retriever):
    made = retriever([*rows("Ann", "Bob", "Ann"), *rows("Ann", "Eve", table=1)])
    assert found(made) == ["Ann", "Bob", "Eve"]
    ann, bob, eve = (evidence_["row"] for evidence_ in made.retrieve_wp_evidences("Q44578"))
    assert [row["cells"][0]["text"] for row in made.table(ann)] == ["Ann", "Bob", "Ann"]
    assert made.table(bob) == made.table(ann)
    made.table(ann)[0]["cells"].clear()  # what is given is the caller's own
    assert made.table(bob) == made.table(ann) and made.table(ann)[0]["cells"]
    assert [row["cells"][0]["text"] for row in made.table(eve)] == ["Ann", "Eve"]


@pytest.mark.parametrize("unknown", [{"page": "Q404"}, {"table": 9}, {"page": None}, {"table": None}])
def test_a_row_that_does_not_know_its_table_has_none(retriever, unknown):
    made = retriever(rows("Ann"))
    (row,) = (evidence_["row"] for evidence_ in made.retrieve_wp_evidences("Q44578"))
    changed = {key: value for key, value in {**row, **unknown}.items() if value is not None}
    assert made.table(changed) == []


HTML = """<div class="mw-parser-output">
  <table class="infobox"><tr><th>Directed by</th><td><a href="/wiki/James_Cameron#Career">James Cameron</a></td></tr></table>
  <p><b>Titanic</b> is a film with <a href="/wiki/Kate_W.">Kate Winslet</a>. It is long. It opened in 1997.</p>
  <p>It was shown in <a href="/wiki/Mexico">Mexico</a> and <a href="/wiki/Nowhere_at_all">Nowhere</a>.</p></div>"""
TEXTS = [
    "Titanic, Directed by, James Cameron",
    "Titanic, Titanic is a film with Kate Winslet.",
    "Titanic, It opened in 1997.",
    "Titanic, It was shown in Mexico and Nowhere.",
]
TITLES = {"Q44578": "Titanic (1997 film)", "Q202765": "Kate Winslet"}
LABELS = {"Q44578": "Titanic", "Q42574": "Cameron, James"}


@pytest.fixture
def wiki():
    with mediawiki() as one:
        one.pages = {"Titanic (1997 film)": HTML}
        one.redirects = {"Kate W.": "Kate Winslet"}
        one.items = {
            "Titanic (1997 film)": "Q44578", "James Cameron": "Q42574", "Kate Winslet": "Q202765", "Mexico": "Q96",
        }  # fmt: skip
        one.sitelinks = {"Q44578": "Titanic (1997 film)", "Q5": ""}
        yield one


@pytest.fixture
def live(wiki, closed):
    def make(titles=TITLES, **config):
        data = {"ers_wikipedia_dump": None, "ers_on_the_fly": True, "ers_wikipedia_api": wiki.api,
                "ers_wikidata_api": wiki.api, "evr_require_entity": True, **config}  # fmt: skip
        lookups = {"titles": lambda item: titles.get(item, ""), "labels": lambda item: LABELS.get(item, item)}
        return closed(WikipediaRetriever(parse_config(data), **lookups), "store_cache")

    return make


@pytest.fixture
def clock(monkeypatch):
    state = {"now": datetime(2026, 1, 1, tzinfo=timezone.utc)}
    monkeypatch.setattr(wikipedia_retriever, "now", lambda: state["now"])

    def advance(**delta):
        state["now"] += timedelta(**delta)

    return advance


def test_a_live_page_becomes_evidences(live, wiki):
    made = live()
    evidences = made.retrieve_wp_evidences("Q44578")
    assert sorted(one["evidence_text"] for one in evidences) == sorted(TEXTS)  # "It is long." names nothing
    for one in evidences:
        check_evidence(one, "here")
        assert "retrieved_for_entity" not in one
    assert wiki.actions() == ["parse", "query"]


def test_labels_are_those_of_the_knowledge_base_else_titles_without_bracket(live, wiki, monkeypatch):
    found_entities = {
        e["id"]: e["label"] for one in live().retrieve_wp_evidences("Q44578") for e in one["wikidata_entities"]
    }
    assert found_entities == {
        "Q44578": "Titanic", "Q42574": "Cameron, James", "Q202765": "Kate Winslet", "Q96": "Mexico",
        "1997-01-01T00:00:00Z": "1997",
    }  # fmt: skip
    monkeypatch.setitem(LABELS, "Q96", "United Mexican States")
    assert "United Mexican States" in json.dumps(live().retrieve_wp_evidences("Q44578"))  # without a new request
    assert len(wiki.requests) == 2


def test_labels_in_cells_and_values_are_those_of_the_knowledge_base(live, wiki):
    table = (
        "<table class='wikitable'><tr><th>By</th></tr><tr><td><a href='/wiki/James_Cameron'>J. C.</a></td></tr></table>"
    )
    wiki.pages["Titanic (1997 film)"] = HTML.replace("</div>", f"{table}</div>")
    info, *_, row = live().retrieve_wp_evidences("Q44578")
    labelled = [{"id": "Q42574", "label": "Cameron, James"}]
    assert info["attribute"]["values"][0]["entities"] == labelled
    assert row["row"]["cells"][0]["entities"] == labelled


def test_the_table_of_a_live_page_comes_from_the_cache(live, wiki):
    cells = "".join(f"<tr><td><a href='/wiki/{name}'>{name}</a></td></tr>" for name in ("Mexico", "Kate_W.", "Mexico"))
    wiki.pages["Titanic (1997 film)"] = f"<table class='wikitable'><tr><th>In</th></tr>{cells}</table>"
    made = live()
    row, _ = (evidence_["row"] for evidence_ in made.retrieve_wp_evidences("Q44578"))
    requests = len(wiki.requests)
    whole = made.table(row)
    assert [[entity["label"] for entity in line["cells"][0]["entities"]] for line in whole] == [
        ["Mexico"], ["Kate Winslet"], ["Mexico"]
    ]  # fmt: skip
    assert made.table({**row, "page": "Q202765"}) == []
    assert len(wiki.requests) == requests
    assert live(ers_use_cache=False).table(row) == []


def test_a_page_is_asked_for_once(live, wiki):
    first = live()
    expected = first.retrieve_wp_evidences("Q44578")
    assert first.retrieve_wp_evidences("Q44578") == expected
    first.store_cache()
    assert live().retrieve_wp_evidences("Q44578") == expected
    assert len(wiki.requests) == 2
    assert live(ers_on_the_fly=False).retrieve_wp_evidences("Q44578") == expected  # a warm cache serves off the line
    assert len(wiki.requests) == 2


def test_filters_change_without_a_new_download(live, wiki):
    assert len(found(live())) == 4
    assert len(found(live(evr_require_entity=False))) == 5
    assert found(live(evr_max_evidence_length=30)) == ["Titanic, It opened in 1997."]
    assert len(wiki.requests) == 2


def test_linked_titles_are_cached_for_other_pages(live, wiki):
    made = live()
    found(made)
    wiki.pages["Other"] = '<p>A film like <a href="/wiki/Mexico">Mexico</a> or <a href="/wiki/Kate_W.">her</a>.</p>'
    wiki.sitelinks["Q7"] = "Other"
    assert found(made, "Q7") == ["Other, A film like Mexico or her."]
    assert wiki.actions() == ["parse", "query", "wbgetentities", "parse"]


def test_another_parser_asks_again(live, wiki, monkeypatch):
    found(live())
    monkeypatch.setattr(pages, "FORMAT", "another")
    found(live())
    assert wiki.actions() == ["parse", "query", "parse"]


@pytest.mark.parametrize("item", ["", "1997-01-01T00:00:00Z", "194", "P31", "Q0", "Q1|Q2", "Q1\n"])
def test_without_an_item_or_leave_nothing_is_requested(live, wiki, item):
    assert found(live(), item) == found(live(ers_on_the_fly=False)) == wiki.requests == []


def test_the_dump_goes_before_live_pages(live, wiki, workdir):
    write_dump(workdir / "wikipedia.db", [("Q44578", PAGE)])
    made = live(ers_wikipedia_dump=str(workdir / "wikipedia.db"))
    assert found(made) == ["Titanic, A film.", "Titanic, Gross, much"]
    assert wiki.requests == []


def test_the_title_comes_from_wikidata_where_the_knowledge_base_has_none(live, wiki):
    assert sorted(found(live(titles={}))) == sorted(TEXTS)
    assert wiki.actions() == ["wbgetentities", "parse", "query"]


def test_titles_and_labels_come_from_the_configured_knowledge_base(wiki, world_kb, world_index):
    made = WikipediaRetriever(
        parse_config({"ers_wikipedia_dump": None, "ers_on_the_fly": True, "kb_path": str(world_index),
                      "ers_wikipedia_api": wiki.api, "ers_wikidata_api": wiki.api})
    )  # fmt: skip
    evidences = made.retrieve_wp_evidences("Q44578")
    made.store_cache()
    assert wiki.actions() == ["parse", "query"]
    entities = {e["id"]: e["label"] for one in evidences for e in one["wikidata_entities"]}
    assert entities["Q44578"] == "Titanic" and entities["Q42574"] == world_kb.label("Q42574")


def test_several_threads_ask_once(live, wiki):
    wiki.delay = 0.02
    made = live()
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: found(made), range(8)))
    assert all(sorted(one) == sorted(TEXTS) for one in results)
    assert len(wiki.requests) == 2 and wiki.most_at_once <= 2


@pytest.mark.parametrize("item", ["Q5", "Q404404", "Q9"], ids=["no sitelink", "no item", "no page"])
def test_a_missing_page_is_asked_for_again_after_its_time(live, wiki, clock, item):
    titles = {"Q9": "Nowhere"}
    made = live(titles)
    assert made.retrieve_wp_evidences(item) == []
    requests = len(wiki.requests)
    assert requests == 1
    clock(days=29, hours=23)
    assert made.retrieve_wp_evidences(item) == []
    made.store_cache()
    assert live(titles).retrieve_wp_evidences(item) == []
    assert len(wiki.requests) == 1
    wiki.sitelinks[item] = "Nowhere"
    wiki.pages["Nowhere"] = '<p>Now in <a href="/wiki/Mexico">Mexico</a>.</p>'
    clock(hours=2)
    assert found(made, item) == ["Nowhere, Now in Mexico."]


def test_a_linked_title_without_an_item_is_asked_for_again_after_its_time(live, wiki, clock):
    made = live()
    found(made)
    wiki.pages["Other"] = '<p>It is <a href="/wiki/Nowhere_at_all">nowhere</a>.</p>'
    wiki.sitelinks["Q7"] = "Other"
    wiki.items["Nowhere at all"] = "Q8"
    clock(days=31)
    assert found(made, "Q7") == ["Other, It is nowhere."]


def test_a_title_that_now_leads_to_another_item_is_no_page_of_this_one(live, wiki):
    wiki.redirects["Jack Dawson"] = "Titanic (1997 film)"
    made = live({"Q10": "Jack Dawson"})
    assert found(made, "Q10") == []
    assert wiki.actions() == ["parse"]


FAULTS = {  # of each kind one; all that a wiki may do is tested with its API
    "429 for long": [status(429, retry_after=3600)],
    "503": [status(503)] * 5,
    "cut": [cut()] * 5,
    "error": [ok(error("badtoken"))],
    "empty page": [ok({"parse": {"title": "T", "text": ""}})],
    "links fail": [None, status(404)],
}


@pytest.mark.parametrize("faults", FAULTS.values(), ids=FAULTS)
def test_a_failure_is_an_error_in_the_log_and_never_cached(live, wiki, caplog, faults):
    made = live()
    wiki.faults = list(faults)
    assert made.retrieve_wp_evidences("Q44578") == []
    assert wiki.faults == []
    (record,) = [one for one in caplog.records if one.levelno >= logging.ERROR]
    assert "Q44578" in record.getMessage()
    assert not [key for key in made.cache.keys() if "wikipedia_page" in key]  # noqa: SIM118 - not a dictionary
    assert sorted(found(live())) == sorted(TEXTS)  # the host's wish for rest is known to the first one only


def test_a_page_that_the_parser_cannot_take_is_a_failure(live, wiki, caplog, monkeypatch):
    def broken(*_):
        raise ValueError("no such tree")

    with monkeypatch.context() as patch:
        patch.setattr(pages, "parse_page", broken)
        assert found(live()) == []
    assert "no such tree" in caplog.text
    assert sorted(found(live())) == sorted(TEXTS)


def test_rows_have_ranks_where_the_models_read_them(retriever, workdir):
    lines = "".join(f"<tr><td>Film {year}</td><td>{year}</td></tr>" for year in (1997, 1989, 2009))
    html = (
        f"<table class=wikitable><tr><th>Film</th><th>Year</th></tr>{lines}</table><p>She is a director of films.</p>"
    )
    page = pages.page_evidences(pages.parse_page("Ann", html), {"id": "Q44578", "label": "Ann"}, {})
    model = workdir / "model"
    model.mkdir()
    plain = retriever(page, evs_model=str(model))
    assert plain.retrieve_wp_evidences("Q44578") == page
    (model / "config.json").write_text('{"row_form": "ranked"}', encoding="utf-8")
    for key in ("evs_model", "ha_model", "evs_bi_encoder"):
        found = retriever(page, **{key: str(model)}).retrieve_wp_evidences("Q44578")
        assert found == pages.with_ranked_rows(page) != page
