"""The knowledge base measured: size, speed, memory, agreement with a plain reading of the dump.

    bash run.sh bench kb [--full]

`--full` adds dumps of 7 and 69 copies of wikidata-27k (2 and 20 million facts), each copy with items and names of its own, from
which all of Wikidata is projected. The dumps and indexes lie in a temporary folder (TMPDIR; about 9 GB).
"""

from __future__ import annotations

import gzip
import random
import re
import statistics
import tempfile
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from convinse.knowledge_base.index import KnowledgeBase
from recipes.plain_dump import BruteForce, disagreements, read_lines
from recipes.sources import wikidata_27k

from .candidates import convquestions
from .harness import Bench, Figure, Figures, Spec, note, run
from .kb_processes import ask, build_index, open_index
from .processes import apart, disk

ASKED = 1000
MEMORY = 4_000_000_000  # bytes that the build may use
COPIES = (7, 69)
WIKIDATA_FACTS = 1_500_000_000
SEED = 1


class Size(NamedTuple):
    opens: int = 20
    checked: int = 2000


def write_copies(dump: Path, output: Path, copies: int) -> None:
    """Write the items of a dump several times, each time with other numbers and labels; its properties once."""
    numbers = re.compile(rb'("Q|"numeric-id":|entity/Q)(\d+)')
    label = b'"labels":{"en":{"language":"en","value":"'
    lines = [line.strip().rstrip(b",") for line in read_lines(dump) if line.startswith(b"{")]
    known = dict.fromkeys(match[2] for line in lines for match in numbers.finditer(line))
    places = {number: place for place, number in enumerate(known, 1)}
    with gzip.open(output, "wb", compresslevel=1) as file:
        for copy in range(copies):
            for line in lines:
                if b'"type":"property"' in line[:100]:
                    file.write(line + b"\n" if copy == 0 else b"")
                    continue
                line = numbers.sub(lambda match: match[1] + b"%d" % (copy * len(places) + places[match[2]]), line)  # noqa: B023
                file.write(line.replace(label, label + f"{copy} ".encode() if copy else label, 1) + b"\n")


def measured(bench: Bench, dump: Path, index: Path, questions: list[str]) -> Figures:
    """Build, open in new processes and ask: what is measured on every dump."""
    note("building ...")
    usage = apart(build_index, dump, index, MEMORY)
    with closing(KnowledgeBase(index)) as kb:
        items, facts = kb.manifest.items, kb.manifest.facts
    note(f"opening in {bench.size.opens} processes, searching ...")
    times = zip(*(apart(open_index, index).result for _ in range(bench.size.opens)), strict=True)
    return {
        "items": items, "facts": facts, "memory_limit_bytes": MEMORY, "build_seconds": usage.seconds,
        "build_peak_bytes": usage.peak,
        "disk_bytes": disk(index), "disk_bytes_per_fact": disk(index) / facts,
        **dict(zip(("open_ms", "first_search_ms", "open_again_ms"), map(statistics.median, times), strict=True)),
        **apart(ask, index, questions).result,
    }  # fmt: skip


def wikidata_27k_part(bench: Bench) -> Figures:
    size, dump, index = bench.size, wikidata_27k(bench.folder), bench.work / "wikidata-27k"
    questions = [question.text for own in convquestions(bench.folder).values() for question in own]
    result = measured(bench, dump, index, questions)
    note(f"comparing {size.checked} items with the dump ...")
    truth = BruteForce(read_lines(dump))
    chance = random.Random(SEED)
    items = chance.sample(sorted(item for item in truth.labels if item[0] == "Q"), size.checked)
    with closing(KnowledgeBase(index)) as kb:
        lines = list(disagreements(kb, truth, items, chance))
    for line in lines[:20]:
        note(line)
    result |= {"items_checked": size.checked, "disagreements": len(lines), "first_disagreements": lines[:20]}
    bench.report(f"wikidata-27k: {result['items']:,} items, {result['facts']:,} facts", [
        Figure("build", result["build_seconds"], "{:.1f} s"),
        Figure("peak memory of the build", result["build_peak_bytes"] / 1e6, "{:,.0f} MB"),
        Figure("disk, bytes a fact", result["disk_bytes_per_fact"]),
        Figure(f"open, median of {size.opens} processes", result["open_ms"], "{:.1f} ms"),
        Figure("open again in the same process", result["open_again_ms"], "{:.1f} ms"),
        Figure("first search of a process", result["first_search_ms"], "{:.1f} ms"),
        Figure(f"search, median of {result['questions']} questions", result["search_median_ms"], "{:.1f} ms"),
        Figure("search, 95th percentile", result["search_p95_ms"], "{:.1f} ms"),
        Figure(f"disagreements with the dump, {size.checked} items", len(lines), "{:.0f}"),
    ])  # fmt: skip
    return result


def copies_part(bench: Bench) -> Figures:
    """Dumps of several copies of wikidata-27k, and what their figures say of all of Wikidata."""
    questions = [question.text for own in convquestions(bench.folder).values() for question in own][:ASKED]
    sizes = []
    for copies in COPIES:
        with tempfile.TemporaryDirectory(dir=bench.work) as folder:
            dump = Path(folder, "dump.json.gz")
            note(f"{copies} copies: writing the dump ...")
            write_copies(wikidata_27k(bench.folder), dump, copies)
            sizes.append({"copies": copies, **measured(bench, dump, Path(folder, "index"), questions)})
    for size in sizes:
        bench.report(f"{size['copies']} copies: {size['items']:,} items, {size['facts']:,} facts", [
            Figure("build", size["build_seconds"], "{:,.0f} s"),
            Figure("peak memory of the build", size["build_peak_bytes"] / 1e6, "{:,.0f} MB"),
            Figure("disk, bytes a fact", size["disk_bytes_per_fact"], "{:.1f}"),
            Figure("open", size["open_ms"], "{:,.0f} ms"),
            Figure(f"resident after {size['questions']} questions", size["resident_bytes"] / 1e6, "{:,.0f} MB"),
            Figure("search, median", size["search_median_ms"], "{:.1f} ms"),
            Figure("search, 95th percentile", size["search_p95_ms"], "{:.1f} ms"),
        ])  # fmt: skip
    whole = project(sizes)
    bench.report(f"all of Wikidata, projected: {WIKIDATA_FACTS:,} facts", [
        Figure("build", whole["build_seconds"] / 3600, "{:.1f} h"),
        Figure("disk", whole["disk_bytes"] / 1e9, "{:,.0f} GB"),
        Figure("open", whole["open_ms"], "{:,.0f} ms"),
        Figure("peak memory of the build", whole["build_peak_bytes"] / 1e9, "{:,.1f} GB"),
    ])  # fmt: skip
    return {"sizes": sizes, "projection": whole}


def project(sizes: list[Figures]) -> Figures:
    """The figures of all of Wikidata, if they grow on in a line with the facts."""
    few, many = sizes
    share = (WIKIDATA_FACTS - few["facts"]) / (many["facts"] - few["facts"])
    names = ("build_seconds", "disk_bytes", "build_peak_bytes", "open_ms")
    return {name: few[name] + share * (many[name] - few[name]) for name in names}


SPEC = Spec(
    "kb", __doc__, {"wikidata-27k": wikidata_27k_part, "copies": copies_part},
    (Size(2, 100), Size(), Size()), long=("copies",),
)  # fmt: skip

if __name__ == "__main__":
    run(SPEC)
