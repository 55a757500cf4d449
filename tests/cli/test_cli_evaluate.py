"""`evaluate mrqa`, `squad` and `klue-mrc`: one JSON object on standard output, warnings and errors on standard error."""

import json
from functools import partial
from pathlib import Path

import pytest

from convinse.cli import main
from evidences import evidence
from written import write, write_lines


def mrqa_file(name, **answers):
    qas = [{"qid": qid, "question": "?", "answers": golds} for qid, golds in answers.items()]
    return write_lines(name, {"header": {"dataset": "x"}}, {"context": "c", "qas": qas})


def squad_file(name, key="id", **answers):
    qas = []
    for qid, golds in answers.items():
        texts = [{"text": gold, "answer_start": 0} for gold in golds]
        qas.append({key: qid, "question": "?", "answers": texts, "is_impossible": not golds})
    return write(name, {"version": "2", "data": [{"title": "t", "paragraphs": [{"context": "c", "qas": qas}]}]})


@pytest.fixture
def evaluated(capsys):
    def run(*arguments):
        assert main(["evaluate", *map(str, arguments)]) == 0
        captured = capsys.readouterr()
        assert captured.out.count("\n") == 1
        return json.loads(captured.out), captured.err

    return run


@pytest.fixture
def refused(command_error):
    return partial(command_error, "evaluate")


@pytest.mark.parametrize("name", ["dev.jsonl", "dev.jsonl.gz"])
def test_mrqa(evaluated, name):
    data = mrqa_file(name, a=["The cat"], b=["x y"], c=["z"])
    predictions = write("p.json", {"a": "cat", "b": "x"})
    result, errors = evaluated("mrqa", data, predictions, "--quiet")
    assert result == {"exact_match": 100 / 3, "f1": pytest.approx(100 * (1 + 2 / 3) / 3)}
    assert errors == f"{name}: 1 of 3 questions have no prediction and count 0: c\n"
    result, errors = evaluated("mrqa", data, predictions, "--skip-no-answer")
    assert (result["exact_match"], errors) == (50.0, "")


def test_mrqa_folders(evaluated):
    mrqa_file("data/One.jsonl", a=["x"])
    mrqa_file("data/Two.jsonl.gz", a=["x"], b=["y"])
    write("predictions/One.json", {"a": "x"})
    write("predictions/Two.json", {"a": "x", "b": "z"})
    result, _ = evaluated("mrqa", "data", "predictions")
    assert result == {
        "One": {"exact_match": 100.0, "f1": 100.0},
        "Two": {"exact_match": 50.0, "f1": 50.0},
        "macro": {"exact_match": 75.0, "f1": 75.0},
    }


@pytest.mark.parametrize("key", ["guid", "id"])
def test_klue_mrc(evaluated, refused, key):
    data = squad_file("dev.json", key, a=["삼성전자"], b=[])
    triples = [
        {"id": "a", "prediction_text": "삼성전자가", "no_answer_probability": 0.1},
        {"id": "b", "prediction_text": "없음", "no_answer_probability": 0.9},
    ]
    for predictions in (write("p.json", triples), write_lines("p.jsonl", *triples)):
        result, errors = evaluated("klue-mrc", data, predictions, "--na-prob-thresh", "0.5")
        assert (len(result), result["exact"], result["best_exact"], errors) == (13, 50.0, 50.0, "")
    texts = write("texts.json", {triple["id"]: triple["prediction_text"] for triple in triples})
    assert len(evaluated("klue-mrc", data, texts)[0]) == 9
    na_probs = write("na.json", {triple["id"]: triple["no_answer_probability"] for triple in triples})
    assert evaluated("klue-mrc", data, texts, "--na-probs", na_probs, "--na-prob-thresh", "0.5")[0] == result
    arguments = ("klue-mrc", data, texts, "--na-probs", write("na.json", {"a": 0.5}))
    assert "prediction 'b' has no no_answer_probability" in refused(*arguments)
    assert "holds probabilities already" in refused("klue-mrc", data, predictions, "--na-probs", na_probs)
    texts = write("texts.json", {"a": "the 삼성전자", "b": ""})
    assert evaluated("klue-mrc", data, texts)[0]["exact"] == 100.0


@pytest.fixture
def pipeline_runs(capsys):
    """Two runs of the pipeline over the embedded conversations; the paths of their turns."""
    paths = []
    for qu in ("slots", "nc_prev"):
        write(f"{qu}.yml", f"name: {qu}\nqu: {qu}\nevs_max_evidences: 20\n")
        assert main(["pipeline", "kb_info", f"{qu}.yml", "--limit", "2", "--quiet"]) == 0
        paths.append(f"results/{qu}/kb_info/turns.jsonl")
    assert "│ turn 4 " in capsys.readouterr().out
    return paths


def test_two_runs_side_by_side(pipeline_runs, evaluated, refused):
    """The measures of each, and whether they differ."""
    metrics = [evaluated("answers", path)[0] for path in pipeline_runs]
    assert all(list(one["turns"]) == ["0", "1", "2", "3", "4"] for one in metrics)
    compared, _ = evaluated("compare", *pipeline_runs)
    assert (compared["num_questions"], compared["num_groups"]) == (10, 2)
    for measure in ("p_at_1", "mrr", "h_at_5", "answer_presence"):
        assert [compared[measure]["first"], compared[measure]["second"]] == [one[measure] for one in metrics]
        assert 0 < compared[measure]["p_value"] <= 1 and compared[measure]["p_value_groups"] in (0.5, 1.0)
    shorter = Path(pipeline_runs[1])
    shorter.write_text(shorter.read_text().splitlines(keepends=True)[0])
    (shorter.parent / "manifest.json").unlink()
    assert "5 of the 10 questions" in refused("compare", *pipeline_runs)


MEASURES = ("p_at_1", "mrr", "h_at_5", "answer_presence")
RIGHT = {"answer": {"id": "Q1", "label": "one"}, "score": 0.5, "rank": 1}
EVIDENCE = evidence("t", "infobox", ("one", "Q1"))


def answered_turn(**more):
    """A turn that says of itself that it is wrong, and is right."""
    turn = {"question": "?", "answers": [{"id": "Q1"}], "top_evidences": [EVIDENCE], "pred_answers": [RIGHT]}
    return {**turn, **dict.fromkeys(MEASURES, 0.0), **more}


@pytest.mark.parametrize("stored", [dict.fromkeys(MEASURES, 1), {}, dict.fromkeys(MEASURES, 0)])
def test_measures_are_computed_from_answers_not_from_stored_ones(evaluated, stored):
    wrong = {**RIGHT, "answer": {"id": "Q2"}}
    bare = {"question": "?", "answers": [{"id": "Q1"}]}
    turns = [
        {**bare, "top_evidences": [EVIDENCE], "pred_answers": [wrong, {**RIGHT, "rank": 2}], **stored},
        {**bare, "top_evidences": [], "pred_answers": [], **stored},
    ]
    path = write_lines("a.jsonl", {"conv_id": "c", "questions": turns})
    result, _ = evaluated("answers", path)
    assert [result[measure] for measure in MEASURES] == [0.0, 0.25, 0.5, 0.5]
    assert result["answer_presence_per_src"] == {"info": 0.5} and result["sources"]["info"]["mrr"] == 0.5


def test_answers_as_convinse_stores_them_are_measured(evaluated):
    theirs = [{"id": item, "label": item, "rank": rank, "score": 0.5} for rank, item in enumerate(("Q2", "Q1"), 1)]
    named = answered_turn(ranked_answers=theirs)  # by EXPLAIGNN
    del named["pred_answers"]
    turns = [answered_turn(pred_answers=theirs), named]
    path = write("res_mine_gold_answers.json", [{"conv_id": "c", "questions": turns}])
    assert evaluated("answers", path)[0]["mrr"] == 0.5


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"p_at_1": "right"}, "$.p_at_1"),
        ({"answer_presence": "yes"}, "$.answer_presence"),
        ({"answer_presence_per_src": {"kb": "x"}}, "$.answer_presence_per_src"),
        ({"pred_answers": [{**RIGHT, "score": "0.5"}]}, "$.pred_answers[0].score"),
        ({"pred_answers": None}, "pred_answers"),
        ({"top_evidences": None}, "top_evidences"),
        ({"pred_answers": [RIGHT, RIGHT]}, "answer 2 has the rank 1; ranks are 1, 2, 3"),
        ({"top_evidences": [{**EVIDENCE, "source": "web"}]}, "an evidence has the source 'web'; valid: kb, text"),
    ],
)
@pytest.mark.parametrize("task", ["answers", "compare"])
def test_an_invalid_turn_is_refused_with_its_place(refused, task, change, fault):
    good = write_lines("good.jsonl", {"conv_id": "a", "questions": [answered_turn()]})
    turn = {key: value for key, value in answered_turn(**change).items() if value is not None}
    bad = write_lines("bad.jsonl", {"conv_id": "a", "questions": [turn]})
    arguments = {"answers": [bad], "compare": [good, bad]}[task]
    message = refused(task, *arguments)
    assert "bad.jsonl" in message and "conversation 'a', turn 0" in message and fault in message
