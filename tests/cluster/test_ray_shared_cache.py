"""Workers of a cluster that share a cache on a Redis server: what one computed all find, and the results are the same without it."""

from importlib.util import find_spec
from shutil import which

import pytest

from convinse.cluster.connection import connected
from convinse.config import load_config
from convinse.experiment import run_experiment

pytestmark = [
    pytest.mark.skipif(find_spec("ray") is None, reason="the extra ray is not installed"),
    pytest.mark.skipif(find_spec("redis") is None, reason="the extra redis is not installed"),
    pytest.mark.skipif(which("redis-server") is None, reason="redis-server is not installed"),
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("default"),  # Ray's own are not ours to mend
]


def test_a_second_run_finds_what_the_first_computed_and_needs_no_server(cluster, workdir):
    from redis_server import running

    def turns(crew=None, **settings):
        config = load_config("config.yml", output_path=str(workdir / "results"), device="cpu", **settings)
        outcome = run_experiment(
            config, ["kb", "text"], use_gold_answers=True, limit=3, restart=True, crew=crew, part="dev"
        )
        return (outcome.path / "turns.jsonl").read_bytes()

    plain = turns(ers_use_cache=False)
    with running(workdir) as server:
        with connected("ray", 1) as crew:
            assert turns(crew, ers_cache_path=server.url) == plain
        entries, hits = server.client.dbsize(), server.client.info("stats")["keyspace_hits"]
        assert entries > 20
        with connected("ray", 1) as crew:  # another process
            assert turns(crew, ers_cache_path=server.url) == plain
            assert server.client.info("stats")["keyspace_hits"] > hits + 20 and server.client.dbsize() == entries
            server.process.kill()
            server.process.wait(60)
            assert turns(crew, ers_cache_path=server.url) == plain
