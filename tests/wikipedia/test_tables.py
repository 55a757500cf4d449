from itertools import product

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from convinse.wikipedia.document import blocks, parse_html
from convinse.wikipedia.snippets import TableRow
from convinse.wikipedia.tables import grid, rows
from places import ROOT
from wikipedia_html import anchors


def table(html):
    return next(block for block in blocks(parse_html(html)) if block.kind == "table")


def texts(html, title="Kate", max_length=None):
    return [snippet.text for snippet in rows(table(html), title, max_length)]


def plain_grid(html):
    return [[cell and cell.snippet.text for cell in row] for row in grid(parse_html(html).css_first("table"))]


def test_a_row_is_one_snippet_with_the_header_of_every_cell():
    html = """<table class="wikitable"><caption>Albums</caption><tbody>
      <tr><th scope="col">Year</th><th scope="col">Title</th></tr>
      <tr><td>1978</td><td><i><a href="/wiki/The_Kick_Inside">The Kick Inside</a></i></td></tr>
      <tr><td>1985</td><td>Hounds of Love</td></tr></tbody></table>"""
    first, second = rows(table(html), "Kate")
    assert first.text == "Kate, Albums, Year is 1978, Title is The Kick Inside"
    assert second.text == "Kate, Albums, Year is 1985, Title is Hounds of Love"
    assert anchors(first) == [("The Kick Inside", "The Kick Inside")]
    assert first.source == "table"


def test_row_and_column_spans_are_expanded():
    html = """<table>
      <tr><th>A</th><th>B</th><th>C</th></tr>
      <tr><td rowspan="2">a1</td><td>b1</td><td rowspan="3">c1</td></tr>
      <tr><td>b2</td></tr>
      <tr><td colspan="2">ab3</td></tr></table>"""
    assert plain_grid(html) == [["A", "B", "C"], ["a1", "b1", "c1"], ["a1", "b2", "c1"], ["ab3", "ab3", "c1"]]
    assert texts(html) == [
        "Kate, A is a1, B is b1, C is c1",
        "Kate, A is a1, B is b2, C is c1",
        "Kate, A is ab3, B is ab3, C is c1",
    ]


_ROWS = st.lists(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), max_size=4), min_size=1, max_size=5)


@given(_ROWS)
def test_the_grid_is_that_of_the_html_table_model(shape):
    wanted = {}
    html = "<table>"
    for y, cells in enumerate(shape):
        html += "<tr>"
        x = 0
        for number, (width, height) in enumerate(cells):
            while (y, x) in wanted:
                x += 1
            html += f'<td colspan="{width}" rowspan="{height}">{y}.{number}</td>'
            for place in product(range(y, min(y + height, len(shape))), range(x, x + width)):
                assume(place not in wanted)  # overlapping cells are an error of the table
                wanted[place] = f"{y}.{number}"
            x += width
        html += "</tr>"
    full = [y for y in range(len(shape)) if any(row == y for row, _ in wanted)]
    found = plain_grid(html + "</table>")
    assert len(found) == len(full)
    cells = {(y, x): text for y, row in zip(full, found, strict=True) for x, text in enumerate(row)}
    assert {place: text for place, text in cells.items() if text is not None} == wanted


@pytest.mark.parametrize("span", ["99999999", "0", "-3", "x", "", "50%"])
def test_senseless_spans_do_no_harm(span):
    html = (
        f'<table><tr><th>A</th><th>B</th></tr><tr><td rowspan="{span}">a</td><td colspan="{span}">b</td></tr></table>'
    )
    assert texts(html) == ["Kate, A is a, B is b"]
    assert max(map(len, plain_grid(html))) <= 1000


CASES = yaml.safe_load((ROOT / "tests" / "cases" / "tables.yml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["what"])
def test_rows_of_the_table_of_cases(case):
    found = texts(f"<table class='wikitable'>{case['rows']}</table>")
    assert found == [f"Kate, {text}" for text in case["texts"]]


ROW = "<tr><td>1978</td><td>Lionheart</td></tr>"
HEADED = f"<tr><th>Year</th><th>Title</th></tr>{ROW}"
OF_ROWS = {
    "without a caption the section says what the table is about": (
        f"<h2>Discography</h2><table>{HEADED}</table>",
        ["Discography, Year is 1978, Title is Lionheart"],
    ),
    "headers of several rows are joined by column": (
        """<table><caption>Singles</caption>
        <tr><th rowspan="2">Year</th><th rowspan="2">Song</th><th colspan="2">Peak position</th></tr>
        <tr><th>UK</th><th>US</th></tr><tr><td>1978</td><td>Wow</td><td>1</td><td>—</td></tr></table>""",
        ["Singles, Year is 1978, Song is Wow, Peak position UK is 1, Peak position US is —"],
    ),
    "a header cell at the head of a row is a value": (
        """<table><tr><th>Title</th><th>Year</th></tr><tr><th scope="row">Lionheart</th><td>1978</td></tr>
        <tr><th scope="row">Aerial</th><td>2005</td></tr></table>""",
        ["Title is Lionheart, Year is 1978", "Title is Aerial, Year is 2005"],
    ),
    "a banner over the whole width stands before the rows below it": (
        f"""<table>{HEADED}<tr><td colspan="2">After the break</td></tr><tr><td>2005</td><td>Aerial</td></tr></table>""",
        ["Year is 1978, Title is Lionheart", "After the break, Year is 2005, Title is Aerial"],
    ),
    "a banner of a header cell, too": (
        f"""<table>{HEADED}<tr><th colspan="2">After the break</th></tr><tr><td>2005</td><td>Aerial</td></tr></table>""",
        ["Year is 1978, Title is Lionheart", "After the break, Year is 2005, Title is Aerial"],
    ),
    "new headers further down begin a new part": (
        f"""<table>{HEADED}<tr><th>Date</th><th>Show</th></tr><tr><td>2014</td><td>Before the Dawn</td></tr></table>""",
        ["Year is 1978, Title is Lionheart", "Date is 2014, Show is Before the Dawn"],
    ),
    "empty cells and rows are left out": (
        "<table><tr><th>A</th><th>B</th></tr><tr><td></td><td> </td></tr><tr><td></td><td>b</td></tr></table>",
        ["B is b"],
    ),
    "a table in a cell is not read into the cell": (
        """<table class="wikitable"><tr><th>A</th><th>B</th></tr>
        <tr><td>a</td><td>b<table><tr><td>inner</td></tr></table></td></tr></table>""",
        ["A is a, B is b"],
    ),
    "head, body and foot are read in order": (
        """<table><thead><tr><th>A</th><th>B</th></tr></thead><tbody><tr><td>1</td><td>x</td></tr></tbody>
        <tfoot><tr><td>2</td><td>y</td></tr></tfoot></table>""",
        ["A is 1, B is x", "A is 2, B is y"],
    ),
    "a title row above the headers is no header": (
        f"""<table class="wikitable"><tr><th colspan="2">Albums</th></tr>{HEADED}</table>""",
        ["Albums, Year is 1978, Title is Lionheart"],
    ),
    "a first row in bold is a header where there are no header cells": (
        """<table class="wikitable"><tr><td>#</td><td><b>Year</b></td><td><b>Song</b></td></tr>
        <tr><td>1</td><td>1978</td><td>Wow</td></tr>
        <tr><td><b>2</b></td><td><b>1980</b></td><td><b>Army</b></td></tr></table>""",
        ["# is 1, Year is 1978, Song is Wow", "# is 2, Year is 1980, Song is Army"],
    ),
    "a first row that is bold in part is none": (
        "<table class='wikitable'><tr><td><b>a</b></td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>",
        ["a, b", "c, d"],
    ),
    "totals in header cells are data and repeated headers are not": (
        """<table><tr><th>Team</th><th>W</th><th>L</th></tr><tr><td>A</td><td>1</td><td>2</td></tr>
        <tr><th>Team</th><th>W</th><th>L</th></tr><tr><td>B</td><td>3</td><td>4</td></tr>
        <tr><th>Total</th><th>4</th><th>1,006</th></tr></table>""",
        ["Team is A, W is 1, L is 2", "Team is B, W is 3, L is 4", "Team is Total, W is 4, L is 1,006"],
    ),
    "a table of one column has rows": (
        "<table><tr><th>Songs</th></tr><tr><td>Wow</td></tr><tr><td>Army Dreamers</td></tr></table>",
        ["Songs is Wow", "Songs is Army Dreamers"],
    ),
    "line breaks in cells are blanks": (
        "<table><tr><th>Peak<br>UK</th><th>By</th></tr><tr><td>1</td><td>Kate<br/>Paddy</td></tr></table>",
        ["Peak UK is 1, By is Kate Paddy"],
    ),
}


@pytest.mark.parametrize(("html", "expected"), OF_ROWS.values(), ids=OF_ROWS)
def test_rows(html, expected):
    assert texts(html) == [f"Kate, {text}" for text in expected]


def test_citation_marks_are_cut_out_and_links_still_lie_on_their_anchors():
    html = """<table><tr><th>Song[a]</th><th>By</th></tr><tr><td>Babooshka [2]<sup class="reference">[3]</sup></td>
      <td>x[1] <a href="/wiki/Kate_Bush">Kate Bush</a>[2] and
      <a href="/wiki/Roy_Harper">Roy Harper</a></td></tr></table>"""
    (snippet,) = rows(table(html), "Kate")
    assert snippet.text == "Kate, Song is Babooshka, By is x Kate Bush and Roy Harper"
    assert anchors(snippet) == [("Kate Bush", "Kate Bush"), ("Roy Harper", "Roy Harper")]


def test_a_wide_row_is_cut_at_cell_borders_and_every_piece_has_the_first_cell():
    cells = [f"value {number}" for number in range(1, 7)]
    html = "<table><tr><th>Name</th>" + "".join(f"<th>H{number}</th>" for number in range(1, 7)) + "</tr>"
    html += '<tr><td><a href="/wiki/Ann">Ann</a></td>' + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr></table>"
    whole = "Kate, Name is Ann, " + ", ".join(f"H{number} is value {number}" for number in range(1, 7))
    assert texts(html) == [whole]
    assert texts(html, max_length=len(whole)) == [whole]
    found = list(rows(table(html), "Kate", 50))
    assert [snippet.text for snippet in found] == [
        "Kate, Name is Ann, H1 is value 1, H2 is value 2",
        "Kate, Name is Ann, H3 is value 3, H4 is value 4",
        "Kate, Name is Ann, H5 is value 5, H6 is value 6",
    ]
    assert all(anchors(snippet) == [("Ann", "Ann")] for snippet in found)


def test_a_long_first_cell_does_not_push_the_others_over_the_limit():
    html = f"<table><tr><th>A</th><th>B</th><th>C</th></tr><tr><td>{'x' * 40}</td><td>b{'y' * 15}</td><td>c{'z' * 15}</td></tr></table>"
    assert all(len(text) <= 70 for text in texts(html, max_length=60))
    assert "".join(texts(html, max_length=60)).count("z" * 15) == 1


def cells(snippet):
    return [(part.header, snippet.text[part.start : part.end], part.column) for part in snippet.parts]


def test_a_row_knows_its_place_and_its_cells():
    html = """<h2>Works</h2><table><caption>Albums[a]</caption><tr><th>Year</th><th colspan="2">Peak</th><th>By</th></tr>
      <tr><td>1978[1]</td><td colspan="2">1, 2</td><td>Kate Bush</td></tr><tr><td colspan="4">After the break</td></tr>
      <tr><td></td><td>3</td><td>is 4</td><td rowspan="2">x</td></tr><tr><td>2011</td><td>5</td><td></td></tr></table>"""
    snippets = list(rows(table(html), "Kate", place=7))
    assert [snippet.row for snippet in snippets] == [
        TableRow("Albums", "Works", "", 7, 0),
        TableRow("Albums", "Works", "After the break", 7, 1),
        TableRow("Albums", "Works", "After the break", 7, 2),
    ]
    assert list(map(cells, snippets)) == [
        [("Year", "1978", 0), ("Peak", "1, 2", 1), ("By", "Kate Bush", 3)],
        [("Peak", "3", 1), ("Peak", "is 4", 2), ("By", "x", 3)],
        [("Year", "2011", 0), ("Peak", "5", 1), ("By", "x", 3)],
    ]


def test_a_row_s_own_name_is_the_header_of_its_one_value():
    html = "<table><tr><th>Capital</th><td>Paris</td></tr><tr><th>Seat</th><td>Senate</td><td>Paris</td></tr></table>"
    capital, seat = rows(table(html), "France")
    assert (capital.text, seat.text) == ("France, Capital is Paris", "France, Seat, Senate, Paris")
    assert cells(capital) == [("", "Capital", 0), ("Capital", "Paris", 1)]
    assert cells(seat) == [("", "Seat", 0), ("", "Senate", 1), ("", "Paris", 2)]
    assert capital.row == TableRow("", "", "", 0, 0)


def test_the_pieces_of_a_wide_row_have_its_number_and_their_own_cells():
    heads = "".join(f"<th>H{column}</th>" for column in range(4))
    row = "".join(f"<td>value {column}</td>" for column in range(4))
    html = f"<table><tr>{heads}</tr><tr>{row}</tr><tr>{row}</tr></table>"
    snippets = list(rows(table(html), "Kate", 45))
    assert [snippet.row.number for snippet in snippets] == [0, 0, 0, 1, 1, 1]
    assert [[column for _, _, column in cells(snippet)] for snippet in snippets] == [[0, 1], [0, 2], [0, 3]] * 2
    for snippet in snippets:
        assert all((header, text) == (f"H{column}", f"value {column}") for header, text, column in cells(snippet))
