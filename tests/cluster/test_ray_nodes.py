"""Nodes of a Ray cluster that have no data, no room or no memory: the results are those of a run without a cluster, whoever did the work."""

import itertools
import shutil
import socket
import subprocess
from contextlib import closing, contextmanager
from importlib.util import find_spec

import pytest

from cluster_work import NODE, Cramped, Harm
from convinse.batch_runner import Batch, BatchRunner
from convinse.cluster.connection import connected
from convinse.config import load_config
from convinse.data_store import DataStore
from convinse.experiment import read_part, run_experiment
from convinse.support.errors import FetchError
from places import SNAPSHOT
from refusals import refused

pytestmark = [
    pytest.mark.skipif(find_spec("ray") is None, reason="the extra ray is not installed"),
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("default"),  # Ray's own are not ours to mend
]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """The user's cache folder of each node."""
    return [tmp_path_factory.mktemp(f"node{number}") for number in range(3)]


@pytest.fixture(scope="module")
def node_options(folders):
    """See `cluster`."""
    return [{**NODE, "env_vars": {"XDG_CACHE_HOME": str(folder)}} for folder in folders]


@pytest.fixture(scope="module")
def crew(cluster):
    with connected("ray") as workers:
        yield workers


@pytest.fixture
def stored(workdir, folders):
    """Settings of a run whose knowledge base is in a store, and on no node."""
    for folder in folders:
        shutil.rmtree(folder / "convinse", ignore_errors=True)
    return {"kb_path": f"store:{DataStore('store').push(SNAPSHOT / 'kb').id}", "data_store": str(workdir / "store")}


def kept(folder):
    return [path.name for path in (folder / "convinse" / "data").glob("*") if not path.name.startswith(".")]


@contextmanager
def answers(crew, harm="", where="", **settings):
    """The same batch again and again, run by the workers; each result is compared with the one of this process."""
    config = load_config("lexical.yml", ers_use_cache=False, **settings)
    batch = Batch(read_part(config, "dev")[:1], ["kb"], True, None, "ha")
    with closing(BatchRunner(config)) as runner:
        expected, made_from = runner(batch).conversations, runner.origins()

    def compared(done):
        for number, result in enumerate(done):
            assert result.conversations == expected
            yield number

    given = (harm, str(where), config, made_from, socket.gethostname())
    with closing(crew.in_order(itertools.repeat(batch), Cramped, given, "batches", "try again")) as done:
        yield compared(done)


def test_a_node_without_the_data_fetches_them(crew, folders, stored):
    id = stored["kb_path"].removeprefix("store:")
    with answers(crew, **stored) as done:
        while not all(kept(folder) == [id] for folder in folders):
            next(done)
        for _ in range(6):
            next(done)


@pytest.fixture
def small_disk(folders):
    """A disk of 64 kB for what the third node keeps."""
    place = folders[2] / "convinse"
    place.mkdir(exist_ok=True)
    mounted = shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)], capture_output=True
    )
    if not mounted or mounted.returncode:
        pytest.skip("only root may mount a small disk")
    yield
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def others_go_on(done, caplog, *words):
    while "others do what it held" not in caplog.text:
        next(done)
    for _ in range(12):
        next(done)
    told = [record.getMessage() for record in caplog.records if "others do what it held" in record.getMessage()]
    assert len(told) == 1
    assert all(word in told[0] for word in (socket.gethostname(), *words)), told


def test_others_do_the_work_of_a_node_with_a_small_disk(crew, folders, stored, small_disk, caplog):
    with answers(crew, **stored) as done:
        others_go_on(done, caplog, stored["kb_path"], "its disk has 0.1 MB left")
    assert kept(folders[2]) == []


def test_others_do_the_work_of_a_node_whose_disk_fills_up(crew, folders, stored, caplog):
    with answers(crew, "disk", folders[2], **stored) as done:
        others_go_on(done, caplog, stored["kb_path"], "cannot be written: File too large")
    assert [path.suffix for path in (folders[2] / "convinse" / "data").iterdir()] == [".pull"]


def test_others_do_the_work_of_a_worker_without_memory(crew, folders, caplog):
    with answers(crew, "memory", folders[2]) as done:
        others_go_on(done, caplog, "MemoryError")


def test_a_node_that_ends_its_workers_ends_no_run(crew, folders):
    """No piece goes to the same node again, so none is taken to be the cause."""
    harm = ("kill there", str(folders[2]), 0.02)
    with closing(crew.in_order(range(100_000), Harm, harm, "numbers", "try again")) as done:
        for number, (piece, _) in enumerate(done):
            assert piece == number
            killed = [path.name.split()[1] for path in folders[2].glob("killed *")]
            if len(killed) == 4:
                break
    assert len(set(killed)) == 4


def test_a_node_whose_memory_is_full_ends_no_run(crew, cluster, caplog):
    """Ray's own monitor ends the workers there."""
    full = {"RAY_memory_usage_threshold": "0.01", "RAY_memory_monitor_refresh_ms": "100"}
    node = cluster.add_node(**NODE, env_vars=full)
    try:
        with closing(crew.in_order(range(100_000), Harm, ("", "", 0.02), "numbers", "try again")) as done:
            for number, (piece, _) in enumerate(done):
                assert piece == number
                if caplog.text.count("it ran out of memory") == 2:
                    break
    finally:
        cluster.remove_node(node, allow_graceful=False)


def test_where_no_node_can_fetch_the_data_one_line_says_so(crew, folders, stored, monkeypatch):
    node = socket.gethostname()
    monkeypatch.setattr(socket, "gethostname", lambda: "laptop")
    with answers(crew, **stored) as done:
        shutil.rmtree("store")
        refused(FetchError, lambda: next(done), stored["kb_path"], "has nothing with the id", f"(on {node})")
    DataStore("store").push(SNAPSHOT / "kb")
    with answers(crew, **stored) as done:
        next(done)


def test_one_configuration_gives_the_same_bytes_here_and_on_nodes_without_data(crew, folders, stored):
    config = load_config("lexical.yml", ers_use_cache=False, **stored)
    written = []
    for workers in (None, crew):
        outcome = run_experiment(config, ["kb", "text"], quiet=True, limit=6, restart=True, crew=workers)
        written.append((outcome.path / "turns.jsonl").read_bytes())
    assert written[0] == written[1]
    assert any(map(kept, folders))
