"""The readers of data sets, each on a few lines in its format."""

import pytest

from recipes.embedded import reading
from recipes.embedded.data_sets import DATA_SETS, YES_NO_SETS
from recipes.embedded.examples import part_of_key
from recipes.embedded.sets import examples_of_set
from recipes.embedded.statements import of_set
from recipes.embedded.tables import verbalised
from written import write_lines


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of data without MRQA files."""
    monkeypatch.setattr(reading, "READING_FILES", {})
    return tmp_path


def write_files(folder, declared, *lines):
    """Write the files of a set."""
    for file, of_file in zip(declared.files, lines, strict=True):
        write_lines(folder / file, *of_file)


def marked(candidate):
    return [candidate.text[start:end] for start, end in candidate.spans]


def test_every_set_has_its_files_content_and_licence():
    for declared in (*DATA_SETS.values(), *YES_NO_SETS.values()):
        assert declared.content and declared.licence
    without = {declared.format for declared in DATA_SETS.values() if not declared.files}
    assert without == {"mismatched", "articles", "conversations"}


def test_lines_are_read_without_the_blanks_of_tokens(folder):
    texts = [f"Ada Lovelace ( born {year} ) wrote notes ." for year in (1815, 1816, 1817)]
    lines = [
        {"title": "Ada", "context": text, "question": f"when {n}", "answer": text[20:24], "answer_start": 20}
        for n, text in enumerate(texts)
    ]
    write_files(folder, DATA_SETS["qed"], lines)
    made = list(examples_of_set("qed", folder, 1))
    assert [marked(example.candidates[0]) for example in made] == [["1815"], ["1816"], ["1817"]]
    assert made[0].candidates[0].text == "Ada Lovelace (born 1815) wrote notes."
    assert all(len(example.candidates) > 1 and example.key == "Ada" for example in made)


def test_supporting_paragraphs_come_before_distracting_ones(folder):
    page = {"title": "The Hunt", "text": "The Hunt is a film.", "supporting": True}
    other = {"title": "The Hunter", "text": "It is long. " * 200, "supporting": False}
    other["title"] = next(f"H{n}" for n in range(99) if part_of_key(f"H{n}") == part_of_key("The Hunt"))
    line = {"question": "what is it", "paragraphs": [other, page]}
    write_files(folder, DATA_SETS["multihop_paragraphs"], [line], [])
    (example,) = examples_of_set("multihop_paragraphs", folder, 1)
    right, wrong = example.candidates
    assert right.text == "The Hunt, The Hunt is a film." and right.relevant and not right.readable
    assert len(wrong.text) <= 1000 and wrong.text.endswith("It is long.") and not wrong.relevant


TABLE = {"title": "Cups (sport)", "header": ["Year", "Winner"], "rows": [["1990", "Ajax"], ["1991", "Porto"]]}


def test_cells_that_answer_are_marked_in_their_row(folder):
    lines = ["id\tutterance\tcontext\ttargetValue", "1\twho won in 1991?\tt1\tporto", "2\thow many cups?\tt1\t1990"]
    write_files(folder, DATA_SETS["tables"], [{**TABLE, "context": "t1"}], lines)
    (example,) = examples_of_set("tables", folder, 1)
    right, wrong = example.candidates
    assert marked(right) == ["Porto"] and "1991" in right.text and "Ajax" in wrong.text
    assert example.key == "t1" and example.group == "tables:t1"
    assert {row.number for row in verbalised(TABLE["title"], TABLE["header"], TABLE["rows"]).shown} == {0, 1}


def test_rows_are_relevant_that_lead_to_a_passage_and_read_if_they_hold_the_answer(folder):
    nodes = [{"row": 1, "col": 1, "where": "table"}, {"row": 0, "col": 1, "where": "passage", "link": "/wiki/Ajax"}]
    lines = [
        {"question": f"who {n}", "answer": "Porto", "table_id": "t1", "answer_nodes": [node]}
        for n, node in enumerate(nodes)
    ]
    table = {**TABLE, "table_id": "t1", "section": "Finals"}
    write_files(folder, DATA_SETS["hybrid_rows"], [table], lines)
    write_files(folder, DATA_SETS["tables"], [{**TABLE, "title": "another"}], [])
    read, ranked = (example.candidates[0] for example in examples_of_set("hybrid_rows", folder, 1))
    assert marked(read) == ["Porto"] and read.readable
    assert "Ajax" in ranked.text and ranked.relevant and not ranked.readable and not ranked.spans


def test_statements_about_another_box_are_not_decided(folder):
    boxes = [
        {"title": name, "category": "Person", "attributes": [["Born", [year]]], "hypothesis": f"{name} was born.", "label": "entailed"}
        for name, year in (("Basquiat Senior", "1960"), ("Winslet Junior", "1975"))
    ]  # fmt: skip
    write_files(folder, YES_NO_SETS["infotabs"], boxes * 60)
    rows = list(of_set("infotabs", folder))
    assert {(row.key in row.passage, row.yes) for row in rows} == {(True, 1.0), (False, 0.5)}


def test_pairs_are_decided_by_the_rows_nearest_to_them(folder):
    row = {"table_id": "1", "title": "cups", "url": "https://en.wikipedia.org/wiki/Cups_(sport)",
           "header": ["year", "winner"], "rows": [[str(year), f"team {year}"] for year in range(1990, 2000)],
           "true": "team 1991 won in 1991", "false": "team 1992 won in 1991"}  # fmt: skip
    write_files(folder, YES_NO_SETS["tabfact"], [row] + [{**row, "true": f"{n}"} for n in range(9)], [])
    rows = list(of_set("tabfact", folder))
    assert {(each.yes, each.key) for each in rows} == {(1.0, "Cups (sport)"), (0.0, "Cups (sport)")}
    false = next(each for each in rows if not each.yes)
    assert (
        "cups, year is 1991, winner is team 1991. cups, year is 1992" in false.passage and "1999" not in false.passage
    )
