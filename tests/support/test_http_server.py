"""The limits that all servers share, over real sockets: slow, half-open, cross-site, large and many clients."""

import asyncio
import errno
import gc
import http.client
import json
import os
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace

import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from convinse.support.http_connection import HandedSocket, LimitedConnection, Places
from convinse.support.http_limits import Limits
from convinse.support.http_server import JsonEndpoint, listen, parse
from convinse.support.http_work import RefusedError, WorkQueue
from loopback import served
from memory import COUNT_HEAPS, has_heaps

# a wait that is tried lasts a moment; all others longer than any test
LIMITS = Limits(body=1000, header_seconds=60, body_seconds=60, idle_seconds=60, answer_seconds=60, work_seconds=60)
GOOD = b'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 3\r\n\r\n"a"'


class Service:
    """Answers a text with how long it is; "wait" waits until it is let go."""

    def __init__(self, limits):
        self.limits = limits
        self.go = threading.Event()
        self.entered = threading.Semaphore(0)
        self.arrived = self.begun = self.given_up = 0
        endpoint, queue = JsonEndpoint(limits), WorkQueue(limits)

        def work(body):
            text = parse(body, str)
            self.begun += 1
            if text == "wait":
                self.entered.release()
                assert self.go.wait(30)
            if text == "large":
                return "x" * 20_000_000
            if text == "wrong":
                raise RefusedError("it is wrong", 413)
            return len(text)

        async def answered(body):
            self.arrived += 1
            try:
                return await queue.run(work, body)
            except asyncio.CancelledError:
                self.given_up += 1
                raise

        self.app = Starlette(routes=[Route("/", endpoint(answered), methods=["POST"])])


@contextmanager
def service(names=(), **changes):
    """A service with other limits, its `port` and an `ask`."""
    limits = replace(LIMITS, **changes)
    made = Service(limits)
    with served(made.app, limits=limits, names=names) as made.port:
        try:
            yield made
        finally:
            made.go.set()


def connect(made):
    return socket.create_connection(("127.0.0.1", made.port), timeout=60)


def ask(made, text="abc", **headers):
    """POST a text; the status, the value, the headers."""
    body = text if isinstance(text, bytes) else json.dumps(text)
    sent = {"Content-Type": "application/json", **{key.replace("_", "-"): value for key, value in headers.items()}}
    with closing(http.client.HTTPConnection("127.0.0.1", made.port, timeout=60)) as connection:
        connection.request("POST", "/", body, sent)
        response = connection.getresponse()
        return response.status, json.loads(response.read()), response.headers


def all_of(client):
    """What comes until the server closes."""
    blocks = []
    while block := client.recv(65536):
        blocks.append(block)
    return b"".join(blocks)


def error_of(answer):
    """Status and error of an answer as it was received."""
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"content-type: application/json" in head.lower()
    return int(head.split()[1]), json.loads(body)["error"]


def wait_until(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_connection_that_ended_is_not_kept():
    with service(answer_seconds=600) as made:  # a timer that stayed would hold it
        before = connections()
        for _ in range(5):
            ask(made)
        wait_until(lambda: connections() <= before)


def connections():
    gc.collect()
    return sum(isinstance(kept, LimitedConnection) for kept in gc.get_objects())


def test_what_follows_a_header_is_sent_at_once():
    """Without the option each answer in two parts waits for its client's acknowledgement, 40 ms."""
    with (
        closing(listen("127.0.0.1", 0)) as listener,
        closing(HandedSocket(listener, Places(Limits()))) as handed,
        socket.create_connection(listener.getsockname()),
        handed.accept()[0] as accepted,
    ):
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_spare_handle_that_another_thread_takes_is_never_closed_again(monkeypatch):
    exhausted = OSError(errno.EMFILE, "Too many open files")

    def fail(*_):
        raise exhausted

    with closing(listen("127.0.0.1", 0)) as listener, closing(HandedSocket(listener, Places(Limits()))) as handed:
        spare = handed._spare
        with monkeypatch.context() as patch:
            patch.setattr(socket.socket, "accept", fail)
            patch.setattr(os, "open", fail)
            with pytest.raises(BlockingIOError):
                handed.accept()
        taken = os.dup2(listener.fileno(), spare)  # the number is somebody else's now
        with monkeypatch.context() as patch:
            patch.setattr(socket.socket, "accept", fail)
            with pytest.raises(BlockingIOError):
                handed.accept()
        os.fstat(taken)
        os.close(taken)
        assert handed._spare >= 0  # there is one again


# -- time --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sent", [b"P", b"POST / HTTP/1.1\r\n", b"POST / HTTP/1.1\r\nHost: localhost\r\nX: "])
def test_half_of_the_headers_is_told_of_the_time(sent):
    with service(header_seconds=0.2) as made, connect(made) as client:
        client.sendall(sent)
        assert error_of(all_of(client)) == (408, "no whole request within 0.2 s")


def test_headers_that_drip_have_the_same_time():
    with service(header_seconds=0.3) as made, connect(made) as client:
        client.settimeout(0.05)
        answer = b""
        for byte in b"POST / HTTP/1.1\r\n" + b"X: y\r\n" * 1000:
            try:
                client.sendall(bytes([byte]))
                answer += client.recv(65536)
                break
            except TimeoutError:
                continue
        assert b" 408 " in answer


def test_connections_that_say_nothing_are_closed():
    with service(header_seconds=0.2, idle_seconds=0.2) as made, connect(made) as silent, connect(made) as idle:
        idle.sendall(GOOD)
        assert b"200 OK" in idle.recv(4096)
        assert all_of(silent) == b"" and all_of(idle) in (b"", b"1")


def test_the_second_request_of_a_connection_has_the_same_time_for_its_headers():
    with service(header_seconds=0.2) as made, connect(made) as client:
        client.sendall(GOOD)
        assert b"200 OK" in client.recv(4096)
        client.sendall(b"POST / HT")
        answer = all_of(client)
        assert error_of(answer[answer.index(b"HTTP/1.1 408") :])[0] == 408


def test_a_body_that_does_not_arrive():
    with service(body_seconds=0.2) as made, connect(made) as client:
        client.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{")
        assert error_of(all_of(client)) == (408, "no whole body within 0.2 s")


def test_work_that_takes_too_long():
    with service(work_seconds=0.2) as made:
        status, value, headers = ask(made, "wait")
        assert status == 503 and "0.2 s" in value["error"] and headers["Retry-After"] == "1"
        made.go.set()
        assert ask(made)[:2] == (200, 3)


def test_a_client_that_does_not_read_its_answer(monkeypatch):
    dropped, drop = threading.Event(), LimitedConnection.drop
    monkeypatch.setattr(LimitedConnection, "drop", lambda connection: (drop(connection), dropped.set()))
    with service(answer_seconds=0.3) as made, connect(made) as client:
        client.sendall(GOOD.replace(b"Length: 3", b"Length: 7").replace(b'"a"', b'"large"'))
        assert dropped.wait(60)
        with pytest.raises(ConnectionError):  # it was closed in the midst
            answer = all_of(client)
            raise ConnectionError if len(answer) < 20_000_000 else AssertionError(len(answer))


# -- who asks ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:80", "127.0.0.1", "[::1]:9", "x.localhost", "kb.example", "localhost."]
)
def test_names_of_this_machine_and_those_that_are_allowed(host):
    with service(names=["KB.example"]) as made:
        assert ask(made, Host=host)[0] == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:80",
        "127.0.0.1.evil.example",
        "",
        "10.0.0.1",
        "a@localhost",
        "localhost:x",
        "[::1",
        "localhost/x",
    ],
)
def test_other_names_are_refused(host):
    with service() as made:
        status, value, _ = ask(made, Host=host)
        assert status == 403 and "--allow-host" in value["error"] and made.begun == 0


@pytest.mark.parametrize(
    ("origin", "status"),
    [("http://localhost", 200), ("http://localhost:80", 200), ("http://localhost:81", 403), ("http://evil.example", 403),
     ("null", 403), ("https://localhost:80", 200), ("", 403), ("http://localhost:x", 403)],
)  # fmt: skip
def test_pages_of_other_sites_are_refused(origin, status):
    with service() as made:
        host = "localhost:80" if origin.startswith("https") else "localhost"
        assert ask(made, Host=host, Origin=origin)[0] == status
        assert made.begun == (status == 200)


@pytest.mark.parametrize(
    ("kind", "status"),
    [("application/json; charset=utf-8", 200), ("Application/JSON", 200), ("text/plain", 415), ("application/x-www-form-urlencoded", 415),
     ("multipart/form-data; boundary=application/json", 415), ("", 415)],
)  # fmt: skip
def test_bodies_are_json(kind, status):
    with service() as made:
        assert ask(made, Content_Type=kind)[0] == status


def test_a_body_without_a_type_is_taken():
    with service() as made, connect(made) as client:
        client.sendall(GOOD.replace(b"Content-Type: application/json\r\n", b""))
        assert b"200 OK" in client.recv(4096)


# -- how much ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chunked", [False, True])
def test_the_sender_of_a_large_body_reads_why_it_is_refused(chunked):
    with service() as made:
        body = b"x" * 50_000_000
        with closing(http.client.HTTPConnection("127.0.0.1", made.port, timeout=60)) as connection:
            connection.request("POST", "/", iter([body]) if chunked else body)
            response = connection.getresponse()
            assert (response.status, json.loads(response.read())) == (
                413,
                {"error": "the body is larger than 1000 bytes"},
            )
        assert ask(made)[:2] == (200, 3)


def test_who_sends_without_end_is_cut_off():
    with service(drained_bytes=10_000_000) as made, connect(made) as client, pytest.raises(ConnectionError):
        client.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999999999\r\n\r\n")
        for _ in range(100_000):
            client.sendall(b"x" * 100_000)


def test_a_refused_sender_that_stays_is_closed():
    with service(drained_seconds=0.3) as made, connect(made) as client:
        client.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\nx")
        assert error_of(all_of(client))[0] == 413
        with pytest.raises(ConnectionError):
            for _ in range(1000):
                client.sendall(b"x")
                time.sleep(0.01)


def test_a_refused_sender_that_has_gone_is_not_told(monkeypatch, caplog):
    def gone(_):
        raise OSError(errno.ENOTCONN, "Transport endpoint is not connected")

    with service() as made:
        with monkeypatch.context() as patch, connect(made) as client:
            patch.setattr("asyncio.selector_events._SelectorSocketTransport.write_eof", gone)
            client.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\nx")
            with suppress(ConnectionError):
                all_of(client)
        assert ask(made)[:2] == (200, 3)
    assert not caplog.records


def test_bodies_together_are_limited():
    with service(bodies=1200) as made, connect(made) as first:
        first.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n\r\n" + b'"' + b"x" * 898)
        wait_until(lambda: ask(made, "x" * 500)[0] == 429)
        first.sendall(b'"')
        assert b"200 OK" in first.recv(4096)
        assert ask(made, "x" * 500)[:2] == (200, 500)


def test_a_full_queue_says_when_to_come_again():
    with service(at_once=1, queue=1) as made, ExitStack() as stack:
        for _ in range(2):
            client = stack.enter_context(connect(made))
            client.sendall(GOOD.replace(b"Length: 3", b"Length: 6").replace(b'"a"', b'"wait"'))
        assert made.entered.acquire(timeout=60)
        wait_until(lambda: ask(made)[0] == 429)
        status, value, headers = ask(made)
        assert status == 429 and "1 requests wait" in value["error"] and headers["Retry-After"] == "1"
        made.go.set()
        wait_until(lambda: ask(made)[0] == 200)


def test_work_of_a_client_that_is_gone_does_not_begin():
    with service(at_once=1) as made, connect(made) as first:
        first.sendall(GOOD.replace(b"Length: 3", b"Length: 6").replace(b'"a"', b'"wait"'))
        assert made.entered.acquire(timeout=60)
        with connect(made) as gone:
            gone.sendall(GOOD)
            wait_until(lambda: made.arrived == 2)
        wait_until(lambda: made.given_up)
        made.go.set()
        assert b"200 OK" in first.recv(4096)
        assert ask(made)[:2] == (200, 3)
        assert made.begun == 2


# -- connections -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sent", [b"", b"POST / HT", b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nx"]
)
def test_who_sends_a_request_is_served_beside_many_who_do_not(sent):
    with service(connections=10) as made, ExitStack() as stack:
        for _ in range(40):
            stack.enter_context(connect(made)).sendall(sent)
            assert ask(made)[:2] == (200, 3)


def test_where_all_places_work_a_further_client_is_refused():
    with service(connections=2) as made, ExitStack() as stack:
        for _ in range(2):
            client = stack.enter_context(connect(made))
            client.sendall(GOOD.replace(b"Length: 3", b"Length: 6").replace(b'"a"', b'"wait"'))
            assert made.entered.acquire(timeout=60)
        status, value, headers = ask(made)
        assert status == 503 and "2 connections" in value["error"] and headers["Retry-After"] == "1"
        made.go.set()
        wait_until(lambda: ask(made)[0] == 200)


def test_what_is_no_http_is_answered_as_json(caplog):
    with service() as made:
        for sent in (
            b"\0\0\0\r\n\r\n",
            b"GET\r\n\r\n",
            b"GET / HTTP/1.1\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: a\r\n" + b"x" * 100_000,
        ):
            with connect(made) as client:
                client.sendall(sent)
                assert error_of(all_of(client)) == (400, "Invalid HTTP request received")
        with connect(made) as client:  # in the midst of a body
            client.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
            assert error_of(all_of(client))[0] == 400
        assert ask(made)[:2] == (200, 3)
    assert not caplog.records


def test_requests_that_come_at_once_are_answered_in_order():
    with service() as made, connect(made) as client:
        client.sendall(GOOD * 20)
        answer = b""
        while answer.count(b"200 OK") < 20 or not answer.endswith(b"1"):
            answer += client.recv(65536)
        assert answer.count(b"\r\n\r\n1") == 20


def test_an_upgrade_is_not_taken_and_not_told(caplog):
    with service() as made:
        assert ask(made, Connection="Upgrade", Upgrade="websocket")[:2] == (200, 3)
    assert not caplog.records


FEW_HANDLES = """
import resource, sys, logging
logging.basicConfig()
resource.setrlimit(resource.RLIMIT_NOFILE, (160, 160))
from starlette.applications import Starlette
from starlette.routing import Route
from convinse.support.http_limits import Limits
from convinse.support.http_server import JsonEndpoint, run
async def work(body):
    return len(body)
limits = Limits()
app = Starlette(routes=[Route("/", JsonEndpoint(limits)(work), methods=["POST"])])
run(app, "127.0.0.1", 0, lambda address: print(address, flush=True), limits=limits)
"""


def test_few_file_handles_are_shared_out_and_the_log_stays_short(start):
    process = start(FEW_HANDLES)
    made = type("Made", (), {"port": int(process.stdout.readline().rpartition(":")[2])})
    with ExitStack() as stack:
        for _ in range(300):
            stack.enter_context(connect(made)).sendall(b"POST")
        for _ in range(10):
            wait_until(lambda: ask(made)[0] == 200)
    process.terminate()
    _, errors = process.communicate(timeout=60)
    assert "connections at once" in errors and len(errors.splitlines()) < 5 and process.returncode == 0


MANY_THREADS = COUNT_HEAPS + FEW_HANDLES.replace(
    "return len(body)", "return await queue.run(work_of_a_thread)"
).replace(
    "limits = Limits()",
    """
import time
from convinse.support.http_work import WorkQueue
def work_of_a_thread():
    blocks = [bytes(1000 + number) for number in range(1000)]
    time.sleep(0.2)
    return heaps()
limits = Limits()
queue = WorkQueue(limits)
""",
)


@has_heaps
def test_threads_of_requests_share_a_heap(start, monkeypatch):
    monkeypatch.delenv("MALLOC_ARENA_MAX", raising=False)
    process = start(MANY_THREADS)
    made = type("Made", (), {"port": int(process.stdout.readline().rpartition(":")[2])})
    with ThreadPoolExecutor(6) as pool:
        assert [value for _, value, *_ in pool.map(lambda _: ask(made), range(6))] == [1] * 6


SLOW = FEW_HANDLES.replace("return len(body)", "import asyncio; await asyncio.sleep(0.5); return len(body)").replace(
    "(160, 160)", "(1000, 1000)"
)


def test_what_has_arrived_is_answered_at_the_end(start):
    process = start(SLOW)
    made = type("Made", (), {"port": int(process.stdout.readline().rpartition(":")[2])})
    with ExitStack() as stack:
        clients = [stack.enter_context(connect(made)) for _ in range(60)]
        for client in clients:
            client.sendall(GOOD)
        process.terminate()
        assert all(b" 200 " in all_of(client) for client in clients)
    assert process.wait(60) == 0
