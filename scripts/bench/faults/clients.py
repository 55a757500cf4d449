"""Bad clients against both servers: each gets a JSON answer or is closed in time, and a good client is served all the while."""

from __future__ import annotations

import json
import random
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import partial
from typing import Any

from ..harness import Bench, Figures
from .campaign import Attempt, Trial, measured
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
_GOOD: Mapping[str, tuple[str, dict[str, Any]]] = {
    "kb": ("/search_space", {"question": "Who directed Titanic?"}),
    "reader": ("/", {"context": "The Hobbit was written by Tolkien.", "qas": [{"qid": "1", "question": "who wrote The Hobbit"}]}),
}  # fmt: skip
_SITES = (
    {"Host": "evil.example"}, {"Host": "127.0.0.1.evil.example"}, {"Origin": "http://evil.example"}, {"Origin": "null"},
    {"Content-Type": "text/plain"}, {"Content-Type": "application/x-www-form-urlencoded"},
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
    path, value = _GOOD[server.kind]
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


def _request(kind: str, body: bytes | None = None, **headers: str) -> bytes:
    path, value = _GOOD[kind]
    body = json.dumps(value).encode() if body is None else body
    told = {"Host": "localhost", "Content-Type": "application/json", "Content-Length": str(len(body)), **headers}
    lines = [f"POST {path} HTTP/1.1", *(f"{name}: {text}" for name, text in told.items()), "", ""]
    return "\r\n".join(lines).encode() + body


def _slow(kind: str, chance: random.Random) -> Pieces:
    whole = _request(kind)
    size = chance.randint(1, 4)
    return (whole[start : start + size] for start in range(0, len(whole), size))


def _half(kind: str, chance: random.Random) -> Pieces:
    whole = _request(kind)
    yield whole[: chance.randrange(len(whole))]


def _broken(kind: str, chance: random.Random) -> Pieces:
    whole = bytearray(_request(kind))
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


def _large(limit: int, kind: str, chance: random.Random) -> Pieces:
    size = limit + chance.randint(1, 4 * limit)
    head = _request(kind, b"")
    if chance.random() < 0.5:
        yield head.replace(b"Content-Length: 0", f"Content-Length: {size}".encode())
        block, ending = b"x" * 1_000_000, b""
    else:
        yield head.replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")
        block, ending = b"f4240\r\n" + b"x" * 1_000_000 + b"\r\n", b"0\r\n\r\n"
    yield block * (size // 1_000_000)
    yield ending or b"x" * (size % 1_000_000)


def _foreign(kind: str, chance: random.Random) -> Pieces:
    yield _request(kind, **chance.choice(_SITES))


def _value(chance: random.Random, depth: int = 0) -> Any:
    """A random value of JSON; its keys and texts are often such as the servers know."""
    known = (
        "question",
        "item",
        "item1",
        "item2",
        "parameters",
        "context",
        "qas",
        "qid",
        "p",
        "Q42",
        "P31",
        "Who wrote The Hobbit?",
    )
    kind = chance.randrange(9 if depth < 4 else 6)
    if kind < 2:
        return chance.choice(known)
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
    return {chance.choice(known): _value(chance, depth + 1) for _ in range(chance.randrange(6))}


def _body(kind: str, chance: random.Random) -> bytes:
    """A random body: a value, a good one with another value in it, or bytes."""
    good = dict(_GOOD[kind][1])
    good[chance.choice(list(good))] = _value(chance)
    body = json.dumps(chance.choice((good, _value(chance)))).encode()
    if chance.random() < 0.3:
        place = chance.randrange(len(body) + 1)
        return body[:place] + chance.randbytes(chance.randrange(20)) + body[place + chance.randrange(20) :]
    return body


# -- what becomes of them ----------------------------------------------------------------------------------------------


def _together(sent: Callable[[str, random.Random], Pieces], server: RunningServer, chance: random.Random) -> str:
    """Some clients at once; what is wrong with the end of one."""
    own = [random.Random(chance.random()) for _ in range(_AT_ONCE)]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return next(filter(None, pool.map(lambda random_: _one_client(server, sent(server.kind, random_)), own)), "")


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


def judged(answer: bytes) -> str:
    """What is wrong with what a client got: nothing, or answers in JSON, those of an error with its text."""
    while answer:
        head, _, rest = answer.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").lower().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines[1:] if ": " in line)
        status = lines[0].split()[1:2]
        if not lines[0].startswith("http/1.1 ") or not status or not status[0].isdigit():
            return f"no answer of HTTP: {answer[:60]!r}"
        size = int(headers.get("content-length", "0"))
        body, answer = rest[:size], rest[size:]
        if status[0].startswith("1"):
            continue
        if len(body) < size:
            return f"half of an answer: {len(body)} of {size} bytes"
        try:
            value = json.loads(body)
        except ValueError:
            return f"status {status[0]} without JSON: {body[:60]!r}"
        is_error = status[0][0] in "45"
        if is_error and not (isinstance(value, dict) and isinstance(value.get("error"), str)):
            return f"status {status[0]} without an error: {body[:60]!r}"
        if status[0] == "500" or b"Traceback" in body:
            return f"status {status[0]}: {body[:120]!r}"
    return ""


def _limited(server: RunningServer, chance: random.Random) -> str:
    return _together(partial(_large, server.limits.body), server, chance)


def _bodies(number: int, server: RunningServer, chance: random.Random) -> str:
    for _ in range(number):
        body = _body(server.kind, chance)
        close = {"Connection": "close"}
        if reason := _one_client(server, iter([_request(server.kind, body, **close)])):
            return f"{reason}; body {body[:80]!r}"
    return ""


def _pipelined(server: RunningServer, chance: random.Random) -> str:
    number = chance.randint(2, 40)
    with socket.create_connection(("127.0.0.1", server.port), timeout=_PATIENCE) as client:
        client.sendall(_request(server.kind) * number)
        if chance.random() < 0.3:
            return ""  # it reads nothing, and goes
        answer = b""
        while (block := client.recv(1 << 16)) and answer.count(b"HTTP/1.1 200") < number:
            answer += block
    count = (answer + block).count(b"HTTP/1.1 200")
    return "" if count == number else f"{count} answers to {number} requests"


def _cross_site(server: RunningServer, chance: random.Random) -> str:
    (piece,) = _foreign(server.kind, chance)
    with socket.create_connection(("127.0.0.1", server.port), timeout=_PATIENCE) as client:
        client.sendall(piece)
        answer = client.recv(1 << 16)
    return "" if answer.split()[1:2] in ([b"403"], [b"415"]) else f"another site is answered: {answer[:60]!r}"


def _many(server: RunningServer, chance: random.Random) -> str:
    whole = _request(server.kind)
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
    "large": _limited,
    "pipelined": _pipelined,
    "cross-site": _cross_site,
    "many": _many,
}
