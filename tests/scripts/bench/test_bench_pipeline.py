"""`bench pipeline`: which commands are timed, in which order, and what is wanted of them."""

from argparse import Namespace

import pytest

from bench import harness, pipeline
from bench.harness import Bench, Usage


@pytest.mark.parametrize(("size", "bounds"), [(None, {pipeline.COLD: 30, pipeline.WARM: 6}), (3, {})])
def test_caches_are_cold_then_warm(tmp_path, monkeypatch, capsys, size, bounds):
    cold = []

    def command(arguments, folder, checkout):
        cache = folder / ("lexical-cache" if "bench.yml" in arguments else "cache")
        if "config.yml" in arguments or "bench.yml" in arguments:
            cold.append((arguments[2], "--restart" in arguments, not [*cache.glob("*")]))
            assert ("--limit" in arguments) == (size is not None)
            (cache / "full").mkdir(parents=True, exist_ok=True)
        return Usage(10.0, 1, 0, "")

    monkeypatch.setattr(harness, "command", command)
    bench = Bench(Namespace(against=None), size, 2, tmp_path, tmp_path)
    figures = pipeline.pipeline(bench)
    order = [
        ("config.yml", False, True),
        ("config.yml", True, False),
        ("bench.yml", False, True),
        ("bench.yml", True, False),
    ]
    assert cold == order * 2 and len(figures) == 7
    assert {bound.what.removesuffix(": seconds"): bound.bound for bound in bench.bounds} == bounds
    assert [bound.failed for bound in bench.bounds] == [False, True][: len(bounds)]
