"""Files of other kinds as blocks: RTF, old workbooks, TOML, XML, AsciiDoc, LaTeX, programs, mails of Outlook, formulas."""

import base64
import io
import struct
import time
import warnings
import zipfile
import zlib
from contextlib import suppress
from datetime import datetime
from types import SimpleNamespace

import pytest
import xlrd
from docx import Document
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from openpyxl import Workbook
from openpyxl.comments import Comment
from pptx import Presentation

from case_tables import each_case
from convinse.documents.model import Heading, PairsBlock, TableBlock, TextBlock
from convinse.documents.readers import READERS, old_sheets, read_document
from convinse.support.errors import DataError
from written import saved


def plain(block):
    """A block as a case of tests/cases/other_kinds.yml has it."""
    if isinstance(block, Heading):
        return {f"h{block.level}": block.text, "line": block.line}
    if isinstance(block, PairsBlock):
        return {"pairs": dict(block.pairs), "line": block.line}
    if isinstance(block, TableBlock):
        merged = [[*place, *first] for place, first in sorted(block.merged.items())]
        return {
            "rows": [list(row) for row in block.rows], "heads": block.heads, "caption": block.caption, "lines": list(block.lines), "merged": merged,
        }  # fmt: skip
    return {block.kind: block.text, "line": block.line, "links": [list(link) for link in block.links]}


@each_case("other_kinds")
def test_a_file_gives_blocks(case):
    content = case["content"].encode(case.get("encoding", "utf-8"))
    for data in (content, content.replace(b"\n", b"\r\n")):
        document = read_document(case["file"], data)
        blocks = [{key: value for key, value in plain(block).items() if value} for block in document.blocks]
        assert blocks == case["blocks"]
        assert document.title == case.get("title", "")


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.rtf", b"no", "is not RTF"),
        ("a.rtf", b"{\\rtf1" + b"{" * 2000, "is nested too deeply"),
        ("a.toml", b"a = ", "is not TOML"),
        ("a.toml", b"a = " + b"{b = " * 60 + b"1" + b"}" * 60, "has more than 50 values within one another"),
        ("a.xml", b"<a>", "is not XML"),
        ("a.xml", b"", "is not XML"),
        ("a.xml", b"<a>" * 120 + b"</a>" * 120, "has more than 100 elements within one another"),
        ("a.msg", b"From: a", "is not a mail of Outlook"),
        ("a.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), "needs a password"),
        ("a.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "is a file of Office before 2007"),
        ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "is not a workbook"),
        ("a.tex", b"a\0b", "is not text"),
        ("a.c", b"a\0b", "is not text"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(name, data, reason):
    with pytest.raises(DataError, match=reason) as raised:
        read_document(name, data)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("kind", sorted(READERS))
def test_an_empty_file_has_no_blocks_or_an_error(kind):
    with suppress(DataError):
        assert not read_document(f"a{kind}", b"").blocks


def test_entities_and_files_of_others_are_not_read():
    secret = b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname"><!ENTITY y "yyy">]><a><b>1</b><c>&x;</c></a>'
    assert read_document("a.xml", secret).blocks == [PairsBlock([("b", "1")], 1)]


# -- old workbooks -----------------------------------------------------------------------------------------------------

# of Excel 97: a merged cell, a share, a day, a time, a truth, a price, a hidden row, and a hidden sheet
OLD = zlib.decompress(
    base64.b64decode(
        "eNrtWE1IVFEU/u6b9+bH39E00GAYxrQyDaNFbXQyLFukTLrohyDHmQcO2kw8JqgWZdlALYKgVdFGsKKN1aYfiiho0SIwahFEkVauXAUVLdTp3PPeTGoTOFCC9b7hnnvPOffec+895513"
        "570YKxsfvl09gQVogQOzaQ+cc2SCiifDeEH6dFo2M7WbStrGsoLHTY50anhQ/NwlfSj9PQEFt9QnRIEPVA7gMDoTcd2/hNjGawgLuYZmoVLsKbhCpQRVvK5yphGmK5je5L4PmW5lyXmm"
        "zdR3XOzHWLCzfosVx3uVAOtKiArc5TFvWLIRlXgm4/jkBWH21dBqxMID/6/CpxZhBBQd7XpcNyTvwVWoQNOGplqfWoprKAD2ERo7Ohrb2nyqF9dRCARWB2oaamqoW9M4Kii0RvA17Qe+"
        "ZHLIY78tX1q5AMm/z5e7fiN3k5dzyT3k8FzyAiq55IUUDQvlFxWKn0Gke4R8AFMohqJJjYbuZCLSn6Inc8AlY9CJbj1i6MlpdMko40KKnWGjN3HEoEk6w4d0GtrdFza4jsUjOj3IrUnS"
        "hcKxKMlCRiwide3Gt/c6Jbi+WDSqxynIj8rZzAzonZcBizkvFBGNopTbZZwdvHQo0zc+v+zoDQUPsmSQ33rmu7FWbgppnJIjaHAJa1RkZq3nEeuZnuZZV3G7mmkFbZ7qulCl1dgxxH3O"
        "sLaO7GxivAqumdNeS+3U1O57vtTH4Dpqj7ZPHK8YfR0cRoAcFaXx8jeEBtEgLl+SuB/M1MLKou+YVv2SUd2Kl9fuQNq6AJRihj0AOg+JR8zJ05HnI/sL3uv8/oL7S2pymdM0OYU4R5Zz"
        "EKdmOZU4LctpxDmtdSk57ChsRzrRoZiZvRy7Np9r7Zn8FDyhSL1COxt9qlh6B525ibdBTXGTROV1mn01yodTZ11szcG7NK35LWsOtia9P2ntUUJBi1KOO3Ip9Bb6iaWINJGlyzXSRM5I"
        "k3dOPlXkOlUbNmzYsGHDRr4QfGcB32ZUvoCb9xKX9V1nhsqs/Znkn0UXEvRL0t+z7YhTbeBYXvGzEprIzCUWOSbzvVBiD1k30I9eXkd/3vFL90oxdz+LHuj9c49QvvZn81nnX7b/AwCO"
        "OgY="
    )
)  # fmt: skip
ROWS = [
    ["Harbour"] * 3 + [""] * 3,
    ["Name", "Share", "Since", "At", "Paid", "Price"],
    ["Größe", "65.3%", "2024-03-04", "10:30", "TRUE", "$1,234.50"],
]


def test_an_old_workbook_is_read_as_people_see_it():
    document = read_document("a.xls", OLD)
    heading, table = document.blocks
    assert heading == Heading("Stock", 2)
    assert (table.rows, table.lines, table.merged) == (ROWS, [1, 2, 3], {(0, 1): (0, 0), (0, 2): (0, 0)})
    assert document.left_out == ["sheet Stock: 1 hidden rows or columns", "the hidden sheet Secret"]


def test_dates_of_the_other_date_system():
    record = struct.pack("<3H", 0x22, 2, 0)
    assert record in OLD
    document = read_document("a.xls", OLD.replace(record, struct.pack("<3H", 0x22, 2, 1)))
    assert document.blocks[1].rows[2][2] == "2028-03-05"


def test_other_files_under_the_name_of_an_old_workbook():
    workbook = Workbook()
    workbook.active.append(["Name", "Ida"])
    for data in (saved(workbook), b"Name;Ida\n", b"\xef\xbb\xbf <table><tr><td>Name</td><td>Ida</td></tr></table>"):
        tables = [block for block in read_document("a.xls", data).blocks if isinstance(block, TableBlock)]
        assert [list(map(list, table.rows)) for table in tables] == [[["Name", "Ida"]]]


def test_a_damaged_old_workbook_is_an_error():
    for end in range(600, len(OLD), 500):
        try:
            read_document("a.xls", OLD[:end])
        except DataError as error:
            assert "\n" not in str(error)


def test_merged_cells_are_limited():
    class Overlapping(old_sheets.OldSheet):
        def merged_areas(self):
            return [(1, 3, 1, 6)] * 60_000

    book = xlrd.open_workbook(file_contents=OLD, formatting_info=True)
    with pytest.raises(DataError, match="has more than 1,000,000 places of merged cells"):
        Overlapping(book, book.sheet_by_index(0)).table()


# -- Office ------------------------------------------------------------------------------------------------------------


def changed(data, *replacements):
    """A packed file with other words in its parts."""
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as before, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as after:
        for name in before.namelist():
            content = before.read(name)
            for old, new in replacements if name.endswith((".xml", ".rels")) else ():
                content = content.replace(old, new)
            after.writestr(name, content)
    return packed.getvalue()


def word_file():
    document = Document()
    document.add_paragraph("Rope is 5 m long.")
    return saved(document)


def slide_file():
    presentation = Presentation()
    presentation.slides.add_slide(presentation.slide_layouts[5]).shapes.title.text = "Ropes"
    return saved(presentation)


def sheet_file():
    workbook = Workbook()
    workbook.active.append(["Rope", 5])
    return saved(workbook)


OPEN_KIND = b"application/vnd.openxmlformats-officedocument."
STRICT = [
    (f"http://schemas.openxmlformats.org/{kind}/2006/".encode(), f"http://purl.oclc.org/ooxml/{kind}/".encode())
    for kind in ("officeDocument", "wordprocessingml", "spreadsheetml", "presentationml", "drawingml")
]


@pytest.mark.parametrize(
    ("name", "make", "kind", "other"),
    [
        ("a.docm", word_file, OPEN_KIND + b"wordprocessingml.document.main", b"application/vnd.ms-word.document.macroEnabled.main"),
        ("a.dotm", word_file, OPEN_KIND + b"wordprocessingml.document.main", b"application/vnd.ms-word.template.macroEnabledTemplate.main"),
        ("a.dotx", word_file, OPEN_KIND + b"wordprocessingml.document.main", OPEN_KIND + b"wordprocessingml.template.main"),
        ("a.pptm", slide_file, OPEN_KIND + b"presentationml.presentation.main", b"application/vnd.ms-powerpoint.presentation.macroEnabled.main"),
        ("a.ppsx", slide_file, OPEN_KIND + b"presentationml.presentation.main", OPEN_KIND + b"presentationml.slideshow.main"),
        ("a.potx", slide_file, OPEN_KIND + b"presentationml.presentation.main", OPEN_KIND + b"presentationml.template.main"),
        ("a.xlsm", sheet_file, OPEN_KIND + b"spreadsheetml.sheet.main", b"application/vnd.ms-excel.sheet.macroEnabled.main"),
        ("a.xltx", sheet_file, OPEN_KIND + b"spreadsheetml.sheet.main", OPEN_KIND + b"spreadsheetml.template.main"),
    ],
)  # fmt: skip
def test_templates_and_files_with_macros_are_read(name, make, kind, other):
    data = make()
    plain_name = {"d": "a.docx", "p": "a.pptx", "x": "a.xlsx"}[name[2]]
    assert read_document(name, changed(data, (kind, other))) == read_document(plain_name, data)


@pytest.mark.parametrize(("name", "make"), [("a.docx", word_file), ("a.xlsx", sheet_file), ("a.pptx", slide_file)])
def test_strict_files_are_read(name, make):
    data = make()
    strict = changed(data, *STRICT)
    assert strict != data and read_document(name, strict) == read_document(name, data)


M = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'


def math(text):
    return f"<m:r><m:t>{text}</m:t></m:r>"


@pytest.mark.parametrize(
    ("inner", "words"),
    [
        (f"<m:f><m:num>{math('a+b')}</m:num><m:den>{math('2')}</m:den></m:f>", "(a+b)/2"),
        (f"<m:rad><m:deg/><m:e>{math('x+1')}</m:e></m:rad>", "√(x+1)"),
        (f"<m:sSup><m:e>{math('m')}</m:e><m:sup>{math('-2')}</m:sup></m:sSup>", "m^-2"),
        (f"<m:sSub><m:e>{math('a')}</m:e><m:sub>{math('i')}</m:sub></m:sSub>", "a_i"),
        (f"<m:nary><m:naryPr><m:chr m:val='∑'/></m:naryPr><m:sub>{math('n=1')}</m:sub><m:sup>{math('9')}</m:sup><m:e>{math('n')}</m:e></m:nary>",
         "∑_(n=1)^9 n"),
        (f"<m:d><m:dPr><m:begChr m:val='['/><m:endChr m:val=']'/></m:dPr><m:e>{math('x')}</m:e></m:d>", "[x]"),
        (f"<m:func><m:fName>{math('log')}</m:fName><m:e>{math('x')}</m:e></m:func>", "log x"),
        (f"<m:m><m:mr><m:e>{math('1')}</m:e><m:e>{math('0')}</m:e></m:mr><m:mr><m:e>{math('0')}</m:e><m:e>{math('1')}</m:e></m:mr></m:m>", "1, 0; 0, 1"),
        ("<m:d><m:e>" * 40 + math("x") + "</m:e></m:d>" * 40, "(" * 40 + "x" + ")" * 40),
    ],
)  # fmt: skip
def test_formulas_are_words_in_a_line(inner, words):
    document = Document()
    document.element.body.insert(
        -1, parse_xml(f"<w:p {nsdecls('w')} {M}><w:r><w:t>So </w:t></w:r><m:oMath>{inner}</m:oMath></w:p>")
    )
    assert [block.text for block in read_document("a.docx", saved(document)).blocks] == [f"So {words}"]


def test_comments_are_notes():
    document = Document()
    document.add_comment(document.add_paragraph("It is long.").runs, "Is it?", "Ida")
    assert list(read_document("a.docx", saved(document)).blocks) == [
        TextBlock("It is long."), TextBlock("Ida: Is it?", kind="note"),
    ]  # fmt: skip
    workbook = Workbook()
    workbook.active.append(["Rope", 5])
    workbook.active["B1"].comment = Comment("in metres", "Ida")
    assert read_document("a.xlsx", saved(workbook)).blocks[-1] == TextBlock("B1: in metres", 1, kind="note")


# -- mails of Outlook --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "html"), [("Sail at noon.", None), (None, "<p>Sail <b>at</b> noon.</p>")], ids=["text", "html"]
)
def test_a_mail_of_outlook_has_fields_text_and_names_of_files(body, html, monkeypatch):
    mail = SimpleNamespace(
        subject="Tides", sender="Ida <ida@a.example>", sent_date=datetime(2024, 3, 4, 9, 30), body=body, html_body=html, message_headers={},
        recipients=[SimpleNamespace(name="Per", email_address="per@a.example")],
        attachments=[SimpleNamespace(file_name="map.pdf"), SimpleNamespace(file_name=None)],
    )  # fmt: skip
    monkeypatch.setattr("oxmsg.Message.load", lambda data: mail)
    document = read_document("a.msg", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
    fields, text, files = document.blocks
    assert (document.title, text.text, files.pairs) == ("Tides", "Sail at noon.", [("files", "map.pdf")])
    assert dict(fields.pairs) == {
        "From": "Ida <ida@a.example>", "To": "Per <per@a.example>", "Date": "2024-03-04 09:30:00", "Subject": "Tides",
    }  # fmt: skip


# -- programs ----------------------------------------------------------------------------------------------------------


def test_a_file_of_an_older_python_and_odd_escapes():
    old = read_document("a.py", b'print "x"\n# of 2001\ndef go():\n  pass\n')
    assert [block.text for block in old.blocks] == ["go", "of 2001"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_document("a.py", b'"""Odd."""\nx = "\\d"\n').blocks == [TextBlock("Odd.", 1)]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.py", b"(" * 100_000), ("a.py", b"-" * 100_000 + b"1"), ("a.py", b"if a: pass\n" + b"elif b: pass\n" * 5_000), ("a.c", b"/*" * 100_000),
        ("a.c", b"int f(x)\n" * 20_000), ("a.js", b"`" * 100_001), ("a.adoc", b"|===\n" + b"99.99+|a " * 3_000 + b"\n|==="), ("a.adoc", b"[[" * 100_000),
        ("a.adoc", b"*a " * 50_000), ("a.adoc", b"image:a[" * 30_000), ("a.tex", b"{" * 100_000), ("a.rtf", b"{\\rtf1 \\bin-9 x}"), ("a.tex", b"\\frac{" * 50_000),
        ("a.tex", b"%\n" * 50_000), ("a.tex", b"\\begin{table}x" * 10_000), ("a.tex", b"\\section{" * 10_000), ("a.rtf", b"{\\rtf1 " + b"\\cell\\row" * 50_000),
        ("a.rtf", b"{\\rtf1 " + b"".join(b"\\trowd\\cellx%d x\\cell\\row" % number for number in range(5_000))),
        ("a.xml", b"<a>" + b"<b><c>1</c></b>" * 30_000 + b"</a>"), ("a.xml", b"<a>" + b"".join(b"<b><c%d>1</c%d></b>" % (n, n) for n in range(9_000)) + b"</a>"),
    ],
)  # fmt: skip
def test_hostile_files_cost_little(name, data):
    start = time.process_time()
    try:
        read_document(name, data)
    except DataError as error:
        assert "\n" not in str(error)
    assert time.process_time() - start < 5
