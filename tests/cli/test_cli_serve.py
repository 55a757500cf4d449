import pytest

from convinse.serving import api_server, service_access
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
