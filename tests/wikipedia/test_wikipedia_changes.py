"""Pages into a dump and out of it: it is as if it had been built anew."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convinse.support.errors import DataError
from convinse.wikipedia.build import build
from convinse.wikipedia.changes import add_pages, remove_pages
from convinse.wikipedia.dump import WikipediaDump, write_dump
from convinse.wikipedia.stored_pages import search_words
from evidences import LETTERS, evidence
from written import write, write_lines

TITLES = {
    "Q1": ["Ida (film)", "Ida"],
    "Q2": ["Oslo", "Christiania"],
    "Q3": ["Harbour"],
    "Q4": ["Oslo"],
    "Q5": ["Always"],
}
HTML = """<p>The {word} of <a href="/wiki/Oslo">the city</a>, near <a href="/wiki/Harbour">a harbour</a>.
<a href="/wiki/Capital">It</a> is in <a href="/wiki/Ida_(film)">Ida</a>, <a href="/wiki/ida">too</a>.</p>
<table><tr><th>Year</th><th>Town</th></tr><tr><td>1997</td><td><a href="/wiki/Christiania">Oslo</a></td></tr></table>"""
WORDS = ("boat", "film", "red harbour")
FILE_TITLES = "Capital\tQ2\nChristiania\tQ2\nPort\tQ3\n"


def page(item, title=0, word=0):
    return {"title": TITLES[item][title % len(TITLES[item])], "qid": item, "html": HTML.format(word=WORDS[word])}


def content(path):
    """All that a dump keeps and answers, with pages by their order."""
    with closing(sqlite3.connect(path)) as connection:
        places = {row: place for place, (row,) in enumerate(connection.execute("SELECT rowid FROM page ORDER BY 1"))}
        connection.execute("CREATE VIRTUAL TABLE temp.places USING fts5vocab (main, words, instance)")
        words = connection.execute("SELECT term, doc / 1048576, doc % 1048576 FROM temp.places").fetchall()
        vectors = connection.execute("SELECT page, numbers FROM vectors ORDER BY page").fetchall()
        tables = [
            connection.execute(f"SELECT * FROM {table}").fetchall() for table in ("meta", "page", "title", "link")
        ]
    with closing(WikipediaDump(path)) as dump:
        dump.verify()
        found = [dump.search(search_words(text), 50) for text in ("boat", "city film", "red harbour")]
        nearest = [dump.nearest(LETTERS.embed([text])[0], 50) for text in ("boat", "oslo")]
    words = sorted((term, places[page], place) for term, page, place in words)
    return tables, words, [(places[page], numbers) for page, numbers in vectors], found, nearest


ITEMS = st.sampled_from(sorted(set(TITLES) - {"Q5"}))
CHANGES = st.tuples(ITEMS, st.none() | st.tuples(st.integers(0, 1), st.integers(0, 2)))


@settings(max_examples=25)
@given(start=st.sets(ITEMS), changes=st.lists(CHANGES, min_size=1, max_size=6))
def test_a_dump_that_was_changed_is_one_that_was_built_anew(tmp_path_factory, start, changes):
    folder = tmp_path_factory.mktemp("law")
    pages = {item: page(item) for item in (*sorted(start), "Q5")}
    titles = write(folder / "titles.tsv", FILE_TITLES)
    build(write_lines(folder / "pages.jsonl", *pages.values()), folder / "w.db", titles, embedding=LETTERS)
    for item, change in changes:
        if change is not None:  # in the place of an older one
            pages[item] = page(item, *change)
            done = add_pages(folder / "w.db", write_lines(folder / "page.jsonl", pages[item]), LETTERS)
            assert done.added + done.replaced == 1
        elif pages.pop(item, None):
            assert remove_pages(folder / "w.db", [item]).removed == 1
        else:
            with pytest.raises(DataError, match=f"has no page of '{item}'"):
                remove_pages(folder / "w.db", [item])
    build(write_lines(folder / "pages.jsonl", *pages.values()), folder / "anew.db", titles, embedding=LETTERS)
    assert content(folder / "w.db") == content(folder / "anew.db")


def linked(path, item="Q5"):
    with closing(WikipediaDump(path)) as dump:
        entities = [entity for found in dump.get(item) for entity in found["wikidata_entities"]]
    return {entity["id"]: entity["label"] for entity in entities if entity["id"][0] == "Q"}


def test_links_lead_to_a_page_that_came_and_no_more_to_one_that_went(workdir):
    build(write_lines("pages.jsonl", page("Q5")), Path("w.db"))
    assert set(linked(Path("w.db"))) == {"Q5"}
    done = add_pages(Path("w.db"), write_lines("new.jsonl", page("Q1"), page("Q3"), page("Q3", 0, 1)))
    assert done == (2, 0, 0, 1, 0, 0, 1)
    assert linked(Path("w.db")) == {"Q5": "Always", "Q1": "Ida", "Q3": "Harbour"}
    assert remove_pages(Path("w.db"), ["ida (film)", "Q3"]) == (0, 0, 2, 1, 0, 0, 0)
    assert set(linked(Path("w.db"))) == {"Q5"}


def test_the_item_of_a_page_is_found_by_its_title(workdir):
    build(write_lines("pages.jsonl", page("Q5")), Path("w.db"), write("t.tsv", FILE_TITLES))
    pages = write_lines("new.jsonl", {**page("Q2"), "title": "Christiania", "qid": None}, {**page("Q2"), "qid": None})
    assert add_pages(Path("w.db"), pages)[:5] == (1, 0, 0, 1, 1)
    assert linked(Path("w.db"))["Q2"] == "Christiania"


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (
            lambda path: remove_pages(path, ["Q5", "Nowhere"]),
            "w.db: has no page of 'Nowhere'; give its title or its item",
        ),
        (lambda path: remove_pages(path, ["Q5", "Q1"]), "w.db: has no other page; remove the file"),
        (lambda path: add_pages(path, write_lines("none.jsonl", {**page("Q3"), "qid": None})), "1 without an item"),
        (lambda path: add_pages(path, write_lines("bad.jsonl", "{", "{")), "bad.jsonl: none of its 2 pages"),
        (lambda path: add_pages(path, write_lines("p.jsonl", page("Q3")), LETTERS), "by words only; give the same"),
    ],
)
def test_an_impossible_change_is_an_error_and_changes_nothing(workdir, change, fault):
    build(write_lines("pages.jsonl", page("Q5"), page("Q1")), Path("w.db"))
    before = Path("w.db").read_bytes()
    with pytest.raises(DataError, match=fault):
        change(Path("w.db"))
    assert Path("w.db").read_bytes() == before


def test_pages_are_removed_from_a_dump_without_titles_but_not_added(workdir):
    write_dump(Path("w.db"), [("Q1", [evidence("one")]), ("Q2", [evidence("two")])])
    assert remove_pages(Path("w.db"), ["Q2"]).removed == 1
    with pytest.raises(DataError, match=r"w\.db: has no titles to resolve links by.*build it from pages"):
        add_pages(Path("w.db"), write_lines("p.jsonl", page("Q3")))


def test_a_reader_sees_that_a_dump_was_changed_or_replaced(workdir):
    pages = write_lines("pages.jsonl", page("Q5"), page("Q1"))
    build(pages, Path("w.db"))
    for change in (lambda: remove_pages(Path("w.db"), ["Q1"]), lambda: build(pages, Path("w.db"))):
        with closing(WikipediaDump(Path("w.db"))) as dump:
            assert not dump.has_changed
            change()
            assert dump.has_changed
