"""The command `report`: one page, whatever the texts of the runs are."""

import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path

import pytest
from written_runs import HOSTILE, holding, hostile_run, write_run

pytest.importorskip("scipy")
SECONDS = {"qu": 1.0, "ers": 2.0, "ha": 0.5, "total": 4.0}


ADDRESSES = ("href", "src", "xlink:href", "action", "data", "srcset")


class Parsed(HTMLParser):
    """The elements of a page, all its addresses, its texts."""

    def __init__(self, path):
        super().__init__()
        self.names, self.addresses, self.texts = set(), [], []
        self.feed(Path(path).read_text())
        self.text = " ".join(" ".join(self.texts).split())

    def handle_starttag(self, tag, attributes):
        self.names.add(tag)
        self.addresses += [value for name, value in attributes if name in ADDRESSES]
        assert not [name for name, _ in attributes if name.startswith("on")]

    def handle_data(self, data):
        self.texts.append(data)


def test_the_page_has_the_figures_of_the_runs(workdir, command):
    settings = {"ha": "a", "clocq_params": {"d": 20, "k": 20}}
    write_run("a", [1, 0, 2, 1], holding(2), seconds=SECONDS, settings=settings)
    settings = {"ha": "a", "clocq_params": {"d": 30, "k": 20}}
    write_run("b", [1, 1, 1, 0], holding(1), kind="who", settings=settings)
    assert command("report", "results").split() == ["A", "a-kb", "B", "b-kb", "report.html"]
    page = Parsed("report.html")
    for words in ("0.500 [0.500–0.500]", "0.750 [0.500–1.000]",  # P@1 of two conversations each
                  "Right in B only: 2", "Right in A only: 1", "By kind", "ms a question", "convinse pipeline kb b.yml",
                  "2026-11-26 10:00:00", "clocq_params.d 20 30"):  # fmt: skip
        assert words in page.text, words
    assert "clocq_params.k" not in page.text
    assert ("svg" in page.names) == (find_spec("matplotlib") is not None)


def test_tables_for_a_paper(workdir, command):
    write_run("a_1", [1, 0])
    assert command("report", "results", "--latex", "tables.tex").split()[-2:] == ["report.html", "tables.tex"]
    written = Path("tables.tex").read_text()
    assert r"A & a\_1-kb & 0.500 [0.500--0.500]" in written
    assert written.count(r"\toprule") == written.count(r"\bottomrule") == written.count("% ")


def test_texts_are_texts_and_nothing_comes_from_elsewhere(workdir, command):
    command("report", hostile_run("a", 0), hostile_run("b", 1), "--title", HOSTILE)
    written, page = Path("report.html").read_text(), Parsed("report.html")
    assert not page.names & {"script", "link", "img", "iframe", "object", "form", "base"}
    assert page.addresses and all(address.startswith("#") for address in page.addresses)
    assert not re.findall(r"@import|url\((?!#)", written) and "default-src 'none'" in written
    assert sum(HOSTILE in text for text in page.texts) > 14
    namespaces = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert "cdn" not in written and set(re.findall(r"https?://[^\s\"]+", written)) <= namespaces


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="pictures need matplotlib")
def test_the_pictures_are_whole_and_the_same_every_time(workdir, command):
    write_run("a", [1, 0, 2, 1], holding(2), seconds=SECONDS)
    write_run("b", [1, 1, 1, 0], holding(1), seconds=SECONDS)
    pages = []
    for name in ("1.html", "2.html"):
        command("report", "results", "--output", name)
        pages.append(Path(name).read_text())
    assert pages[0] == pages[1]
    pictures = re.findall(r"<svg.*?</svg>", pages[0], re.DOTALL)
    assert len(pictures) == 3 and all(ElementTree.fromstring(picture) is not None for picture in pictures)
    ids = [re.findall(r' id="([^"]+)"', picture) for picture in pictures]
    assert len(set(sum(ids, []))) == len(sum(ids, []))  # no id twice in the page
    for picture, picture_ids in zip(pictures, ids, strict=True):
        links = re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', picture)
        assert {"".join(pair) for pair in links} <= set(picture_ids)


def test_a_file_is_replaced_only_by_force_and_never_by_a_failure(workdir, command, command_error):
    write_run("a", [1, 0])
    command("report", "results")
    assert "report.html: exists already; --force" in command_error("report", "results")
    command("report", "results", "--force")
    write_run("b", [1, 0, 1])
    assert "are missing" in command_error("report", "results", "--output", "b.html")
