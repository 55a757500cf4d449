"""The commands of passage retrieval on the sample in examples/poleval."""

import json
from pathlib import Path

import pytest

from convinse.cli import main

SAMPLE = Path(__file__).resolve().parents[1] / "examples" / "poleval"
SETS = ("wiki-trivia", "legal-questions", "allegro-faq")


@pytest.fixture
def indexes(tmp_path, capsys):
    for name in SETS:
        arguments = [str(SAMPLE / name / "passages.jl"), "--output", str(tmp_path / "index" / name), "--language", "pl"]
        assert main(["retrieve", "index", *arguments, "--quiet"]) == 0
        assert "build id" in capsys.readouterr().out
    return tmp_path / "index"


def lines(path):
    return path.read_text(encoding="utf-8").splitlines()


def test_the_sample_has_its_size():
    assert sum(len(lines(SAMPLE / name / "passages.jl")) for name in SETS) == 30
    assert len(lines(SAMPLE / "in.tsv")) == len(lines(SAMPLE / "expected.tsv")) == 12
    known = {json.loads(line)["id"] for name in SETS for line in lines(SAMPLE / name / "passages.jl")}
    assert known.issuperset(one for line in lines(SAMPLE / "expected.tsv") for one in line.split("\t"))


def test_a_submission_is_written_and_measured(indexes, tmp_path, capsys):
    pytest.importorskip("ir_measures")
    out = tmp_path / "out.tsv"
    assert main(["retrieve", "search", str(indexes), str(SAMPLE / "in.tsv"), "--output", str(out), "--quiet"]) == 0
    rows = [line.split("\t") for line in lines(out)]
    assert len(rows) == 12 and all(len(row) == 10 for row in rows)
    assert rows[0][0] == "1-0" and rows[-1][0] == "f-4"
    capsys.readouterr()
    assert main(["evaluate", "poleval", str(SAMPLE / "expected.tsv"), str(out)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found["sets"]) == set(SETS) and found["macro"]["num_questions"] == 12
    assert 85 < found["macro"]["ndcg_at_10"] <= 100 and found["macro"]["recall_at_10"] == 100


def test_one_set_as_a_run_and_scored_pairs(indexes, tmp_path, capsys):
    pytest.importorskip("ir_measures")
    scored = ["question-id\tpassage-id\tscore"]
    for name in SETS:
        out = tmp_path / f"{name}.trec"
        questions = str(SAMPLE / name / "questions.jl")
        assert main(["retrieve", "search", str(indexes / name), questions, "--output", str(out), "--format", "trec", "--top", "3"]) == 0  # fmt: skip
        for line in lines(out):
            question, _, passage, _, score, _ = line.split()
            scored.append(f"{question}\t{passage}\t{score}")
    (tmp_path / "scored.tsv").write_text("\n".join(scored) + "\n")
    capsys.readouterr()
    assert main(["evaluate", "poleval", str(SAMPLE / "pairs.tsv"), str(tmp_path / "scored.tsv")]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["sets"]["all"]["num_questions"] == 12 and found["macro"]["ndcg_at_10"] > 85


def fails(capsys, *arguments):
    assert main([str(argument) for argument in arguments]) == 1
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("convinse: ")
    return error


def test_errors_are_one_line(indexes, tmp_path, capsys):
    out = tmp_path / "out.tsv"
    passages, one = SAMPLE / "wiki-trivia" / "passages.jl", indexes / "wiki-trivia"
    assert "--force replaces it" in fails(capsys, "retrieve", "index", passages, "--output", one)
    assert "other parameters" in fails(capsys, "retrieve", "index", passages, "--output", one, "--language", "en")
    assert "not known" in fails(capsys, "retrieve", "index", passages, "--output", tmp_path / "x", "--language", "xx")
    (tmp_path / "in.tsv").write_text("wiki-triva\tKto?\n")
    assert "did you mean 'wiki-trivia'" in fails(
        capsys, "retrieve", "search", indexes, tmp_path / "in.tsv", "--output", out
    )
    assert "name no set" in fails(
        capsys, "retrieve", "search", indexes, SAMPLE / "wiki-trivia" / "questions.jl", "--output", out
    )
    assert "not en" in fails(
        capsys, "retrieve", "search", indexes, SAMPLE / "in.tsv", "--output", out, "--language", "en"
    )
    assert "--rerank needs" in fails(
        capsys, "retrieve", "search", indexes, SAMPLE / "in.tsv", "--output", out, "--rerank"
    )
    assert not out.exists()
    out.write_text("mine")
    assert "exists already" in fails(capsys, "retrieve", "search", indexes, SAMPLE / "in.tsv", "--output", out)
    assert out.read_text() == "mine"
    assert "12 are expected" in fails(capsys, "evaluate", "poleval", SAMPLE / "expected.tsv", out)
