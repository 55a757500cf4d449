"""The knowledge base measured: size, speed, memory, agreement with a plain reading of the dump.

bash run.sh bench kb
"""

import random
import statistics
from contextlib import closing
from typing import NamedTuple

from convinse.knowledge_base.index import KnowledgeBase
from recipes.plain_dump import BruteForce, disagreements, read_lines
from recipes.sources import wikidata_27k

from .candidates import convquestions
from .harness import Bench, Figures, Spec, note, run
from .kb_processes import ask, build_index, open_index
from .timing import apart, disk

MEMORY = 4_000_000_000  # bytes that the build may use
SEED = 1


class Size(NamedTuple):
    opens: int = 20
    checked: int = 2000


def wikidata_27k_part(bench: Bench) -> Figures:
    """Build, open in new processes and ask; compare items with the dump."""
    size, dump, index = bench.size, wikidata_27k(bench.folder), bench.work / "wikidata-27k"
    questions = convquestions(bench.folder)
    note("building ...")
    usage = apart(build_index, dump, index, MEMORY)
    note(f"opening in {size.opens} processes, searching ...")
    times = zip(*(apart(open_index, index).result for _ in range(size.opens)), strict=True)
    opened, first, again = map(statistics.median, times)
    asked = apart(ask, index, questions).result
    note(f"comparing {size.checked} items with the dump ...")
    truth = BruteForce(read_lines(dump))
    chance = random.Random(SEED)
    items = chance.sample(sorted(item for item in truth.labels if item[0] == "Q"), size.checked)
    with closing(KnowledgeBase(index)) as kb:
        known, facts = kb.manifest.items, kb.manifest.facts
        lines = list(disagreements(kb, truth, items, chance))
    for line in lines[:20]:
        note(line)
    figures = {
        "build": (usage.seconds, "{:.1f} s"),
        "peak memory of the build": (usage.peak / 1e6, "{:,.0f} MB"),
        "disk, bytes a fact": (disk(index) / facts, "{:.1f}"),
        f"open, median of {size.opens} processes": (opened, "{:.1f} ms"),
        "open again in the same process": (again, "{:.1f} ms"),
        "first search of a process": (first, "{:.1f} ms"),
        f"search, median of {asked['questions']} questions": (asked["search_median_ms"], "{:.1f} ms"),
        "search, 95th percentile": (asked["search_p95_ms"], "{:.1f} ms"),
        f"disagreements with the dump, {size.checked} items": (len(lines), "{:.0f}"),
    }
    bench.report(f"wikidata-27k: {known:,} items, {facts:,} facts", figures)
    return {"items": known, "facts": facts, **asked, **{name: value for name, (value, _) in figures.items()}}


SPEC = Spec("kb", __doc__, {"wikidata-27k": wikidata_27k_part}, (Size(2, 100), Size(), Size()))

if __name__ == "__main__":
    run(SPEC)
