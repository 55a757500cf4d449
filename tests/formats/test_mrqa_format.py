"""The MRQA format: typed reading and writing, checks, contexts that are too long."""

import gzip
import json

import pytest

from case_tables import each_case
from convinse.formats import mrqa
from convinse.formats.mrqa import DetectedAnswer, MrqaExample, MrqaHeader, MrqaQuestion
from convinse.formats.tokens import tokenize
from convinse.support.errors import DataError
from mrqa_files import write_examples
from places import DATA
from refusals import refused
from written import json_lines, write_lines

SAMPLE = DATA / "mrqa-sample" / "NewsQA_sample.jsonl.gz"
CONTEXT = "The answer is 42. 42 is the answer."


def line(**changes):
    question = {
        "qid": "q1",
        "question": "What is it?",
        "question_tokens": [["What", 0], ["is", 5], ["it", 8], ["?", 10]],
        "detected_answers": [{"text": "42", "char_spans": [[14, 15], [18, 19]], "token_spans": [[3, 3], [5, 5]]}],
        "answers": ["42", "forty-two"],
    }
    example = {"context": CONTEXT, "context_tokens": [list(token) for token in tokenize(CONTEXT)], "qas": [question]}
    for key, value in changes.items():
        target = example if key in example else question if key in question else question["detected_answers"][0]
        target[key] = value
    return example


def written(*values):
    return write_lines("data.jsonl", *values)


def unreadable(path, *words):
    return refused(DataError, lambda: list(mrqa.read_examples(path)), *words)


def test_header_and_examples_are_read():
    path = write_lines("data.jsonl.gz", {"header": {"dataset": "A", "split": "dev", "x": 1}}, line())
    assert mrqa.read_header(path) == MrqaHeader("A", "dev", {"x": 1})
    (example,) = mrqa.read_examples(path)
    (question,) = example.qas
    assert question.detected_answers == [DetectedAnswer("42", [(14, 15), (18, 19)], [(3, 3), (5, 5)])]
    assert question.answers == ["42", "forty-two"] and example.context_tokens[3] == ("42", 14)
    ((_, question, _),) = mrqa.read_plain(path)
    assert (question.qid, question.answers) == ("q1", ["42", "forty-two"])


def test_header_and_answers_may_be_missing():
    path = written({"context": "a", "qas": [{"qid": "q", "question": "b"}]})
    assert mrqa.read_header(path) is None
    assert [*mrqa.read_examples(path)] == [MrqaExample("a", [MrqaQuestion("q", "b")])]
    assert mrqa.read_header(written()) is None


def test_unknown_keys_of_every_level_are_written_back():
    record = line()
    record["extra"] = {"a": [None]}
    record["qas"][0]["is_impossible"] = False
    record["qas"][0]["extras"] = 1
    record["qas"][0]["detected_answers"][0]["answer_start"] = 14
    header = {"header": {"dataset": "A", "split": "", "more": [1]}}
    path = written(header, record)
    out = path.with_name("out.jsonl")
    write_examples(out, mrqa.read_examples(path), mrqa.read_header(path))
    assert json_lines(out) == [header, record]
    again = path.with_name("again.jsonl.gz")
    write_examples(again, mrqa.read_examples(out), mrqa.read_header(out))
    assert gzip.decompress(again.read_bytes()) == out.read_bytes()


@each_case("mrqa", "fault")
def test_fault_of_a_record_names_the_file_line_and_qid(case):
    unreadable(written({"header": {}}, line(qid="q0"), line(**case["change"])), "data.jsonl:3", *case["fault"])


TWICE = {**line(), "qas": line()["qas"] * 2}


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([{"qas": []}], [":1:", "context"]),
        ([line(), "{broken"], [":2:", "not valid JSON"]),
        ([line(), line(qid="other"), line()], [":3:", "'q1' appears twice", "line 1"]),
        ([TWICE], [":1:", "appears twice"]),
    ],
)
def test_fault_of_a_line_names_the_line(lines, words):
    unreadable(written(*lines), *words)


def test_validate_goes_on_after_a_problem():
    path = written(
        {"header": {"dataset": "A", "split": "dev"}}, "{", line(char_spans=[[0, 99]]), line(), line(qid="q2", qas=[]),
        {"header": {}}, line(qid="q3"),
    )  # fmt: skip
    report = mrqa.validate(path)
    assert [problem.partition(": ")[0].rpartition(":")[2] for problem in report.problems] == ["2", "3", "4", "6"]
    assert report.summary == {
        "format": "mrqa", "header": ["A", "dev"], "contexts": 4, "questions": 3, "answers": 3, "spans": 5
    }  # fmt: skip


@each_case("mrqa", "problem")
def test_validation_finds_a_problem(case):
    (problem,) = mrqa.validate(written(line(**case["change"]))).problems
    assert all(word in problem for word in case["problem"]), problem


@each_case("mrqa", "warning")
def test_validation_warns(case):
    report = mrqa.validate(written(line(**case["change"])))
    assert report.problems == [] and all(word in report.warnings[0] for word in case["warning"]), report


@pytest.mark.skipif(not SAMPLE.exists(), reason="needs the shared data")
def test_sample_is_valid_and_comes_back_as_it_was(workdir):
    report = mrqa.validate(SAMPLE)
    assert (report.problems, report.warnings) == ([], [])
    assert (report.summary["contexts"], report.summary["questions"]) == (3, 17)
    write_examples(workdir / "out.jsonl", mrqa.read_examples(SAMPLE))
    before = [json.loads(text) for text in gzip.decompress(SAMPLE.read_bytes()).splitlines()]
    assert json_lines(workdir / "out.jsonl")[1:] == before
