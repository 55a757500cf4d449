"""Places and attributes on all embedded pages, the attributes against a reading of the HTML that is another than the parser's."""

import html
import re
from collections import defaultdict
from contextlib import closing
from urllib.parse import unquote

import pytest

from convinse.knowledge_base.index import KnowledgeBase
from convinse.wikipedia.document import blocks, parse_html
from convinse.wikipedia.dump import WikipediaDump
from convinse.wikipedia.snippets import clean
from places import SNAPSHOT, SNAPSHOT_SOURCES

# mentions that begin in a cell and end in the next one's header: "Character is ... Jack May, 2001–2003 films is ..."
CROSSING = {"The Lord of the Rings": ["May, 2001"]}


def bare(text):
    """A text without blanks, commas and footnote marks, which the parser may add or leave out; `<` in words."""
    text = re.sub(r"<(?=\s?\d)", "less than", text)
    return re.sub(r"[\s,;\u200b-\u200f\u00ad\ufeff]+", "", clean(" ".join(text.split())))


# --- a reading of infoboxes by their markup

_LINE = re.compile(r"<br\s*/?>|</?(?:li|p|dd|tr)\b[^>]*>", re.IGNORECASE)


def lines_of(cell):
    """The lines of a cell; one that ends in a comma or colon goes on."""
    parts = (re.sub(r"<[^>]*>", "", part) for part in _LINE.split(cell.html))
    lines = []
    for part in filter(None, (clean(" ".join(html.unescape(part).split())) for part in parts)):
        if lines and lines[-1][-1] in ",:;(":
            lines[-1] += part
        else:
            lines.append(part)
    return [bare(line) for line in lines]


def pairs(box):
    """(path, lines) of the rows of a box that are a label and a value, below the sub-header over the whole width."""
    above = ""
    for number, tr in enumerate(box.css("tr")):
        cells = [cell for cell in tr.css("td, th") if cell.parent.mem_id == tr.mem_id]
        if len(cells) == 1 and cells[0].tag == "th" and number:
            above = bare(cells[0].text())
        elif len(cells) == 2 and bare(cells[0].text()) and lines_of(cells[1]):
            yield [*filter(None, [above]), bare(cells[0].text())], lines_of(cells[1])


# --- what holds on every page


def inside(mention, part):
    return part["start"] <= mention["start"] and mention["end"] <= part["start"] + len(part["text"])


def outside(mention, part):
    return mention["end"] <= part["start"] or part["start"] + len(part["text"]) <= mention["start"]


def check_evidence_structure(evidence):
    """Check the places of an evidence; returns the surface forms of mentions that lie in more than a cell or value."""
    text, mentions = evidence["evidence_text"], evidence["mentions"]
    assert [[text[place["start"] : place["end"]], place["id"]] for place in mentions] == evidence["disambiguations"]
    structure = {"table": {"row"}, "info": {"attribute"}, "text": set()}[evidence["source"]]
    assert evidence.keys() & {"row", "attribute"} == structure
    if evidence["source"] == "text":
        return []
    if "row" in evidence:
        parts, row = evidence["row"]["cells"], evidence["row"]
        names = [row["caption"], row["section"], row.get("part", ""), *(cell["header"] for cell in parts)]
        columns = [cell["column"] for cell in parts]
        assert columns == sorted(set(columns))
    else:
        parts = evidence["attribute"]["values"]
        names = [*evidence["attribute"]["path"], *(value.get("header", "") for value in parts)]
    assert parts
    end = 0
    for part in parts:
        assert part["text"] and part["text"] == part["text"].strip()
        assert text.startswith(part["text"], part["start"])
        assert end <= part["start"]
        end = part["start"] + len(part["text"])
        ids = [mention["id"] for mention in mentions if inside(mention, part)]
        assert [entity["id"] for entity in part["entities"]] == list(dict.fromkeys(ids))
        assert all(entity in evidence["wikidata_entities"] for entity in part["entities"])
    crossing = []
    for mention in mentions[1:]:  # the first is the page's title
        surface = text[mention["start"] : mention["end"]]
        if not any(inside(mention, part) for part in parts):
            if all(outside(mention, part) for part in parts):  # in a caption, a header or a path
                assert any(surface in name for name in names), (text, surface)
            else:
                crossing.append(surface)
    return crossing


@pytest.fixture(scope="module")
def embedded():
    """(title, HTML, evidences) of the embedded pages, as they are shipped."""
    with closing(KnowledgeBase(SNAPSHOT / "kb")) as kb:
        items = kb.titles()
    redirects = (SNAPSHOT_SOURCES / "redirects.tsv").read_text(encoding="utf-8").splitlines()
    items |= dict(line.split("\t") for line in redirects)
    pages = []
    with closing(WikipediaDump(SNAPSHOT / "wikipedia.db")) as dump:
        for file in sorted((SNAPSHOT_SOURCES / "pages").glob("*.html")):
            title = unquote(file.stem).replace("_", " ")
            pages.append((title, items[title], file.read_text(encoding="utf-8"), dump.get(items[title])))
    assert len(pages) >= 80
    return pages


def test_on_all_embedded_pages_every_mention_lies_in_one_part(embedded):
    counts, crossing = defaultdict(int), defaultdict(list)
    for title, item, _, evidences in embedded:
        for evidence in evidences:
            counts[evidence["source"]] += 1
            if surfaces := check_evidence_structure(evidence):
                crossing[title] += surfaces
            if "row" in evidence:
                assert evidence["row"]["page"] == item
    assert min(counts.values()) >= 200
    assert crossing == CROSSING


def test_on_all_embedded_pages_every_attribute_has_its_path_and_its_values(embedded):
    total = 0
    for title, _, page, evidences in embedded:
        boxes = [block.node for block in blocks(parse_html(page)) if block.kind == "infobox"]
        expected = [pair for box in boxes for pair in pairs(box)]
        attributes = [evidence["attribute"] for evidence in evidences if "attribute" in evidence]
        found = [(made["path"], [value["text"] for value in made["values"]]) for made in attributes]
        assert [(list(map(bare, path)), list(map(bare, values))) for path, values in found] == expected, title
        total += len(found)
    assert total >= 500
