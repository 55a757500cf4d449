"""Addresses of clusters that cannot be used, each of them told in a line; Ray itself is not needed for it."""

import subprocess
import sys

import pytest

from loopback import free_port


@pytest.mark.parametrize("variable", [False, True])
def test_an_address_where_nothing_listens_is_one_line(command_error, monkeypatch, variable):
    address = f"127.0.0.1:{free_port()}"
    monkeypatch.setenv("RAY_ADDRESS", address)
    line = command_error("pipeline", "--on", "ray" if variable else f"ray://{address}")
    assert line.startswith(f"{address}: cannot be reached (Connection refused); is the Ray cluster ")


@pytest.mark.parametrize("address", ["ray://", "ray://head", "ray://head:10001/x", "ray://head:x"])
def test_an_address_must_be_one(command_error, address):
    assert command_error("pipeline", "--on", address).startswith(
        f"--on: '{address}' is no cluster; give ray, or ray://HOST:PORT"
    )


def test_offline_asks_no_other_machine(command_error, monkeypatch):
    monkeypatch.setenv("CONVINSE_OFFLINE", "1")
    assert "CONVINSE_OFFLINE" in command_error("pipeline", "--on", "ray://192.0.2.1:10001")


def test_workers_need_a_cluster(command_error):
    assert "--workers belongs to --on ray" in command_error("pipeline", "--workers", "2")


def test_without_the_package_the_extra_is_named(command_error, monkeypatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setitem(sys.modules, "ray", None)
    assert "pip install 'convinse[ray]'" in command_error("pipeline", "--on", "ray")


def test_a_run_without_a_cluster_imports_nothing_of_it():
    check = (
        "import convinse.experiment, convinse.cli, sys; print([n for n in sys.modules if n == 'ray' or 'cluster' in n])"
    )
    assert subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True).stdout == "[]\n"
