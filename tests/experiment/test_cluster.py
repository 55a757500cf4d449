"""The pipeline on a Ray cluster of three nodes on this machine: equal bytes, lost actors and nodes, refused nodes."""

import os
import subprocess
import sys
import threading
from importlib.util import find_spec
from pathlib import Path

import pytest

from convinse import load_config
from convinse.experiment import read_part, run_experiment
from convinse.support.errors import ConfigError, NetworkError
from places import ROOT
from refusals import refused
from written import write

pytestmark = [
    pytest.mark.skipif(find_spec("ray") is None, reason="the extra ray is not installed"),
    pytest.mark.timeout(900),
    pytest.mark.filterwarnings("default"),  # Ray's own warnings are not ours to mend
]
NODE = {"num_cpus": 1, "object_store_memory": 80 << 20, "include_dashboard": False}
# a module of a user's own; the file `harm` says what happens when it answers the question of the file `question`
MODULE = """
import os, pathlib, signal, time
from convinse.heterogeneous_answering.entity_voting import EntityVoting

FOLDER = pathlib.Path(__file__).parent

class Harmful(EntityVoting):
    def inference_on_turns(self, turns, sources):
        time.sleep(float(os.environ.get("PAUSE", "0")))
        kind = (FOLDER / "harm").read_text() if (FOLDER / "harm").exists() else ""
        if kind and (FOLDER / "question").read_text() in [turn["question"] for turn in turns]:
            (FOLDER / f"attempt-{os.getpid()}").touch()
            if kind == "always" or len([*FOLDER.glob("attempt-*")]) == 1:
                os.kill(os.getpid(), signal.SIGKILL)
        return super().inference_on_turns(turns, sources)
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    folder = write(tmp_path_factory.mktemp("module") / "harmful.py", MODULE).parent
    write(folder / "question", read_part(load_config("lexical.yml"), "test")[3]["questions"][0]["question"])
    return folder


@pytest.fixture(scope="module")
def cluster(module):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_AUTH_MODE", "token")
        patch.setenv("RAY_AUTH_TOKEN", "0" * 64)
        patch.setenv("PAUSE", "0.1")
        patch.setenv("PYTHONPATH", os.pathsep.join(map(str, (ROOT, module))))
        patch.syspath_prepend(str(module))
        from ray.cluster_utils import Cluster

        nodes = Cluster()
        try:
            for _ in range(3):
                nodes.add_node(**NODE)
            patch.setenv("RAY_ADDRESS", nodes.address)
            yield nodes
        finally:
            nodes.shutdown()


@pytest.fixture(scope="module")
def workers(cluster):
    from convinse.experiment.cluster import connected

    with connected("ray") as workers:
        yield workers


@pytest.fixture(autouse=True)
def no_harm(module):
    yield
    for path in [module / "harm", *module.glob("attempt-*")]:
        path.unlink(missing_ok=True)


def run(workers=None, output="results", **options):
    config = load_config("lexical.yml", ha="harmful:Harmful", ers_use_cache=False, output_path=output)
    outcome = run_experiment(config, ["kb", "text"], quiet=True, workers=workers, **{"limit": 8, **options})
    return (outcome.path / "turns.jsonl").read_bytes()


@pytest.mark.parametrize("use_gold_answers", [True, False])
def test_results_are_byte_for_byte_those_of_a_local_run(workers, use_gold_answers):
    local = run(output="local", use_gold_answers=use_gold_answers)
    run(workers, use_gold_answers=use_gold_answers, limit=3)
    assert run(workers, use_gold_answers=use_gold_answers) == local  # continues after the first three


def test_batches_of_a_killed_actor_are_run_again(workers, module):
    local = run(output="local")
    write(module / "harm", "once")
    assert run(workers) == local
    assert len([*module.glob("attempt-*")]) == 2


def test_a_batch_that_kills_every_actor_ends_the_run_in_one_line(workers, module):
    write(module / "harm", "always")
    refused(NetworkError, lambda: run(workers), "finished conversations are kept")


def test_a_node_with_other_code_is_refused(workers):
    write("mine/harmful.py", MODULE + "# of this machine alone\n")
    write("own.yml", "ha: harmful:Harmful\ners_use_cache: false\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, Path("mine").resolve())))}
    line = [sys.executable, "-m", "convinse", "pipeline", "kb", "own.yml", "--limit", "2", "--on", "ray"]
    done = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert "has another modules of your own than the machine that started the run" in done.stderr.splitlines()[-1]


def test_a_lost_node_costs_no_conversation(workers, cluster):
    local = run(output="local", limit=40)
    node = cluster.add_node(**NODE)
    removal = threading.Timer(2, lambda: cluster.remove_node(node, allow_graceful=False))
    removal.start()
    try:
        assert run(workers, limit=40) == local
    finally:
        removal.join()


def test_a_missing_gpu_and_a_wrong_address_are_one_line(cluster):
    import ray

    from convinse.experiment.cluster import RayWorkers, connected

    refused(ConfigError, lambda: RayWorkers(ray, None, "cuda"), "the Ray cluster has no GPU")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_ADDRESS", "127.0.0.1:1")
        refused((NetworkError, ConfigError), lambda: connected("ray").__enter__(), "Ray cluster 127.0.0.1:1")
