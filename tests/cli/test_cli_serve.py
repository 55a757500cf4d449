"""The commands of the services as a user types them, up to what they would serve with."""

import queue
import sys
import webbrowser

import pytest

from convinse.serving import api, app
from convinse.serving.api import ServiceOptions
from convinse.support.checksums import users_cache
from patience import PATIENCE

mcp = pytest.importorskip("convinse.serving.mcp")

TOKEN = "of-sixteen-letters"
LEXICAL = ["--config", "lexical.yml"]


class Tools:
    """The tools of MCP as far as the command knows them."""

    def __init__(self, pipeline, options):
        self.options = options

    def close(self):
        pass


@pytest.fixture
def started(monkeypatch):
    """The options, the host and the port of each server that would be started; of one over stdio the options alone."""
    calls = []

    def run(options, host, port, ready, *, has_token):
        assert has_token == (options.token is not None)
        calls.append((options, host, port))
        ready("http://HOST:1")

    monkeypatch.setattr(app, "run", run)
    monkeypatch.setattr(api, "create_app", lambda pipeline, options: options)
    monkeypatch.setattr(mcp, "PipelineTools", Tools)
    monkeypatch.setattr(mcp, "create_app", lambda tools: tools.options)
    monkeypatch.setattr(mcp, "serve_stdio", lambda tools: calls.append(tools.options))
    monkeypatch.delenv("CONVINSE_TOKEN", raising=False)
    return calls


def test_options_reach_the_server(started, command, tmp_path):
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    arguments = ["--sources", "info_kb", "--token", file, "--cors", "https://a.org", "--cors", "http://b.org:8080"]
    more = ["--conversations", 5, "--host", "0.0.0.0", "--port", 0, "--allow-host", "c.org"]
    assert "http://HOST:1" in command("serve", "api", *LEXICAL, *arguments, *more)
    origins = ("https://a.org", "http://b.org:8080")
    options = ServiceOptions(("kb", "info"), 5, TOKEN, origins, ("0.0.0.0", "c.org"))
    assert started == [(options, "0.0.0.0", 0)]


def test_the_demo_is_the_service_with_its_page_opened(started, command, monkeypatch):
    pages = queue.Queue()
    monkeypatch.setattr(webbrowser, "open", pages.put)
    command("serve", "api", *LEXICAL)
    assert pages.empty()
    command("serve", "demo", *LEXICAL, "--sources", "kb", "--port", 0)
    assert pages.get(timeout=PATIENCE) == "http://HOST:1"
    folder = users_cache() / "page-files"
    options = ServiceOptions(("kb",), hosts=("127.0.0.1",), uploads=True, files_folder=folder)
    assert started[1] == (options, "127.0.0.1", 0)


def test_files_are_taken_from_this_machine_alone_unless_others_may_give_some(started, command):
    proxy = ["--allow-host", "c.org"]
    for words in ([], ["--no-upload"], proxy, ["--host", "0.0.0.0", "--open"], ["--host", "::1"], [*proxy, "--upload"]):
        command("serve", "demo", *LEXICAL, *words)
    assert [options.uploads for options, *_ in started] == [True, False, False, False, True, True]


@pytest.mark.parametrize("words", [["api"], ["mcp", "--http", "0"]])
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_elsewhere_only_with_a_token_or_open(started, command, command_error, monkeypatch, words, host):
    arguments = ["serve", *words, *LEXICAL, "--host", host]
    error = command_error(*arguments)
    assert "--token" in error and "--open" in error and not started
    command(*arguments, "--open")
    monkeypatch.setenv("CONVINSE_TOKEN", TOKEN)
    command(*arguments)
    assert [options.token for options, *_ in started] == [None, TOKEN]


def test_an_empty_variable_is_no_token(started, command_error, monkeypatch):
    monkeypatch.setenv("CONVINSE_TOKEN", "")
    assert "CONVINSE_TOKEN" in command_error("serve", "api", *LEXICAL)


def test_mcp_is_served_over_stdio_or_http(started, command):
    arguments = [*LEXICAL, "--sources", "info_kb", "--conversations", 5]
    assert command("serve", "mcp", *arguments) == ""
    assert "http://HOST:1/mcp" in command("serve", "mcp", *arguments, "--http", 0, "--allow-host", "c.org")
    over_http = ServiceOptions(("kb", "info"), 5, hosts=("127.0.0.1", "c.org"))
    assert started == [ServiceOptions(("kb", "info"), 5, hosts=("127.0.0.1",)), (over_http, "127.0.0.1", 0)]


def test_without_the_sdk_a_line_says_how_to_get_it(command_error, monkeypatch):
    monkeypatch.delitem(sys.modules, "convinse.serving.mcp")
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    for words in ([], ["--http", 0]):
        assert "[mcp]'" in command_error("serve", "mcp", *LEXICAL, *words)
