import json
from pathlib import Path

import pytest

from convinse.formats.convmix import read_measurable
from convinse.scoring.convqa import evaluate, measure_anew
from convinse.scoring.trec import document_id, write_trec
from convinse.support.errors import DataError, OutputError, ScoringError
from finished import conversation, evidence, turn
from written import write_lines

RIGHT, WRONG, OTHER = evidence("right", "Q2", "Q1"), evidence("wrong", "Q2"), evidence("other")


def ids(*evidences):
    return [document_id(one) for one in evidences]


def lines(path):
    return [line.split() for line in Path(path).read_text().splitlines()]


def two_runs():
    """The first finds the answer at place 2 and never; the second at place 1 and has no evidence for q2."""
    first = conversation("c", turn("q1", evidences=[WRONG, RIGHT]), turn("q2", evidences=[OTHER]))
    second = conversation("c", turn("q1", evidences=[RIGHT, OTHER, WRONG]), turn("q2"))
    return [write_lines("results/one/kb/turns.jsonl", first), write_lines("results/two/kb/turns.jsonl", second)]


def test_the_id_of_a_document_is_made_of_its_source_and_text():
    assert document_id(RIGHT) == document_id({**evidence("right"), "score": 3.5})
    assert len({*ids(RIGHT, WRONG, evidence("right", source="text"))}) == 3
    assert document_id(evidence("x", source="infobox")) == document_id(evidence("x", source="info"))
    assert document_id(RIGHT) == "kb-77dca6f36cf069af"  # in earlier files, too


def test_runs_and_the_qrels_of_them_all():
    result = write_trec(two_runs(), Path("trec"))
    assert result == {
        "qrels": "trec/qrels.txt", "num_questions": 2, "num_judged": 4, "num_relevant": 1,
        "runs": {"one-kb": "trec/one-kb.run.txt", "two-kb": "trec/two-kb.run.txt"},
    }  # fmt: skip
    right, wrong, other = ids(RIGHT, WRONG, OTHER)
    assert lines("trec/one-kb.run.txt") == [
        ["q1", "Q0", wrong, "1", "2", "one-kb"], ["q1", "Q0", right, "2", "1", "one-kb"],
        ["q2", "Q0", other, "1", "1", "one-kb"],
    ]  # fmt: skip
    assert [line[2:5] for line in lines("trec/two-kb.run.txt")] == [
        [right, "1", "3"], [other, "2", "2"], [wrong, "3", "1"],
    ]  # fmt: skip
    judged = [["q1", "0", right, "1"], ["q1", "0", wrong, "0"], ["q1", "0", other, "0"], ["q2", "0", other, "0"]]
    assert sorted(lines("trec/qrels.txt")) == sorted(judged)


def test_ir_measures_reads_them_and_agrees_with_the_pipeline():
    ir_measures = pytest.importorskip("ir_measures")
    presence, reciprocal = ir_measures.Success @ 100, ir_measures.RR
    # two questions more: one without evidence in either run, one found by both
    more = [conversation("d", turn("q3"), turn("q4", evidences=[OTHER, WRONG, RIGHT]))]
    paths = [write_lines(path, *map(json.loads, path.read_text().splitlines()), *more) for path in two_runs()]
    write_trec(paths, Path("trec"))
    qrels = list(ir_measures.read_trec_qrels("trec/qrels.txt"))
    for name, path, expected in (("one", paths[0], (1 / 2 + 1 / 3) / 4), ("two", paths[1], (1 + 1 / 3) / 4)):
        run = list(ir_measures.read_trec_run(f"trec/{name}-kb.run.txt"))
        found = ir_measures.calc_aggregate([presence, reciprocal], qrels, run)
        assert found[reciprocal] == pytest.approx(expected)
        conversations = read_measurable(path)
        measure_anew(conversations)
        assert found[presence] == evaluate(conversations)["answer_presence"] == 0.5


def test_an_evidence_is_relevant_when_its_entities_of_one_run_hold_an_answer():
    knows = write_lines("knows.jsonl", conversation("c", turn("q", evidences=[evidence("same", "Q1")])))
    knows_not = write_lines("not.jsonl", conversation("c", turn("q", evidences=[evidence("same", "Q3")])))
    for paths in ([knows, knows_not], [knows_not, knows]):
        assert write_trec(paths, Path("trec"), force=True)["num_relevant"] == 1
        assert [line[3] for line in lines("trec/qrels.txt")] == ["1"]


def test_an_evidence_that_comes_twice_has_its_first_place():
    write_trec([write_lines("a.jsonl", conversation("c", turn("q", evidences=[WRONG, RIGHT, WRONG])))], Path("trec"))
    assert [line[2:5] for line in lines("trec/a.run.txt")] == [
        [document_id(WRONG), "1", "2"], [document_id(RIGHT), "2", "1"],
    ]  # fmt: skip


def test_a_question_that_no_run_has_evidence_for_is_judged_all_the_same():
    write_trec([write_lines("a.jsonl", conversation("c", turn("q")))], Path("trec"))
    assert lines("trec/qrels.txt") == [["q", "0", "none", "0"]] and lines("trec/a.run.txt") == []


def test_nothing_is_replaced_without_force_and_nothing_written_by_halves():
    paths = two_runs()
    write_trec(paths, Path("trec"))
    Path("trec/qrels.txt").write_text("mine")
    with pytest.raises(OutputError, match="exists already; --force replaces it"):
        write_trec(paths, Path("trec"))
    paths[1].write_text(paths[1].read_text() + "half")
    with pytest.raises(DataError, match="turns.jsonl:2: not valid JSON"):
        write_trec(paths, Path("trec"), force=True)
    assert Path("trec/qrels.txt").read_text() == "mine"
    assert sorted(path.name for path in Path("trec").iterdir()) == ["one-kb.run.txt", "qrels.txt", "two-kb.run.txt"]


def refused(error, fault, *conversations):
    paths = [write_lines(f"run{number}.jsonl", one) for number, one in enumerate(conversations)]
    with pytest.raises(error, match=fault):
        write_trec(paths, Path("trec"))
    assert not list(Path("trec").glob("*"))


def test_runs_that_cannot_be_pooled():
    one = conversation("c", turn("q"))
    refused(ScoringError, "run0.jsonl: 1 of the 2 questions of run1", one, conversation("c", turn("q"), turn("r")))
    refused(DataError, "question 'a b': white space in a question_id", conversation("c", turn("a b")))
    without = {key: value for key, value in turn("q").items() if key != "top_evidences"}
    refused(DataError, "conversation 'c', turn 0: .*`top_evidences`", conversation("c", without))
    refused(DataError, "an evidence has the source 'web'", conversation("c", turn("q", evidences=[evidence("x", source="web")])))  # fmt: skip
    path = write_lines("results/one/kb/turns.jsonl", one)
    with pytest.raises(ScoringError, match="a run of the name 'one-kb' is given already"):
        write_trec([path, path], Path("trec"))


def test_evidences_of_other_systems_need_text_source_and_entities_only():
    theirs = {key: RIGHT[key] for key in ("evidence_text", "source", "wikidata_entities")}
    several = {**theirs, "retrieved_for_entity": [{"id": "Q1", "label": "Q1"}]}  # as EXPLAIGNN writes it
    file = write_lines("theirs.jsonl", conversation("c", turn("q1", evidences=[several])))
    assert write_trec([file], Path("trec"))["num_relevant"] == 1
    del several["evidence_text"]
    file = write_lines("theirs.jsonl", conversation("c", turn("q1", evidences=[several])))
    with pytest.raises(DataError, match="theirs.jsonl: question 'q1': an evidence has no 'evidence_text' string"):
        write_trec([file], Path("other"))
