"""Part `costs`: small inputs that stand for much, up to 2 MB, each given to a command in a process of its own.

None needs more than 500 MB or 10 seconds of computing beyond what a small input of its kind does, and none ends by a traceback.
"""

from __future__ import annotations

import gzip
import json
import os
import pickle
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

from ..harness import Bench, Figures
from .campaign import Trial, measured

_MEMORY = 500 << 20
_SECONDS = 10.0
_PATIENCE = 120.0  # seconds of the clock; a busy machine computes slowly
_SIZES = ((1_000_000,), (200_000, 1_000_000, 2_000_000), (20_000, 200_000, 500_000, 1_000_000, 2_000_000))
_TRIALS = (1, 3, 25)


class Usage(NamedTuple):
    """What a command took: seconds of computing, bytes at the most; how it ended and its last line."""

    seconds: float
    peak: int
    status: int
    told: str


class Kind(NamedTuple):
    """A kind of input: its file's name, the command that reads it, and what makes one of so many bytes."""

    name: str
    command: Sequence[str]
    make: Callable[[random.Random, int], bytes]

    def usage(self, folder: Path, data: bytes) -> Usage:
        """What the command takes for some bytes; `{}` among its words is the file, `{text}` the bytes themselves."""
        path = folder / self.name
        path.write_bytes(data)
        words = {"{}": str(path), "{text}": data.decode("utf-8", "replace") if "{text}" in self.command else ""}
        arguments = [words.get(word, word) for word in self.command]
        with tempfile.TemporaryFile("w+") as errors:
            process = subprocess.Popen(
                [sys.executable, "-m", "convinse", *arguments], cwd=folder, stdout=subprocess.DEVNULL, stderr=errors
            )
            end = time.monotonic() + _PATIENCE
            pid = 0
            while not pid:
                time.sleep(0.02)
                pid, status, used = os.wait4(process.pid, os.WNOHANG)
                if not pid and time.monotonic() > end:
                    process.kill()
            process.returncode = os.waitstatus_to_exitcode(status)
            errors.seek(0)
            told = errors.read()
        shown = "Traceback" if "Traceback" in told else (told.strip().splitlines() or [""])[-1]
        return Usage(used.ru_utime + used.ru_stime, 1024 * used.ru_maxrss, process.returncode, shown)


def _page(html: str) -> bytes:
    return (
        json.dumps({"title": "Title", "qid": "Q1", "html": f"<div class=mw-parser-output>{html}</div>"}) + "\n"
    ).encode()


def _cells(tag: str, number: int, text: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{place} {text}</{tag}>" for place in range(number)) + "</tr>"


def _wide_header(chance: random.Random, size: int) -> bytes:
    columns = chance.randint(30, 60)
    share = chance.uniform(0.2, 0.9)  # of the header
    header = _cells("th", columns, "word " * int(share * size / columns / 5))
    row = _cells("td", columns, "a b")
    return _page(f"<table class=wikitable>{header}{row * int((1 - share) * size / len(row))}</table>")


def _spans(chance: random.Random, size: int) -> bytes:
    span = 10 ** chance.randint(2, 12)
    first = f"<tr><th rowspan={span} colspan={span}>{'long ' * chance.randint(1, 500)}</th></tr>"
    row = f"<tr><td rowspan={span} colspan={chance.randint(1, 99)}>b</td><td>c</td></tr>"
    return _page(f"<table class=wikitable>{first}{row * (size // len(row))}</table>")


def _nested(chance: random.Random, size: int) -> bytes:
    tag = chance.choice(
        ["div", "b", "span", "ul", "ul><li", "table class=wikitable><tr><td", "table class=infobox><tr><th>a</th><td",
         "section", "small", "a href='/wiki/X'", "blockquote", "table><tr><td", "dl><dd"]
    )  # fmt: skip
    return _page(f"<{tag}>" * (size // (len(tag) + 2)) + "text here.")


def _marks(chance: random.Random, size: int) -> bytes:
    piece = chance.choice(["<a href='/wiki/Abc'>Abc</a> [1] ", "word [1] ", "[", "&lt; ", "word. "])
    around = chance.choice(["<p>{}</p>", "<table class=wikitable><tr><th>h</th></tr><tr><td>{}</td></tr></table>"])
    return _page(around.format(piece * (size // len(piece))))


def _deep_json(chance: random.Random, size: int) -> bytes:
    opening, closing = chance.choice([('{"a":', "}"), ("[", "]")])
    depth = size // len(opening + closing)
    return (
        b'{"title": "T", "qid": "Q1", "html": "x", "more": '
        + (opening * depth + "1" + closing * depth).encode()
        + b"}\n"
    )


def _packed(chance: random.Random, size: int) -> bytes:
    piece = chance.choice([b"0", b"[],", b'{"a":', b'"', b" a"])
    unpacked = piece * (250 * size // len(piece))
    if chance.random() < 0.5:
        return gzip.compress(unpacked, 1, mtime=0)
    import zstandard

    return zstandard.ZstdCompressor().compress(unpacked)


def _aliases(chance: random.Random, size: int) -> bytes:
    width, merges = chance.randint(2, 12), chance.random() < 0.5
    lines = ["a0: &a0 {k: 1}"]
    for level in range(1, min(30, size // 100)):
        names = ", ".join([f"*a{level - 1}"] * width)
        lines.append(f"a{level}: &a{level} " + (f"{{<<: [{names}]}}" if merges else f"[{names}]"))
    return "\n".join(lines).encode()


def _settings(chance: random.Random, size: int) -> bytes:
    piece = chance.choice(["[", "{a: ", "a: [1, 2]\n", "x", "- "])
    return b"custom: " + (piece * (size // len(piece))).encode()


def _shared_pickle(chance: random.Random, size: int) -> bytes:
    value: object = "text " * (size // 10) if chance.random() < 0.5 else ()
    for _ in range(chance.randint(10, 60)):
        value = chance.choice([tuple, list])([value, value])
    if chance.random() < 0.3:
        key = value if isinstance(value, tuple) else "k"
        body = pickle.dumps([value], 2)[2:-1]  # an item whose key is the value, where that can be
        return b"\x80\x02}(" + (pickle.dumps(key, 2)[2:-1] if key == "k" else b"X\x02\x00\x00\x00Q1") + body + b"u."
    return pickle.dumps({"Q1": [value], "Q2": value}, chance.randint(2, 5))


def _question(chance: random.Random, size: int) -> bytes:
    words = chance.choice(["who directed the film Titanic and ", "Titanic ", "a", "1997 ", "? "])
    return (words * 100_000)[: min(size, 100_000)].encode()


_BUILD = ("wikipedia", "build", "{}", "--output", "made", "--quiet")
KINDS = {
    "header of long cells": Kind("pages.jl", _BUILD, _wide_header),
    "rowspan and colspan": Kind("pages.jl", _BUILD, _spans),
    "nested elements": Kind("pages.jl", _BUILD, _nested),
    "links and marks": Kind("pages.jl", _BUILD, _marks),
    "nested JSON": Kind("pages.jl", _BUILD, _deep_json),
    "packed, kb build": Kind("dump.json", ("kb", "build", "{}", "--output", "made", "--quiet"), _packed),
    "packed, wikipedia build": Kind("pages.jl", _BUILD, _packed),
    "packed, retrieve index": Kind("texts.jl", ("retrieve", "index", "{}", "--output", "made", "--quiet"), _packed),
    "YAML aliases": Kind("settings.yml", ("pipeline", "{}"), _aliases),
    "large settings": Kind("settings.yml", ("pipeline", "{}"), _settings),
    "shared tuples": Kind(
        "items.pickle", ("wikipedia", "import-pickle", "{}", "--output", "made", "--quiet"), _shared_pickle
    ),
    "question": Kind("question.txt", ("ask", "{text}"), _question),
}
_SMALL = 200  # bytes of an input to compare with


@lru_cache
def _least(kept: Path, name: str) -> Usage:
    """What the command takes for a small input of a kind."""
    return KINDS[name].usage(kept, KINDS[name].make(random.Random(name), _SMALL))


def attempt(name: str, sizes: Sequence[int], trial: Trial) -> str:
    """Give a command an input of a kind; what did not hold."""
    size = sizes[trial.seed % len(sizes)]
    data = KINDS[name].make(trial.random, size)
    least = _least(trial.kept, name)
    usage = KINDS[name].usage(trial.work, data)
    if usage.status not in (0, 1) or usage.told == "Traceback":
        return f"{len(data)} bytes: status {usage.status}, {usage.told[:200]}"
    if usage.peak - least.peak > _MEMORY:
        return f"{len(data)} bytes: {(usage.peak - least.peak) >> 20} MB more than {_SMALL} bytes"
    if usage.seconds - least.seconds > _SECONDS:
        return f"{len(data)} bytes: {usage.seconds - least.seconds:.0f} s more than {_SMALL} bytes"
    return ""


def costs(bench: Bench) -> Figures:
    """All kinds, larger by seed."""
    groups = {name: partial(attempt, name, _SIZES[bench.size]) for name in KINDS}
    return measured(bench, "costs", groups, _TRIALS[bench.size])
