"""Bad clients against the servers: each gets a JSON answer or is closed in time, and a good client is served all the while."""

from __future__ import annotations

import json
import random
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import partial
from typing import Any

from ..harness import Bench, Figures
from .campaign import Attempt, Trial, measured
from .judging import judged
from .served import RunningServer, running

_AMOUNTS = (1, 8, 20)  # trials of a group, by size
_BODIES = (10, 10, 150)  # of a trial with random bodies
_AT_ONCE = 6  # bad clients of a trial
_MANY = 200  # connections of a trial of `many`: more than the server takes
_PATIENCE = 20.0  # seconds in which a good client has its answer, and a bad one its end, on a busy machine
# Waits that end soon, so that a trial does; a busy machine needs some of them.
_SHORT = {
    "connections": 100, "header_seconds": 1.0, "body_seconds": 1.0, "idle_seconds": 1.0, "answer_seconds": 1.0,
    "drained_seconds": 1.0,
}  # fmt: skip
_CHAT = {"messages": [{"role": "user", "content": "Who directed Titanic?"}]}
# requests that are answered, the first by whatever the server is for; {id} stands for a conversation that is begun before
_GOOD: Mapping[str, Sequence[tuple[str, dict[str, Any]]]] = {
    "kb": [("/search_space", {"question": "Who directed Titanic?"})],
    "reader": [("/", {"context": "The Hobbit was written by Tolkien.", "qas": [{"qid": "1", "question": "who wrote The Hobbit"}]})],
    "plain api": [
        ("/v1/chat/completions", _CHAT),
        ("/v1/chat/completions", {**_CHAT, "stream": True, "model": "convinse:kb"}),
        ("/v1/conversations", {"sources": "kb_text"}),
        ("/v1/conversations/{id}/turns", {"question": "Who directed Titanic?"}),
    ],
}  # fmt: skip
_METHODS = ("GET", "POST", "DELETE", "PUT", "OPTIONS", "HEAD", "get", "X")
_PATHS = (
    "/", "*", "//", "/v1", "/v1/conversations", "/v1/conversations/", "/v1/models", "/v1/models/convinse", "/healthz", "/metrics",
    "/openapi.json", "/search_space", "/v1/conversations/x/turns", "/..%2f..", "/%00", "/%ff", "/?a=%", "/" + "a" * 5000, "http://localhost/",
)  # fmt: skip
_SITES = (
    {"Host": "evil.example"}, {"Host": "127.0.0.1.evil.example"}, {"Origin": "http://evil.example"}, {"Origin": "null"},
    {"Content-Type": "text/plain"}, {"Content-Type": "application/x-www-form-urlencoded"},
)  # fmt: skip
_KNOWN = (  # keys and texts that a server knows
    "question", "item", "item1", "item2", "parameters", "context", "qas", "qid", "p", "Q42", "P31", "messages", "role", "user", "content",
    "stream", "model", "sources", "kb", "conversation", "questions", "Who wrote The Hobbit?",
)  # fmt: skip
Pieces = Iterator[bytes]  # what a client sends; between two pieces it waits a moment


def clients(bench: Bench) -> Figures:
    """The part `clients` of the campaign."""
    attacks = {**_ATTACKS, "bodies": partial(_bodies, _BODIES[bench.size])}
    with ExitStack() as stack:
        servers = {kind: stack.enter_context(running(kind, bench.work, **_SHORT)) for kind in _GOOD}
        groups: dict[str, Attempt] = {
            f"{kind}: {name}": partial(_tried, server, attack)
            for kind, server in servers.items()
            for name, attack in attacks.items()
        }
        return measured(bench, "clients", groups, _AMOUNTS[bench.size])


def _tried(server: RunningServer, attack: Callable[[RunningServer, random.Random], str], trial: Trial) -> str:
    """An attack while a good client asks; what did not hold."""
    stop, complaints = threading.Event(), list[str]()
    good = threading.Thread(target=_good, args=(server, stop, complaints))
    good.start()
    try:
        reason = attack(server, trial.random)
    finally:
        stop.set()
        good.join()
    return reason or next(iter(complaints), "") or server.wrong()


def _good(server: RunningServer, stop: threading.Event, complaints: list[str]) -> None:
    path, value = _GOOD[server.kind][0]
    body = json.dumps(value).encode()
    while not complaints:
        start, status = time.monotonic(), 0
        while status != 200 and time.monotonic() < start + _PATIENCE:
            with suppress(OSError):
                status, _ = server.ask(body, path, _PATIENCE)
        if status != 200:
            complaints.append(f"a good client is not served within {_PATIENCE:.0f} s (status {status})")
        if stop.wait(0.02):
            return


# -- what clients send -------------------------------------------------------------------------------------------------


def _chosen(server: RunningServer, chance: random.Random) -> tuple[str, dict[str, Any]]:
    """The path and the body of a request that is answered."""
    path, value = chance.choice(_GOOD[server.kind])
    if "{id}" in path:
        path = path.replace("{id}", server.ask(b"{}", "/v1/conversations", _PATIENCE)[1]["id"])
    return path, value


def _request(server: RunningServer, chance: random.Random, body: bytes | None = None, **headers: str) -> bytes:
    path, value = _chosen(server, chance)
    return _post(path, json.dumps(value).encode() if body is None else body, **headers)


def _post(path: str, body: bytes, method: str = "POST", **headers: str) -> bytes:
    told = {"Host": "localhost", "Content-Type": "application/json", "Content-Length": str(len(body)), **headers}
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {text}" for name, text in told.items()), "", ""]
    return "\r\n".join(lines).encode() + body


def _slow(server: RunningServer, chance: random.Random) -> Pieces:
    whole = _request(server, chance)
    size = chance.randint(1, 4)
    return (whole[start : start + size] for start in range(0, len(whole), size))


def _half(server: RunningServer, chance: random.Random) -> Pieces:
    whole = _request(server, chance)
    yield whole[: chance.randrange(len(whole))]


def _broken(server: RunningServer, chance: random.Random) -> Pieces:
    whole = bytearray(_request(server, chance))
    for _ in range(chance.randint(1, 8)):
        place = chance.randrange(len(whole))
        change = chance.choice(("flip", "delete", "insert", "repeat"))
        if change == "flip":
            whole[place] ^= 1 << chance.randrange(8)
        elif change == "delete":
            del whole[place : place + chance.randint(1, 20)]
        elif change == "insert":
            whole[place:place] = chance.randbytes(chance.randint(1, 20))
        else:
            whole[place:place] = whole[max(0, place - 40) : place]
    yield bytes(whole)


def _large(server: RunningServer, chance: random.Random) -> Pieces:
    limit = server.limits.body
    size = limit + chance.randint(1, 4 * limit)
    head = _request(server, chance, b"")
    if chance.random() < 0.5:
        yield head.replace(b"Content-Length: 0", f"Content-Length: {size}".encode())
        block, ending = b"x" * 1_000_000, b""
    else:
        yield head.replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")
        block, ending = b"f4240\r\n" + b"x" * 1_000_000 + b"\r\n", b"0\r\n\r\n"
    yield block * (size // 1_000_000)
    yield ending or b"x" * (size % 1_000_000)


def _foreign(server: RunningServer, chance: random.Random) -> Pieces:
    yield _request(server, chance, **chance.choice(_SITES))


def _path(server: RunningServer, chance: random.Random) -> Pieces:
    """Some path by some method, the parts of several paths mixed."""
    path = chance.choice(_PATHS) + (chance.choice(_PATHS) if chance.random() < 0.3 else "")
    body = chance.choice((b"", b"{}", json.dumps(_value(chance)).encode()))
    yield _post(path, body, chance.choice(_METHODS), Connection="close")


def _value(chance: random.Random, depth: int = 0) -> Any:
    """A random value of JSON; its keys and texts are often such as the servers know."""
    kind = chance.randrange(9 if depth < 4 else 6)
    if kind < 2:
        return chance.choice(_KNOWN)
    if kind == 2:
        return "".join(
            chr(chance.choice((chance.randrange(128), chance.randrange(0x3000), 0x1F600)))
            for _ in range(chance.randrange(200))
        )
    if kind == 3:
        return chance.choice((0, -1, 1.5, 10**30, 1e308, True, None))
    if kind in (4, 5):
        return chance.choice(("a", "ab ", "Paris ", "A b ", "(", "\u0301")) * chance.randrange(4000)
    if kind == 6:
        return [_value(chance, depth + 1) for _ in range(chance.randrange(6))]
    return {chance.choice(_KNOWN): _value(chance, depth + 1) for _ in range(chance.randrange(6))}


def _body(value: dict[str, Any], chance: random.Random) -> bytes:
    """A random body: a value, a good one with another value in it, or bytes."""
    good = dict(value)
    good[chance.choice(list(good))] = _value(chance)
    body = json.dumps(chance.choice((good, _value(chance)))).encode()
    if chance.random() < 0.3:
        place = chance.randrange(len(body) + 1)
        return body[:place] + chance.randbytes(chance.randrange(20)) + body[place + chance.randrange(20) :]
    return body


# -- what becomes of them ----------------------------------------------------------------------------------------------


def _together(
    sent: Callable[[RunningServer, random.Random], Pieces], server: RunningServer, chance: random.Random
) -> str:
    """Some clients at once; what is wrong with the end of one."""
    own = [random.Random(chance.random()) for _ in range(_AT_ONCE)]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return next(filter(None, pool.map(lambda random_: _one_client(server, sent(server, random_)), own)), "")


def _one_client(server: RunningServer, pieces: Pieces) -> str:
    """Send, read until the server closes, and judge the answer."""
    answer = b""
    with socket.create_connection(("127.0.0.1", server.port), timeout=_PATIENCE) as client:
        try:
            for piece in pieces:
                client.sendall(piece)
                time.sleep(0.01)
        except ConnectionError:
            pass  # it is closed already: what it was sent is still read
        except TimeoutError:
            return "the server reads nothing more"
        try:
            while block := client.recv(1 << 16):
                answer += block
        except TimeoutError:
            return f"a connection stays open for {_PATIENCE:.0f} s"
        except ConnectionError:
            pass
    return judged(answer)


def _bodies(number: int, server: RunningServer, chance: random.Random) -> str:
    for _ in range(number):
        path, value = _chosen(server, chance)
        body = _body(value, chance)
        if reason := _one_client(server, iter([_post(path, body, Connection="close")])):
            return f"{reason}; body {body[:80]!r}"
    return ""


def _pipelined(server: RunningServer, chance: random.Random) -> str:
    number = chance.randint(2, 40)
    with socket.create_connection(("127.0.0.1", server.port), timeout=_PATIENCE) as client:
        path, value = _GOOD[server.kind][0]
        client.sendall(_post(path, json.dumps(value).encode()) * number)
        if chance.random() < 0.3:
            return ""  # it reads nothing, and goes
        answer = b""
        while (block := client.recv(1 << 16)) and answer.count(b"HTTP/1.1 200") < number:
            answer += block
    count = (answer + block).count(b"HTTP/1.1 200")
    return "" if count == number else f"{count} answers to {number} requests"


def _cross_site(server: RunningServer, chance: random.Random) -> str:
    (piece,) = _foreign(server, chance)
    with socket.create_connection(("127.0.0.1", server.port), timeout=_PATIENCE) as client:
        client.sendall(piece)
        answer = client.recv(1 << 16)
    return "" if answer.split()[1:2] in ([b"403"], [b"415"]) else f"another site is answered: {answer[:60]!r}"


def _many(server: RunningServer, chance: random.Random) -> str:
    whole = _request(server, chance)
    with ExitStack() as stack:
        for _ in range(_MANY):
            with suppress(OSError):
                client = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=_PATIENCE))
                client.sendall(whole[: chance.choice((0, 5, len(whole) - 1, len(whole)))])
        time.sleep(chance.random())
    return ""


_ATTACKS: Mapping[str, Callable[[RunningServer, random.Random], str]] = {
    "slow": partial(_together, _slow),
    "half-open": partial(_together, _half),
    "broken": partial(_together, _broken),
    "large": partial(_together, _large),
    "paths": partial(_together, _path),
    "pipelined": _pipelined,
    "cross-site": _cross_site,
    "many": _many,
}
