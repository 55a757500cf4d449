"""Questions for several things are answered from all files of a folder, not from the passages that were found."""

import pytest

from case_tables import cases
from convinse import Pipeline, load_config
from convinse.documents.index import settings_over
from convinse.documents.update import update
from convinse.heterogeneous_answering.computed import computed_answers
from convinse.heterogeneous_answering.question import questions_of
from convinse.heterogeneous_answering.tables.of_documents import document_tables
from convinse.heterogeneous_answering.tables.table import whole_tables
from places import ROOT

FOLDERS = cases("lists")


@pytest.fixture(scope="module", params=range(len(FOLDERS)))
def folder(request, tmp_path_factory):
    """A folder of files with its questions, and a pipeline over it."""
    base, case = tmp_path_factory.mktemp("lists"), FOLDERS[request.param]
    for name, text in case["files"].items():
        (base / "files" / name).parent.mkdir(parents=True, exist_ok=True)
        (base / "files" / name).write_text(text)
    update(base / "index", [base / "files"], None)
    with Pipeline(load_config("lexical.yml", **settings_over(base / "index"))) as pipeline:
        yield case, pipeline


def test_everything_is_filtered_and_counted(folder):
    case, pipeline = folder
    for expected in case["questions"]:
        turn = pipeline.session("kb_text_table_info").ask(expected["ask"])
        if "says" in expected:
            assert turn["pred_answers"][0]["answer"]["label"] == expected["says"], expected
            continue
        question = questions_of([turn], pipeline.resources)[0]
        tables = [*whole_tables(question), *document_tables(question)]
        results = {result.operation: result for result in computed_answers(question, tables)}
        operation = next(
            (name for name in ("list", "count", "sum", "order", "entry", "cell") if name in expected), None
        )
        if operation is None:
            assert not results, expected
            continue
        assert operation in results, expected
        result = results[operation]
        found = [entity["label"] for entity, _ in result.members] or [result.entity["label"]]
        gold = expected[operation]
        assert sorted(found) == sorted(gold if isinstance(gold, list) else [gold]), expected
        if "rows" in expected:
            extent = {key: value for key, value in expected.items() if key in ("rows", "files", "unjudged")}
            assert {key: value for key, value in result.extent.items() if key != "lacking"} == extent, expected


def test_each_member_of_a_list_is_cited_and_the_sentence_says_of_how_much(folder):
    case, pipeline = folder
    if "invoices/january.csv" not in case["files"]:
        return
    turn = pipeline.session("kb_text_table_info").ask("which invoices are from before February 2025?")
    listed = [answer for answer in turn["pred_answers"] if answer.get("list")]
    assert [answer["answer"]["label"] for answer in listed] == ["R-101", "R-102"]
    for answer in listed:
        (place,) = answer["evidences"]
        assert answer["answer"]["label"] in turn["top_evidences"][place]["evidence_text"]
    assert turn["extent"] == {"rows": 2, "files": 1, "unjudged": 1, "lacking": "Date"}
    assert "R-101 and R-102 (2 rows of 1 file; 1 row without “Date”)" in turn["sentence"]


def test_a_conversation_goes_on_with_a_list(tmp_path):
    update(tmp_path, [ROOT / "examples" / "contracts"], None)
    questions = [
        ("Which contracts end before March 2025?", "Contract with Acker and Contract with Dunmore (2 rows of 2 files)"),
        ("How many invoices are not paid?", "4 (4 rows of 2 files)"),
        ("only those of Acker", "2 (2 rows of 2 files)"),
        ("What do they come to together?", "3,000 (2 rows of 2 files)"),
        ("which ones?", "2404 and 2502 (2 rows of 2 files)"),
    ]
    with Pipeline(load_config("config.yml", **settings_over(tmp_path))) as pipeline:
        session = pipeline.session("kb_text_table_info")
        for question, said in questions:
            assert session.ask(question).get("sentence", "").startswith(said), question
