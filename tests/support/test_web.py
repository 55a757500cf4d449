"""Outgoing requests against servers that behave and servers that do not."""

import gzip
import json
import logging
import time
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime

import pytest

from convinse import __version__
from convinse.support.errors import ConvinseError, NetworkError, OutputError
from convinse.support.web import WebSession
from loopback import cut, dripping, free_port, ok, scripted_server, serve, silent, status
from patience import BUSY, PATIENCE


@pytest.fixture
def session(closed):
    return lambda **options: closed(WebSession(**options))


def refused(action, *words):
    """The error of an action: one line with some words."""
    with pytest.raises(NetworkError) as caught:
        action()
    text = str(caught.value)
    assert "\n" not in text and all(word in text for word in words), text
    return caught.value


def test_post_json_sends_and_reads_json(session):
    with scripted_server(ok({"täg": [1, None]})) as server:
        assert session().post_json(f"{server.url}/a/b", {"item": "Qü"}) == {"täg": [1, None]}
    (request,) = server.requests
    assert (request.method, request.path, json.loads(request.body)) == ("POST", "/a/b", {"item": "Qü"})
    assert request.headers["Content-Type"] == "application/json"


def test_every_request_has_a_user_agent_with_the_contact(session, monkeypatch):
    monkeypatch.setenv("CONVINSE_CONTACT", "me@example.org\r\nX: y")
    with scripted_server(ok(1)) as server:
        session().get(server.url)
    agent = server.requests[0].headers["User-Agent"]
    assert agent.startswith(f"convinse/{__version__} (") and "me@example.org" in agent
    assert "X" not in server.requests[0].headers


@pytest.mark.parametrize("code", [429, 503])
def test_passing_faults_are_tried_again(session, caplog, code):
    caplog.set_level(logging.INFO, "convinse.support.web")
    with scripted_server(status(code, b"busy"), status(code), ok("fine")) as server:
        assert session().post_json(server.url, {"a": 1}) == "fine"
    assert [json.loads(request.body) for request in server.requests] == [{"a": 1}] * 3
    assert (
        f"127.0.0.1:{server.server_port}: answered {code}" in caplog.text
        and "(1 attempt of 5); again in" in caplog.text
    )


@pytest.mark.parametrize(
    ("code", "wish", "least", "most"),
    [(429, 7, 7, 7.2), (503, timedelta(seconds=12), 1, 12.2), (503, "soon", 0, 1)],
    ids=["seconds", "date", "neither"],  # what is neither counts as absent
)
def test_retry_after_is_obeyed(session, pauses, code, wish, least, most):
    if isinstance(wish, timedelta):
        wish = format_datetime(datetime.now(timezone.utc) + wish, usegmt=True)
    with scripted_server(status(code, retry_after=wish), ok(1)) as server:
        assert session(deadline=60).get_json(server.url) == 1
    assert len(pauses) == 1 and least <= pauses[0] < most


def test_a_retry_after_beyond_the_deadline_ends_at_once(session, pauses):
    with scripted_server(status(429, retry_after=3600), ok(1)) as server:
        refused(lambda: session(deadline=5).get(server.url), "429", "asks to wait 3600 s")
    assert pauses == [] and len(server.requests) == 1


def test_a_deadline_holds_while_an_answer_drips(session):
    start = time.monotonic()
    with scripted_server(dripping(0.02)) as server:
        refused(lambda: session(deadline=0.4).get(server.url), "no whole answer within 0.4 s (1 attempt")
        refused(lambda: session().get(server.url, until=time.monotonic() + 0.3), "no whole answer within 0.3 s")
        refused(lambda: session().get(server.url, until=time.monotonic() - 1), "no time is left")
    assert time.monotonic() - start < BUSY and len(server.requests) == 2


def test_fault_in_a_successful_answer_is_tried_again(session, pauses):
    client = session(passing=lambda body: "is busy" if b"busy" in body else None, attempts=3)
    with scripted_server(ok("busy"), status(200, b'"busy"', retry_after=1), ok("fine")) as server:
        assert client.get_json(server.url) == "fine"
        assert pauses[-1] >= 1.0
        server.steps = [ok("busy")]
        refused(lambda: client.get(server.url), "is busy", "3 attempts")


@pytest.mark.parametrize(
    "step", [cut(), cut(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), cut(b"nonsense\r\n")]
)
def test_a_cut_connection_is_tried_again(session, step):
    with scripted_server(step, step, ok(7)) as server:
        assert session().post_json(server.url, {}) == 7
    assert len(server.requests) == 3


HALF = cut(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
BOMB = status(200, gzip.compress(b"\0" * 30_000_000), content_encoding="gzip")
FAILURES = {  # step of the server, options, words of the error, number of requests
    "404": (status(404, b'{"error": "no"}'), {"remedy": "ask another"}, ["404", "no", "; ask another"], 1),
    "busy for ever": (status(503), {"attempts": 3}, ["503", "answered 503", "3 attempts"], 3),
    "always cut": (HALF, {"attempts": 2}, ["broke off", "2 attempts"], 2),
    "silent": (silent(PATIENCE), {"read_timeout": 0.2, "attempts": 2}, ["no answer within 0.2 s", "2 attempts"], 2),
    "too large": (status(200, b"x" * 300_000), {"max_bytes": 200_000}, ["answered more than"], 1),
    "too large unpacked": (BOMB, {"max_bytes": 1_000_000}, ["answered more than"], 1),
    "redirects in a circle": (status(302, location="/"), {}, ["redirects"], 6),
    "a page, which is not quoted": (status(404, b"<html><h1>Not found</h1>"), {}, ["404"], 1),
}
BODIES = [b"<html>", b"", b"{", b"\xff", b'{"a": "\xe4"}', b"[" * 100_000]


@pytest.mark.parametrize(("step", "options", "words", "requests"), FAILURES.values(), ids=FAILURES)
def test_a_failure_is_one_line_with_the_host_and_the_reason(session, step, options, words, requests):
    start = time.monotonic()
    with scripted_server(step) as server:
        error = refused(lambda: session(**options).get(server.url), f":{server.server_port}", *words)
    assert "<" not in str(error) and isinstance(error, ConvinseError)
    assert not words[0].isdigit() or error.status == int(words[0])
    assert len(server.requests) == requests and time.monotonic() - start < BUSY


@pytest.mark.parametrize("body", BODIES)
def test_a_body_that_is_no_json_is_refused(session, body):
    with scripted_server(status(200, body, content_type="text/html")) as server:
        refused(lambda: session().post_json(server.url, 1), "something else than JSON", "text/html")
    assert len(server.requests) == 1


def test_missing_host_is_named_without_user_and_password(session):
    port = free_port()
    words = f"127.0.0.1:{port}: no connection: Connection refused (2 attempts)", "check the address and the network"
    error = refused(lambda: session(attempts=2).get(f"http://me:secret@127.0.0.1:{port}/x"), *words)
    assert "secret" not in str(error) and "me:" not in str(error)


def test_redirects_are_followed_by_get_and_refused_by_post(session):
    with scripted_server(ok("there")) as there, scripted_server(status(302, location=there.url)) as here:
        assert session().get_json(here.url, {"a": "b c"}) == "there" and here.requests[0].path == "/?a=b+c"
        error = refused(lambda: session().post_json(here.url, 1), "302", there.url)
        assert error.status == 302


@pytest.mark.parametrize(("value", "offline"), [("1", True), ("yes", True), ("", False), ("no", False)])
def test_offline_opens_no_socket(session, workdir, monkeypatch, value, offline):
    monkeypatch.setenv("CONVINSE_OFFLINE", value)
    with scripted_server(ok(1)) as server:
        if offline:
            words = f"127.0.0.1:{server.server_port}", "CONVINSE_OFFLINE"
            refused(lambda: session().get(server.url), *words)
            refused(lambda: session().download(server.url, workdir / "x"), *words)
        else:
            assert session().get_json(server.url) == 1
        assert bool(server.requests) != offline and not list(workdir.iterdir())


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://host/x", "host/x", "", "http://", "http://[::1", "http://h:p/"]
)
def test_other_addresses_are_refused(session, url):
    refused(lambda: session().get(url), "not an address")


def test_loopback_uses_no_proxy_others_do(session, monkeypatch):
    with scripted_server(ok("proxied")) as proxy, scripted_server(ok("direct")) as server:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        assert session().get_json(server.url) == "direct"
        assert session().get_json("http://example.invalid/x") == "proxied"
    assert proxy.requests[0].path == "http://example.invalid/x"


def test_importing_it_loads_no_http_library(run_python):
    code = "import sys, convinse.support.web, convinse.wikipedia.api; print('requests' in sys.modules, 'urllib3' in sys.modules)"
    assert run_python(code) == "False False\n"


CONTENT = bytes(range(256)) * 1000


def test_a_download_is_stored_as_it_is_and_begins_anew_when_it_breaks_off(session, workdir):
    packed = gzip.compress(CONTENT)
    sizes = []
    steps = [status(503), serve(packed, stop=100), status(200, packed, Content_Encoding="gzip")]
    with scripted_server(*steps) as server:
        session(max_bytes=10).download(server.url, workdir / "x", sizes.append)
    assert server.requests[0].headers["Accept-Encoding"] == "identity" and len(server.requests) == 3
    assert (workdir / "x").read_bytes() == packed and sum(sizes) == len(packed) + 100
    with scripted_server(serve(CONTENT)) as server, pytest.raises(OutputError, match="no/x"):
        session().download(server.url, workdir / "no" / "x")
    assert len(server.requests) == 1
