"""The commands of passage retrieval on the sample in examples/poleval."""

import json
import shutil
from pathlib import Path

import pytest

from convinse.cli import main
from places import ROOT
from written import write

SAMPLE = ROOT / "examples" / "poleval"
SETS = ("wiki-trivia", "legal-questions", "allegro-faq")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("poleval")
    for name in SETS:
        arguments = [SAMPLE / name / "passages.jl", "--output", folder / name, "--language", "pl", "--quiet"]
        assert main(["retrieve", "index", *map(str, arguments)]) == 0
    return folder


@pytest.fixture
def indexes(built, tmp_path):
    return Path(shutil.copytree(built, tmp_path / "index"))


def lines(path):
    return path.read_text(encoding="utf-8").splitlines()


def test_a_submission_is_written_and_measured(indexes, tmp_path, command):
    pytest.importorskip("ir_measures")
    out = tmp_path / "out.tsv"
    command("retrieve", "search", indexes, SAMPLE / "in.tsv", "--output", out, "--quiet")
    rows = [line.split("\t") for line in lines(out)]
    assert len(rows) == 12 and all(len(row) == 10 for row in rows)
    assert rows[0][0] == "1-0" and rows[-1][0] == "f-4"
    found = json.loads(command("evaluate", "poleval", SAMPLE / "expected.tsv", out))
    assert set(found["sets"]) == set(SETS) and found["macro"]["num_questions"] == 12
    assert 85 < found["macro"]["ndcg_at_10"] <= 100 and found["macro"]["recall_at_10"] == 100


def test_errors_are_one_line(indexes, tmp_path, command_error):
    out = tmp_path / "out.tsv"
    misspelt = write("in.tsv", "wiki-triva\tKto?\n")
    nameless = SAMPLE / "wiki-trivia" / "questions.jl"
    for questions, fault in ((misspelt, "did you mean 'wiki-trivia'"), (nameless, "questions without a set")):
        assert fault in command_error("retrieve", "search", indexes, questions, "--output", out)
    search = ("retrieve", "search", indexes, SAMPLE / "in.tsv", "--output", out)
    assert "--rerank needs evs_model (a cross-encoder)" in command_error(*search, "--rerank")
    assert "evs_model: models/no/ne: no such folder" in command_error(*search, "--reranker", "models/no/ne")
    assert not out.exists()
    out.write_text("mine")
    assert "exists already" in command_error(*search)
    assert out.read_text() == "mine"


@pytest.fixture
def tiny():
    return pytest.importorskip("tiny_models").tiny


def rerank(indexes, *options):
    arguments = ["retrieve", "search", indexes, SAMPLE / "in.tsv", "--output", "reranked.tsv", "--rerank", "--force", "--quiet", *options]  # fmt: skip
    assert main([str(argument) for argument in arguments]) == 0
    return [line.split("\t") for line in lines(Path("reranked.tsv"))]


def candidates(indexes, number):
    """Each question with the evidences that are reranked."""
    from convinse.formats.poleval.questions import read_questions
    from convinse.passages.index import PassageIndex
    from convinse.passages.search import candidate_evidences

    for question in read_questions(SAMPLE / "in.tsv"):
        index = PassageIndex(indexes / question.set)
        yield question.text, candidate_evidences(index, question.text, number), len(index)


def ids(evidences):
    return [evidence["passage"].id for evidence in evidences]


def test_a_cross_encoder_orders_the_candidates(indexes, tiny):
    from convinse.encoder.reranker import BertReranker

    reranker = BertReranker(tiny(), "cpu")
    changed = 0
    for number in (20, 4):
        found = rerank(indexes, "--reranker", tiny(), "--candidates", number, "--top", 3)
        for row, (text, evidences, size) in zip(found, candidates(indexes, number), strict=True):
            best = ids(reranker.rank(text, evidences, 3))
            assert row[: len(best)] == best and len(row) == min(3, size)
            changed += best != ids(evidences)[:3]
    assert changed > 6  # the order is that of the model


def test_all_candidates_are_read_where_nothing_chooses(indexes, tiny):
    """Whatever the configuration's cascade would leave out."""
    Path("small.yml").write_text(json.dumps({"evs_model": str(tiny()), "evs_cascade": 1}))
    assert rerank(indexes, "--config", "small.yml") == rerank(indexes, "--reranker", tiny())


@pytest.fixture
def whole(workdir):
    for file in ("passages.jl", "questions.jl"):
        Path(file).write_bytes(b"".join((SAMPLE / name / file).read_bytes() for name in SETS))
    assert main(["retrieve", "index", "passages.jl", "--output", "index", "--language", "pl", "--quiet"]) == 0
    options = "--index index --questions questions.jl --output models/new"
    return ["train", "retriever", SAMPLE / "pairs.tsv", *options.split()]


@pytest.mark.parametrize("more", [[], ["--bi-encoder"]])
def test_a_retriever_is_trained_and_used(whole, indexes, tiny, command, more):
    base = tiny("bert", "embedding")
    options = "--epochs 1 --negatives 3 --held-out 0.3 --device cpu --quiet".split()
    shown = command(*whole, "--base", base, *options, *more)
    assert "held-out questions" in shown and "BM25 alone" in shown and "MRR@10" in shown and "(kept)" in shown
    assert f"models/new: name it in {'evs_bi_encoder' if more else 'evs_model'}" in shown
    found = rerank(indexes, more[0] if more else "--reranker", "models/new")
    assert len(found) == 12 and all(len(row) == 10 for row in found)
