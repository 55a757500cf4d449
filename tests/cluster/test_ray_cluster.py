"""A Ray cluster of three nodes on this machine: the results are those of a run without it, whatever is lost on the way."""

import json
import signal
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from cluster_work import NODE, Harm
from convinse.cluster import head_watch
from convinse.cluster.connection import connected
from convinse.config import load_config
from convinse.experiment import run_experiment
from convinse.knowledge_base.build import build as build_kb
from convinse.passages.build import build_index
from convinse.support.errors import DataError, NetworkError
from convinse.wikipedia.build import build as build_dump
from convinse.wikipedia.dump import WikipediaDump
from handmade import world, write
from places import ROOT
from refusals import refused
from written import write_lines

pytestmark = [
    pytest.mark.skipif(find_spec("ray") is None, reason="the extra ray is not installed"),
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("default"),  # Ray's own are not ours to mend
]
PATIENCE = 120  # seconds
REMEDY = "try again"


@pytest.fixture(scope="module")
def crew(cluster):
    with connected("ray") as workers:
        yield workers


def results(crew, *harm, count=24):
    return crew.in_order(range(count), Harm, harm, "numbers", REMEDY)


def test_results_come_in_order_from_several_workers(crew):
    assert crew.size == 3
    workers = set()
    with closing(results(crew, "", "", 0.02, count=10_000)) as done:
        for number, (piece, worker) in enumerate(done):
            assert piece == number
            workers.add(worker)
            if len(workers) == 3:
                break
    assert len(workers) == 3


def test_nothing_is_done_where_there_is_nothing(crew):
    assert list(results(crew, count=0)) == []


@pytest.mark.parametrize(
    ("harm", "words"),
    [("data", ["page 5: is no page"]), ("memory", ["numbers: a worker process ran out of memory; try again"])],
)
def test_the_error_of_a_worker_is_one_line_in_its_place(crew, harm, words):
    with closing(results(crew, harm)) as done:
        assert [next(done)[0] for _ in range(5)] == [0, 1, 2, 3, 4]
        refused(DataError, lambda: next(done), *words)


def test_what_cannot_come_back_is_told(crew):
    with pytest.raises(AttributeError, match="pickle"):
        list(results(crew, "answer"))


def test_the_pieces_of_a_killed_worker_are_done_again(crew, tmp_path):
    done = [piece for piece, _ in results(crew, "kill once", str(tmp_path))]
    assert done == list(range(24))
    again = [piece for piece in range(24) if len(list(tmp_path.glob(f"{piece}-*"))) > 1]
    assert 5 in again
    assert len(again) <= 2  # what the worker held


def test_a_piece_that_ends_every_worker_is_told(crew):
    refused(DataError, lambda: list(results(crew, "kill", count=6)), "numbers: piece 6 has ended 3 workers", REMEDY)


def test_what_is_not_waited_for_is_given_up(crew):
    with closing(results(crew, "", "", 0.1)) as done:
        next(done)
    assert [piece for piece, _ in results(crew, count=3)] == [0, 1, 2]


def test_a_node_that_joins_gets_work_and_what_it_held_is_done_again_when_it_is_lost(crew, cluster):
    """The pieces go on until the new worker has begun, and its node is lost, and some more were done."""
    seen, node, lost = set(), None, None
    with closing(results(crew, "", "", 0.05, count=100_000)) as done:
        for number, (piece, worker) in enumerate(done):
            assert piece == number
            seen.add(worker)
            if len(seen) == 3 and node is None:
                node = cluster.add_node(**NODE)
            if len(seen) == 4 and lost is None:
                cluster.remove_node(node, allow_graceful=False)
                lost = number
            if lost is not None and number > lost + 60:
                break
    assert lost is not None


def run(crew=None, output="results", **options):
    config = load_config("lexical.yml", ers_use_cache=False, output_path=output)
    outcome = run_experiment(config, ["kb", "text"], quiet=True, crew=crew, **{"limit": 8, **options})
    metrics = {key: value for key, value in outcome.metrics.items() if key != "seconds"}
    return (outcome.path / "turns.jsonl").read_bytes(), metrics


@pytest.mark.parametrize("gold", [True, False])
def test_a_run_is_byte_for_byte_that_without_a_cluster(crew, gold):
    local = run(output="local", use_gold_answers=gold)
    run(crew, use_gold_answers=gold, limit=3)
    assert run(crew, use_gold_answers=gold) == local  # which goes on from the first three
    assert run(use_gold_answers=gold) == local  # and so does a run without a cluster: there is nothing left to do


def test_what_workers_of_a_cluster_build_is_what_is_built_here(crew, corpus, monkeypatch):
    for module in ("knowledge_base", "wikipedia"):
        for name in ("_BLOCK", "_BLOCK_BYTES"):
            monkeypatch.setattr(f"convinse.{module}.build.{name}", 2000, raising=False)
    dump = write(Path("dump.json"), world())
    pages = write_lines(
        "pages.jl",
        *(json.dumps({"title": f"Page {n}", "qid": f"Q{n}", "html": "<p>It is one.</p>"}) for n in range(1, 90)),
    )
    passages = corpus((str(number), f"text {number % 7} of {number}") for number in range(900))
    ids = []
    for workers in (None, crew):
        where = Path("ray" if workers else "here")
        where.mkdir()
        kb = build_kb(dump, where / "kb", crew=workers)
        build_dump(pages, where / "wikipedia", processes=workers)
        built = build_index(passages, where / "passages", processes=workers, memory=64 << 20)
        with closing(WikipediaDump(where / "wikipedia")) as wikipedia:
            ids.append((kb.build_id, wikipedia.build_id, built.manifest.build_id))
    assert ids[0] == ids[1]
    assert len(set(ids[0])) == 3


def test_a_node_with_other_data_is_refused(crew, monkeypatch):
    monkeypatch.setattr("convinse.batch_runner.BatchRunner.origins", lambda self: {"knowledge base": "of the driver"})
    refused(DataError, lambda: run(crew), "another knowledge base", "every node")


@contextmanager
def started(*options):
    line = [sys.executable, "-m", "convinse", "pipeline", "kb_text", "own.yml", "--on", "ray", *options]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_command_that_was_killed_goes_on(crew, workdir):
    for member in [*crew._members]:
        crew.dismiss(member)  # or they have all the cores that the command waits for
    (workdir / "own.yml").write_text((ROOT / "config" / "lexical.yml").read_text() + "ers_use_cache: false\n")
    turns = workdir / "results" / "lexical" / "kb_text" / "turns.jsonl"
    with started() as process:
        end = time.monotonic() + PATIENCE
        while not (turns.exists() and turns.read_bytes().count(b"\n") > 1):
            assert process.poll() is None and time.monotonic() < end
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    kept = turns.read_bytes()
    kept = kept[: kept.rfind(b"\n") + 1]
    with started("--limit", "12") as process:
        _, told = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, told
    assert "conversations are finished already" in told
    assert turns.read_bytes().startswith(kept)
    assert turns.read_bytes().startswith(run(output="local", limit=12)[0])


def test_a_cluster_of_this_machine_leaves_nothing_behind(workdir, monkeypatch):
    for name in ("RAY_ADDRESS", "RAY_AUTH_MODE", "RAY_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    (workdir / "own.yml").write_text((ROOT / "config" / "lexical.yml").read_text() + "ers_use_cache: false\n")
    with started("--limit", "4", "--workers", "1") as process:
        _, told = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, told
    assert told.startswith("Ray: 1 workers on ")
    assert (workdir / "results/lexical/kb_text/turns.jsonl").read_bytes() == run(output="local", limit=4)[0]
    assert not list(Path("/tmp").glob(f"convinse-{process.pid}-*"))


def test_a_lost_head_node_is_one_line(crew, cluster, monkeypatch):
    with closing(results(crew, "", "", 0.2, count=1000)) as done:
        next(done)
        monkeypatch.setattr(head_watch, "_NO_HEAD", 2)  # not before: on a busy machine it may take longer to answer
        cluster.head_node.kill_gcs_server()
        refused(NetworkError, lambda: list(done), "head node", "what is finished is kept", "start the cluster again")
