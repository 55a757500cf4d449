"""The service under load: the parts that are soon done, without a model, and what they say of a server that fails."""

import json
from pathlib import Path

import pytest

from bench import serve
from bench.harness import ChildError
from loopback import ok, scripted_server, status

ARGUMENTS = ["--quick", "--config", "lexical.yml"]


@pytest.fixture
def measured(monkeypatch):
    """Run some parts, smaller still; returns their entries in the file of figures."""
    monkeypatch.setitem(vars(serve.SPEC), "sizes", (serve.Amounts(3, 3, 3, 1.0, 6),) * 3)

    def run(parts):
        serve.run(serve.SPEC, [*ARGUMENTS, "--parts", parts])
        return json.loads(Path("results/bench/serve.json").read_text())

    return run


def test_what_the_service_is_measured_by(measured):
    parts = measured("turn,sessions,stop")
    turns = parts["turn"]["figures"]
    assert [turns[kind]["number"] for kind in turns] == [1, 2, 3]
    assert all(0 < kind["ms"][1] <= kind["ms"][0] <= kind["ms"][2] for kind in turns.values())
    assert parts["sessions"]["figures"]["all"] > 10  # MB
    stopped = parts["stop"]
    assert (stopped["figures"]["answered"], stopped["figures"]["status"]) == (3, 0)
    assert all(bound["kept"] for bound in stopped["bounds"].values())


def test_clients_tell_of_errors():
    with scripted_server(ok({"id": "conv_1"}), status(503)) as server:
        result = serve.load(server.server_port, 1, 30, [["who?"]])
    assert not result["seconds"] and "503" in result["errors"][0]


def test_a_server_that_does_not_begin_is_no_figure(measured, monkeypatch):
    monkeypatch.setattr(serve, "questions", lambda config: [["who?"]])
    with pytest.raises(SystemExit, match="none.yml"):
        serve.run(serve.SPEC, ["--quick", "--config", "none.yml", "--parts", "stop"])


def test_nothing_that_was_answered_is_no_figure():
    with pytest.raises(ChildError):
        serve._spread([])
