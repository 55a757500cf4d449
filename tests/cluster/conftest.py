"""Tests with Ray run in a process of their own, see `test_with_ray.py`; they share a cluster of three nodes on this machine."""

import os

import pytest
from test_with_ray import HERE

from cluster_work import NODE
from places import ROOT

collect_ignore_glob = [] if HERE in os.environ else ["test_ray_*.py"]


@pytest.fixture(scope="module")
def node_options():
    """Of each node of `cluster`."""
    return [NODE] * 3


@pytest.fixture(scope="module")
def cluster(node_options):
    """Three nodes with a core each; RAY_ADDRESS leads to them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_AUTH_MODE", "token")
        patch.setenv("RAY_AUTH_TOKEN", "0" * 64)
        patch.setenv("PYTHONPATH", os.pathsep.join(map(str, (ROOT, ROOT / "tests"))))
        from ray.cluster_utils import Cluster

        nodes = Cluster()
        try:
            for options in node_options:
                nodes.add_node(**options)
            patch.setenv("RAY_ADDRESS", nodes.address)
            yield nodes
        finally:
            nodes.shutdown()
