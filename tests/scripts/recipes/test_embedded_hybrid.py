"""The examples from tables, paragraphs, facts and conversations of `hybrid/`, and the rewrites."""

import gzip
import json
import re
from collections import Counter
from itertools import islice

import pytest

from convinse.support.errors import DataError
from places import DATA
from recipes.embedded import hybrid_tables, hybrid_texts
from recipes.embedded.card import SOURCES
from recipes.embedded.examples import Candidate, Example
from recipes.embedded.hybrid import HYBRID_SETS, ROWS, HybridSet
from recipes.embedded.reading_files import READING_FILES, reading
from recipes.embedded.rewrites import canard
from recipes.embedded.sets import ROW_SETS, TEXT_SETS, builders
from recipes.embedded.tables import Rows, verbalised
from written import write, write_lines

SETS = {record.name: record for record in HYBRID_SETS}
LINES = {"hybrid/hybrid-questions.jsonl": 10**9, "hybrid/hybrid-tables.jsonl": 250, "hybrid/hybrid-passages.jsonl": 400,
         "hybrid/fetaqa.jsonl": 200, "hybrid/tatqa.jsonl": 90, "hybrid/aitqa.jsonl": 10**9, "hybrid/multihop-paragraphs.jsonl": 150,
         "hybrid/redocred.jsonl": 40, "hybrid/doqa.jsonl": 120, "hybrid/onestopqa.jsonl": 300, "hybrid/canard-dev.jsonl": 300,
         "wikitablequestions/tables.jsonl": 20, **{f"reading/{file.name}.jsonl": 100 for file in READING_FILES},
         "reading/hybridqa-ottqa-passages.jsonl": 10**9, "reading/multihop-supporting.jsonl": 10**9}  # fmt: skip


@pytest.fixture(scope="module")
def data(beginnings):
    folder = beginnings(LINES, ())
    with gzip.open(DATA / "wikidata-27k" / "wikidata-27k.json.gz", "rb") as file:
        dump = b"".join(
            line for line in file if b'"type":"property"' in line[:40] or line == b"[\n"
        )  # items are not read
    write(folder / "wikidata-27k" / "wikidata-27k.json.gz", gzip.compress(dump.rstrip().rstrip(b",") + b"\n]\n", 1))
    return folder


@pytest.fixture(scope="module")
def built(data):
    return {name: list(record.build(data, 5)) for name, record in SETS.items()}


@pytest.fixture
def folder(tmp_path):
    """Shared data whose `reading/` has nothing."""
    for file in READING_FILES:
        write_lines(tmp_path / "reading" / f"{file.name}.jsonl.gz", {"header": {}})
    return tmp_path


def lines(data, name):
    with gzip.open(data / "hybrid" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def plain(text):
    """A text without what differs between files: blanks between tokens, what stands behind a title."""
    return "".join(re.findall(r"\w", text))


def read_of(example):
    return [candidate.text[a:b] for candidate in example.candidates for a, b in candidate.spans]


def only(made):
    (example,) = made
    return example


# -- all sets ----------------------------------------------------------------------------------------------------------


def test_every_set_has_examples_with_negatives(built):
    for name, examples in built.items():
        assert len(examples) > 20, name
        for example in examples:
            texts = [candidate.text for candidate in example.candidates]
            assert example.source == name and example.query.strip() and all(text.strip() for text in texts)
            assert len(set(texts)) == len(texts), (name, example.query)
        assert sum(len(example.candidates) > 1 for example in examples) > 0.9 * len(examples), name


def test_sets_are_read_or_only_ranked_as_their_record_says(built):
    for name, examples in built.items():
        right = [candidate for example in examples for candidate in example.candidates if candidate.relevant]
        assert any(candidate.readable for candidate in right) == SETS[name].read, name
        assert all(bool(candidate.spans) == candidate.readable for candidate in right), name


def test_no_text_is_in_both_parts(built):
    for name, examples in built.items():
        parts = {"train": set(), "dev": set()}
        for example in examples:
            parts[example.part] |= {candidate.text for candidate in example.candidates}
        assert parts["train"] and not parts["train"] & parts["dev"], name


def test_a_text_of_reading_is_in_the_same_part(data, built):
    """The names of these files are titles of Wikipedia."""
    part_of_text = {}
    for file in READING_FILES:
        if file.name in ("hybridqa-ottqa-passages", "multihop-supporting", "tatqa-text"):
            for example in reading(file, data, 5):
                for candidate in example.candidates:
                    for line in candidate.text.splitlines():
                        part_of_text[plain(line)] = example.part
    shared = Counter()
    for name in ("hybrid_passages", "multihop_paragraphs"):
        for example in built[name]:
            for candidate in example.candidates:
                text = plain(candidate.text)
                if text in part_of_text:
                    shared[name, example.part] += 1
                    assert part_of_text[text] == example.part, candidate.text
    assert min(shared[name, part] for name in ("hybrid_passages", "multihop_paragraphs") for part in ("train", "dev")) > 3, shared  # fmt: skip


def test_the_same_seed_gives_the_same_examples(data, built):
    for name, record in SETS.items():
        assert list(record.build(data, 5)) == built[name], name
    assert list(SETS["hybrid_rows"].build(data, 6)) != built["hybrid_rows"]


def test_a_share_of_the_examples_is_learned_from(tmp_path):
    def many(data, seed):
        yield from (Example(f"{n}", (Candidate("x", True), Candidate("y")), "many", "k") for n in range(400))

    half = HybridSet(many, "rows", "", "", "", share=0.5)
    drawn = list(half.examples(tmp_path, 1))
    assert half.name == "many" and 150 < len(drawn) < 250 and drawn == list(half.examples(tmp_path, 1))
    assert drawn != list(half.examples(tmp_path, 2))
    assert len(list(half._replace(share=1.0).examples(tmp_path, 1))) == 400


def test_recipe_and_card_know_the_sets(tmp_path):
    assert SETS.keys() <= builders(tmp_path, tmp_path, 1).keys()
    for record in HYBRID_SETS:
        assert (record.name in ROW_SETS) == (record.kind == ROWS) != (record.name in TEXT_SETS)
        about, licence = SOURCES[record.name]
        assert record.origin in about and licence == record.licence and 0 < record.share <= 1


def test_missing_data_is_named_with_the_remedy(tmp_path):
    for record in HYBRID_SETS:
        with pytest.raises(DataError, match=r"\.gz: no such data; set CONVINSE_DATA"):
            next(iter(record.build(tmp_path, 0)))


# -- tables ------------------------------------------------------------------------------------------------------------

TABLE = {"table_id": "t", "title": "Cup (1990)", "section": "Teams", "header": ["Team", "Wins"],
         "rows": [["Reds", "3"], ["Blues", "5 - 1"], ["Greens", "5"]]}  # fmt: skip


def node(row, col, where="table", link=None):
    return {"row": row, "col": col, "where": where, "link": link}


def hybrid_world(folder, *questions):
    asked = [{"question": text, "answer": answer, "table_id": "t", "answer_nodes": nodes} for text, answer, nodes in questions]  # fmt: skip
    write_lines(folder / "hybrid" / "hybrid-questions.jsonl.gz", *asked)
    write_lines(folder / "hybrid" / "hybrid-tables.jsonl.gz", TABLE)
    other = {"context": "x", "title": "Another page", "header": [], "rows": []}
    write_lines(folder / "wikitablequestions" / "tables.jsonl.gz", other)


def test_rows_have_the_heading_that_their_table_stands_below():
    (row,) = verbalised("Cup (1990)", ["Team"], [["Reds"]], "Teams & more")
    assert row.text == "Cup, Teams & more, Team is Reds" and row.text[slice(*row.cells[0])] == "Reds"


def test_the_row_with_the_answer_is_relevant(folder):
    hybrid_world(
        folder,
        ("who won 3?", "reds", [node(0, 0)]),
        ("how did it win?", "5-1", [node(1, 1)]),
        ("whose town is old?", "Kent", [node(2, 0, "passage", "/wiki/Kent")]),
        ("who won 5?", "5", [node(1, 1), node(2, 1)]),  # nobody knows which
        ("what of the reds?", "Reds", [node(0, 0), node(0, 1)]),  # the row is certain, the cell is not
    )
    made = list(hybrid_tables.hybrid_rows(folder, 1))
    assert [example.candidates[0].text for example in made] == [
        "Cup, Teams, Team is Reds, Wins is 3",
        "Cup, Teams, Team is Blues, Wins is 5-1",
        "Cup, Teams, Team is Greens, Wins is 5",
        "Cup, Teams, Team is Reds, Wins is 3",
    ]
    assert [read_of(example) for example in made] == [["Reds"], ["5-1"], [], []]
    assert all(len(example.candidates) == 3 and example.key == "Cup (1990)" for example in made)


def test_pages_of_wikitablequestions_are_left_out(folder):
    hybrid_world(folder, ("who won 3?", "Reds", [node(0, 0)]))
    assert len(list(hybrid_tables.hybrid_rows(folder, 1))) == 1
    same = {"context": "x", "title": TABLE["title"], "header": [], "rows": []}
    write_lines(folder / "wikitablequestions" / "tables.jsonl.gz", same)
    assert list(hybrid_tables.hybrid_rows(folder, 1)) == []


def test_ranked_rows_and_whole_tables(folder):
    hybrid_world(
        folder, ("how did it win?", "5-1", [node(1, 1)]), ("whose town is old?", "Kent", [node(2, 0, "passage")])
    )
    first, second = hybrid_tables.hybrid_rows(folder, 1, Rows("ranked", 1))
    assert [candidate.text for candidate in first.candidates[:1]] == [
        "Cup, Teams (after Reds, before Greens), Team: Blues, Wins: 5-1"
    ]
    assert read_of(first) == ["5-1"] and len(first.candidates) == len(second.candidates) == 2
    plain_form = list(hybrid_tables.hybrid_rows(folder, 1))
    assert [(example.query, example.key) for example in (first, second)] == [(example.query, example.key) for example in plain_form]  # fmt: skip


def test_all_rows_of_a_table_are_candidates(data, built):
    """In any form, of the same tables and with the same queries and keys, the rows are those of the table."""
    for name in ("hybrid_rows", "fetaqa"):
        whole = list(SETS[name].build(data, 5, Rows("ranked", 20)))
        known = {(example.query, example.key): example for example in built[name]}
        assert (
            len(whole) > 0.95 * len(built[name]) and {(example.query, example.key) for example in whole} <= known.keys()
        )
        assert max(len(example.candidates) for example in whole) > 15
        complete = 0
        for example in whole:
            texts = [candidate.text for candidate in example.candidates]
            ends = [sum(f" [{end}]" in text for text in texts) for end in ("first", "last")]
            assert len(set(texts)) == len(texts) and max(ends) <= 1, texts
            complete += len(texts) >= 20 or ends == [1, 1]
            assert set(read_of(example)) == set(read_of(known[example.query, example.key]))
        assert complete > 0.95 * len(whole)  # else a cell that is asked for had no room: its row is left out


def test_passages_hold_the_answer_and_negatives_do_not(data, built):
    given = {(line["question"], line["answer"]) for line in lines(data, "hybrid-questions")}
    answers = {}
    for question, answer in given:
        answers.setdefault(question, set()).add("".join(answer.split()).casefold())
    for example in built["hybrid_passages"]:
        right, *wrong = ("".join(candidate.text.split()).casefold() for candidate in example.candidates)
        assert any(answer in right for answer in answers[example.query]), example.query
        assert all(len(candidate.text) <= 1000 for candidate in example.candidates)


def test_highlighted_rows_are_relevant(data, built):
    asked = {}
    for line in lines(data, "fetaqa"):
        asked[line["title"], line["question"]] = line
    by_question = {question: line for (_, question), line in asked.items()}
    checked = 0
    for example in built["fetaqa"]:
        line = by_question.get(example.query)
        if line is None:
            continue  # the query names the page, or is a representation
        rows = {row for row, _ in line["highlighted_cells"] if row}
        right = [candidate.text for candidate in example.candidates if candidate.relevant]
        assert right and 1 <= len(rows) <= 5
        for row, column in line["highlighted_cells"]:
            cell = " ".join(line["table"][row][column].split())
            assert not row or not cell or any(cell in text for text in right) or "[" in cell
        checked += 1
    assert checked > 20


def test_the_header_of_a_report_is_joined():
    table = [["", "Year ended", ""], ["(in millions)", "2019", "2018 (4)"], ["Sales:", "", ""], ["Fixed", "$ 1.5", "2"], ["Other", "—", ""], ["Total:", "", ""]]  # fmt: skip
    report = hybrid_tables.financial(table)
    assert report.header == ["(in millions)", "Year ended 2019", "2018 (4)"]
    assert report.rows == [["Fixed", "$ 1.5", "2"], ["Other", "—", ""]]


def question(text, answer, kind="span", source="table", derivation=""):
    return {"question": text, "answer": answer, "answer_type": kind, "answer_from": source, "derivation": derivation}


def test_rows_of_reports(folder):
    table = [["", "2019", "2018"], ["Fixed", "$1,452.4", "7.5"], ["Other", "44.1", "7.5"]]
    asked = [
        question("fixed in 2019?", ["$1,452.4"]), question("in 2018?", ["7.5"]), question("text?", ["44.1"], source="text"),
        question("which?", ["44.1", "7.5"], "multi-span"), question("change of fixed?", 3.0, "arithmetic", "table-text", "1,452.4-44.1"),
        question("share of fixed?", 3.0, "arithmetic", "table", "1,452.4/1452.4"), question("how much fixed?", 1452.4, "arithmetic", "table", "$1,452.4"),
    ]  # fmt: skip
    write_lines(folder / "hybrid" / "tatqa.jsonl.gz", {"table": table, "questions": asked})
    made = list(hybrid_tables.tatqa(folder, 1))
    assert [(example.query, read_of(example)) for example in made] == [
        ("fixed in 2019?", ["$1,452.4"]),
        ("how much fixed?", []),
    ]
    assert made[0].candidates[0].text == "Annual report, Fixed, 2019 is $1,452.4, 2018 is 7.5"


def test_rows_of_airlines(folder):
    table = {"kind": "table", "id": "a", "column_header": [["Year", "2018"], ["Year", "2017"]], "row_header": [["All", "Seats"], ["All", "Fuel"]],
             "data": [["1", "2"], ["3", "$4"]]}  # fmt: skip
    plain = {"kind": "table", "id": "b", "column_header": [["Year"], ["Fuel"]], "row_header": [], "data": [["2018", "7"], ["2017", "8"]]}  # fmt: skip
    asked = [{"kind": "question", "table_id": name, "question": text, "answers": answers}
             for name, text, answers in (("a", "fuel?", ["$4"]), ("b", "fuel of 2018?", ["7"]), ("b", "all?", ["9"]))]  # fmt: skip
    write_lines(folder / "hybrid" / "aitqa.jsonl.gz", table, plain, *asked)
    made = list(hybrid_tables.aitqa(folder, 1))
    assert [example.candidates[0].text for example in made] == [
        "Annual report, All Fuel, Year 2018 is 3, Year 2017 is $4",
        "Annual report, Year is 2018, Fuel is 7",
    ]
    assert [read_of(example) for example in made] == [["$4"], ["7"]]
    write_lines(folder / "hybrid" / "aitqa.jsonl.gz", *asked)
    with pytest.raises(DataError, match=r"aitqa\.jsonl\.gz:1: no table 'a'"):
        list(hybrid_tables.aitqa(folder, 1))


# -- texts -------------------------------------------------------------------------------------------------------------


def test_supporting_paragraphs_against_distracting_ones(data, built):
    supporting = {}
    for line in lines(data, "multihop-paragraphs"):
        for paragraph in line["paragraphs"]:
            text = f"{paragraph['title']}, {paragraph['text']}"
            supporting.setdefault((line["question"], text[:60]), paragraph["supporting"])
    for example in built["multihop_paragraphs"]:
        for candidate in example.candidates:
            assert supporting[example.query, candidate.text[:60]] == candidate.relevant and len(candidate.text) <= 1000


def test_a_fact_finds_the_sentence_that_states_it(folder, monkeypatch):
    labels = {"P569": "date of birth", "P27": "country of citizenship"}
    monkeypatch.setattr(hybrid_texts, "property_labels", lambda data: labels)

    def mention(sentence, first, end):
        return {"sentence": sentence, "tokens": [first, end]}

    line = {
        "title": "Ann Lee",
        "sentences": [["Ann", "Lee", "(", "born", "13", "March", "1963", ")", "sang", "."], ["She", "is", "Welsh", "."], ["It", "rained", "."]],
        "entities": [
            {"type": "PER", "mentions": [mention(0, 0, 2)]}, {"type": "TIME", "mentions": [mention(0, 4, 7)]},
            {"type": "LOC", "mentions": [mention(1, 2, 3)]},
        ],
        "facts": [
            {"subject": 0, "property": "P569", "object": 1, "evidence": [0]},
            {"subject": 0, "property": "P27", "object": 2, "evidence": [0, 1]},
            {"subject": 2, "property": "P9", "object": 0, "evidence": [0]},
        ],
    }  # fmt: skip
    write_lines(folder / "hybrid" / "redocred.jsonl.gz", line)
    example = only(hybrid_texts.redocred(folder, 1))
    assert example.query == " || Ann Lee || date of birth || date" and example.key == "Ann Lee"
    assert [candidate.text for candidate in example.candidates] == [
        "Ann Lee, Ann Lee (born 13 March 1963) sang.",
        "Ann Lee, It rained.",
        "Ann Lee, She is Welsh.",
    ]
    assert read_of(example) == ["13 March 1963"]
    line["facts"][0]["object"] = 9
    write_lines(folder / "hybrid" / "redocred.jsonl.gz", line)
    with pytest.raises(DataError, match=r"redocred\.jsonl\.gz:1: a fact or mention points"):
        list(hybrid_texts.redocred(folder, 1))


def test_spans_of_facts_are_mentions_of_the_object(data, built):
    names = {}
    for line in lines(data, "redocred"):
        mentions = {"".join(mention["name"].split()) for entity in line["entities"] for mention in entity["mentions"]}
        names.setdefault(line["title"], set()).update(mentions)
    checked = 0
    for example in built["redocred"]:
        for text in read_of(example):
            checked += 1
            assert "".join(text.replace('"', "").split()) in {name.replace('"', "").replace("''", "").replace("``", "") for name in names[example.key]}  # fmt: skip
    assert checked > 200


def test_questions_of_the_forum_follow_the_first_and_the_last_turn(tmp_path):
    history = ["a?", "b", "c?", "d", "e?", "f"]
    asked = [
        {"history": history, "question": "why?", "answer": "duck legs", "answer_start": 4},
        {"history": [], "question": "can it be told?", "answerable": True},
        {"history": [], "question": "can it not?", "answerable": False},
    ]
    threads = [{"context": "The duck legs are done.", "questions": asked}]
    write_lines(tmp_path / "hybrid" / "doqa.jsonl.gz", *threads)
    first, second = hybrid_texts.doqa(tmp_path, 1)
    assert first.query == "a? b e? f why?" and read_of(first) == ["duck legs"]
    assert second.query == "can it be told?" and not second.candidates[0].readable
    asked[0]["answer_start"] = 5
    write_lines(tmp_path / "hybrid" / "doqa.jsonl.gz", *threads)
    with pytest.raises(DataError, match=r"doqa\.jsonl\.gz:1: 'duck legs' does not stand"):
        list(hybrid_texts.doqa(tmp_path, 1))


def test_sentences_of_the_evidence_against_the_others(tmp_path):
    context = "Angela found a bottle. It came from the Baltic Sea. A museum has it now."
    line = {"title": "Bottle", "context": context, "question": "from where?", "answer": "the Baltic Sea",
            "evidence": "came from the Baltic Sea", "evidence_start": 26}  # fmt: skip
    write_lines(tmp_path / "hybrid" / "onestopqa.jsonl.gz", line)
    example = only(hybrid_texts.onestopqa(tmp_path, 1))
    assert example.candidates[0].text == "It came from the Baltic Sea." and read_of(example) == ["the Baltic Sea"]
    assert {candidate.text for candidate in example.candidates[1:]} == {
        "Angela found a bottle.",
        "A museum has it now.",
    }
    write_lines(tmp_path / "hybrid" / "onestopqa.jsonl.gz", line | {"evidence_start": 27})
    with pytest.raises(DataError, match=r"onestopqa\.jsonl\.gz:1: the evidence does not stand at character 27"):
        list(hybrid_texts.onestopqa(tmp_path, 1))


# -- rewrites ----------------------------------------------------------------------------------------------------------


def test_rewrites_with_their_history(tmp_path):
    line = {"dialog_id": "C", "turn": 2, "article": "Frank Zappa", "section": "Disbandment", "history": ["What group?", "The Mothers"],
            "question": "When did they?", "rewrite": "When did the Mothers?"}  # fmt: skip
    write_lines(tmp_path / "hybrid" / "canard-dev.jsonl.gz", line)
    rewrite = only(canard(tmp_path))
    assert rewrite.history == ("What group?", "The Mothers") and rewrite.rewrite == "When did the Mothers?"
    assert rewrite.part in ("train", "dev")


@pytest.mark.skipif(not DATA.joinpath("hybrid").is_dir(), reason="no shared data; set CONVINSE_DATA")
def test_rewrites_of_an_article_are_in_one_part():
    rewrites = list(islice(canard(DATA), 3000))
    parts = {}
    for rewrite in rewrites:
        assert parts.setdefault(rewrite.article, rewrite.part) == rewrite.part
        assert len(rewrite.history) % 2 == 0
    assert len(rewrites) == 3000 and set(parts.values()) == {"train", "dev"}
    assert sum(rewrite.question == rewrite.rewrite for rewrite in rewrites) < 0.2 * len(rewrites)
