from itertools import product

from hypothesis import assume, given
from hypothesis import strategies as st

from case_tables import each_case
from convinse.wikipedia.document import blocks, parse_html
from convinse.wikipedia.tables import grid, rows
from wikipedia_html import anchors


def table(html):
    return next((node, section) for kind, node, section in blocks(parse_html(html)) if kind == "table")


def texts(html, title="Kate", max_length=None):
    return [snippet.text for snippet in rows(*table(html), title, max_length)]


def plain_grid(html):
    return [[cell and cell.snippet.text for cell in row] for row in grid(parse_html(html).css_first("table"))]


_ROWS = st.lists(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), max_size=4), min_size=1, max_size=5)


@given(_ROWS)
def test_the_grid_is_that_of_the_html_table_model(shape):
    filled = {}
    html = "<table>"
    for y, cells in enumerate(shape):
        html += "<tr>"
        x = 0
        for number, (width, height) in enumerate(cells):
            while (y, x) in filled:
                x += 1
            html += f'<td colspan="{width}" rowspan="{height}">{y}.{number}</td>'
            for place in product(range(y, min(y + height, len(shape))), range(x, x + width)):
                assume(place not in filled)  # overlapping cells are an error of the table
                filled[place] = f"{y}.{number}"
            x += width
        html += "</tr>"
    full = [y for y in range(len(shape)) if any(row == y for row, _ in filled)]
    found = plain_grid(html + "</table>")
    assert len(found) == len(full)
    cells = {(y, x): text for y, row in zip(full, found, strict=True) for x, text in enumerate(row)}
    assert {place: text for place, text in cells.items() if text is not None} == filled


@each_case("tables")
def test_rows(case):
    found = texts(case.get("html") or f"<table class='wikitable'>{case['rows']}</table>")
    assert found == [f"Kate, {text}" for text in case["texts"]]


def test_a_wide_row_is_cut_at_cell_borders_and_every_piece_has_the_first_cell():
    cells = [f"value {number}" for number in range(1, 7)]
    html = "<table><tr><th>Name</th>" + "".join(f"<th>H{number}</th>" for number in range(1, 7)) + "</tr>"
    html += '<tr><td><a href="/wiki/Ann">Ann</a></td>' + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr></table>"
    whole = "Kate, Name is Ann, " + ", ".join(f"H{number} is value {number}" for number in range(1, 7))
    assert texts(html) == [whole]
    assert texts(html, max_length=len(whole)) == [whole]
    found = list(rows(*table(html), "Kate", 50))
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
    snippets = list(rows(*table(html), "Kate", place=7))
    about = {"caption": "Albums", "section": "Works", "page": "", "table": 7, "cells": []}
    part = {"part": "After the break"}
    assert [snippet.row for snippet in snippets] == [
        about | {"number": 0},
        about | {"number": 1} | part,
        about | {"number": 2} | part,
    ]
    assert list(map(cells, snippets)) == [
        [("Year", "1978", 0), ("Peak", "1, 2", 1), ("By", "Kate Bush", 3)],
        [("Peak", "3", 1), ("Peak", "is 4", 2), ("By", "x", 3)],
        [("Year", "2011", 0), ("Peak", "5", 1), ("By", "x", 3)],
    ]


def test_a_row_s_own_name_is_the_header_of_its_one_value():
    html = "<table><tr><th>Capital</th><td>Paris</td></tr><tr><th>Seat</th><td>Senate</td><td>Paris</td></tr></table>"
    capital, seat = rows(*table(html), "France")
    assert (capital.text, seat.text) == ("France, Capital is Paris", "France, Seat, Senate, Paris")
    assert cells(capital) == [("", "Capital", 0), ("Capital", "Paris", 1)]
    assert cells(seat) == [("", "Seat", 0), ("", "Senate", 1), ("", "Paris", 2)]
    assert capital.row == {"caption": "", "section": "", "page": "", "table": 0, "number": 0, "cells": []}
