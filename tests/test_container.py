"""The container: its default command is one, its health check asks what answers, its context holds what the installation reads."""

import json
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from convinse.cli import build_parser
from places import ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def words(name):
    return json.loads(re.findall(rf"{name} (\[.*\])$", DOCKERFILE, re.MULTILINE)[-1])


def test_the_default_command_is_one_and_asks_for_a_token(command_error, monkeypatch):
    monkeypatch.delenv("CONVINSE_TOKEN", raising=False)
    assert words("ENTRYPOINT") == ["convinse"]
    command = re.findall(r"^CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)
    (command_words,) = map(json.loads, command)
    options = build_parser().parse_args(command_words)
    assert options.port == 8080 and "EXPOSE 8080" in DOCKERFILE
    assert "CONVINSE_TOKEN" in command_error(*command_words)


@pytest.mark.parametrize(("answer", "status"), [(200, 0), (503, 1)])
def test_the_health_check_asks_the_service(answer, status):
    class Service(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(answer if self.path == "/healthz" else 404)
            self.end_headers()

        def log_message(self, *words):
            pass

    with HTTPServer(("127.0.0.1", 0), Service) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        program, option, code = json.loads(re.findall(r"^    CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)[0])
        assert (program, option) == ("python", "-c") and ":8080/" in code
        done = subprocess.run(
            [sys.executable, option, code.replace(":8080/", f":{server.server_port}/")], capture_output=True
        )
        server.shutdown()
    assert done.returncode == status


def test_it_runs_offline_and_as_a_user_without_rights():
    assert re.findall(r"^USER (.*)$", DOCKERFILE, re.MULTILINE) == re.findall(r"--uid (\d+)", DOCKERFILE) != []
    assert "CONVINSE_OFFLINE=1" in DOCKERFILE and "HF_HUB_OFFLINE=1" in DOCKERFILE


def test_the_context_holds_what_the_installation_reads():
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    names = {line[1:] for line in lines if line.startswith("!")}
    assert "*" in lines and all((ROOT / name).exists() for name in names)
    assert names >= {*"convinse config setup.py setup.cfg pyproject.toml README.md constraints.txt NOTICE".split()}
