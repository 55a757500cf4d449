"""Conversations over live Wikidata, beside the embedded engine over the same items.

    bash run.sh bench live

The interfaces of Wikidata are those of the tests' server (tests/live_world.py), over wikidata-27k, in a process of its own. Conversations
are those of `bench conversations`, with predicted history, over facts alone. A turn agrees if its best answer is the same, or if neither
has one. Every conversation meets a source that knows nothing yet, unless --warm is given.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from time import perf_counter
from typing import Any

from convinse.config import load_config, project_root
from convinse.formats.conversations.benchmark import read_benchmark
from convinse.pipeline import Pipeline
from convinse.records.conversation import Turn
from convinse.support.web import WebSession
from recipes.embedded.wikidata import knowledge_base, wikidata_27k
from recipes.sources import needed

from .candidates import CONVQUESTIONS
from .conversations import each_wording_once
from .harness import Bench, Figures, Spec, note, run

COLUMNS = {
    "turns": ("turns", "{}"), "same answer": ("same", "{:.1%}"), "P@1": ("p_at_1", "{:.1%}"), "P@1 embedded": ("p_at_1_embedded", "{:.1%}"),
    "requests, mean": ("requests", "{:.2f}"), "most": ("most_requests", "{}"), "seconds, median": ("seconds", "{:.3f}"),
    "embedded": ("seconds_embedded", "{:.3f}"), "own cost, ms": ("own_ms", "{:.0f}"), "p95": ("own_ms_p95", "{:.0f}"),
}  # fmt: skip


@contextmanager
def served(bench: Bench) -> Iterator[list[str]]:
    """The addresses of the API and of the SPARQL endpoint of the tests' server."""
    tests = project_root() / "tests"
    paths = os.pathsep.join([str(tests), str(project_root()), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        [sys.executable, str(tests / "live_world.py"), str(wikidata_27k(bench.folder)), "--quiet"],
        stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": paths},
    )  # fmt: skip
    try:
        assert process.stdout is not None
        yield process.stdout.readline().split()
    finally:
        process.terminate()
        process.wait()


class _Network:
    """The seconds that requests took."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._get_json = WebSession.get_json

    @contextmanager
    def measured(self) -> Iterator[None]:
        def get_json(web: WebSession, *arguments: Any) -> Any:
            start = perf_counter()
            try:
                return self._get_json(web, *arguments)
            finally:
                self.seconds += perf_counter() - start

        WebSession.get_json = get_json  # type: ignore[method-assign, assignment]
        try:
            yield
        finally:
            WebSession.get_json = self._get_json  # type: ignore[method-assign]


def live(bench: Bench) -> Figures:
    versions = read_benchmark(needed(bench.folder, *CONVQUESTIONS), "convmix")
    asked = list(each_wording_once(versions, bench.size))
    note(f"the knowledge base of wikidata-27k in {bench.kept} ...")
    with closing(knowledge_base(bench.folder, bench.kept)) as kb:
        path = str(kb.path)
    plain = {"ers_wikipedia_dump": None, "ers_use_cache": False}
    network = _Network()
    embedded: list[tuple[Turn, float]] = []
    with Pipeline(load_config(bench.options.config, kb_path=path, **plain)) as pipeline:
        for conversation in asked:
            embedded += _asked(pipeline, [turn["question"] for turn in conversation["questions"]])
    results: list[tuple[Turn, float, float]] = []
    with served(bench) as (api, sparql), network.measured():
        cache = bench.work / "cache"
        keys: dict[str, Any] = {
            "ers_wikidata_api": api,
            "ers_wikipedia_api": api,
            "ers_cache_path": str(cache),
            "live_deadline": 60.0,
        }
        keys |= {"ers_on_the_fly": False, "live_sparql": sparql if bench.options.sparql else None}
        for conversation in asked:
            if not bench.options.warm:
                shutil.rmtree(cache, ignore_errors=True)
            with Pipeline(load_config("live.yml", **keys)) as pipeline:
                _warm_up(pipeline)
                for turn in conversation["questions"]:
                    pass
                before = network.seconds
                for turn, seconds in _asked(pipeline, [turn["question"] for turn in conversation["questions"]]):
                    results.append((turn, seconds, network.seconds - before))
                    before = network.seconds
    golds = [turn["answers"] for conversation in asked for turn in conversation["questions"]]
    return _compared(bench, golds, embedded, results)


def _asked(pipeline: Pipeline, questions: Sequence[str]) -> Iterator[tuple[Turn, float]]:
    session = pipeline.session("kb")
    for question in questions:
        start = perf_counter()
        turn = session.ask(question)
        yield turn, perf_counter() - start


def _best(turn: Turn) -> str | None:
    return next((own["answer"]["id"] for own in turn["pred_answers"]), None)


def _compared(bench, golds, embedded, results) -> Figures: ...


SPEC = Spec("live", __doc__, {"kb": live}, (2, 15, None), options={
    "--config": {"default": "config.yml", "metavar": "NAME", "help": "its stages, of the embedded engine (default: %(default)s)"},
    "--sparql": {"action": "store_true", "help": "facts about an item by SPARQL"},
    "--warm": {"action": "store_true", "help": "what conversations fetched is kept for the next"},
})  # fmt: skip

if __name__ == "__main__":
    run(SPEC)
