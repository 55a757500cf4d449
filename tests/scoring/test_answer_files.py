"""Files of answers, predictions and probabilities; the faulty ones are in tests/cases/unscorable.yml."""

import gzip
import json

import pytest

from case_tables import each_case
from convinse.scoring import answer_files
from convinse.scoring.answer_files import paired_files, read_mrqa_answers, read_squad_references, read_triples
from convinse.support.errors import DataError
from written import write

HEADER = '{"header": {"dataset": "x", "split": "dev"}}'


def context(*questions):
    qas = [{"qid": qid, "question": "?", "answers": list(answers)} for qid, answers in questions]
    return json.dumps({"context": "c", "qas": qas})


def written(content):
    return write("file", content)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("header", [HEADER + "\n", ""])
def test_mrqa_with_and_without_header_and_compression(pack, header):
    text = header + context(("q1", ["x", "y"]), ("q2", [])) + "\n\n" + context(("q3", ["책"]))
    assert read_mrqa_answers(written(pack(text.encode()))) == {"q1": ["x", "y"], "q2": [], "q3": ["책"]}


def test_squad_and_klue_questions():
    answers = [{"text": "x", "answer_start": 3}, {"text": "y", "answer_start": 3}]
    questions = (
        {"id": "squad", "question": "?", "answers": answers, "is_impossible": False},
        {"id": "impossible", "question": "?", "answers": [], "plausible_answers": answers, "is_impossible": True},
        {"guid": "klue", "question": "?", "answers": answers[:1], "question_type": 1, "is_impossible": False},
        {"id": "old", "question": "?", "answers": answers[:1]},
        {"id": "old-without", "question": "?", "answers": []},
    )
    expected = {
        "squad": (["x", "y"], False), "impossible": ([], True), "klue": (["x"], False),
        "old": (["x"], False), "old-without": ([], True),
    }  # fmt: skip
    paragraph = {"context": "c", "qas": list(questions)}
    content = json.dumps({"version": "v2.0", "data": [{"title": "t", "paragraphs": [paragraph]}]})
    assert read_squad_references(written(content)) == expected
    assert read_squad_references(written(gzip.compress(content.encode()))) == expected


@each_case("unscorable", "file")
def test_a_faulty_file_is_named_with_line_or_question(case):
    with pytest.raises(DataError, match="file.*" + case["fault"]):
        getattr(answer_files, f"read_{case['read']}")(written(case["file"]))


@pytest.mark.parametrize(
    "form",
    [
        json.dumps,
        lambda triples: json.dumps(triples, indent=1),
        lambda triples: "\n".join(map(json.dumps, triples)),
        lambda triples: "\n".join(map(json.dumps, triples)) + "\n\n",
    ],
)
@pytest.mark.parametrize("count", [1, 2])
def test_triples_as_list_or_lines(form, count):
    triples = [{"id": f"q{n}", "prediction_text": "x\ny", "no_answer_probability": 0.5} for n in range(count)]
    assert read_triples(written(form(triples))) == triples


def test_texts_by_id_as_triples():
    for text in ('{"a": "x", "b": ""}', '{\n "a": "x",\n "b": ""\n}'):
        assert read_triples(written(text)) == [{"id": "a", "prediction_text": "x"}, {"id": "b", "prediction_text": ""}]


def test_folders_are_paired_by_name(tmp_path):
    data, predictions = tmp_path / "data", tmp_path / "predictions"
    data.mkdir()
    with pytest.raises(DataError, match="cannot be listed.*predictions"):
        paired_files(data, predictions)
    predictions.mkdir()
    with pytest.raises(DataError, match=r"no NAME\.jsonl"):
        paired_files(data, predictions)
    for name in ("B.jsonl.gz", "A.v2.jsonl", "README.md"):
        (data / name).touch()
    for name in ("A.v2.json", "B.json", "notes.txt"):
        (predictions / name).touch()
    assert paired_files(data, predictions) == {
        "A.v2": (data / "A.v2.jsonl", predictions / "A.v2.json"),
        "B": (data / "B.jsonl.gz", predictions / "B.json"),
    }
    (predictions / "C.json").touch()
    with pytest.raises(DataError, match=r"C\.json: there is no C\.jsonl"):
        paired_files(data, predictions)
    (data / "C.jsonl").touch()
    (predictions / "B.json").unlink()
    with pytest.raises(DataError, match=r"B\.json: there are no predictions for .*B\.jsonl\.gz"):
        paired_files(data, predictions)
