"""The knowledge base measured: size, speed and memory.

bash run.sh bench kb
"""

import statistics

from recipes.sources import wikidata_27k

from .candidates import convquestions
from .harness import Bench, Figures, Spec, note, run
from .kb_processes import build_index, open_index, search_all
from .timing import apart, disk

MEMORY = 4_000_000_000  # bytes that the build may use


def wikidata_27k_part(bench: Bench) -> Figures:
    """Build, open in new processes and search."""
    dump, index = wikidata_27k(bench.folder), bench.work / "wikidata-27k"
    note("building ...")
    usage = apart(build_index, dump, index, MEMORY)
    note(f"opening in {bench.size} processes, searching ...")
    times = zip(*(apart(open_index, index).result for _ in range(bench.size)), strict=True)
    opened, first, again = map(statistics.median, times)
    searched = apart(search_all, index, convquestions(bench.folder)).result
    figures = {
        "build": (usage.seconds, "{:.1f} s"),
        "peak memory of the build": (usage.peak / 1e6, "{:,.0f} MB"),
        "disk, bytes a fact": (disk(index) / searched["facts"], "{:.1f}"),
        f"open, median of {bench.size} processes": (opened, "{:.1f} ms"),
        "open again in the same process": (again, "{:.1f} ms"),
        "first search of a process": (first, "{:.1f} ms"),
        f"search, median of {searched['questions']} questions": (searched["search_median_ms"], "{:.1f} ms"),
        "search, 95th percentile": (searched["search_p95_ms"], "{:.1f} ms"),
    }
    bench.report(f"wikidata-27k: {searched['items']:,} items, {searched['facts']:,} facts", figures)
    return {**searched, **{name: value for name, (value, _) in figures.items()}}


SPEC = Spec("kb", __doc__, {"wikidata-27k": wikidata_27k_part}, (2, 20, 20))

if __name__ == "__main__":
    run(SPEC)
