"""A bench of a model, for the tests of its parts."""

from argparse import Namespace

from bench.harness import Bench
from bench.model.setup import Setup, Size


def bench_of(folder, work, questions=6, against=None):
    """A bench as `harness.run` makes it, of a model folder in fp32 on the CPU."""
    given = {"model": str(folder), "against": against and str(against), "device": "cpu", "precision": "fp32"}
    bench = Bench(Namespace(**given), Size(questions, 4, 2), 1, work, work)
    bench.state = Setup(bench)
    return bench
