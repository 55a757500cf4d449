"""Servers on free ports of this machine: one that does what a script says, and `convinse kb serve` in a thread."""

import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

from convinse.serving.app import HttpServer, listen
from convinse.serving.clocq import create_app
from patience import PATIENCE


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = PATIENCE

    def answer(self):
        size = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(size)
        self.server.requests.append(
            SimpleNamespace(method=self.command, path=self.path, headers=self.headers, body=body, time=time.monotonic())
        )
        steps = self.server.steps
        step = steps[min(len(self.server.requests), len(steps)) - 1]  # the last one is repeated
        step(self)

    do_GET = do_POST = answer  # noqa: N815

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, *_):
        """A client that went away is part of the game."""


def status(code, body=b"", **headers):
    """A step: answer with a status, a body and headers (`retry_after` is Retry-After)."""

    def step(handler):
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), str(value))
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return step


def ok(value):
    return status(200, json.dumps(value).encode(), content_type="application/json")


def cut(sent=b""):
    """A step: send some bytes as they are, and close."""

    def step(handler):
        handler.wfile.write(sent)
        handler.close_connection = True

    return step


def serve(content, stop=None, length=True):
    """A step: serve the bytes of a file; `stop`: so many are sent, then the connection breaks; `length`: whether the length is told."""
    extra = b"Content-Length: %d\r\n" % len(content) if length else b""
    return cut(b"HTTP/1.1 200 OK\r\n%sConnection: close\r\n\r\n%s" % (extra, content[:stop]))


def silent(seconds):
    """A step: say nothing for a time, then close."""

    def step(handler):
        handler.server.stopped.wait(seconds)
        handler.close_connection = True

    return step


def dripping(pause):
    """A step: a body without end, one byte now and then."""

    def step(handler):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
        while not handler.server.stopped.wait(pause):
            handler.wfile.write(b" ")

    return step


def scripted_server(*steps):
    """A server that answers the first request with the first step, and so on, while a `with` block runs."""
    server = Server(("127.0.0.1", 0), Handler)
    server.steps, server.requests, server.stopped = steps, [], threading.Event()
    server.url = f"http://127.0.0.1:{server.server_port}"
    return running(server)


@contextmanager
def running(server):
    """A server that serves in a thread; `stopped` is set at the end."""
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.stopped.set()
        server.shutdown()
        server.server_close()
        thread.join()


def clocq_server(kb):
    """What `kb serve` serves, in a thread; yields its port."""
    return served(create_app(kb))


@contextmanager
def served(app, patience=5):
    """An application served in a thread; yields its port."""
    listener = listen("127.0.0.1", 0)
    server = HttpServer(app, patience=patience)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


def free_port():
    """A port that nobody listens on."""
    with listen("127.0.0.1", 0) as listener:
        return listener.getsockname()[1]
