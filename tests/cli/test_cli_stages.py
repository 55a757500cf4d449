"""Runs that stop after a stage, go on from a file, and options by the names that CONVINSE gives them."""

from pathlib import Path

import pytest

from written import json_lines, names, read_json, write

SMALL = ["lexical.yml", "kb_text", "--quiet"]
TURNS = "results/lexical/kb_text/turns.jsonl"


def test_a_run_in_three_parts_answers_as_one(workdir, command):
    command("pipeline", *SMALL, "--limit", "2")
    whole = json_lines(TURNS)
    printed = command("pipeline", *SMALL, "--limit", "2", "--until", "qu")
    qu = "results/lexical/kb_text/qu/turns.jsonl"
    assert printed.startswith("10 questions of the embedded test part, ") and "go on with --from" in printed
    assert not any("top_evidences" in turn for c in json_lines(qu) for turn in c["questions"])
    assert set(read_json("results/lexical/kb_text/qu/metrics.json")) == {"num_questions", "seconds"}
    printed = command("pipeline", *SMALL, "--from", qu, "--until", "ers")
    ers = "results/lexical/kb_text/ers/turns.jsonl"
    metrics = read_json("results/lexical/kb_text/ers/metrics.json")
    assert f"answer presence {metrics['answer_presence']:.3f}" in printed and "p_at_1" not in metrics
    assert not any("pred_answers" in turn for c in json_lines(ers) for turn in c["questions"])
    for start in (qu, ers):
        command("pipeline", *SMALL, "--from", start)
        assert json_lines(TURNS) == whole


def test_a_file_of_another_system_is_answered(workdir, command):
    """As CONVINSE stores its ERS stage: a JSON list, tuples as lists, links without an item, `infobox`."""
    evidence = {
        "evidence_text": "Titanic, director, James Cameron", "source": "kb",
        "wikidata_entities": [{"id": "Q44578", "label": "Titanic"}, {"id": "Q42574", "label": "James Cameron"}],
        "disambiguations": [["Titanic", "Q44578"], ["James Cameron", "Q42574"], ["film", None]],
        "retrieved_for_entity": {"id": "Q44578", "label": "Titanic"},
    }  # fmt: skip
    turn = {"turn": 0, "question_id": "1-0", "question": "Who directed Titanic?", "structured_representation":
            "|| Titanic || Who directed || human", "answers": [{"id": "Q42574", "label": "James Cameron"}],
            "top_evidences": [evidence], "answer_presence": True, "answer_presence_per_src": {"kb": 1}}  # fmt: skip
    path = write("res_convinse_ers.json", [{"conv_id": "1", "questions": [turn]}])
    assert "1 questions" in command("pipeline", *SMALL, "--from", path)
    (done,) = json_lines(TURNS)[0]["questions"]
    assert done["p_at_1"] == 1.0 and done["answer_presence_per_src"] == {"kb": True, "text": False}
    assert [entity["id"] for entity in done["top_evidences"][0]["fact"]] == ["Q44578", "director", "Q42574"]


def test_gold_answers_is_the_default_by_its_name(workdir, command):
    expected = command("pipeline", "--gold-answers", *SMALL, "--limit", "1").splitlines()[:-1]
    assert command("pipeline", *SMALL, "--limit", "1").splitlines()[:-1] == expected


@pytest.mark.parametrize("name", ["--all-sources", "--main-results", "--source-combinations"])
def test_all_combinations_by_their_names(workdir, command, name):
    write("mine.yml", "name: mine\nsource_combinations: [[kb], [kb, text]]\n")
    out = command("pipeline", name, "mine.yml", "kb_text_table_info", "--limit", "1", "--quiet")
    assert names("results/mine") == ["kb", "kb_text"] and "│ kb_text " in out


def test_an_example_prints_the_first_turn_and_writes_nothing(workdir, command):
    turns = [{"turn": n, "question": q} for n, q in enumerate(["Who directed the film Titanic?", "When was he born?"])]
    write("data/test.json", [{"conv_id": "1", "questions": turns}])
    write("mine.yml", "name: mine\nbenchmark_path: data\n")
    printed = command("pipeline", "--example", "mine.yml")
    assert "James Cameron (Q42574)" in printed and "When" not in printed
    assert not Path("results").exists()
