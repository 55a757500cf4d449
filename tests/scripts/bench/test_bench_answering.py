"""`bench answering`: what is measured where nothing is named, and how requests are counted."""

from argparse import Namespace

from bench import answering
from bench.harness import Bench


def bench_of(tmp_path, size=None, **given):
    options = {
        "base_url": None,
        "model": None,
        "api_key_env": None,
        "parallel": 8,
        "seq2seq": None,
        "part": "natural-dev",
    }
    return Bench(Namespace(**options | given), size, 1, tmp_path, tmp_path)


def test_a_language_model_is_measured_where_its_server_is_named(tmp_path):
    keys = answering._systems(bench_of(tmp_path))
    assert [name for name, own in keys.items() if own is not None] == ["entity_voting", "extractive"]
    keys = answering._systems(bench_of(tmp_path, base_url="http://127.0.0.1:9/v1", model="m"))
    assert keys["llm"]["ha_llm"]["model"] == "m" and keys["seq2seq"] is None


def test_requests_are_counted_cold_and_warm(tmp_path, capsys):
    figures = answering.requests(bench_of(tmp_path, size=7))
    assert figures["turns"] == 7
    assert [
        figures[f"{name}, {state}"]["requests"] for name in ("waiting", "at once") for state in ("cold", "warm")
    ] == [7, 0, 7, 0]
    assert figures["waiting, cold"]["seconds"] >= 0.1
