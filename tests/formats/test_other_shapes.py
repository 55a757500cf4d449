"""Shapes that other programs write; the cases are in tests/cases/formats.yml."""

from pathlib import Path

import pytest

from case_tables import each_case
from convinse.formats import mrqa, squad
from convinse.formats.converters import convert
from convinse.formats.poleval.questions import read_questions
from convinse.passages.build import build_index
from convinse.passages.index import PassageIndex
from convinse.scoring.answer_files import read_mrqa_answers, read_squad_references, read_triples
from convinse.support.errors import DataError
from written import write, write_lines


def squad_file(context, answers, name="q"):
    answers = [{"text": text, "answer_start": start} for text, start in answers]
    qas = [{"id": name, "question": "Which?", "answers": answers, "is_impossible": not answers}]
    return write(
        "squad.json", {"version": "v2.0", "data": [{"title": "T", "paragraphs": [{"context": context, "qas": qas}]}]}
    )


@each_case("formats", "squad")
def test_squad_through_mrqa_keeps_the_annotated_places(case, workdir):
    context, answers = case["squad"]["context"], case["squad"]["answers"]
    convert(squad_file(context, answers), Path("out.jsonl"), "mrqa")
    (example,) = mrqa.read_examples(Path("out.jsonl"))
    assert [[found.text, [*map(list, found.char_spans)]] for found in example.qas[0].detected_answers] == case["mrqa"]
    convert(Path("out.jsonl"), Path("back.json"), "squad")
    ((_, paragraph),) = squad.read_squad(Path("back.json"))[1]
    back = [[answer.text, answer.answer_start] for answer in paragraph.qas[0].answers]
    assert back == [[text, start] for text, spans in case["mrqa"] for start, _ in spans]


@each_case("formats", "passage")
def test_passages_of_other_programs_are_read(case, workdir):
    build_index(write_lines("passages.jsonl", case["passage"]), Path("index"))
    index = PassageIndex(Path("index"))
    (hit,) = index.search("flow", 1)
    (passage,) = index.passages([hit.number])
    assert [hit.id, passage.title, passage.text] == case["is"]


@each_case("formats", "question")
def test_questions_of_other_programs_are_read(case, workdir):
    (question,) = read_questions(write_lines("questions.jsonl", case["question"]))
    assert [question.id, question.text] == case["is"]


@each_case("formats", "number")
def test_ids_that_are_numbers_are_read_as_text(case, workdir):
    name = case["number"]
    context = {"context": "a mill", "qas": [{"qid": name, "question": "?", "answers": ["mill"]}]}
    klue = {
        "context": "a mill",
        "qas": [{"guid": name, "question": "?", "answers": [{"text": "mill", "answer_start": 2}]}],
    }
    path = squad_file("a mill", [["mill", 2]], name).absolute()
    ((_, paragraph),) = squad.read_squad(path)[1]
    assert [*read_squad_references(path)] == [paragraph.qas[0].id] == [str(name)]
    path = write("klue.json", {"data": [{"paragraphs": [klue]}]})
    ((_, paragraph),) = squad.read_squad(path)[1]
    assert [*read_squad_references(path)] == [paragraph.qas[0].id] == [str(name)]
    path = write_lines("mrqa.jsonl", context)
    (example,) = mrqa.read_examples(path)
    assert [*read_mrqa_answers(path)] == [example.qas[0].qid] == [str(name)]
    assert read_triples(write("p.json", [{"id": name, "prediction_text": "x"}]))[0]["id"] == str(name)


def test_squad_as_rows_is_read(workdir):
    context = "a red mill, a mill"
    rows = [
        {"id": number, "title": "Mills", "context": context, "question": "Which?", "answers": {"text": [text], "answer_start": [start]}}
        for number, (text, start) in enumerate((("mill", 14), ("a red mill", 0)))
    ]  # fmt: skip
    for path in (write_lines("rows.jsonl", *rows), write("rows.json", rows), write("data.json", {"data": rows})):
        convert(path, Path("out.json"), "squad")
        ((article, paragraph),) = squad.read_squad(Path("out.json"))[1]
        assert (article.title, paragraph.context) == ("Mills", context)
        answers = [
            (question.id, answer.text, answer.answer_start) for question in paragraph.qas for answer in question.answers
        ]
        assert answers == [("0", "mill", 14), ("1", "a red mill", 0)]
    del rows[1]["answers"]["text"]
    with pytest.raises(DataError, match="rows.jsonl: a row without its context, question or answers"):
        squad.read_squad(write_lines("rows.jsonl", *rows))


def test_passage_of_another_form_is_refused_with_the_forms_that_are_read(workdir):
    with pytest.raises(DataError, match="p.jsonl:1: a passage without id; its key must be id or _id or docid or docno"):
        build_index(write_lines("p.jsonl", {"key": "1", "text": "x"}), Path("index"))
