"""Rows of a table as text that says where each stands among the others."""

import gzip
import json
from collections import Counter
from contextlib import closing

import pytest

from convinse.records.ranked_rows import ranked_rows
from convinse.wikipedia.dump import WikipediaDump
from convinse.wikipedia.page import page_evidences, parse_page, whole_rows
from places import DATA, SNAPSHOT


def rows(header, *lines, caption="Results", section="", **more):
    """Rows of a table; a cell that is None is not there."""
    made = []
    for number, line in enumerate(lines):
        cells = [
            {"header": name, "text": text, "entities": [], "start": 0, "column": column}
            for column, (name, text) in enumerate(zip(header, line, strict=True))
            if text is not None
        ]
        made.append({"caption": caption, "section": section, "table": 0, "number": number, "cells": cells, **more})
    return made


def ranks(*texts):
    """The mark of each cell of a column, without its brackets; empty where there is none."""
    made = ranked_rows(rows(["X"], *([text] for text in texts)))
    return [row.text[row.cells[0][1] :].strip(" []") if row.cells else "" for row in made]


def test_a_row_says_where_it_stands():
    table = rows(["Year", "Team", "Wins"], ["1954", "Reds", "12"], ["1950", "Blues", "1,200"], ["1954", "Greens", "3"])
    assert [row.text for row in ranked_rows(table, "Cup")] == [
        "Cup, Results [1/3], Year: 1954 [2/2], Team: Reds, Wins: 12 [2/3]",
        "Cup, Results [2/3], Year: 1950 [1/2], Team: Blues, Wins: 1,200 [3/3]",
        "Cup, Results [3/3], Year: 1954 [2/2], Team: Greens, Wins: 3 [1/3]",
    ]
    for row, given in zip(ranked_rows(table, "Cup"), table, strict=True):
        assert row.row is given
        assert {column: row.text[slice(*span)] for column, span in row.cells.items()} == {
            cell["column"]: cell["text"] for cell in given["cells"]
        }


def test_the_section_stands_for_a_caption_and_the_part_follows():
    (row,) = ranked_rows(rows(["", "Song"], ["1", "Help"], caption="", section="Singles", part="Sixties"))
    assert row.text == "Singles, Sixties [1/1], 1, Song: Help"
    assert ranked_rows([]) == []


@pytest.mark.parametrize(
    ("texts", "wanted"),
    [
        (("3", "12", "7"), ["1/3", "3/3", "2/3"]),
        (("5", "5", "2"), ["2/2", "2/2", "1/2"]),  # the most is the last rank, also shared
        (("1st", "22nd", "3rd"), ["1/3", "3/3", "2/3"]),
        (("$1,200", "$3.50", "−4"), ["3/3", "2/3", "1/3"]),
        (("45%", "9.5%", "12%"), ["3/3", "1/3", "2/3"]),
        (("12 (3)", "4 [a]", "9"), ["3/3", "1/3", "2/3"]),
        (("5 km", "12 km", "7 km"), ["1/3", "3/3", "2/3"]),
        (("1:02:03", "59:59", "0:59.5"), ["3/3", "2/3", "1/3"]),
        (("March 3, 2001", "12 January 2002", "2000-05-06"), ["2/3", "3/3", "1/3"]),
        (("1999–2003", "1950–1955", "1999–2001"), ["2/2", "1/2", "2/2"]),  # by the first of the years
        (("1950", "950", "2,000"), ["2/3", "1/3", "3/3"]),
        (("1", None, "2", "3", "4"), ["1/4", "", "2/4", "3/4", "4/4"]),
        (("1", "2", "3", "4", "unknown"), ["1/4", "2/4", "3/4", "4/4", ""]),  # four of five are enough
    ],
)
def test_ordered_columns(texts, wanted):
    assert ranks(*texts) == wanted


@pytest.mark.parametrize(
    "texts",
    [
        ("Reds", "Blues", "Greens"),
        ("3", "3", "3"),  # says nothing
        ("3–1", "2–2", "0–4"),
        ("5 ft 11 in", "6 ft 1 in", "5 ft 9 in"),
        ("1", "2", "many", "few"),
        ("5 km", "300 m", "7 miles"),
        ("Boeing 747 jet with four engines", "Airbus 320 jet with two engines", "Airbus 380 jet with four engines"),
        ("—", "?", ""),
    ],
)
def test_columns_without_an_order(texts):
    assert set(ranks(*texts)) == {""}


def test_a_value_in_another_unit_has_no_rank():
    assert ranks("1 km", "2 km", "3 km", "4 km", "900 m") == ["1/4", "2/4", "3/4", "4/4", ""]


def test_limits():
    table = rows(
        [f"C{column}" for column in range(20)], *([f"{line}{column}" for column in range(20)] for line in "12")
    )
    shown = ranked_rows(table, most_columns=3, most_characters=10_000)
    assert all(sorted(row.cells) == [0, 1, 2] for row in shown) and "C2: 12 [1/2]" in shown[0].text
    for most in (20, 60, 61, 62, 63, 64, 65, 120):
        for row in ranked_rows(table, most_characters=most):
            assert len(row.text) <= most and sorted(row.cells) == list(range(len(row.cells))) and row.cells
            assert all(end <= len(row.text) for _, end in row.cells.values())
    (row,) = ranked_rows(rows(["Plot"], ["long " * 200]), most_characters=100)
    assert len(row.text) == 100 and row.cells == {0: (len("Results [1/1], Plot: "), 100)}


# -- real tables -------------------------------------------------------------------------------------------------------


def check(table, counted):
    """What holds of the rows of any table; counts cells and ranks."""
    for place, row in enumerate(ranked_rows(table, "T")):
        assert len(row.text) <= 600 and f"[{place + 1}/{len(table)}]" in row.text
        texts = {cell["column"]: cell["text"] for cell in row.row["cells"]}
        assert list(row.cells) == sorted(texts)[: len(row.cells)]
        for column, (start, end) in row.cells.items():
            counted["cells"] += 1
            assert texts[column].startswith(row.text[start:end]) and (
                end == 600 or row.text[start:end] == texts[column]
            )
            counted["ranked"] += row.text[end : end + 2] == " ["
    counted["rows"] += len(table)


def test_tables_of_the_embedded_pages():
    counted = Counter()
    with closing(WikipediaDump(SNAPSHOT / "wikipedia.db")) as dump:
        for item in dump.items():
            numbers = {evidence["row"]["table"] for evidence in dump.get(item) or () if "row" in evidence}
            for number in sorted(numbers):
                check(dump.table(item, number), counted)
    assert counted["rows"] > 100 and 0.1 < counted["ranked"] / counted["cells"] < 0.7, counted


@pytest.mark.skipif(not DATA.joinpath("hybrid").is_dir(), reason="no shared data; set CONVINSE_DATA")
def test_tables_of_the_shared_data():
    counted = Counter()
    with gzip.open(DATA / "hybrid" / "hybrid-tables.jsonl.gz", "rt", encoding="utf-8") as file:
        for _, line in zip(range(60), file, strict=False):
            table = json.loads(line)
            lines = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in table["rows"])
            head = "".join(f"<th>{name}</th>" for name in table["header"])
            page = parse_page(table["title"], f'<table class="wikitable"><tr>{head}</tr>{lines}</table>')
            item = {"id": "Q1", "label": table["title"]}
            check(whole_rows(page_evidences(page, item, {}), 0), counted)
    assert counted["rows"] > 500 and 0.1 < counted["ranked"] / counted["cells"] < 0.7, counted
