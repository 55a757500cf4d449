"""Files of all kinds as evidences: what is read of them, where it stands, and what is wrong with those that cannot be read."""

import io
import zipfile

import pytest
from docx import Document
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import Workbook
from pptx import Presentation

from case_tables import each_case, slow_but
from convinse.documents.evidences import document_evidences
from convinse.documents.readers import READERS, code_pages, office, read_document
from convinse.support.errors import DataError
from drawn_pdf import file_of, locked_pdf
from written import saved


def read(name, data):
    evidences, _ = document_evidences(name, read_document(name, data))
    return evidences


@each_case("documents")
def test_a_file_gives_evidences(case):
    document = read_document(case["file"], case["content"].encode(case.get("encoding", "utf-8")))
    evidences, things = document_evidences(case["file"], document)
    citations = [evidence["citation"] for evidence in evidences]
    assert [
        [evidence["source"], citation["headings"], citation.get("line"), evidence["evidence_text"]]
        for evidence, citation in zip(evidences, citations, strict=True)
    ] == case["evidences"]
    assert [entity["label"] for entity, _ in things] == case["names"]
    assert all(citation["file"] == case["file"] for citation in citations)
    for evidence in evidences:
        ids = [entity["id"] for entity in evidence["wikidata_entities"]]
        named = [evidence["evidence_text"][place["start"] : place["end"]] for place in evidence["mentions"]]
        lead = [case["names"][0], *evidence["citation"]["headings"][-1:]]
        lead = lead if evidence["evidence_text"].startswith(", ".join(lead)) else lead[:1]
        assert named[: len(lead)] == lead and all(place["id"] in ids for place in evidence["mentions"])


def word():
    document = Document()
    document.add_heading("Report", 0)
    document.add_heading("Costs", 1)
    document.add_paragraph("Rope cost 5 euros.")
    table = document.add_table(2, 2)
    for cell, text in zip(
        (cell for row in table.rows for cell in row.cells), ("Item", "Price", "Rope", "12"), strict=True
    ):
        cell.text = text
    return saved(document)


def sheet():
    workbook = Workbook()
    workbook.active.title = "Crew"
    workbook.active.append(["Name", "Age"])
    workbook.active.append(["Ida", 31])
    return saved(workbook)


def slides():
    presentation = Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    slide.shapes.title.text, slide.placeholders[1].text = "Plan", "Sail north."
    return saved(presentation)


BOOK = {
    "META-INF/container.xml": '<container><rootfiles><rootfile full-path="o/c.opf"/></rootfiles></container>',
    "o/c.opf": '<package><metadata><dc:title>Tides</dc:title></metadata><manifest><item id="b" href="b.xhtml"/>'
    '<item id="a" href="a.xhtml"/></manifest><spine><itemref idref="a"></itemref><itemref idref="b"></itemref></spine></package>',
    "o/a.xhtml": "<html><body><h2>One</h2><p>High at noon.</p></body></html>",
    "o/b.xhtml": "<html><body><h2>Two</h2><p>Low at six.</p></body></html>",
}


def zipped(files):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in files.items():
            file.writestr(name, content)
    return packed.getvalue()


def page(text="The gate opens at 7."):
    """A PDF of one page, written by hand, in a font that has a sign for "fi" where others have "A"."""
    drawn = f"BT /F1 12 Tf 9 99 Td ({text}) Tj ET"
    font = "/Resources<</Font<</F1 5 0 R>>>>"
    return file_of([
        "<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>", f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R{font}>>",
        f"<</Length {len(drawn)}>>\nstream\n{drawn}\nendstream", "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding<</Differences[65/fi]>>>>",
    ])  # fmt: skip


@pytest.mark.parametrize(
    ("name", "make", "texts"),
    [
        ("a.docx", word, ["Report, Costs, Rope cost 5 euros.", "Report, Costs, Item is Rope, Price is 12"]),
        ("a.xlsx", sheet, ["a, Crew, Name is Ida, Age is 31"]),
        ("a.pptx", slides, ["a, Plan, Sail north."]),
        ("a.epub", lambda: zipped(BOOK), ["Tides, One, High at noon.", "Tides, Two, Low at six."]),
        ("a.pdf", page, ["a, The gate opens at 7."]),
        ("a.pdf", lambda: page("The Ales open at 7."), ["a, The files open at 7."]),
        ("a.pdf", lambda: page("The larg-) Tj 0 -14 Td (est boat is red."), ["a, The largest boat is red."]),
        ("a.pdf", lambda: page("Boat 12-) Tj 0 -14 Td (B is blue."), ["a, Boat 12- B is blue."]),
    ],
)
def test_packed_documents_are_read(name, make, texts):
    assert [evidence["evidence_text"] for evidence in read(name, make())] == texts


def test_slides_and_pages_are_cited():
    for name, data, headings in (("a.pptx", slides(), ["Plan"]), ("a.pdf", page(), [])):
        assert read(name, data)[0]["citation"] == {"file": name, "headings": headings, "page": 1}


def bomb():
    return zipped({"word/document.xml": bytes(3_000_000)})


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.pdf", lambda: b"%PDF-1.7 broken", "cannot be read"),
        ("a.pdf", locked_pdf, "needs a password"),
        ("a.pdf", lambda: page(""), "has no text; is it a scan"),
        ("a.docx", lambda: b"PK\x03\x04 cut off", "cannot be read"),
        ("a.docx", bomb, "unpacks to more than 1 MB"),
        ("a.xlsx", bomb, "unpacks to more than 1 MB"),
        ("a.pptx", bomb, "unpacks to more than 1 MB"),
        ("a.epub", bomb, "unpacks to more than 1 MB"),
        ("a.txt", lambda: b"\x00\x01\x02\xff" * 50, "is not text"),
        ("a.csv", lambda: b"x" * 3000, "has a line of more than 2,000 characters"),
        ("a.json", lambda: b'{"a": ', "is not JSON"),
        ("a.jsonl", lambda: b'{"a": 1}\nno\n', "a line is not JSON"),
    ],
)
def test_a_file_that_cannot_be_read_says_why_in_one_line(name, data, reason, monkeypatch):
    monkeypatch.setattr(office, "LARGEST_UNPACKED", 1_000_000)
    monkeypatch.setattr(code_pages, "LONGEST_LINE", 2_000)
    with pytest.raises(DataError, match=reason) as raised:
        read_document(name, data())
    assert "\n" not in str(raised.value)


# one ending of each reader, with --all each ending
ENDINGS = sorted({reader: ending for ending, reader in sorted(READERS.items(), reverse=True)}.values())


@pytest.mark.parametrize("kind", slow_but(ENDINGS, sorted(READERS)))
@given(data=st.one_of(st.binary(max_size=300), st.text(max_size=300).map(str.encode)))
def test_any_bytes_are_evidences_or_an_error_of_one_line(kind, data):
    try:
        evidences = read(f"a{kind}", data)
    except DataError as error:
        assert "\n" not in str(error)
    else:
        lengths = [len(evidence["evidence_text"]) for evidence in evidences if evidence["source"] != "info"]
        assert all(0 < length <= 400 for length in lengths)


@pytest.mark.parametrize("name", ["a.html", "a.md"])
def test_endless_nesting_is_cut(name, caplog):
    found = read(name, b"<div>The gate opens at 7.</div>" + b"<div>" * 200_000 + b"too deep")
    assert [evidence["evidence_text"] for evidence in found] == ["a, The gate opens at 7."]
    assert "the rest is left out" in caplog.text


def test_a_long_paragraph_is_several_passages_that_lose_nothing():
    sentences = [f"Boat number {number} left the harbour on day {number}." for number in range(60)]
    found = read("log.txt", f"Log\n\n{' '.join(sentences)}".encode())
    texts = [evidence["evidence_text"].removeprefix("Log, ") for evidence in found]
    assert " ".join(texts) == " ".join(sentences) and len(texts) > 5
    assert all(len(text) <= 300 for text in texts)
