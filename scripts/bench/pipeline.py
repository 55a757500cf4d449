"""What users wait for: whole commands, timed from outside, and the knowledge base built, opened and searched.

    bash run.sh bench pipeline [--rounds N] [--parts commands,turn,kb,large]

Commands run with a cold and a warm cache and without one, interleaved. `with the model` is the default configuration, `without` are the
defaults of all keys, which load no model. `turn` says what takes the time of a turn; `large` builds and asks
copies of wikidata-27k with new ids and names.
"""

import gzip
import re
import shutil
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from convinse.config import load_config
from convinse.encoder.engine import Engine, Output
from convinse.encoder.tokens import Sequences
from convinse.experiment import read_part
from convinse.knowledge_base.index import KnowledgeBase
from convinse.pipeline import Pipeline
from recipes.sources import wikidata_27k

from .candidates import convquestions
from .harness import Bench, Figures, Spec, note, run
from .kb_processes import build_index, open_index, search_all
from .timing import Spread, Usage, apart, command, disk, timed

COLD, WARM = "pipeline with the model, cold cache", "pipeline with the model, warm cache"
_ALL, _NO_CACHE, _OLD = "kb_text_table_info", "nocache.yml", ("cache", "lexical-cache", "results")
# what the models compute for -> the row of the table; the outputs of a pass say which it is
_PASSES = {
    "spans": "reading and ranking the evidences", "embedding": "embedding evidences and the question",
    "rewrite": "putting the question in full", "answer_type": "the expected answer", "yes_no": "yes or no",
}  # fmt: skip
_BAR = 40  # characters of a whole turn
_ITEM = re.compile(r'("Q|"numeric-id":)(\d+)')
_FIRST_COPY, _MOST_COPIES = 200_000_000, 100  # ids of copies begin above those of Wikidata
_MEMORY = 4_000_000_000  # bytes that the build of a knowledge base may use


class Amounts(NamedTuple):
    questions: int | None  # of a run of the pipeline; None: all
    processes: int  # that open the knowledge base
    copies: tuple[int, ...] = (1, 2)  # of wikidata-27k in a large one


def pipeline(bench: Bench) -> Figures:
    """In every round the first command with a cache finds none."""
    (bench.work / "bench.yml").write_text("name: bench\ners_cache_path: lexical-cache\n")
    (bench.work / _NO_CACHE).write_text("name: nocache\ners_use_cache: false\n")
    end = ["--quiet", *([] if bench.size.questions is None else ["--limit", str(bench.size.questions)])]
    cases = {
        "convinse --help": ["--help"],
        "ask, one question": ["ask", "Who directed Titanic?"],
        COLD: ["pipeline", _ALL, "config.yml", *end],
        WARM: ["pipeline", _ALL, "config.yml", "--restart", *end],
        "pipeline without, cold cache": ["pipeline", _ALL, "bench.yml", *end],
        "pipeline without, warm cache": ["pipeline", _ALL, "bench.yml", "--restart", *end],
        "pipeline without, no cache": ["pipeline", _ALL, _NO_CACHE, "--restart", *end],
    }
    usages: dict[str, list[Usage]] = {name: [] for name in cases}
    for _ in range(bench.rounds):
        for rest in _OLD:
            shutil.rmtree(bench.work / rest, ignore_errors=True)
        (bench.work / "cache").mkdir()  # the default takes it if it is there
        for name, arguments in cases.items():  # in this order: one needs what another has written
            usages[name].append(command(arguments, bench.work))
    figures: Figures = {
        name: {"seconds": Spread.of([run.seconds for run in runs]), "peak_mb": max(run.peak for run in runs) / 1e6}
        for name, runs in usages.items()
    }
    columns = {"seconds": ("seconds", "{:.2f}"), "peak MB": ("peak_mb", "{:.0f}")}
    bench.compare(f"{bench.rounds} interleaved runs", ("command",), columns, {(): figures})
    return figures


def turn(bench: Bench) -> Figures:
    """The milliseconds and tokens of a turn by what the models compute, and all else: in sessions, with nothing kept but vectors."""
    seconds, tokens = dict.fromkeys(_PASSES, 0.0), dict.fromkeys(_PASSES, 0)
    run_engine = Engine.run

    def watch(engine: Engine, sequences: Sequences, outputs: Sequence[Output], padded: bool = True) -> Iterator[Any]:
        start = time.perf_counter()
        computed = list(run_engine(engine, sequences, outputs, padded))
        name = next(output for output in _PASSES if output in outputs)
        seconds[name] += time.perf_counter() - start
        tokens[name] += int(sequences.lengths.sum())
        return iter(computed)

    with Pipeline(load_config("config.yml", ers_use_cache=False)) as pipeline:
        first, *others = read_part(pipeline.config, "dev")[: bench.size.questions]
        _answered(pipeline, [first])  # it opens what all need
        Engine.run = watch  # type: ignore[method-assign]
        try:
            start = time.perf_counter()
            turns = _answered(pipeline, others)
            whole = time.perf_counter() - start
        finally:
            Engine.run = run_engine  # type: ignore[method-assign]
    rows = {
        label: {"ms": 1000 * seconds[name] / turns, "tokens": tokens[name] / turns, "share": seconds[name] / whole}
        for name, label in _PASSES.items()
    }
    rest = 1 - sum(row["share"] for row in rows.values())
    rows["all else: names, facts, words, candidates"] = {"ms": 1000 * rest * whole / turns, "share": rest}
    for row in rows.values():
        row["bar"] = "█" * round(_BAR * row["share"])
    columns = {"ms": ("ms", "{:.1f}"), "tokens": ("tokens", "{:.0f}"), "share": ("share", "{:.0%}"), "": ("bar", "{}")}
    bench.compare(f"a turn of {1000 * whole / turns:.0f} ms, the mean of {turns}", ("what",), columns, {(): rows})
    return rows


def _answered(pipeline: Pipeline, conversations: Sequence[Any]) -> int:
    """Ask conversations in sessions; return the number of their turns."""
    for conversation in conversations:
        session = pipeline.session()
        for entry in conversation["questions"]:
            session.ask(entry["question"])
    return sum(len(conversation["questions"]) for conversation in conversations)


def kb(bench: Bench) -> Figures:
    """Build wikidata-27k, open it in new processes and search."""
    dump, index = wikidata_27k(bench.folder), bench.work / "wikidata-27k"
    note("building ...")
    usage = apart(build_index, dump, index, _MEMORY)
    note(f"opening in {bench.size.processes} processes, searching ...")
    times = zip(*(apart(open_index, index).result for _ in range(bench.size.processes)), strict=True)
    opened, first, again = map(statistics.median, times)
    searched = apart(search_all, index, convquestions(bench.folder)).result
    figures = {
        "build": (usage.seconds, "{:.1f} s"),
        "peak memory of the build": (usage.peak / 1e6, "{:,.0f} MB"),
        "disk, bytes a fact": (disk(index) / searched["facts"], "{:.1f}"),
        f"open, median of {bench.size.processes} processes": (opened, "{:.1f} ms"),
        "open again in the same process": (again, "{:.1f} ms"),
        "first search of a process": (first, "{:.1f} ms"),
        f"search, median of {searched['questions']} questions": (searched["search_median_ms"], "{:.1f} ms"),
        "search, 95th percentile": (searched["search_p95_ms"], "{:.1f} ms"),
    }
    bench.report(f"wikidata-27k: {searched['items']:,} items, {searched['facts']:,} facts", figures)
    return {**searched, **{name: value for name, (value, _) in figures.items()}}


def large(bench: Bench) -> Figures:
    """Build wikidata-27k several times over, and ask: the questions are about the first copy, whose names are the plain ones."""
    questions = convquestions(bench.folder)[:100]
    rows: dict[str, Figures] = {}
    for copies in bench.size.copies:
        dump, index = bench.work / "large.json", bench.work / "large"
        note(f"{copies} copies: writing ...")
        _write_copies(wikidata_27k(bench.folder), dump, copies)
        note("building ...")
        usage = apart(build_index, dump, index, _MEMORY)
        dump.unlink()
        opened = statistics.median(apart(open_index, index).result[0] for _ in range(bench.size.processes))
        with closing(KnowledgeBase(index)) as kb:
            items, facts = kb.manifest.items, kb.manifest.facts
        with Pipeline(load_config("config.yml", kb_path=str(index), ers_use_cache=False)) as pipeline:
            pipeline.session("kb").ask(questions[0])
            seconds = [timed(partial(pipeline.session("kb").ask, question))[0] for question in questions[1:]]
        rows[f"{copies}"] = {
            "items": items, "facts": facts, "build": usage.seconds, "peak": usage.peak / 1e6, "disk": disk(index) / 1e6,
            "opened": opened, "turn": 1000 * statistics.median(seconds),
        }  # fmt: skip
        shutil.rmtree(index)
    columns = {
        "items": ("items", "{:,}"), "facts": ("facts", "{:,}"), "build, s": ("build", "{:,.0f}"), "peak MB": ("peak", "{:,.0f}"),
        "disk MB": ("disk", "{:,.0f}"), "open, ms": ("opened", "{:.1f}"), "a turn, ms": ("turn", "{:.0f}"),
    }  # fmt: skip
    bench.compare("copies of wikidata-27k, each with ids and names of its own", ("copies",), columns, {(): rows})
    return rows


def _write_copies(dump: Path, path: Path, copies: int) -> None:
    """Write a dump several times into one: from the second copy on with ids of their own, and the copy before each name."""
    place_of: dict[str, int] = {}  # number of an item -> its place among the items of the dump
    with path.open("w", encoding="utf-8") as file:
        file.write("[\n")
        for copy in range(copies):

            def other(item: re.Match[str], copy: int = copy) -> str:
                place = place_of.setdefault(item[2], len(place_of))
                return f"{item[1]}{_FIRST_COPY + place * _MOST_COPIES + copy}"

            with gzip.open(dump, "rt", encoding="utf-8") as lines:
                for line in lines:
                    line = line.rstrip(",\n")
                    if copy and line.startswith('{"id":"Q'):
                        names, *rest = line.partition('"claims"')
                        line = names.replace('"value":"', f'"value":"copy{copy} ') + "".join(rest)
                    if len(line) > 1 and (not copy or line.startswith('{"id":"Q')):
                        file.write(f"{_ITEM.sub(other, line) if copy else line},\n")
        file.write("]\n")


SPEC = Spec(
    "pipeline",
    __doc__,
    {"commands": pipeline, "turn": turn, "kb": kb, "large": large},
    (Amounts(3, 2), Amounts(None, 20, (1, 10, 100)), Amounts(None, 20, (1, 10, 100))),
    rounds=(1, 3, 5),
)

if __name__ == "__main__":
    run(SPEC)
