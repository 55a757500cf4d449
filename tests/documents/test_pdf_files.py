"""PDF files as blocks: what stands together on a page, and which of it are tables."""

import random
import zlib

import pytest

from case_tables import each_case
from convinse.documents.evidences import document_evidences
from convinse.documents.model import Heading, TableBlock
from convinse.documents.readers import pdf, read_document
from convinse.documents.readers.pdf import read_pdf
from convinse.support.errors import DataError
from drawn_pdf import file_of, locked_pdf, pdf_of


def as_case(block):
    if isinstance(block, Heading):
        return {f"h{block.level}": block.text}
    if isinstance(block, TableBlock):
        case = {"table": [list(row) for row in block.rows]}
        case |= {"caption": block.caption} if block.caption else {}
        return case | (
            {"merged": [[list(part), list(first)] for part, first in sorted(block.merged.items())]}
            if block.merged
            else {}
        )
    return {"item": block.text} if block.kind == "item" else block.text


@each_case("pdf")
def test_pages_are_read_as_people_see_them(case):
    document = read_pdf(
        pdf_of(case["pages"], case.get("rotate", 0), case.get("turn", "1 0 0 1 0 0"), case.get("height", 12))
    )
    assert [as_case(block) for block in document.blocks] == case["blocks"]
    assert list(document.left_out) == case.get("left_out", [])


def test_blocks_have_the_page_on_which_they_begin():
    document = read_pdf(
        pdf_of(["The gate opens at 7.", "# Hours\n\nIt closes at 9.\n\nA    B    C\nd    e    f\ng    h    i"])
    )
    assert [(type(block).__name__, block.page) for block in document.blocks] == [
        ("TextBlock", 1), ("Heading", 2), ("TextBlock", 2), ("TableBlock", 2),
    ]  # fmt: skip


def test_the_title_is_that_of_the_file():
    info = "<</Title(Annual report)>>"
    assert read_pdf(pdf_of(["Ships."], extra=[info], trailer="/Info 7 0 R")).title == "Annual report"
    assert read_pdf(pdf_of(["Ships."], extra=["<</Title(Untitled)>>"], trailer="/Info 7 0 R")).title == ""


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (locked_pdf, "needs a password"),
        (lambda: b"%PDF-1.7 broken", "cannot be read"),
        (lambda: pdf_of(["Ships."])[:200], "cannot be read"),
        (lambda: pdf_of(["", ""]), "has no text; is it a scan"),
        (lambda: file_of(["<</Type/Catalog>>"]), "has no|cannot be read"),
    ],
)
def test_a_file_without_text_says_why(data, reason):
    with pytest.raises(DataError, match=reason) as raised:
        read_document("a.pdf", data())
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("limit", "value", "left_out"),
    [
        ("MOST_PAGES", 2, ["pages from 3 on"]),
        ("MOST_SIGNS", 12, ["1 pages with more than 12 characters"]),
        ("LONGEST_READING", 0, ["pages from 2 on"]),
    ],
)
def test_what_is_beyond_a_limit_is_told(limit, value, left_out, monkeypatch):
    monkeypatch.setattr(pdf, limit, value)
    document = read_pdf(pdf_of(["One ship.", "Two ships or three.", "Four ships."]))
    assert list(document.left_out) == left_out and document.blocks


def test_a_packed_page_without_end_is_refused(monkeypatch):
    packed = zlib.compress(bytes(3_000_000))
    stream = f"<</Filter/FlateDecode/Length {len(packed)}>>\nstream\n{packed.decode('latin-1')}\nendstream"
    data = pdf_of(["Ships."], extra=[stream])
    assert read_pdf(data).blocks
    monkeypatch.setattr(pdf, "MOST_UNPACKED", 2_000_000)
    with pytest.raises(DataError, match="unpacks to more than 2 MB"):
        read_pdf(data)


def test_crowded_pages_are_read_as_lines(monkeypatch):
    monkeypatch.setattr(pdf, "MOST_RULES", 3)
    page = "+-----+-----+\n| a   | b   |\n+-----+-----+\n| c   | d   |\n+-----+-----+"
    assert {word for block in read_pdf(pdf_of([page])).blocks for word in str(block).split()}


@pytest.mark.parametrize("seed", range(40))
def test_words_and_lines_anywhere_on_a_page_are_read(seed):
    chance = random.Random(seed)
    step = chance.choice([1, 4, 12])
    rows = []
    for _ in range(50):
        row = [" "] * 90
        for _ in range(chance.randint(0, 8)):
            text = chance.choice(["a", "12", "1.", "-", "ships are", "|", "+", "-----", "+----------+", "Table 1."])
            place = chance.randrange(0, 60, step)
            row[place : place + len(text)] = text
        rows.append("".join(row))
    pages = ["\n".join(rows), "\n".join(rows[:9]), "\n".join(rows)]
    document = read_pdf(pdf_of(pages, chance.choice([0, 90, 180, 270]), height=chance.choice([7, 12])))
    assert document_evidences("a.pdf", document)[0]


def test_tables_within_forms_are_read():
    page = "+-----+-----+\n| a   | b   |\n+-----+-----+\n| c   | d   |\n+-----+-----+"
    (table,) = read_pdf(pdf_of([page], is_form=True)).blocks
    assert table.rows == [["a", "b"], ["c", "d"]]


def test_words_from_the_right_to_the_left_are_read_in_their_order():
    data = pdf_of(["FED CBA"]).replace(
        b"/WinAnsiEncoding", b"<</Differences[65/afii57664/afii57665/afii57666/afii57667/afii57668/afii57669]>>"
    )
    assert [block.text for block in read_pdf(data).blocks] == ["\u05d0\u05d1\u05d2 \u05d3\u05d4\u05d5"]
