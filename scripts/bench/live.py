"""Conversations over live Wikidata, beside the embedded engine over the same items.

    bash run.sh bench live

The interfaces of Wikidata are those of the tests' server (tests/live_world.py), over wikidata-27k, in a process of its own. Conversations
are those of the part `convquestions` of `bench results`, over facts alone; every one of them meets a source that knows nothing yet. A turn is the same if both
give the same best answer, or both abstain. The names of properties are those of wikidata-27k on both sides; `--snapshot-properties` leaves
the live source those that ship, which is what users have. The own cost of a turn is what it takes beyond the requests and the embedded engine.
"""

import os
import statistics
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import convinse.resources
from convinse.config import load_config, project_root
from convinse.formats.conversations.benchmark import read_benchmark
from convinse.knowledge_base.index import KnowledgeBase
from convinse.pipeline import Pipeline
from convinse.question_understanding.base import history_turn
from convinse.records.conversation import Conversation, Turn
from convinse.resources import Resources
from convinse.support.web import WebSession
from recipes.built_sources import CONVQUESTIONS, is_right, knowledge_base, wikidata_27k
from recipes.sources import needed

from .harness import Bench, Figures, Spec, note, run
from .timing import percentile
from .wikidata_sets import HISTORIES, each_wording_once

_TURNS = 5  # of a conversation
COLUMNS = {
    "turns": ("turns", "{}"), "same answer": ("same", "{:.1%}"), "P@1": ("p_at_1", "{:.1%}"), "embedded": ("p_at_1_embedded", "{:.1%}"),
    "requests": ("requests", "{:.2f}"), "most": ("most_requests", "{}"), "own cost, ms": ("own_ms", "{:.0f}"), "p95": ("own_ms_p95", "{:.0f}"),
}  # fmt: skip


class AskedTurn(NamedTuple):
    turn: Turn
    seconds: float
    network: float


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
    versions_run = list(each_wording_once(versions, bench.size))
    note(f"the knowledge base of wikidata-27k in {bench.cache} ...")
    with closing(knowledge_base(bench.folder, bench.cache)) as kb:
        path = kb.path
    network = _Network()
    rows: dict[str, dict[str, Figures]] = {}
    with served(bench) as (api, sparql), network.measured():
        plain = {"ers_wikipedia_dump": None, "ers_use_cache": False}
        keys: dict[str, Any] = {"ers_wikidata_api": api, "ers_wikipedia_api": api, "ers_use_cache": False}
        keys |= {"ers_on_the_fly": False, "live_sparql": sparql if bench.options.sparql else None}
        for history, use_gold in HISTORIES.items():
            note(f"{history} history ...")
            with Resources(load_config("config.yml", kb_path=str(path), **plain)) as resources:
                embedded = list(_asked(versions_run, resources, network, use_gold))
            with (
                _properties_of(None if bench.options.snapshot_properties else path),
                Resources(load_config("live.yml", **keys)) as resources,
            ):
                results = list(_asked(versions_run, resources, network, use_gold))
            rows[history] = {
                "all": _compared(embedded, results),
                "first": _compared(embedded[::_TURNS], results[::_TURNS]),
            }
    bench.compare(f"{len(versions_run)} conversations, facts alone", ("history", "which"), COLUMNS, rows)
    return {"conversations": len(versions_run), "runs": rows}


@contextmanager
def _properties_of(path: Path | None) -> Iterator[None]:
    """Let the knowledge base at hand of a live source have the properties of another one."""
    if path is None:
        yield
        return
    other = KnowledgeBase(path)

    class AtHand(KnowledgeBase):
        def properties(self) -> Iterable[tuple[str, str, list[str]]]:
            return other.properties()

    convinse.resources.KnowledgeBase = AtHand  # type: ignore[misc]
    try:
        yield
    finally:
        convinse.resources.KnowledgeBase = KnowledgeBase  # type: ignore[misc]


def _asked(
    conversations: Iterable[Conversation], resources: Resources, network: _Network, use_gold: bool
) -> Iterator[AskedTurn]:
    for conversation in conversations:
        resources.close()  # a source that knows nothing yet; models stay
        pipeline = Pipeline(resources.config, resources=resources)
        history: list[Turn] = []
        for number, turn in enumerate(conversation["questions"]):
            now: Turn = {"turn": number, "question": turn["question"]}
            start, before = perf_counter(), network.seconds
            pipeline.answer_turns([now], [history], ["kb"], use_gold_answers=use_gold)
            yield AskedTurn({**now, "answers": turn["answers"]}, perf_counter() - start, network.seconds - before)
            history.append(history_turn({**now, "answers": turn["answers"]}, use_gold))


def _is_answered(turn: Turn) -> bool:
    return any(is_right(answer["answer"], turn["answers"]) for answer in turn["pred_answers"][:1])


def _best(turn: Turn) -> str | None:
    return None if "abstained" in turn else next((answer["answer"]["id"] for answer in turn["pred_answers"]), None)


def _compared(embedded: Sequence[AskedTurn], results: Sequence[AskedTurn]) -> Figures:
    pairs = list(zip(embedded, results, strict=True))
    milliseconds = [1000 * (live.seconds - live.network - other.seconds) for other, live in pairs]
    requests = [len(live.turn["live"]["requests"]) for _, live in pairs]
    return {
        "turns": len(pairs),
        "same": sum(_best(other.turn) == _best(live.turn) for other, live in pairs) / len(pairs),
        "p_at_1": statistics.fmean(_is_answered(live.turn) for _, live in pairs),
        "p_at_1_embedded": statistics.fmean(_is_answered(other.turn) for other, _ in pairs),
        "requests": statistics.mean(requests), "most_requests": max(requests),
        "own_ms": statistics.median(milliseconds), "own_ms_p95": percentile(milliseconds, 0.95),
    }  # fmt: skip


SPEC = Spec("live", __doc__, {"kb": live}, (2, 15, None), options={
    "--sparql": {"action": "store_true", "help": "facts about an item by SPARQL"},
    "--snapshot-properties": {"action": "store_true", "help": "the names of properties that ship"},
})  # fmt: skip

if __name__ == "__main__":
    run(SPEC)
