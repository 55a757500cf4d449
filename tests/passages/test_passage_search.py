import json
from itertools import pairwise

import numpy as np
import pytest

from case_tables import each_case
from convinse.formats.poleval.questions import SearchQuestion, read_questions
from convinse.formats.poleval.runs import Passage, write_run
from convinse.passages.build import build_index
from convinse.passages.index import PassageIndex
from convinse.passages.layout import Parameters
from convinse.passages.search import candidate_evidences, indexes_of, search
from convinse.support.errors import DataError, IndexFileError, OutputError
from written import write

ROWS = [(f"p{n}", "kot pies koń ryba"[: 3 + n], f"Tytuł {n}") for n in range(12)]


@pytest.fixture
def folder(corpus, tmp_path):
    for name in ("one", "two"):
        rows = ROWS if name == "one" else [("x1", "kot"), ("x2", "pies")]
        build_index(corpus(rows), tmp_path / "sets" / name, Parameters("pl"))
    return tmp_path / "sets"


def test_questions_of_both_formats(tmp_path):
    lines = write(tmp_path / "q.jl", '{"id": "7", "text": "Kto?", "more": 1}\n\n{"id": "8", "text": "Co?"}\n')
    assert read_questions(lines) == [SearchQuestion("7", "Kto?"), SearchQuestion("8", "Co?")]
    table = write(tmp_path / "in.tsv", 'one\tKto „to" jest?\r\ntwo\tCo?')
    assert read_questions(table) == [SearchQuestion("1", 'Kto „to" jest?', "one"), SearchQuestion("2", "Co?", "two")]


@each_case("search_questions")
def test_questions_that_cannot_be_read(tmp_path, case):
    with pytest.raises(DataError, match=case["says"]):
        read_questions(write(tmp_path / "q", case["text"]))


def test_questions_of_another_encoding_are_refused(tmp_path):
    with pytest.raises(DataError, match="r:2: is not UTF-8"):
        read_questions(write(tmp_path / "r", b"one\ta\none\t\xff\n"))


def found(folder, questions, *options, **more):
    return list(search(indexes_of(folder, questions), questions, *options, **more))


def test_sets_are_routed_by_their_name(folder):
    questions = list(map(SearchQuestion, "123", ("kot", "koty", "pies"), ("two", "one", "two")))
    answers = found(folder, questions, top=1)
    assert [question for question, _, _ in answers] == questions
    assert [passages[0][1].id for _, passages, _ in answers] == ["x1", "p0", "x2"]
    assert found(folder / "two", [SearchQuestion("4", "kot", "any")])[0][1][0][1].id == "x1"


@pytest.mark.parametrize(
    ("name", "fault"),
    [("tow", "no index for the set 'tow'; did you mean 'two'"), (None, "no index for questions without a set")],
)
def test_a_question_without_an_index_is_refused(folder, name, fault):
    with pytest.raises(IndexFileError, match=fault):
        indexes_of(folder, [SearchQuestion("1", "kot", "one"), SearchQuestion("4", "kot", name)])


def test_exactly_ten_ids_if_there_are_ten_passages(folder, tmp_path):
    questions = list(map(SearchQuestion, "123", ("kot", "nieznane", "kot"), ("one", "one", "two")))
    write_run(tmp_path / "out.tsv", found(folder, questions), "poleval")
    rows = [line.split("\t") for line in (tmp_path / "out.tsv").read_text().splitlines()]
    assert [len(row) for row in rows] == [10, 10, 2] and all(len(set(row)) == len(row) for row in rows)
    assert rows[2] == ["x1", "x2"] and rows[1] == [f"p{n}" for n in range(10)]
    write_run(tmp_path / "out.trec", found(folder, questions), "trec")
    assert {line.split()[0] for line in (tmp_path / "out.trec").read_text().splitlines()} == {"1", "3"}


def test_a_reranker_orders_the_candidates(folder):
    sizes = []

    def longest(queries, evidences, top):
        sizes.extend(map(len, evidences))
        scored = [[{**evidence, "score": len(evidence["evidence_text"])} for evidence in row] for row in evidences]
        return [sorted(row, key=lambda evidence: -evidence["score"])[:top] for row in scored]

    questions = [SearchQuestion(str(n), "kot pies", "one") for n in range(40)]
    answers = found(folder, questions, 3, longest, candidates=5)
    assert len(answers) == 40 and sizes == [5] * 40
    candidates = candidate_evidences(PassageIndex(folder / "one"), "kot pies", 5)
    lengths = sorted((len(evidence["evidence_text"]) for evidence in candidates), reverse=True)
    assert [score for score, _ in answers[0][1]] == lengths[:3]
    _, best = answers[0][1][0]
    assert f"{best.title}, {best.text}" in {evidence["evidence_text"] for evidence in candidates}


ANSWER = (
    SearchQuestion("q1", "Kto?", "one"),
    [(2.0, Passage("a", "Tekst", "T")), (1.5, Passage("b", "x")), (1.5, Passage("c", "y"))],
    ["z"],
)


def test_formats(tmp_path):
    write_run(tmp_path / "p", [ANSWER], "poleval")
    assert (tmp_path / "p").read_text() == "a\tb\tc\tz\n"
    write_run(tmp_path / "t", [ANSWER], "trec")
    assert (tmp_path / "t").read_text().splitlines() == [
        "q1 Q0 a 1 2 convinse", "q1 Q0 b 2 1.5 convinse", "q1 Q0 c 3 1.49999988 convinse",
    ]  # fmt: skip
    write_run(tmp_path / "j", [ANSWER], "jsonl")
    record = json.loads((tmp_path / "j").read_text())
    assert (record["id"], record["set"], record["text"]) == ("q1", "one", "Kto?")
    assert record["passages"][0] == {"id": "a", "score": 2.0, "title": "T", "text": "Tekst"}


def test_scores_of_a_trec_run_fall_also_as_32_bit_floats(tmp_path):
    scores = [50.1] * 30 + [50.1 - 1e-9, 0.0, -3e8]
    passages = [(score, Passage(f"p{place:02}", "x")) for place, score in enumerate(scores)]
    write_run(tmp_path / "t", [(ANSWER[0], passages, [])], "trec")
    lines = [line.split() for line in (tmp_path / "t").read_text().splitlines()]
    written = [np.float32(line[4]) for line in lines]
    assert all(before > after for before, after in pairwise(written)) and written[-1] == np.float32(-3e8)
    assert [line[2] for line in lines] == [passage.id for _, passage in passages]


def test_an_output_is_replaced_with_force_only(tmp_path):
    write_run(tmp_path / "p", [ANSWER], "poleval")
    with pytest.raises(OutputError, match="exists already; --force replaces it"):
        write_run(tmp_path / "p", [], "poleval")
    write_run(tmp_path / "p", [], "poleval", force=True)
    assert (tmp_path / "p").read_text() == ""
    with pytest.raises(OutputError, match="is a folder"):
        write_run(tmp_path, [], "poleval", force=True)
