"""`bench rerank` with tiny models: the rows of pairs, the seconds of a turn."""

import json
from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from bench.candidates import Candidates, Gathered
from bench.exported import Padding, exported
from bench.harness import Bench
from bench.rerank import __main__ as parts
from bench.rerank import systems
from convinse.config import resolve
from convinse.encoder.reranker import BertReranker
from tiny_models import joint, tiny

SIZE = systems.Size(pairs=30, tried=4, batches=(2,), list_pairs=100, candidates=50, warm_turns=1)


class Peer:
    """Stands for `CrossEncoder`, which tests do not need."""

    def __init__(self, folder, device, dtype="float32"):
        self.reranker = BertReranker(folder, device, backend="torch", precision="fp32", max_length=systems.MAX_LENGTH)
        self.model = self.reranker.engine.backend.model
        self.padding = Padding().of_engine(self.reranker.engine)

    def with_batch(self, batch):
        return self

    def best_batch(self, pairs, sizes):
        assert len(pairs) == SIZE.tried
        return sizes[0]

    def odds(self, pairs):
        return self.reranker.predict(pairs, logits=True)


def evidences(first, number):
    return [
        {"evidence_text": f"peter directed film {place}", "source": ("kb", "text", "table", "info")[place % 4]}
        for place in range(first, first + number)
    ]


@pytest.fixture
def bench(tmp_path):
    options = Namespace(device="cpu", model=systems.TRAINED, parts=["pairs"])
    made = Bench(options, SIZE, 1, tmp_path, tmp_path)
    questions = [
        Candidates(f"who directed film {number}", (), True, evidences(60 * number, 60), []) for number in range(2)
    ]
    made.state = SimpleNamespace(
        device="cpu", on_gpu=False, gathered=Gathered(questions, [], Path()),
        models={
            systems.RANDOM_HEAD: exported(tiny(), tmp_path / "random", "sequence-classification"),
            systems.TRAINED: exported(joint(), tmp_path / "trained", "sequence-classification"),
        },
    )  # fmt: skip
    return made


def test_pairs_are_compared_with_both_peers(bench, monkeypatch, capsys):
    monkeypatch.setattr(systems, "Peer", Peer)
    figures = systems.pairs_part(bench)
    assert json.loads(json.dumps(figures)).keys() == bench.state.models.keys()
    for own in figures.values():
        rows = own["rows"]
        assert own["pairs"] == 30 and {"BertReranker fp32", "BertReranker fp32, PyTorch"} < rows.keys()
        fp32, plain = rows["BertReranker fp32"], rows["plain ONNX Runtime fp32, sorted by length"]
        assert fp32["times_plain"] == pytest.approx(plain["seconds"][0] / fp32["seconds"][0])
        assert fp32["difference"] < 1e-4 and fp32["spearman"] > 0.99 and fp32["top_overlap"] > 0.9
        assert 0 <= fp32["padding"] < 1 and fp32["tokens_a_second"] > 0
    bounds = {bound.what: bound.bound for bound in bench.bounds}
    for name in bench.state.models:
        assert bounds[f"{name}, fp32: times CrossEncoder"] == 1.5 and bounds[f"{name}, int8: times CrossEncoder"] == 3
        assert bounds[f"{name}, fp32: times plain ONNX Runtime"] == 1
    assert f"{systems.RANDOM_HEAD}, int8: Spearman" not in bounds
    assert "x plain" in capsys.readouterr().out


def test_a_turn_knows_what_the_turn_before_has_kept(bench, monkeypatch):
    bench.state.models[systems.TRAINED] = resolve(systems.TRAINED)
    embedded = []
    original = parts.build_scorer

    def build(resources, method, bm25):
        scorer = original(resources, method, bm25)
        if method == "cascade":
            encoder = resources.bi_encoder(resources.config.evs_bi_encoder, "evs_bi_encoder")[0]
            embed = encoder.embed

            def counted(texts):
                embedded.append(len(texts))
                return embed(texts)

            monkeypatch.setattr(scorer._embeddings, "bi_encoder", SimpleNamespace(embed=counted, row_form="plain"))
        return scorer

    monkeypatch.setattr(parts, "build_scorer", build)
    figures = parts.turn_part(bench)
    rows = figures["seconds"]
    assert figures["candidates"] == 50 and {name for row in rows.values() for name in row} == {"int8", "fp32"}
    assert [name.partition(",")[0] for name in rows][:4:2] == ["cascade 20 + 20 (shipped)", "cascade 100 + 100"]
    assert all(np.isfinite(spent) and spent > 0 for row in rows.values() for spent in row.values())
    # of each cascade in each precision: 100 texts of the warm-up, 50 candidates; queries only in the second turn
    assert [number for number in embedded if number > 2] == [100, 50] * 4
    assert not bench.bounds  # fewer candidates than are asked for
