import gzip
from contextlib import closing
from pathlib import Path

import pytest

from convinse.wikipedia import build as build_module
from convinse.wikipedia.build import Changed, build
from convinse.wikipedia.dump import WikipediaDump
from convinse.wikipedia.titles import label_of
from places import DATA
from written import write_lines

PAGES = DATA / "wikipedia-pages"
real = pytest.mark.skipif(not PAGES.is_dir(), reason="no shared data")


def page(title, qid, html="<p>It was made by <a href='/wiki/James_Cameron'>James Cameron</a> in the year 1997.</p>"):
    return {"title": title, "url": "u", "qid": qid, "html": html, "more": [1]}


def save(pages, name="pages.jsonl"):
    return write_lines(name, *pages)


def content(path):
    with closing(WikipediaDump(Path(path))) as dump:
        return {item: dump.get(item) for item in dump.items()}


def ids(evidences):
    return {entity["id"]: entity["label"] for evidence in evidences for entity in evidence["wikidata_entities"]}


PAIR = [page("Titanic (1997 film)", "Q44578"), page("James Cameron", "Q42574")]


@pytest.mark.parametrize("name", ["pages.jsonl", "pages.jsonl.gz"])
def test_links_resolve_through_the_pages_themselves(workdir, name):
    built = build(save([*PAIR, ""], name), Path("w.db"))
    with closing(WikipediaDump(Path("w.db"))) as dump:
        assert dump.counts == {"pages": 2, "text": 2}
    assert built == Changed(added=2)
    found = ids(content("w.db")["Q44578"])
    assert found["Q42574"] == "James Cameron" and found["Q44578"] == "Titanic"


@pytest.mark.parametrize("text", ["title\tqid\nJames Cameron\tQ42574\nTitanic (1997 film)\tQ44578\n",
                                  "James_Cameron\tQ42574\r\nTitanic_(1997_film)\tQ44578"])  # fmt: skip
def test_the_items_of_titles_are_read_from_a_file(workdir, text):
    Path("t.tsv.gz").write_bytes(gzip.compress(text.encode()))
    build(save([page("Titanic (1997 film)", None), page("Nowhere", None)]), Path("w.db"), Path("t.tsv.gz"))
    assert ids(content("w.db")["Q44578"])["Q42574"] == "James Cameron"
    assert len(content("w.db")) == 1


def test_bad_lines_are_reported_with_their_number_and_skipped(workdir, caplog, monkeypatch):
    def parse(title, html):
        if title == "Bad":
            raise ValueError("odd page")
        return parse_page(title, html)

    parse_page = build_module.parse_page
    monkeypatch.setattr(build_module, "parse_page", parse)
    lines = [PAIR[0], "{", page("Bad", "Q5"), {"title": "x", "qid": "Q1"}, page("A", "P31"), page("B", None), PAIR[1],
             page("Again", "Q42574")]  # fmt: skip
    built = build(save(lines), Path("w.db"), processes=1)
    assert (built.added, built.bad, built.skipped, built.repeated) == (2, 4, 1, 1)
    for word in ("line 2:", "line 3:", "odd page", "line 4:", "html", "line 5:", "second page of Q42574"):
        assert word in caplog.text


@real
def test_real_pages_give_the_same_dump_with_any_number_of_processes(workdir):
    with gzip.open(PAGES / "pages_with_qid.jsonl.gz", "rt") as file:
        Path("p.jsonl").write_text("".join(next(file) for _ in range(20)))
    titles = PAGES / "title2qid.tsv.gz"
    assert build(Path("p.jsonl"), Path("1.db"), titles, processes=1).added == 20
    build(Path("p.jsonl"), Path("3.db"), titles, processes=3)
    assert Path("1.db").read_bytes() == Path("3.db").read_bytes()


def test_labels():
    assert [label_of(title) for title in ("A (b)", "A_B", "(500) Days", "(x)", "A (b) c")] == [
        "A", "A B", "(500) Days", "(x)", "A (b) c"]  # fmt: skip
