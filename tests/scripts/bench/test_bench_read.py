"""`bench read` with a tiny model: readers on both backends answer as the loop that tries all spans."""

import json
from argparse import Namespace

from bench import read
from bench.harness import Bench
from tiny_models import tiny, word_pieces

PASSAGES = [
    "peter jackson directed the hobbit. the film won one award.",
    "james cameron directed titanic in england. " * 60,
    "the author was born in south africa. a novel is a book.",
]


def test_readers_are_compared_with_the_loop(tmp_path, monkeypatch, capsys):
    asked = [read.Asked("who directed the film", passage) for passage in PASSAGES]
    assert len(word_pieces()(PASSAGES[1])["input_ids"]) > read.MAX_LENGTH  # windows
    monkeypatch.setattr(read, "questions", lambda bench, number: asked)
    monkeypatch.setattr(Bench, "has", lambda bench, package: False)
    bench = Bench(Namespace(model=tiny(task="question-answering"), device="cpu"), 3, 1, tmp_path, tmp_path)
    figures = read.reading(bench)
    assert json.loads(json.dumps(figures))["device"] == "cpu"
    fp32 = figures["ExtractiveReader fp32"]
    assert fp32["all_spans"] == figures["ExtractiveReader fp32, PyTorch"]["all_spans"] == 1 == fp32["ours_is_faster"]
    assert {bound.what: bound.bound for bound in bench.bounds} == {
        "ExtractiveReader fp32: times loop over transformers": 2, "ExtractiveReader fp32: share of the loop's answers": 0.99,
    }  # fmt: skip
    assert "fp32 is faster" in capsys.readouterr().out
