import queue
import sys
import webbrowser

import pytest

from convinse.serving import api_server, mcp_transports, service_access
from convinse.serving.api_server import ServiceOptions

TOKEN = "of-sixteen-letters"


@pytest.fixture
def started(monkeypatch):
    """What `serve api` would serve with."""
    calls = []

    def serve(pipeline, options, host, port, ready, *, names):
        calls.append((options, host, port, names))
        ready("http://HOST:1")

    monkeypatch.setattr(api_server, "serve", serve)
    monkeypatch.delenv(service_access.TOKEN_VARIABLE, raising=False)
    return calls


def test_what_is_given_is_served_with(started, command, tmp_path):
    file = tmp_path / "token"
    file.write_text(TOKEN)
    given = ["--sources", "info_kb", "--token", file, "--cors", "https://a.org", "--cors", "http://b.org:8080"]
    more = ["--conversations", 5, "--host", "0.0.0.0", "--port", 0, "--allow-host", "c.org"]
    assert "http://HOST:1" in command("serve", "api", "--config", "lexical.yml", *given, *more)
    options = ServiceOptions(("kb", "info"), 5, TOKEN, ("https://a.org", "http://b.org:8080"))
    assert started == [(options, "0.0.0.0", 0, ["c.org"])]


def test_the_demo_is_the_service_with_its_page_opened(started, command, monkeypatch):
    pages = queue.Queue()
    monkeypatch.setattr(webbrowser, "open", pages.put)
    command("serve", "api", "--config", "lexical.yml")
    assert pages.empty()
    command("serve", "demo", "--config", "lexical.yml", "--sources", "kb", "--port", 0)
    assert pages.get(timeout=60) == "http://HOST:1"
    assert started[1] == (ServiceOptions(("kb",)), "127.0.0.1", 0, [])


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_elsewhere_only_with_a_token_or_open(started, command, command_error, monkeypatch, host):
    arguments = ["serve", "api", "--config", "lexical.yml", "--host", host]
    error = command_error(*arguments)
    assert "--token" in error and "--open" in error and not started
    command(*arguments, "--open")
    monkeypatch.setenv(service_access.TOKEN_VARIABLE, TOKEN)
    command(*arguments)
    assert [options.token for options, *_ in started] == [None, TOKEN]


def test_the_own_machine_needs_none(started, command):
    command("serve", "api", "--config", "lexical.yml", "--host", "localhost")
    assert started[0][0] == ServiceOptions(("kb", "text", "table", "info"))


@pytest.mark.parametrize(
    "text",
    ["*", "null", "example.org", "https://example.org/", "https://Example.org", "ftp://a.org", "https://a.org:x", "https://u@a.org", "https://"],
)  # fmt: skip
def test_what_is_no_origin(started, usage_error, text):
    assert "--cors" in usage_error("serve", "api", "--cors", text)


def test_unknown_sources_and_numbers(started, command_error, usage_error):
    assert "wiki" in command_error("serve", "api", "--sources", "kb_wiki")
    assert "--conversations" in usage_error("serve", "api", "--conversations", "0")


@pytest.fixture
def started_mcp(monkeypatch):
    """What `serve mcp` would serve with: options, host, port and whether conversations are listed, or the options alone."""
    calls = []

    def serve_http(pipeline, options, host, port, ready, *, names, lists):
        calls.append((options, host, port, lists, names))
        ready("http://HOST:1/mcp")

    monkeypatch.setattr(mcp_transports, "serve_http", serve_http)
    monkeypatch.setattr(mcp_transports, "serve_stdio", lambda pipeline, options: calls.append(options))
    monkeypatch.delenv(service_access.TOKEN_VARIABLE, raising=False)
    return calls


def test_mcp_is_served_to_whoever_starts_it_or_over_http(started_mcp, command, monkeypatch):
    given = ["--config", "lexical.yml", "--sources", "info_kb", "--conversations", 5]
    assert command("serve", "mcp", *given) == ""
    assert "http://HOST:1/mcp" in command("serve", "mcp", *given, "--http", 0, "--allow-host", "c.org")
    command("serve", "mcp", *given, "--http", 9000, "--host", "0.0.0.0", "--open")
    monkeypatch.setenv(service_access.TOKEN_VARIABLE, TOKEN)
    command("serve", "mcp", *given, "--http", 9000, "--host", "0.0.0.0")
    options = ServiceOptions(("kb", "info"), 5)
    assert started_mcp == [
        options,
        (options, "127.0.0.1", 0, True, ("c.org",)),
        (options, "0.0.0.0", 9000, False, ()),
        (ServiceOptions(("kb", "info"), 5, TOKEN), "0.0.0.0", 9000, True, ()),
    ]


def test_where_mcp_may_not_be_served(started_mcp, command_error, usage_error):
    assert "--open" in command_error("serve", "mcp", "--http", 0, "--host", "0.0.0.0")
    for words in (["--host", "0.0.0.0"], ["--open"], ["--token", "x"], ["--allow-host", "x"]):
        assert "--http" in usage_error("serve", "mcp", *words)
    assert not started_mcp


def test_without_the_sdk_a_line_says_how_to_get_it(command_error, monkeypatch):
    monkeypatch.setitem(sys.modules, "mcp.server.lowlevel", None)
    for words in ([], ["--http", 0]):
        assert "pip install 'convinse[mcp]'" in command_error("serve", "mcp", "--config", "lexical.yml", *words)
