"""The knowledge base measured: size, speed, memory, agreement with a plain reading of the dump, many clients at once.

    bash run.sh bench kb
    CONVINSE_BENCH_FULL=1 bash run.sh bench kb      (or bash run.sh bench kb --full)

`--full` adds a synthetic dump of 20 million facts and two smaller ones, from which all of Wikidata is projected. The
dumps and indexes lie in a temporary folder (TMPDIR; about 8 GB). Figures go to results/bench/kb.json.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import gzip
import http.client
import json
import os
import platform
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec
from rich.console import Console
from rich.table import Table

from bench.linking import convquestions, data_folder, dump_of, percentile
from convinse.knowledge_base.index import KnowledgeBase

OUTPUT = Path("results/bench/kb.json")
OPENS, CHECKED, CLIENTS, SERVED_SECONDS, ASKED = 20, 2000, 8, 30.0, 1000
MEMORY = 4_000_000_000
ITEMS, FACTS = 3_000_000, 20_000_000
WIKIDATA_ITEMS, WIKIDATA_FACTS = 115_000_000, 1_500_000_000
SEED = 1
HUBS = 20
_EVERYTHING = 10**9  # facts
Row = tuple[str, str, str]  # figure, measured, wanted

BUILD = """
import sys
from pathlib import Path
from convinse.knowledge_base.build import build
if __name__ == "__main__":
    build(Path(sys.argv[1]), Path(sys.argv[2]), memory=int(sys.argv[3]), quiet=True)
"""
OPEN = """
import sys, time
from pathlib import Path
from convinse.config import ClocqParams
from convinse.knowledge_base.index import KnowledgeBase
from convinse.knowledge_base.search_space import SearchSpace
start = time.perf_counter()
kb = KnowledgeBase(Path(sys.argv[1]))
opened = time.perf_counter()
SearchSpace(kb, ClocqParams(), 1000).search("Who directed Titanic?")
searched = time.perf_counter()
KnowledgeBase(Path(sys.argv[1]))
print(opened - start, searched - opened, time.perf_counter() - searched)
"""
QUESTIONS = """
import json, random, sys
import numpy as np
from pathlib import Path
from convinse.knowledge_base.index import KnowledgeBase
from recipes.synthetic_dump import popular_items
kb = KnowledgeBase(Path(sys.argv[1]))
count, seed = int(sys.argv[2]), int(sys.argv[3])
names = [kb.label(f"Q{n}") for n in popular_items(np.random.default_rng(seed), kb.manifest.items, 2 * count).tolist()]
words = [label for _, label, _ in kb.properties()]
rng = random.Random(seed)
forms = (
    "who is the {w} of {a}?", "What is the {w} of {a}", "When was {a} founded?", "which {w} did {a} and {b} share?"
)
print(json.dumps([
    rng.choice(forms).format(w=rng.choice(words), a=a, b=b) for a, b in zip(names[::2], names[1::2])
]))
"""
ASK = """
import json, sys, time
from pathlib import Path
from convinse.config import ClocqParams
from convinse.knowledge_base.index import KnowledgeBase
from convinse.knowledge_base.search_space import SearchSpace
questions = json.load(sys.stdin)
kb = KnowledgeBase(Path(sys.argv[1]))
space = SearchSpace(kb, ClocqParams(), 1000)
space.search(questions[0])
seconds, facts, linked = [], 0, 0
for question in questions:
    start = time.perf_counter()
    found, entities = space.search(question)
    seconds.append(time.perf_counter() - start)
    facts += len(found)
    linked += bool(entities)
memory = {}
if Path("/proc/self/status").exists():
    rows = [line.split() for line in Path("/proc/self/status").read_text().splitlines()]
    memory = {row[0].rstrip(":"): int(row[1]) * 1024 for row in rows if row[0] in ("VmRSS:", "RssAnon:")}
print(json.dumps({"seconds": seconds, "facts": facts, "linked": linked, "memory": memory}))
"""


# -- a plain reading of the dump ---------------------------------------------------------------------------------------


class BruteForce:
    """What a dump says, read with the standard library only and kept in dictionaries: what an index must agree with."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self.labels: dict[str, str] = {}
        self.facts: list[tuple[str, ...]] = []
        self.items_of: dict[tuple[str, ...], set[str]] = {}  # a text may look like an id, too
        self.by_item: dict[str, set[int]] = defaultdict(set)
        self.types: dict[str, set[str]] = defaultdict(set)
        for line in lines:
            line = line.strip().rstrip(b",")
            if line not in (b"", b"[", b"]"):
                self._add(json.loads(line))

    def _add(self, document: dict[str, Any]) -> None:
        labels = document["labels"] or {}
        label = labels.get("en") or labels.get("mul")
        if label is None:
            return
        self.labels[document["id"]] = label["value"]
        if document["type"] != "item":
            return
        for claim in (claim for claims in (document["claims"] or {}).values() for claim in claims):
            value = _plain_value(claim["mainsnak"])
            if claim["rank"] == "deprecated" or value is None:
                continue
            fact, items = [document["id"], claim["mainsnak"]["property"], value], {document["id"]}
            items |= _items_in([claim["mainsnak"]])
            qualifiers = claim.get("qualifiers") or {}
            for prop in claim.get("qualifiers-order") or qualifiers:
                for snak in qualifiers[prop]:
                    if (value := _plain_value(snak)) is not None:
                        fact += [prop, value]
                        items |= _items_in([snak])
            for item in items:
                self.by_item[item].add(len(self.facts))
            if fact[1] == "P31":
                self.types[document["id"]] |= _items_in([claim["mainsnak"]])
            self.facts.append(tuple(fact))
            self.items_of.setdefault(tuple(fact), set()).update(items)

    @functools.cached_property
    def hubs(self) -> list[str]:
        """The items in most facts."""
        known = self.by_item.keys() & self.labels.keys()
        return sorted(known, key=lambda item: (-len(self.by_item[item]), item))[:HUBS]

    def neighborhood(self, item: str) -> set[tuple[str, ...]]:
        return {self.facts[number] for number in self.by_item.get(item, ())}

    def frequencies(self, item: str) -> tuple[int, int]:
        """Facts with the item as subject, and facts with it elsewhere only."""
        facts = [self.facts[number] for number in self.by_item.get(item, ())]
        subject = sum(fact[0] == item for fact in facts)
        return subject, len(facts) - subject

    def neighbors(self, item: str) -> set[str]:
        facts = (self.facts[number] for number in self.by_item.get(item, ()))
        return set().union(*(self.items_of[fact] for fact in facts)) - {item}

    def direct(self, one: str, other: str) -> set[tuple[str, ...]]:
        """The facts that hold both items."""
        return {self.facts[n] for n in self.by_item.get(one, set()) & self.by_item.get(other, set())}

    def connectivity(self, one: str, other: str) -> float:
        if one == other:
            return 0.0
        if self.by_item.get(one, set()) & self.by_item.get(other, set()):
            return 1.0
        return 0.5 if self.neighbors(one) & self.neighbors(other) else 0.0


def _items_in(snaks: Iterable[dict[str, Any]]) -> set[str]:
    return {snak["datavalue"]["value"]["id"] for snak in snaks if snak.get("datatype") == "wikibase-item"}


def _plain_value(snak: dict[str, Any]) -> str | None:
    """The id of a value as CLOCQ writes it; None for what a knowledge base leaves out."""
    kind = snak.get("datatype")
    if snak["snaktype"] != "value" or kind not in ("wikibase-item", "time", "quantity", "string", "monolingualtext"):
        return None
    value = snak["datavalue"]["value"]
    if kind == "wikibase-item":
        return value["id"]
    if kind == "quantity":
        number = value["amount"].lstrip("+")
        return number.rstrip("0").rstrip(".") if "." in number else number
    if kind == "string":
        return value
    if kind == "monolingualtext":
        return value["text"]
    precision, (sign, year, month, day) = (
        value["precision"],
        re.match(r"([+-])(\d+)-(\d\d)-(\d\d)", value["time"]).groups(),
    )
    if precision < 9:
        return None
    year = int(year) if sign == "+" else 1 - int(year)
    month = month if precision >= 10 and month != "00" else "01"
    day = day if precision >= 11 and "00" not in (day, month) else "01"
    return f"{'-' if year < 0 else ''}{abs(year):04d}-{month}-{day}T00:00:00Z"


def read_lines(path: Path) -> Iterator[bytes]:
    """The lines of a dump, plain or gzip."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
        yield from file


def _ids(fact: Iterable[dict[str, str]]) -> tuple[str, ...]:
    return tuple(entity["id"] for entity in fact)


def disagreements(kb: KnowledgeBase, truth: BruteForce, items: Iterable[str], rng: random.Random) -> Iterator[str]:
    """What a knowledge base says otherwise than the dump, of some items and of pairs with near and far ones."""
    everyone = sorted(truth.by_item.keys() & truth.labels.keys())
    for item in items:
        if kb.label(item) != truth.labels.get(item, item):
            yield f"{item}: label {kb.label(item)!r}"
        facts = kb.neighborhood(item, _EVERYTHING)
        if {_ids(fact) for fact in facts} != truth.neighborhood(item):
            yield f"{item}: neighborhood of {len(facts)} facts, the dump has {len(truth.neighborhood(item))}"
        if any(
            entity["label"] != truth.labels.get(entity["id"], entity["id"])
            for fact in facts[:100]
            for place, entity in enumerate(fact)
            if place % 2 or entity["id"] in truth.items_of.get(_ids(fact), ())
        ):
            yield f"{item}: labels in its facts"
        if tuple(kb.frequencies(item)) != truth.frequencies(item):
            yield f"{item}: frequencies {kb.frequencies(item)}, the dump has {truth.frequencies(item)}"
        types = kb.types_of(item)
        if {entity["id"] for entity in types} != truth.types.get(item, set()) or len({*_ids(types)}) != len(types):
            yield f"{item}: types {_ids(types)}, the dump has {sorted(truth.types.get(item, ()))}"
        for other in _others(truth, item, everyone, rng):
            yield from path_disagreements(kb, truth, item, other)


def _others(truth: BruteForce, item: str, everyone: list[str], rng: random.Random) -> list[str]:
    """A neighbour, a neighbour's neighbour, one of the most frequent items, and any item; all with a document."""
    others = [rng.choice(everyone), rng.choice(truth.hubs)]
    near = sorted(truth.neighbors(item) & truth.labels.keys())
    if near:
        others.append(rng.choice(near))
        others.append(rng.choice(sorted(truth.neighbors(others[-1]) & truth.labels.keys())))
    return others


def path_disagreements(kb: KnowledgeBase, truth: BruteForce, one: str, other: str) -> Iterator[str]:
    expected = truth.connectivity(one, other)
    if kb.connectivity(one, other) != expected:
        yield f"{one} {other}: connectivity {kb.connectivity(one, other)}, the dump says {expected}"
    if one == other:
        return
    paths = [[_ids(fact) for fact in path] for path in kb.connect(one, other)]
    if bool(paths) != bool(expected):
        yield f"{one} {other}: {len(paths)} paths, connectivity is {expected}"
    if expected == 1:
        found = {path[0] for path in paths if len(path) == 1}
        if found != truth.direct(one, other):
            yield f"{one} {other}: {len(found)} facts hold both, the dump has {len(truth.direct(one, other))}"
    for path in paths:
        ends = (one in path[0] and other in path[-1]) or (other in path[0] and one in path[-1])
        real = all(fact in truth.items_of for fact in path)
        linked = len(path) == 1 or (real and truth.items_of[path[0]] & truth.items_of[path[1]] - {one, other})
        if len(path) > 2 or not (ends and linked and real):
            yield f"{one} {other}: no path: {path}"
            break


# -- processes ---------------------------------------------------------------------------------------------------------


class Usage(NamedTuple):
    """What a process and its children took; memory in bytes, shared pages counted once."""

    seconds: float
    peak: int
    peak_anonymous: int


def run_child(code: str, *arguments: Any, stdin: str | None = None) -> str:
    """Run Python code in a process of its own; returns what it printed."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, env=_environment())
    if done.returncode:
        raise SystemExit(f"bench: a child process failed:\n{done.stderr}")
    return done.stdout


def _environment() -> dict[str, str]:
    path = os.pathsep.join(filter(None, [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path}


def measured(code: str, *arguments: Any) -> Usage:
    """Run Python code in a process of its own, and watch the memory of it and its children."""
    start = time.perf_counter()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [sys.executable, "-c", code, *map(str, arguments)], stderr=errors, env=_environment()
        )
        peak = anonymous = 0
        while process.poll() is None:
            total, own = _tree_memory(process.pid)
            peak, anonymous = max(peak, total), max(anonymous, own)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.2)
        seconds = time.perf_counter() - start
        if process.returncode:
            errors.seek(0)
            raise SystemExit(f"bench: a child process failed:\n{errors.read().decode()}")
    return Usage(seconds, peak, anonymous)


def _tree_memory(root: int) -> tuple[int, int]:
    """Bytes in memory of a process and those below it: proportional set size, and what of it is no file."""
    total = anonymous = 0
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        with contextlib.suppress(OSError, ValueError):
            waiting += [
                int(p) for path in Path(f"/proc/{pid}/task").glob("*/children") for p in path.read_text().split()
            ]
            for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                name, _, rest = line.partition(":")
                if name in ("Pss", "Pss_Anon", "Pss_Shmem"):
                    size = int(rest.split()[0]) * 1024
                    total += size if name == "Pss" else 0
                    anonymous += size if name != "Pss" else 0
    return total, anonymous


def disk(folder: Path) -> int:
    """Bytes of the files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


# -- part 1: wikidata-27k ----------------------------------------------------------------------------------------------


def wikidata_27k(folder: Path, work: Path) -> dict[str, Any]:
    """Everything that is measured on wikidata-27k."""
    index = work / "wikidata-27k"
    note("wikidata-27k: building")
    usage = measured(BUILD, dump_of(folder), index, MEMORY)
    note(f"wikidata-27k: opening in {OPENS} processes")
    opened = open_times(index)
    note("wikidata-27k: searching")
    questions = [question.text for found in convquestions(folder).values() for question in found]
    asked = ask(index, questions)
    kb = KnowledgeBase(index)
    note(f"wikidata-27k: comparing {CHECKED} items with the dump")
    truth = BruteForce(read_lines(dump_of(folder)))
    rng = random.Random(SEED)
    items = rng.sample(sorted(item for item in truth.labels if item[0] == "Q"), CHECKED)
    found = list(disagreements(kb, truth, items, rng))
    for line in found[:20]:
        print(line, file=sys.stderr)
    result = {
        "items": kb.manifest.items,
        "facts": kb.manifest.facts,
        "build_seconds": usage.seconds,
        "build_peak_bytes": usage.peak,
        "build_peak_anonymous_bytes": usage.peak_anonymous,
        "disk_bytes_per_fact": disk(index) / kb.manifest.facts,
        **opened,
        **asked,
        "items_checked": CHECKED,
        "disagreements": len(found),
        "first_disagreements": found[:20],
    }
    kb.close()
    note(f"wikidata-27k: {CLIENTS} clients for {SERVED_SECONDS:.0f} s")
    result["served"] = serve(index, questions, items)
    return result


def open_times(index: Path) -> dict[str, float]:
    """Opening in a new process (which loads numpy, too), the first search there, and opening again."""
    times = [list(map(float, run_child(OPEN, index).split())) for _ in range(OPENS)]
    names = ("open_ms", "first_search_ms", "open_again_ms")
    return {name: statistics.median(row) * 1000 for name, row in zip(names, zip(*times, strict=True), strict=True)}


def ask(index: Path, questions: list[str]) -> dict[str, Any]:
    """Open an index in a process of its own and ask questions, each once."""
    answer = json.loads(run_child(ASK, index, stdin=json.dumps(questions)))
    milliseconds = [seconds * 1000 for seconds in answer["seconds"]]
    return {
        "questions": len(questions),
        "questions_linked": answer["linked"],
        "mean_facts": answer["facts"] / len(questions),
        "search_median_ms": statistics.median(milliseconds),
        "search_p95_ms": percentile(milliseconds, 0.95),
        "resident_bytes": answer["memory"].get("VmRSS", 0),
        "resident_anonymous_bytes": answer["memory"].get("RssAnon", 0),
    }


def serve(index: Path, questions: list[str], items: list[str]) -> dict[str, Any]:
    """Throughput and errors of the HTTP server with several clients."""
    command = [sys.executable, "-m", "convinse", "kb", "serve", str(index), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            line = process.stdout.readline() if process.stdout else ""
            match = re.search(r"http://\S+", line)
            if match is None:
                return {"clients": CLIENTS, "error": "the server did not start"}
            clients = [_Client(match[0], questions, items, seed) for seed in range(CLIENTS)]
            start = time.perf_counter()
            for client in clients:
                client.start()
            for client in clients:
                client.join()
            seconds = time.perf_counter() - start
            memory = _tree_memory(process.pid)[0]
        finally:
            process.terminate()
    requests = [request for client in clients for request in client.requests]
    result = {
        "clients": CLIENTS,
        "seconds": seconds,
        "requests": len(requests),
        "errors": sum(len(client.errors) for client in clients),
        "first_errors": [error for client in clients for error in client.errors][:5],
        "requests_per_second": len(requests) / seconds,
        "server_bytes": memory,
    }
    for path in sorted({path for path, _ in requests}):
        times = [milliseconds for other, milliseconds in requests if other == path]
        result[path] = {
            "requests": len(times),
            "median_ms": statistics.median(times),
            "p95_ms": percentile(times, 0.95),
        }
    return result


class _Client(threading.Thread):
    """Sends requests one after the other over one connection."""

    def __init__(self, address: str, questions: list[str], items: list[str], seed: int) -> None:
        super().__init__(daemon=True)
        self._host = urlsplit(address).netloc
        self._questions, self._items, self._rng = questions, items, random.Random(seed)
        self.requests: list[tuple[str, float]] = []
        self.errors: list[str] = []

    def run(self) -> None:
        connection = http.client.HTTPConnection(self._host, timeout=30)
        end = time.perf_counter() + SERVED_SECONDS
        while time.perf_counter() < end:
            path, body = self._request()
            start = time.perf_counter()
            try:
                connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
                response = connection.getresponse()
                answer = response.read()
                if response.status != 200:
                    self.errors.append(f"{path}: {response.status} {answer[:200]!r}")
                msgspec.json.decode(answer)
            except (OSError, http.client.HTTPException, msgspec.DecodeError) as error:
                self.errors.append(f"{path}: {error!r}")
                connection.close()
            self.requests.append((path, (time.perf_counter() - start) * 1000))
        connection.close()

    def _request(self) -> tuple[str, dict[str, Any]]:
        item = self._rng.choice(self._items)
        return self._rng.choice((
            ("/search_space", {"question": self._rng.choice(self._questions)}),
            ("/search_space", {"question": self._rng.choice(self._questions)}),
            ("/entity_linking", {"question": self._rng.choice(self._questions)}),
            ("/neighborhood", {"item": item, "p": 1000, "include_labels": True}),
            ("/connectivity_check", {"item1": item, "item2": self._rng.choice(self._items)}),
            ("/item_to_types", {"item": item}),
            ("/item_to_label", {"item": item}),
            ("/frequency", {"item": item}),
        ))  # fmt: skip


# -- part 2: synthetic dumps -------------------------------------------------------------------------------------------


def synthetic(work: Path, items: int, facts: int, memory: int) -> dict[str, Any]:
    """Write a synthetic dump, build its index in bounded memory, and ask it questions."""
    from recipes.synthetic_dump import write_dump

    dump, index = work / f"{facts}.json.gz", work / str(facts)
    note(f"{facts:,} facts: writing the dump")
    start = time.perf_counter()
    write_dump(dump, items, facts, SEED, processes=os.cpu_count() or 1)
    written = time.perf_counter() - start
    note(f"{facts:,} facts: building (the dump has {dump.stat().st_size / 1e6:,.0f} MB)")
    usage = measured(BUILD, dump, index, memory)
    size = dump.stat().st_size
    dump.unlink()
    note(f"{facts:,} facts: built in {usage.seconds:.0f} s; opening, searching")
    opened = open_times(index)
    asked = ask(index, json.loads(run_child(QUESTIONS, index, ASKED, SEED)))
    return {
        "items": items,
        "facts": facts,
        "dump_bytes": size,
        "dump_seconds": written,
        "memory_limit_bytes": memory,
        "build_seconds": usage.seconds,
        "build_peak_bytes": usage.peak,
        "build_peak_anonymous_bytes": usage.peak_anonymous,
        "disk_bytes": disk(index),
        "disk_bytes_per_fact": disk(index) / facts,
        **opened,
        **asked,
    }


def full(work: Path, items: int, facts: int, memory: int) -> dict[str, Any]:
    """The large dump, one of a tenth, and one of a tenth of the items with as many facts an item as Wikidata has."""
    rich = round(items / 10 * WIKIDATA_FACTS / WIKIDATA_ITEMS)
    sizes = [(items // 10, facts // 10), (items // 10, rich), (items, facts)]
    found = []
    for one in sizes:
        with tempfile.TemporaryDirectory(dir=work) as folder:
            found.append(synthetic(Path(folder), *one, memory))
    return {"sizes": found, "projection": project(found)}


def project(sizes: list[dict[str, Any]]) -> dict[str, Any]:
    """The figures of all of Wikidata, if they grow on in a line: constant + slope * items + slope * facts."""
    import numpy as np

    places = np.array([[1.0, size["items"], size["facts"]] for size in sizes])
    whole = np.array([1.0, WIKIDATA_ITEMS, WIKIDATA_FACTS])
    found: dict[str, Any] = {"items": WIKIDATA_ITEMS, "facts": WIKIDATA_FACTS}
    for figure in ("build_seconds", "disk_bytes"):
        slopes = np.linalg.solve(places, np.array([size[figure] for size in sizes]))
        found[figure] = {"value": float(whole @ slopes), "an_item": float(slopes[1]), "a_fact": float(slopes[2])}
    # these do not tell items from facts: a line through the smallest and the largest size
    small, _, large = sizes
    for figure in ("build_peak_bytes", "open_ms", "resident_bytes"):
        slope = (large[figure] - small[figure]) / (large["facts"] - small["facts"])
        found[figure] = {"value": large[figure] + slope * (WIKIDATA_FACTS - large["facts"]), "a_fact": slope}
    return found


# -- output ------------------------------------------------------------------------------------------------------------


def note(text: str) -> None:
    """Say what is done now."""
    print(text, file=sys.stderr, flush=True)


def show(title: str, rows: list[Row]) -> None:
    """Print figures beside what issue 3 asks for."""
    table = Table(title=title, title_justify="left")
    for column in ("figure", "measured", "wanted"):
        table.add_column(column, justify="left" if column == "figure" else "right")
    for row in rows:
        table.add_row(*row)
    Console(width=100).print(table)


def show_27k(found: dict[str, Any]) -> None:
    served = found["served"]
    rows: list[Row] = [
        ("build", f"{found['build_seconds']:.1f} s", "under 90 s"),
        ("peak memory of the build", _megabytes(found["build_peak_bytes"]), ""),
        ("disk, bytes a fact", f"{found['disk_bytes_per_fact']:.1f}", ""),
        (f"open, median of {OPENS} processes", f"{found['open_ms']:.1f} ms", "under 100 ms"),
        ("open again in the same process", f"{found['open_again_ms']:.1f} ms", ""),
        ("first search of a process", f"{found['first_search_ms']:.1f} ms", ""),
        (f"search, median of {found['questions']} questions", f"{found['search_median_ms']:.1f} ms", "under 15 ms"),
        ("search, 95th percentile", f"{found['search_p95_ms']:.1f} ms", "under 50 ms"),
        (f"disagreements with the dump, {CHECKED} items", str(found["disagreements"]), "0"),
    ]
    if "error" in served:
        rows.append((f"{CLIENTS} clients", served["error"], "no error"))
    else:
        rows += [
            (f"{CLIENTS} clients, {served['seconds']:.0f} s: errors", str(served["errors"]), "0"),
            ("requests a second", f"{served['requests_per_second']:.0f}", ""),
            ("/search_space under load, median", f"{served['/search_space']['median_ms']:.1f} ms", ""),
        ]
    show(f"wikidata-27k: {found['items']:,} items, {found['facts']:,} facts", rows)


def show_full(found: dict[str, Any]) -> None:
    for size in found["sizes"]:
        is_whole = size["facts"] == FACTS
        rows: list[Row] = [
            ("dump", f"{_megabytes(size['dump_bytes'])} in {size['dump_seconds']:.0f} s", ""),
            ("build", f"{size['build_seconds']:.0f} s", "under 1,800 s" if is_whole else ""),
            ("peak memory of the build", _megabytes(size["build_peak_bytes"]), "under 4,000 MB"),
            ("of it no file", _megabytes(size["build_peak_anonymous_bytes"]), ""),
            ("disk, bytes a fact", f"{size['disk_bytes_per_fact']:.1f}", "at most 70" if is_whole else ""),
            ("open", f"{size['open_ms']:.0f} ms", "under 1,000 ms"),
            (f"resident after {size['questions']} questions", _megabytes(size["resident_bytes"]), "under 1,000 MB"),
            ("of it no file", _megabytes(size["resident_anonymous_bytes"]), ""),
            (f"search, median ({size['mean_facts']:.0f} facts)", f"{size['search_median_ms']:.1f} ms", "under 40 ms"),
            ("search, 95th percentile", f"{size['search_p95_ms']:.1f} ms", "under 150 ms"),
        ]
        show(f"synthetic: {size['items']:,} items, {size['facts']:,} facts", rows)
    projection = found["projection"]
    rows = [
        ("build", f"{projection['build_seconds']['value'] / 3600:.1f} h", ""),
        ("disk", f"{projection['disk_bytes']['value'] / 1e9:,.0f} GB", ""),
        ("open", f"{projection['open_ms']['value']:,.0f} ms", ""),
        ("peak memory of the build", f"{projection['build_peak_bytes']['value'] / 1e9:,.1f} GB", ""),
        (f"resident after {ASKED} questions", f"{projection['resident_bytes']['value'] / 1e9:,.1f} GB", ""),
    ]
    show(f"all of Wikidata, projected: {WIKIDATA_ITEMS:,} items, {WIKIDATA_FACTS:,} facts", rows)


def _megabytes(size: float) -> str:
    return f"{size / 1e6:,.0f} MB" if size else "unknown"


def write(sections: dict[str, Any]) -> None:
    """Write the measured sections; those of an earlier run that were not measured now stay."""
    older: dict[str, Any] = {}
    with contextlib.suppress(OSError, ValueError):
        older = json.loads(OUTPUT.read_text())
    machine = {"python": platform.python_version(), "machine": platform.machine(), "cores": os.cpu_count()}
    date = time.strftime("%Y-%m-%d")
    newer = {name: {"date": date, **machine, **found} for name, found in sections.items()}
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    OUTPUT.write_text(json.dumps({**older, **newer}, indent=2) + "\n")
    print(OUTPUT)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--full", action="store_true", help="synthetic dumps, too (or CONVINSE_BENCH_FULL=1)")
    parser.add_argument("--only-synthetic", action="store_true", help="synthetic dumps only")
    parser.add_argument("--items", type=int, default=ITEMS, help="of the largest synthetic dump")
    parser.add_argument("--facts", type=int, default=FACTS)
    parser.add_argument("--memory", type=int, default=MEMORY, metavar="BYTES", help="that the build may use")
    options = parser.parse_args()
    with_synthetic = (
        options.full or options.only_synthetic or os.environ.get("CONVINSE_BENCH_FULL", "0") not in ("", "0")
    )
    sections: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        if not options.only_synthetic:
            sections["wikidata-27k"] = wikidata_27k(data_folder(), Path(name))
            show_27k(sections["wikidata-27k"])
        if with_synthetic:
            sections["synthetic"] = full(Path(name), options.items, options.facts, options.memory)
            show_full(sections["synthetic"])
    write(sections)


if __name__ == "__main__":
    main()
