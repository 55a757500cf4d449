"""Word documents, sheets, slides and PDF files as blocks: what people see, and nothing else."""

import io
import zipfile
from datetime import date, datetime, timedelta

import pytest
from docx import Document
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls, qn
from openpyxl import Workbook
from openpyxl.cell.rich_text import CellRichText
from openpyxl.cell.rich_text import TextBlock as RichText
from openpyxl.cell.text import InlineFont
from openpyxl.styles import Font
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from convinse.documents.model import Heading, TableBlock, TextBlock
from convinse.documents.readers.open_document import read_open_text
from convinse.documents.readers.sheets import read_sheets
from convinse.documents.readers.shown_values import shown
from convinse.documents.readers.slides import read_slides
from convinse.documents.readers.word import read_word
from convinse.support.errors import DataError
from written import saved


def of_word(*paragraphs):
    """The blocks of a Word document with paragraphs of these runs and marks, as they are written in XML."""
    document = Document()
    for inner in paragraphs:
        document.element.body.insert(-1, parse_xml(f"<w:p {nsdecls('w')}>{inner}</w:p>"))
    return read_word(saved(document)).blocks


def run(text, marks=""):
    return f"<w:r><w:rPr>{marks}</w:rPr><w:t xml:space='preserve'>{text}</w:t></w:r>"


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        (run("The rent is ") + f"<w:del>{run('700').replace('w:t', 'w:delText')}</w:del><w:ins>{run('820')}</w:ins>" + run(" euros."),
         "The rent is 820 euros."),
        (run("It was ") + run("40", "<w:strike/>") + run("55") + run(" secret", "<w:vanish/>"), "It was 55"),
        (run("not ") + run("struck", '<w:strike w:val="0"/>'), "not struck"),
        (run("10") + run("6", '<w:vertAlign w:val="superscript"/>') + run(" per mL"), "10^6 per mL"),
        (run("the 1") + run("st", '<w:vertAlign w:val="superscript"/>'), "the 1st"),
        (f"<w:sdt><w:sdtContent>{run('in a control')}</w:sdtContent></w:sdt>", "in a control"),
        ("<w:moveFrom>" + run("left") + "</w:moveFrom><w:moveTo>" + run("right") + "</w:moveTo>", "right"),
        ("<w:r><w:t>a</w:t><w:br/><w:t>b</w:t><w:tab/><w:t>c</w:t></w:r>", "a b c"),
    ],
)  # fmt: skip
def test_words_are_read_with_all_changes_accepted(inner, text):
    assert [block.text for block in of_word(inner)] == [text]


def test_headings_by_style_derived_style_and_outline():
    document = Document()
    document.styles.add_style("Ours", 1).base_style = document.styles["Heading 2"]
    for style, text in (("Title", "A"), ("Heading 1", "B"), ("Ours", "C"), ("List Bullet", "d")):
        document.add_paragraph(text, style)
    outline = "<w:pPr><w:outlineLvl w:val='0'/></w:pPr>"
    document.element.body.insert(-1, parse_xml(f"<w:p {nsdecls('w')}>{outline}{run('E')}</w:p>"))
    assert list(read_word(saved(document)).blocks) == [
        Heading("A", 1), Heading("B", 2), Heading("C", 3), TextBlock("d", kind="item"), Heading("E", 2),
    ]  # fmt: skip


def test_text_boxes_are_read_once_and_tables_within_tables():
    box = f"<w:txbxContent><w:p>{run('boxed')}</w:p></w:txbxContent>"
    both = f"<w:r><mc:AlternateContent xmlns:mc='http://schemas.openxmlformats.org/markup-compatibility/2006'><mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback></mc:AlternateContent></w:r>"
    assert [block.text for block in of_word(run("text") + both)] == ["text", "boxed"]
    document = Document()
    outer = document.add_table(2, 2)
    outer.cell(0, 0).merge(outer.cell(0, 1)).text = "Wide"
    inner = outer.cell(1, 0).add_table(1, 1)
    inner.cell(0, 0).text = "deep"
    first, second = read_word(saved(document)).blocks
    assert (first.rows[0], first.merged, second.rows) == (["Wide", "Wide"], {(0, 1): (0, 0)}, [["deep"]])


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (0.653, "0.0%", "65.3%"), (1234.5, '"$"#,##0.00', "$1,234.50"), (1234.5, "#,##0.00 [$€-407]", "1,234.50 €"),
        (-1250, "#,##0;(#,##0)", "-1,250"), (7, "00000", "00007"), (0.1 + 0.2, "General", "0.3"), (3.0, "General", "3"),
        (1.5, "0.##", "1.5"), (2.0, "0.00", "2.00"), (2500000, '0.0,,"M"', "2.5M"), (12, '0 "kg"', "12 kg"), (0, '0;-0;"none"', "none"),
        (True, "General", "TRUE"), (date(2024, 3, 4), "d/m/y", "2024-03-04"), (datetime(2024, 3, 4), "", "2024-03-04"),
        (datetime(2024, 3, 4, 10, 30), "", "2024-03-04 10:30"), (timedelta(hours=36, minutes=15), "[h]:mm", "36:15"), (None, "0", ""),
        (0.5, "# ?/?", "1/2"), (2.25, "# ?/?", "2 1/4"), (3.0, "# ?/?", "3"), (1.875, "?/?", "15/8"), (0.34, "# ?/8", "3/8"), (-0.75, "# ??/??", "-3/4"),
        (-3.5, "0.00_);[Red]\\(0.00\\)", "-3.50"), (5550142, "000-0000", "555-0142"), (123456789, "000\\-00\\-0000", "123-45-6789"),
        (5550102233, "(000) 000-0000", "(555) 010-2233"), ("a_x000D_\n b", "@", "a b"), ("_x005F_x000D_", "@", "_x000D_"),
        ("a\n b", "@", "a b"), (12345.678, "0.00E+00", "1.23E+04"), (-0.5, "0%", "-50%"),
    ],
)  # fmt: skip
def test_values_are_shown_as_their_format_says(value, form, text):
    assert shown(value, form) == text


def test_sheets_without_what_is_hidden_and_with_formulas_and_merged_cells():
    workbook = Workbook()
    sheet = workbook.active
    sheet.title = "Costs"
    for row in (
        ["Region", "Town", "Cost"],
        ["North", "Arlby", 12],
        ["", "Brenn", "=C2*2"],
        ["South", "Dalt", 3],
        [],
        ["Note", "x"],
    ):
        sheet.append(row)
    sheet.merge_cells("A2:A3")
    sheet.row_dimensions[4].hidden = True
    workbook.create_sheet("Secret").sheet_state = "hidden"
    document = read_sheets(saved(workbook))
    heading, table = document.blocks
    assert heading == Heading("Costs", 2) and list(document.left_out) == [
        "sheet Costs: 1 hidden rows or columns", "the hidden sheet Secret",
    ]  # fmt: skip
    assert table.rows == [
        ["Region", "Town", "Cost"],
        ["North", "Arlby", "12"],
        ["North", "Brenn", "=C2*2"],
        ["", "", ""],
        ["Note", "x", ""],
    ]
    assert (table.merged, table.lines) == ({(2, 0): (1, 0)}, [1, 2, 3, 5, 6])


def test_slides_have_their_numbers_notes_groups_tables_and_charts():
    presentation = Presentation()
    blank, titled = presentation.slide_layouts[6], presentation.slide_layouts[5]
    first = presentation.slides.add_slide(titled)
    first.shapes.title.text = "Plan"
    first.notes_slide.notes_text_frame.text = "Ask Holm."
    group = first.shapes.add_group_shape()
    group.shapes.add_textbox(0, 0, Inches(1), Inches(1)).text_frame.text = "In a group"
    second = presentation.slides.add_slide(blank)
    table = second.shapes.add_table(2, 2, 0, 0, Inches(2), Inches(1)).table
    for place, text in (((0, 0), "Town"), ((0, 1), "Visitors"), ((1, 0), "Arlby"), ((1, 1), "120")):
        table.cell(*place).text = text
    data = CategoryChartData()
    data.categories = ["2021", "2022"]
    data.add_series("Ships", (310, 355))
    second.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, Inches(2), Inches(2), data)
    presentation.slides.add_slide(blank).element.set("show", "0")
    document = read_slides(saved(presentation))
    assert list(document.left_out) == ["1 hidden slides"]
    assert [block for block in document.blocks if not isinstance(block, TableBlock)] == [
        Heading("Plan", 2, page=1), TextBlock("In a group", page=1), TextBlock("Ask Holm.", page=1, kind="note"), Heading("Slide 2", 2, page=2),
    ]  # fmt: skip
    tables = [block for block in document.blocks if isinstance(block, TableBlock)]
    assert [table.rows for table in tables] == [
        [["Town", "Visitors"], ["Arlby", "120"]], [["", "Ships"], ["2021", "310"], ["2022", "355"]],
    ]  # fmt: skip
    assert {table.page for table in tables} == {2}


def test_sheets_without_struck_words_with_powers_and_links():
    workbook = Workbook()
    sheet = workbook.active
    sheet.append(["Part", "Note"])
    struck, raised = InlineFont(strike=True), InlineFont(vertAlign="superscript")
    sheet.append(
        ["Valve", CellRichText("costs ", RichText(struck, "40"), " 55, lasts 10", RichText(raised, "6"), " s")]
    )
    sheet.append(["Pump", "sold"])
    sheet["B3"].font = Font(strike=True)
    sheet["A3"].hyperlink = "https://parts.example.org/pump"
    _, table = read_sheets(saved(workbook)).blocks
    assert table.rows[1:] == [["Valve", "costs 55, lasts 10^6 s"], ["Pump", ""]]
    assert table.links == [("Pump", "https://parts.example.org/pump")]


def test_fields_that_link_have_their_address():
    def field(kind):
        return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'

    code = '<w:r><w:instrText xml:space="preserve"> HYPERLINK "https://parts.example.org" </w:instrText></w:r>'
    (block,) = of_word(run("See ") + field("begin") + code + field("separate") + run("the list") + field("end"))
    assert (block.text, [*block.links]) == ("See the list", [("the list", "https://parts.example.org")])


def test_rows_of_word_tables_that_were_deleted_are_left_out():
    document = Document()
    table = document.add_table(3, 2)
    for row, words in zip(table.rows, (("Part", "Left"), ("Valve", "3"), ("Pump", "4")), strict=True):
        for cell, word in zip(row.cells, words, strict=True):
            cell.text = word
    row = list(document.element.body.iter(qn("w:tr")))[1]
    row.insert(0, parse_xml(f"<w:trPr {nsdecls('w')}><w:del w:id='1' w:author='a'/></w:trPr>"))
    (block,) = read_word(saved(document)).blocks
    assert block.rows == [["Part", "Left"], ["Pump", "4"]]


def test_slides_without_struck_words_and_with_powers():
    presentation = Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    paragraph = slide.shapes.add_textbox(0, 0, Inches(3), Inches(1)).text_frame.paragraphs[0]
    for text in ("about ", "40 ", "10", "6", " eels"):
        paragraph.add_run().text = text
    looks = [node for node in slide.element.iter() if node.tag.endswith("}r")]
    for run, name, value in ((looks[1], "strike", "sngStrike"), (looks[3], "baseline", "30000")):
        run.get_or_add_rPr().set(name, value)
    _, text = read_slides(saved(presentation)).blocks
    assert text.text == "about 10^6 eels"


NAMESPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text", "style", "fo")
)  # fmt: skip
STYLES = """<office:automatic-styles><style:style style:name="S"><style:text-properties style:text-line-through-style="solid"/></style:style>
<style:style style:name="R"><style:text-properties style:text-position="super 58%"/></style:style>
<style:style style:name="H"><style:table-properties table:display="false"/></style:style></office:automatic-styles>"""


def of_open_document(body):
    """The blocks of an OpenDocument file with this body."""
    more = 'xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/"'
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        content = f"<office:document-content {NAMESPACES} {more}>{STYLES}<office:body>{body}</office:body></office:document-content>"
        file.writestr("content.xml", content)
    return read_open_text(packed.getvalue()).blocks


def test_words_of_open_documents_are_read_with_all_changes_accepted():
    blocks = of_open_document(
        """<office:text><text:tracked-changes><text:changed-region><text:deletion><text:p>gone</text:p></text:deletion></text:changed-region>
        </text:tracked-changes><text:p>It cost<text:s/><text:span text:style-name="S">40</text:span> 55,<text:tab/>lasts 10<text:span
        text:style-name="R">6</text:span> s<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>About.</text:p>
        </text:note-body></text:note> and is <text:a xlink:href="https://parts.example.org">sold</text:a>.<office:annotation>
        <dc:creator>Una</dc:creator><text:p>Check!</text:p></office:annotation></text:p></office:text>"""
    )
    assert [(block.text, block.kind) for block in blocks] == [
        ("It cost 55, lasts 10^6 s and is sold.", "text"), ("About.", "note"), ("Una: Check!", "note"),
    ]  # fmt: skip
    assert blocks[0].links == [("sold", "https://parts.example.org")]


def test_sheets_of_open_documents_repeat_rows_and_leave_out_what_is_hidden():
    def row(*cells, **attributes):
        marks = " ".join(f'table:{name.replace("_", "-")}="{value}"' for name, value in attributes.items())
        return f"<table:table-row {marks}>{''.join(cells)}</table:table-row>"

    def cell(text):
        return f"<table:table-cell><text:p>{text}</text:p></table:table-cell>"

    number = '<table:table-cell office:value-type="float" office:value="12.5"/>'
    blocks = of_open_document(
        "<office:spreadsheet><table:table table:name='Parts'>"
        + row(cell("Part"), cell("Left"))
        + row(cell("Valve"), number, number_rows_repeated=2)
        + row(cell("Pump"), cell("4"), visibility="collapse")
        + row("<table:table-cell/>", number_rows_repeated=3)
        + row(cell("Gate<text:s/>motor"), cell("5"))
        + row("<table:table-cell/>", number_rows_repeated=1000)
        + f'</table:table><table:table table:style-name="H">{row(cell("x"))}</table:table></office:spreadsheet>'
    )
    name, table = blocks
    assert name == Heading("Parts", 2)
    assert table.rows == [
        ["Part", "Left"], ["Valve", "12.5"], ["Valve", "12.5"], ["", ""], ["Gate motor", "5"],
    ]  # fmt: skip


def test_merged_cells_over_a_whole_sheet_are_refused():
    workbook = Workbook()
    workbook.active.append(["a"])
    data = saved(workbook)
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        files = {name: packed.read(name) for name in packed.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    files[sheet] = files[sheet].replace(
        b"</sheetData>", b'</sheetData><mergeCells count="1"><mergeCell ref="A1:XFD1048576"/></mergeCells>'
    )
    packed_again = io.BytesIO()
    with zipfile.ZipFile(packed_again, "w") as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    with pytest.raises(DataError, match="more than 1,000,000 places of merged cells"):
        read_sheets(packed_again.getvalue())
