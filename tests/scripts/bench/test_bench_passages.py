"""`bench passages`: its part with real questions, and one engine."""

from pathlib import Path

import pytest

from bench.engines import ENGINES
from bench.harness import run as run_bench
from bench.passages import SPEC, measures
from written import read_json, write_lines

RESULTS = Path("results/bench/passages.json")
NAMES = "hobbit titanic england france africa author actor novel song film award city".split()


@pytest.fixture
def run(workdir, monkeypatch):
    """Run the bench on a few questions; returns what the file of figures holds."""
    rows = [{"question": f"is {name} the one", "title": name, "passage": f"{name} {name} is one of {place}", "answer": True}
            for place, name in enumerate(NAMES)]  # fmt: skip
    rows.append({**rows[0], "question": "who is hobbit"})  # a passage may answer several
    for part, own in (("train", rows[:8]), ("dev", rows[8:])):
        write_lines(workdir / "data" / "boolq" / f"{part}.jsonl.gz", *own)
    monkeypatch.setenv("CONVINSE_DATA", str(workdir / "data"))

    def bench(*arguments):
        run_bench(SPEC, list(map(str, arguments)))
        return {part: row["figures"] for part, row in read_json(RESULTS).items()}

    return bench


def test_bm25_finds_the_passages(run, capsys):
    found = run("--parts", "boolq")["boolq"]
    assert found["passages"] == 12 and list(found["rows"]) == ["BM25, all questions"]
    row = found["rows"]["BM25, all questions"]
    assert (row["questions"], row["hit_at_1"], row["hit_at_10"], row["ndcg_at_10"]) == (13, 100, 100, 100)
    assert "BoolQ, 12 passages" in capsys.readouterr().out


def test_all_rows_are_of_the_same_questions(run, monkeypatch):
    monkeypatch.setattr("bench.passages.JUDGED", 7)
    tiny = pytest.importorskip("tiny_models").tiny
    found = run("--parts", "boolq", "--bi-encoder", tiny("bert", "embedding"), "--reranker", tiny())
    rows = found["boolq"]["rows"]
    assert list(rows) == ["BM25, all questions", "BM25", "bi-encoder", "BM25 and bi-encoder, fused", "cascade"]
    assert [row["questions"] for row in rows.values()] == [13, 7, 7, 7, 7]
    assert rows["BM25"]["hit_at_1"] == 100
    for row in rows.values():
        assert 0 <= row["hit_at_1"] <= row["ndcg_at_10"] <= row["hit_at_10"] <= 100 and row["ms_per_question"] > 0
    assert rows["bi-encoder"]["hit_at_10"] > 50  # ten of twelve passages
    alone = run("--parts", "boolq", "--reranker", tiny())["boolq"]["rows"]
    assert list(alone) == ["BM25, all questions", "BM25", "BM25, then cross-encoder"]
    assert alone["BM25"]["ndcg_at_10"] == rows["BM25"]["ndcg_at_10"]


def test_measures():
    found = {"a": ["x", "r"], "b": ["r"], "c": ["x"], "d": ["x", "y", "r"]}
    row = measures([(text, "r") for text in found], found.__getitem__)
    assert (row["hit_at_1"], row["hit_at_10"]) == (25, 75)
    assert row["ndcg_at_10"] == pytest.approx(100 * (1 / 1.5849625 + 1 + 1 / 2) / 4)


def test_an_engine_over_synthetic_passages(run, capsys, monkeypatch):
    monkeypatch.setattr("bench.passages.ENGINES", {"convinse": ENGINES["convinse"]})
    monkeypatch.setitem(vars(SPEC), "sizes", ((300,),) * 3)
    found = run("--parts", "synthetic")
    assert list(found) == ["synthetic"]
    row = found["synthetic"]["300"]["convinse"]
    assert row["hit_at_10"] > 0.9 and row["index_seconds"] > 0 and row["search_peak_mb"] > 10 and row["disk_mb"] > 0
    assert "300 synthetic passages" in capsys.readouterr().out


def test_the_top_ten_of_brute_force_beside_tantivy_alone(run, monkeypatch):
    monkeypatch.setattr("bench.passages.CHECKED", 300)
    found = run("--parts", "brute_force")["brute_force"]
    assert found["passages"] == 300 and found["questions"] == found["same"]["convinse"] > found["same"]["tantivy"] > 0


def test_without_the_data(run, monkeypatch):
    monkeypatch.setenv("CONVINSE_DATA", "nowhere")
    assert run("--parts", "boolq")["boolq"]["left_out"].startswith("nowhere/boolq/train.jsonl.gz: no such data")
