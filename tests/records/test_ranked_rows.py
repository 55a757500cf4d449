"""Rows of a table as text that says where each stands among the others; columns are in tests/cases/ranked_columns.yml."""

import copy
from collections import Counter
from contextlib import closing

from case_tables import each_case
from convinse.records.evidence import check_evidence
from convinse.records.ranked_rows import as_read, in_evidence, ranked_rows, spans_as_read, with_ranks
from convinse.wikipedia.dump import WikipediaDump
from convinse.wikipedia.page import page_evidences, parse_page, with_ranked_rows
from evidences import evidence, texts
from places import SNAPSHOT


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


def marks(*texts):
    """The mark of each cell of a column, without its brackets; empty without one."""
    made = ranked_rows(rows(["X"], *([text] for text in texts)))
    return [row.text[row.cells[0][1] :].strip(" []") if row.cells else "" for row in made]


def test_a_row_says_where_it_stands():
    table = rows(["Year", "Team", "Wins"], ["1954", "Reds", "12"], ["1950", "Blues", "1,200"], ["1954", "Greens", "3"])
    original = copy.deepcopy(table)
    made = ranked_rows(table, "Cup")
    assert table == original
    assert [row.text for row in made] == [
        "Cup, Results [first] (before Blues), Year: 1954 [latest], Team: Reds, Wins: 12",
        "Cup, Results (after Reds, before Greens), Year: 1950 [earliest], Team: Blues, Wins: 1,200 [highest]",
        "Cup, Results [last] (after Blues), Year: 1954 [latest], Team: Greens, Wins: 3 [lowest]",
    ]
    assert [row.row for row in made] == with_ranks(table)
    for row, before in zip(made, table, strict=True):
        assert row.lead == len("Cup, Results")
        assert {column: row.text[slice(*span)] for column, span in row.cells.items()} == {
            cell["column"]: cell["text"] for cell in before["cells"]
        }


def test_the_section_stands_for_a_caption_and_the_part_follows():
    (row,) = ranked_rows(rows(["", "Song"], ["1", "Help"], caption="", section="Singles", part="Sixties"))
    assert row.text == "Singles, Sixties, 1, Song: Help"
    assert ranked_rows([]) == []


@each_case("ranked_columns", "ends")
def test_the_lowest_and_highest_values_of_an_ordered_column_are_marked(case):
    names = {"lowest": "low", "earliest": "low", "highest": "high", "latest": "high", "": ""}
    assert [names[mark] for mark in marks(*case["column"])] == case["ends"]


@each_case("ranked_columns", "marks")
def test_dates_have_an_earliest_and_a_latest_numbers_a_lowest_and_a_highest(case):
    assert sorted(marks(*case["named"])) == sorted((*case["marks"], ""))


def test_a_text_holds_no_more_columns_and_characters_than_its_limits():
    header = [f"C{column}" for column in range(20)]
    table = rows(header, *([f"{line}{column}" for column in range(20)] for line in "12"))
    shown = ranked_rows(table, most_columns=3, most_characters=10_000)
    assert all(sorted(row.cells) == [0, 1, 2] for row in shown) and "C2: 12 [lowest]" in shown[0].text
    for most in (40, *range(80, 91), 150, 180, 200):
        for row in ranked_rows(table, most_characters=most):
            assert len(row.text) <= most and row.cells and sorted(row.cells) == list(range(len(row.cells)))
            assert all(end <= len(row.text) for _, end in row.cells.values())
    (row,) = ranked_rows(rows(["Plot"], ["long " * 200]), most_characters=100)
    assert len(row.text) == 100 and row.cells == {0: (len("Results, Plot: "), 100)}


def test_neighbours_are_named_by_the_first_column_without_an_order_that_tells_rows_apart():
    table = rows(["No.", "Kind", "Who"], ["1", "a", "Ann"], ["2", "a", "B" * 50], ["3", "a", None], ["4", "a", "Dan"])
    near = [(row.get("before"), row.get("behind")) for row in with_ranks(table)]
    assert near == [(None, "B" * 40), ("Ann", None), ("B" * 40, "Dan"), (None, None)]
    tied = with_ranks(rows(["Rank", "Day", "Who"], ["=", "06-01", "Ann"], ["2", "06-02", "Bob"], ["=", "06-03", "Cid"]))
    assert [row.get("before") for row in tied] == [None, "Ann", "Bob"]  # words before signs
    years = with_ranks(rows(["Year"], ["1950"], ["1952"]))
    assert [(row.get("before"), row.get("behind")) for row in years] == [(None, "1952"), ("1950", None)]
    assert "before" not in with_ranks(rows(["X"], ["a"], ["a"], ["a"]))[1]


PAGE = """<h2>Career</h2><table class="wikitable"><caption>Films</caption><tr><th>Year</th><th>Film, or show</th><th>Gross</th></tr>
<tr><td>1995</td><td>Braveheart</td><td>$213</td></tr><tr><td>1997</td><td>Titanic</td><td>$2,264</td></tr>
<tr><td>1989</td><td>Cleopatra, a remake</td><td>$58</td></tr></table><p>She is a film director from Canada.</p>"""
FILMS = [
    "Ann, Films [first] (before Titanic), Year: 1995, Film, or show: Braveheart, Gross: $213",
    "Ann, Films (after Braveheart, before Cleopatra, a remake), Year: 1997 [latest], Film, or show: Titanic, Gross: $2,264 [highest]",
    "Ann, Films [last] (after Titanic), Year: 1989 [earliest], Film, or show: Cleopatra, a remake, Gross: $58 [lowest]",
]


def page(html=PAGE, **options):
    return page_evidences(parse_page("Ann", html, **options), {"id": "Q1", "label": "Ann"}, {})


def test_a_model_reads_rows_as_it_was_trained():
    rows = page()
    ranked = with_ranked_rows(rows)
    assert rows == page()
    assert texts(ranked) == texts(rows)
    for one in ranked:
        check_evidence(one, "here")
        assert as_read(one, "plain") == one["evidence_text"]
    found = [as_read(one, "ranked") for one in ranked]
    films = iter(FILMS)
    assert found == [next(films) if "row" in one else one["evidence_text"] for one in rows] and not [*films]
    assert [as_read(one, "ranked") for one in rows] == texts(rows)  # no ranks are known


def test_parts_are_found_in_the_evidence_and_in_the_text_that_is_read():
    (row,) = (one for one in with_ranked_rows(page()) if "Titanic" in one["evidence_text"])
    text, read = row["evidence_text"], as_read(row, "ranked")
    assert text == "Ann, Films, Year is 1997, Film, or show is Titanic, Gross is $2,264"

    def in_text(part):
        start = read.index(part)
        place = in_evidence(row, "ranked", start, start + len(part))
        return place and text[slice(*place)]

    def in_read(*parts):
        spans = [(text.index(part), text.index(part) + len(part)) for part in parts]
        return [read[slice(*span)] for span in spans_as_read(row, "ranked", spans)]

    for part in ("1997", "Titanic", "itan", "$2,264", "Ann", "Films"):
        assert in_text(part) == part
    assert in_text("1997 [latest]") == "1997"
    assert in_text("[latest], Film, or show: Titanic") == "Titanic"
    assert in_text(read[read.index("1997") : read.index("Titanic") + 7]) == "1997, Film, or show is Titanic"
    assert in_text("Braveheart") is None and in_text("highest") is None and in_text("Gross") is None
    assert in_read("1997", "Titanic", "Ann") == ["1997", "Titanic", "Ann"]
    assert in_read("Year is", "1997, Film", "itan") == ["itan"]
    assert in_evidence(row, "plain", 3, 5) == (3, 5) and in_evidence(evidence("a b"), "ranked", 0, 1) == (0, 1)
    assert spans_as_read(row, "plain", [(3, 5)]) == [(3, 5)] == spans_as_read(evidence("a b c"), "ranked", [(3, 5)])


def test_a_row_that_was_cut_is_read_in_parts_ranked_by_the_whole_table():
    head = "".join(f"<th>H{column}</th>" for column in range(6))
    lines = "".join(
        f"<tr><td>N{row}</td>{''.join(f'<td>{row}{column}</td>' for column in range(5))}</tr>" for row in range(9)
    )
    cut = with_ranked_rows(page(f"<table class=wikitable><tr>{head}</tr>{lines}</table>", max_length=40))
    found = [as_read(one, "ranked") for one in cut if one["row"]["number"] == 8]
    assert len(found) > 1 and all(text.startswith("Ann [last] (after N7), H0: N8, H") for text in found)
    assert sum(text.count("[highest]") for text in found) == 5
    for one in cut:
        for cell in one["row"]["cells"]:
            start = as_read(one, "ranked").index(f": {cell['text']}") + 2
            place = in_evidence(one, "ranked", start, start + len(cell["text"]))
            assert place == (cell["start"], cell["start"] + len(cell["text"]))


def test_evidences_of_others_are_read_as_they_are():
    cell = {"header": "Year", "text": "1997", "entities": [], "start": 5, "column": 0}
    row = {"caption": "", "section": "", "cells": [cell]}
    others = [evidence("Ann, Year is 1997", "table", row=row), evidence("Ann", "table", row={**row, "table": 0})]
    assert with_ranked_rows(others) == others
    assert [as_read(one, "ranked") for one in others] == ["Ann, Year is 1997", "Ann"]
    gone = {**row, "rank": "", "cells": [{**cell, "start": -1}]}
    assert as_read(evidence("Ann, 1997", "table", row=gone), "ranked") == "Ann, 1997"


def tables_of_pages():
    with closing(WikipediaDump(SNAPSHOT / "wikipedia.db")) as dump:
        for item in dump.items():
            numbers = {evidence["row"]["table"] for evidence in dump.get(item) or () if "row" in evidence}
            yield from (dump.table(item, number) for number in sorted(numbers))


def test_tables_of_the_embedded_pages_keep_their_cells_and_some_have_ranks():
    counted = Counter()
    for table in tables_of_pages():
        counted["rows"] += len(table)
        for place, row in enumerate(ranked_rows(table, "T")):
            rank = {0: "[first]", len(table) - 1: "[last]"}.get(place, "") if len(table) > 1 else ""
            assert len(row.text) <= 600 and rank in row.text
            texts = {cell["column"]: cell["text"] for cell in row.row["cells"]}
            assert list(row.cells) == sorted(texts)[: len(row.cells)]
            for column, (start, end) in row.cells.items():
                shown = row.text[start:end]
                assert shown == texts[column] or (end == 600 and texts[column].startswith(shown))
                counted["cells"] += 1
                counted["ranked"] += row.text[end : end + 2] == " ["
    assert counted["rows"] > 100 and 0.02 < counted["ranked"] / counted["cells"] < 0.3, counted
