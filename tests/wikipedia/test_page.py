import logging
import re
from urllib.parse import unquote

import pytest

from case_tables import each_case
from convinse.records.evidence import check_evidence, merge_duplicates
from convinse.support.limits import DEEPEST_ELEMENT
from convinse.wikipedia import page, tables
from convinse.wikipedia.document import blocks, parse_html
from convinse.wikipedia.flatten import flatten
from convinse.wikipedia.page import page_evidences, parse_page, sentences, whole_rows
from places import SNAPSHOT_SOURCES
from wikipedia_html import HEADINGS

PAGES = sorted((SNAPSHOT_SOURCES / "pages").glob("*.html"))

LINKS = {"legacy": "/wiki/", "current": "/wiki/", "parsoid": "./"}
ITEMS = {
    "James Cameron": {"id": "Q42574", "label": "James Cameron"},
    "Kate Winslet": {"id": "Q202765", "label": "Kate Winslet"},
}
ITEM = {"id": "Q44578", "label": "Titanic"}


def article(style):
    link, heading = LINKS[style], HEADINGS[style]
    return f"""<div class="mw-parser-output">
      <div class="hatnote">For the ship, see <a href="{link}RMS_Titanic">RMS Titanic</a>.</div>
      <table class="infobox"><tbody><tr><th colspan="2" class="infobox-above">Titanic</th></tr>
      <tr><th>Directed by</th><td><a href="{link}James_Cameron">James Cameron</a></td></tr></tbody></table>
      <p><b>Titanic</b> is a film by <a href="{link}James_Cameron#Career">James Cameron</a>.<sup
      class="reference">[1]</sup> It opened on December 19, 1997.</p>
      {heading.format(2, "Cast")}
      <table class="wikitable"><tr><th>Actor</th><th>Role</th></tr>
      <tr><td><a href="{link}Kate_Winslet">Kate Winslet</a></td><td>Rose</td></tr></table>
      <p>Winslet read for Cameron. James Cameron filmed for 160 days.</p>
      {heading.format(2, "References")}<ul><li>A book about <a href="{link}Kate_Winslet">her</a>.</li></ul></div>"""


def evidences(style="legacy", title="Titanic (1997 film)"):
    return page_evidences(parse_page(title, article(style)), ITEM, ITEMS)


@pytest.mark.parametrize("style", HEADINGS)
def test_an_article_of_any_renderer_becomes_evidences(style):
    found = {evidence["evidence_text"]: evidence for evidence in evidences(style)}
    assert list(found) == [
        "Titanic, Directed by, James Cameron",
        "Titanic, Titanic is a film by James Cameron.",
        "Titanic, It opened on December 19, 1997.",
        "Titanic, Cast, Actor is Kate Winslet, Role is Rose",
        "Titanic, Winslet read for Cameron.",
        "Titanic, James Cameron filmed for 160 days.",
    ]
    assert [evidence["source"] for evidence in found.values()] == ["info", "text", "text", "table", "text", "text"]
    opened, row, filmed = (found[list(found)[place]] for place in (2, 3, 5))
    day = "1997-12-19T00:00:00Z"
    assert opened["disambiguations"] == [["Titanic", "Q44578"], ["December 19, 1997", day]]
    assert {"id": day, "label": "19 December 1997"} in opened["wikidata_entities"]
    assert ["Kate Winslet", "Q202765"] in row["disambiguations"]
    assert ["James Cameron", "Q42574"] in filmed["disambiguations"]  # not linked there


def test_an_evidence_has_its_row_or_attribute():
    info, _, opened, row, *_ = evidences()
    cameron, winslet = ITEMS["James Cameron"], ITEMS["Kate Winslet"]
    assert info["attribute"] == {
        "path": ["Directed by"],
        "values": [{"text": "James Cameron", "entities": [cameron], "start": len("Titanic, Directed by, ")}],
    }
    assert row["row"] == {
        "caption": "",
        "section": "Cast",
        "page": "Q44578",
        "table": 0,
        "number": 0,
        "cells": [
            {"header": "Actor", "text": "Kate Winslet", "entities": [winslet], "start": 24, "column": 0},
            {"header": "Role", "text": "Rose", "entities": [], "start": 46, "column": 1},
        ],
    }
    assert opened["mentions"] == [
        {"start": 0, "end": 7, "id": "Q44578"},
        {"start": 22, "end": 39, "id": "1997-12-19T00:00:00Z"},
    ]


WIDE = "<table class='wikitable'><tr>{}</tr><tr>{}</tr><tr><td>Zoe</td><td>y</td></tr></table>".format(
    "".join(f"<th>H{column}</th>" for column in range(9)),
    "<td>Ann</td>" + "".join(f"<td>{'word ' * 12}{column}</td>" for column in range(1, 9)),
)


def test_a_row_that_was_cut_is_whole_again():
    empty = "<table class='wikitable'><tr><th>x</th></tr></table>"
    found = page_evidences(parse_page("Titanic", empty + WIDE), ITEM, {})
    cut = [e["row"] for e in found if e["row"]["number"] == 0]
    assert len(cut) > 1
    assert [row["cells"][0]["text"] for row in cut] == ["Ann"] * len(cut)
    whole, last = whole_rows(found, 1)
    assert [cell["column"] for cell in whole["cells"]] == list(range(9))
    assert [cell["header"] for cell in whole["cells"]] == [f"H{column}" for column in range(9)]
    assert [cell["text"] for cell in last["cells"]] == ["Zoe", "y"]
    assert whole_rows(found, 0) == whole_rows(found, 2) == whole_rows([], 0) == []


def bare(text):
    """A text without what the parser may add or leave out: blanks, commas between lines, footnote marks."""
    return re.sub(r"\[\w+\]|[^\w]", "", text)


MARKUP = re.compile(r"</?[a-z][^>]*>|&(?:nbsp|amp|#\d+);|\[edit\]|\{\{|\]\]|  |\n|mw-parser-output")


def check_parts(evidence):
    """Check that cells and values are pieces of the text in reading order, with the entities of the mentions in them."""
    text, mentions = evidence["evidence_text"], evidence["mentions"]
    assert [[text[place["start"] : place["end"]], place["id"]] for place in mentions] == evidence["disambiguations"]
    structure = {"table": {"row"}, "info": {"attribute"}, "text": set()}[evidence["source"]]
    assert evidence.keys() & {"row", "attribute"} == structure
    parts = evidence["row"]["cells"] if "row" in evidence else evidence.get("attribute", {"values": []})["values"]
    assert bool(parts) == bool(structure)
    end = 0
    for part in parts:
        start, end_before, end = part["start"], end, part["start"] + len(part["text"])
        assert end_before <= start < end and text[start:end] == part["text"] == part["text"].strip()
        ids = [mention["id"] for mention in mentions if start <= mention["start"] and mention["end"] <= end]
        assert [entity["id"] for entity in part["entities"]] == list(dict.fromkeys(ids))


def check_page(title, html):
    """Check a page; return how many links, evidences and evidences with footnote marks it has."""
    parsed = parse_page(title, html)
    written = {bare(node.text()) for node in parse_html(html).css("a")} if parsed.snippets else set()
    for snippet in parsed.snippets:
        for link in snippet.links:
            anchor = snippet.text[link.start : link.end]
            assert bare(anchor) in written, (title, snippet.text, anchor)
            assert anchor == anchor.strip(), (title, snippet.text, anchor)
    items = {target: {"id": f"Q{number}", "label": target} for number, target in enumerate(sorted(parsed.targets), 1)}
    evidences = page_evidences(parsed, {"id": "Q999999", "label": title}, items)
    for evidence in evidences:
        check_parts(evidence)
    found = merge_duplicates(evidences)
    for evidence in found:
        text = evidence["evidence_text"]
        check_evidence(evidence, title)
        assert not MARKUP.search(text), (title, text)
        assert all(surface and surface in text for surface, _ in evidence["disambiguations"]), (title, evidence)
        ids = {entity["id"] for entity in evidence["wikidata_entities"]}
        assert {pair[1] for pair in evidence["disambiguations"]} == ids
        assert text.startswith(title.split(" (")[0])
    assert len({(e["evidence_text"], e["source"]) for e in found}) == len(found)
    marks = sum(re.search(r"\[\d{1,3}\]", evidence["evidence_text"]) is not None for evidence in found)
    return sum(len(snippet.links) for snippet in parsed.snippets), len(found), marks


def test_all_embedded_pages():
    assert len(PAGES) >= 80
    for file in PAGES:
        links, found, marks = check_page(unquote(file.stem).replace("_", " "), file.read_text(encoding="utf-8"))
        assert links >= 5, file
        assert found >= 10, file
        assert marks == 0, file


# --- sentences


def split(html):
    return [snippet for kind, node, _ in blocks(parse_html(html)) for snippet in sentences(node, kind == "li")]


@each_case("html", "prose")
def test_prose_is_cut_at_sentence_ends(case):
    assert [snippet.text for snippet in split(f"<p>{case['prose']}</p>")] == case["sentences"]


def test_a_list_item_is_one_snippet_also_inside_another_and_an_empty_one_is_none():
    html = "<ul><li>First album. Sold well.</li><li> </li></ul><dl><dd>Indented. Twice.</dd></dl>"
    html += (
        "<ul><li>Albums<ul><li>Lionheart</li><li>Aerial<ol><li>Disc one</li></ol></li></ul></li><li>Singles</li></ul>"
    )
    expected = ["First album. Sold well.", "Indented. Twice.", "Albums", "Lionheart", "Aerial", "Disc one", "Singles"]
    assert [snippet.text for snippet in split(html)] == expected


def test_no_word_of_the_embedded_pages_is_lost_or_repeated():
    for file in PAGES:
        for kind, node, _ in blocks(parse_html(file.read_text(encoding="utf-8"))):
            if kind == "p":
                whole = flatten(node, "text", skip_nested=True)
                parts = list(sentences(node, is_item=False))
                assert " ".join(part.text for part in parts) == whole.text
                assert sum(len(part.links) for part in parts) == len(whole.links)


# --- limits


def test_a_table_is_cut_and_the_page_stays(monkeypatch, caplog):
    monkeypatch.setattr(tables, "MOST_TABLE_CELLS", 50)
    row = "<tr><td colspan=999 rowspan=999>b</td></tr>"
    html = f"<table class=wikitable><tr><th>a</th><th>c</th></tr>{row}{'<tr><td>x</td></tr>' * 9}</table><p>It is here.</p>"
    with caplog.at_level(logging.WARNING):
        snippets = parse_page("T", html).snippets
    assert snippets[-1].text == "T, It is here." and "a table of more than 50 cells is cut" in caplog.text


def test_a_page_gives_only_so_much(monkeypatch, caplog):
    monkeypatch.setattr(page, "MOST_PAGE_TEXT", 1000)
    header = "".join(f"<th>{'long ' * 20}{n}</th>" for n in range(9))
    html = f"<p>It is here.</p><table class=wikitable><tr>{header}</tr>{('<tr>' + '<td>a</td>' * 9 + '</tr>') * 99}</table>"
    with caplog.at_level(logging.WARNING):
        snippets = parse_page("T", html).snippets
    assert snippets[0].text == "T, It is here." and sum(len(snippet.text) for snippet in snippets) <= 1000
    assert "T: gives more than 1000 characters; the rest is left out" in caplog.text


@pytest.mark.parametrize("tag", ["div", "ul><li", "table><tr><td", "b"])
def test_elements_that_are_nested_too_deep_are_left_out(tag, caplog):
    html = "<p>It is here.</p>" + f"<{tag}>" * 20_000 + "<p>Never reached.</p>"
    with caplog.at_level(logging.WARNING):
        assert [snippet.text for snippet in parse_page("T", html).snippets] == ["T, It is here."]
    assert f"more than {DEEPEST_ELEMENT} deep" in caplog.text
