"""Small inputs that stand for much end in one line, or lose what is too much and no more."""

import gzip
import json
import logging
import pickle

import pytest

from convinse.config import load_config
from convinse.passages.build import build_index as build_passages
from convinse.records.conversation import check_conversations
from convinse.support import blocks, jsonlines
from convinse.support.errors import ConfigError, DataError
from convinse.support.limits import DEEPEST_ELEMENT, LONGEST_LINE, LONGEST_QUESTION
from convinse.wikipedia import page, tables
from convinse.wikipedia.build import build as build_dump
from convinse.wikipedia.page import parse_page
from convinse.wikipedia.pickle_import import import_pickle


@pytest.fixture(scope="module")
def endless(tmp_path_factory):
    path = tmp_path_factory.mktemp("packed") / "endless.gz"
    path.write_bytes(gzip.compress(b"[" + b" " * (LONGEST_LINE + 10), 1))
    return path


@pytest.mark.parametrize(
    "read",
    [
        lambda path: list(jsonlines.raw_lines(path)),
        lambda path: list(jsonlines.raw_documents(path)),
        lambda path: list(blocks.read_blocks(path, 1 << 16)),
        lambda path: build_passages(path, path.with_name("index")),
    ],
)
def test_a_line_without_an_end_is_no_line(endless, read):
    with pytest.raises(DataError, match=r"endless\.gz:1: longer than 16 MB; is this a file of lines\?"):
        read(endless)


def test_a_packed_file_that_is_read_as_a_whole_has_a_limit(endless):
    with pytest.raises(DataError, match=r"endless\.gz: more than 16 MB unpacked, 20 times its size; unpack it first"):
        jsonlines.read_bytes(endless)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: &a [1, 1]\nb: [*a, *a]", "an alias"),
        ("custom: &a [*a]", "an alias"),
        ("custom: " + "[" * 1500, "nested too deep"),
        ("custom: " + "x" * 300_000, "larger than 256 kB"),
    ],
    ids=["aliases", "itself", "deep", "large"],
)
def test_settings_have_a_size(workdir, text, message):
    (workdir / "a.yml").write_text(text)
    with pytest.raises(ConfigError, match=f"a.yml: .*{message}"):
        load_config(workdir / "a.yml")


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
def test_what_is_nested_too_deep_is_left_out(tag, caplog):
    html = "<p>It is here.</p>" + f"<{tag}>" * 20_000 + "<p>Never reached.</p>"
    with caplog.at_level(logging.WARNING):
        assert [snippet.text for snippet in parse_page("T", html).snippets] == ["T, It is here."]
    assert f"more than {DEEPEST_ELEMENT} deep" in caplog.text


def test_elements_that_stand_side_by_side_are_not_nested():
    html = "<ul>" + "<li>It is<br>here." * 999 + "</ul>" + "<p>A line." * 999 + "<div><b>B</b></div>" * 999
    assert len(parse_page("T", html).snippets) == 2 * 999


def test_deep_json_is_a_bad_line(workdir):
    saved = json.dumps({"title": "T", "qid": "Q1", "html": "<p>It is here.</p>"})
    lines = [saved, saved[:-1] + ', "more": ' + "[" * 90_000 + "]" * 90_000 + "}"]
    (workdir / "pages.jl").write_text("\n".join(lines))
    built = build_dump(workdir / "pages.jl", workdir / "dump")
    assert built.bad == 1 and built.counts["pages"] == 1


def test_items_together_stand_for_little_more_than_the_pickle_holds(workdir):
    evidence = {"evidence_text": "x" * 1_000_000, "source": "text", "disambiguations": [], "wikidata_entities": []}
    (workdir / "d.pickle").write_bytes(pickle.dumps({f"Q{n}": [evidence] for n in range(1, 99)}))
    with pytest.raises(DataError, match="its items stand for more than 10 times what it holds"):
        import_pickle(workdir / "d.pickle", workdir / "dump")


def test_a_question_has_a_length():
    turn = {"turn": 0, "question": "a" * (LONGEST_QUESTION + 1)}
    with pytest.raises(DataError, match="turn 0: a question of 2001 characters; 2000 are the most"):
        check_conversations([{"conv_id": "1", "questions": [turn]}], "given")
