"""Wikipedia pages into evidences: table rows against a reference made by others, markup left over, speed, a sample.

    bash run.sh bench wikipedia
    bash run.sh bench wikipedia [--misses] [--seconds 60]

A row of the reference (WikiTableQuestions) is found when one table evidence of its page holds all its non-empty cell
texts. Texts are compared without blanks, commas (line breaks in cells become `, `), zero-width signs and footnote
marks (`[1]`, `[a]`, `[note 2]`); `strict` compares with single blanks and commas as they stand. Wide rows are cut in
what users get: `whole rows` takes the rows uncut, `cut` asks for each cell
beside the first one in some piece.

The data lies in ../shared/data or CONVINSE_DATA; the figures go to results/bench/wikipedia.json, 100 random evidences
of each source to results/bench/wikipedia-sample.txt. BeautifulSoup and lxml are measured where they are installed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import re
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress import track
from rich.table import Table

from convinse.config import project_root
from convinse.records.evidence import Entity, Evidence
from convinse.wikipedia.page import page_evidences, parse_page

OUTPUT = Path("results/bench/wikipedia.json")
SAMPLE = Path("results/bench/wikipedia-sample.txt")
PER_SOURCE = 100
SEED = 4
ROWS_WANTED, PAGES_A_SECOND, TIMES_FASTER = 0.95, 50, 5
UNCUT = 10**6
FILES = ("pages_with_qid.jsonl.gz", "pages_sample.jsonl.gz")
_FOOTNOTE = re.compile(r"\[(?:\d+|[a-z]{1,2}|(?:note|nb|n|A|N) ?\d+|citation needed|disambiguation needed)\]|\^")
_ZERO_WIDTH = re.compile("[​-‏⁠﻿­]")
MARKUP = {
    "<": re.compile("<"),
    "[edit]": re.compile(r"\[ ?edit ?\]"),
    "^": re.compile(r"\^"),
    "[1]": re.compile(r"\[\d+\]"),
    "CSS": re.compile(
        r"\{\{|\}\}|\{[^{}]*:[^{}]*\}|\b(?:font|background|text|border|margin|padding)-?[a-z]*: ?[\w#]+;"
    ),
    ".mw-": re.compile(r"\.mw-"),
}


class SavedPage(NamedTuple):
    """A page of the shared data; `item` is made up where the page's own is unknown."""

    page_id: int
    title: str
    html: str
    item: Entity


class Reference(NamedTuple):
    """A table that others extracted."""

    page_id: int
    title: str
    table_index: int
    rows: list[list[str]]


@dataclass
class Rows:
    """Found rows of the reference."""

    tables: int = 0
    rows: int = 0
    whole: int = 0
    cut: int = 0
    strict: int = 0


def data_folder() -> Path:
    """The shared data; ends the program when there is none."""
    folder = Path(os.environ.get("CONVINSE_DATA") or project_root().parent / "shared" / "data")
    if not (folder / "wikipedia-pages").is_dir():
        raise SystemExit(f"bench: {folder}/wikipedia-pages: no such data; set CONVINSE_DATA to the shared data")
    return folder


def _lines(path: Path) -> Iterator[str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from file


def read_pages(folder: Path) -> list[SavedPage]:
    """All saved pages."""
    records = [json.loads(line) for name in FILES for line in _lines(folder / "wikipedia-pages" / name)]
    return [
        SavedPage(r["page_id"], r["title"], r["html"], {"id": r["qid"] or f"Q{10**9 + n}", "label": r["title"]})
        for n, r in enumerate(records)
    ]


def read_items(folder: Path) -> dict[str, Entity]:
    """Title -> item."""
    pairs = (line.rstrip("\n").split("\t") for line in _lines(folder / "wikipedia-pages" / "title2qid.tsv.gz"))
    next(pairs)
    return {title: {"id": qid, "label": title} for title, qid, *_ in pairs}


def read_references(folder: Path, page_ids: set[int]) -> list[Reference]:
    """The reference tables of the pages."""
    tables = (json.loads(line) for line in _lines(folder / "wikitablequestions" / "tables.jsonl.gz"))
    return [
        Reference(t["page_id"], t["title"], t["table_index"], t["rows"]) for t in tables if t["page_id"] in page_ids
    ]


def normal(text: str) -> str:
    """A text for comparison: no footnote marks, blanks, commas and zero-width signs."""
    return re.sub(r"[\s,]+", "", _FOOTNOTE.sub("", _ZERO_WIDTH.sub("", text)))


def strict(text: str) -> str:
    """A text with single blanks and without footnote marks."""
    return " ".join(_FOOTNOTE.sub("", _ZERO_WIDTH.sub("", text)).split())


def find_rows(
    page: SavedPage, references: Iterable[Reference], counts: Rows, misses: list[tuple[str, list[str]]]
) -> None:
    """Count the rows of a page's reference tables that are found."""

    def tables(max_length: int) -> list[str]:
        return [s.text for s in parse_page(page.title, page.html, max_length).snippets if s.source == "table"]

    whole = tables(UNCUT)
    normals, stricts = [normal(text) for text in whole], [strict(text) for text in whole]
    pieces = [normal(s.text) for s in parse_page(page.title, page.html).snippets if s.source == "table"]
    for reference in references:
        counts.tables += 1
        for row in reference.rows:
            cells = [cell for cell in map(normal, row) if cell]
            if not cells:
                continue
            counts.rows += 1
            found = any(all(cell in text for cell in cells) for text in normals)
            counts.whole += found
            of_row = [text for text in pieces if cells[0] in text] if found else []
            counts.cut += bool(of_row) and all(any(cell in text for text in of_row) for cell in cells)
            plain = [cell for cell in map(strict, row) if cell]
            counts.strict += any(all(cell in text for cell in plain) for text in stricts)
            if not found:
                misses.append((f"{page.title} #{reference.table_index}", row))


def evidences_of(page: SavedPage, items: dict[str, Entity]) -> list[Evidence]:
    """What a user gets."""
    return page_evidences(parse_page(page.title, page.html), page.item, items)


def parsers() -> dict[str, Callable[[str], object]]:
    """What merely parses a page."""
    from selectolax.lexbor import LexborHTMLParser

    found: dict[str, Callable[[str], object]] = {"selectolax": LexborHTMLParser}
    try:
        import lxml.html

        found["lxml"] = lxml.html.fromstring
    except ImportError:
        pass
    try:
        import bs4

        found["BeautifulSoup"] = lambda html: bs4.BeautifulSoup(html, "html.parser")
    except ImportError:
        pass
    return found


def speed(pages: list[SavedPage], items: dict[str, Entity], seconds: float) -> dict[str, float]:
    """Pages a second on one core: medians over rounds in which all take the same pages in turn."""
    runs: dict[str, Callable[[SavedPage], object]] = {"evidences": lambda page: evidences_of(page, items)}
    runs |= {name: lambda page, parse=parse: parse(page.html) for name, parse in parsers().items()}
    evidences_of(pages[0], items)
    order = random.Random(SEED).sample(pages, len(pages))
    size = 20
    rates: dict[str, list[float]] = defaultdict(list)
    end = time.monotonic() + seconds
    for first in range(0, len(order) - size + 1, size):
        if time.monotonic() > end:
            break
        for name, call in runs.items():
            start = time.process_time()
            for page in order[first : first + size]:
                call(page)
            rates[name].append(size / (time.process_time() - start))
    return {name: statistics.median(values) for name, values in rates.items()}


def write_sample(by_source: dict[str, list[tuple[str, Evidence]]]) -> None:
    """Random evidences of each source, to be read by eye."""
    chance = random.Random(SEED)
    SAMPLE.parent.mkdir(parents=True, exist_ok=True)
    with SAMPLE.open("w", encoding="utf-8") as file:
        for source, found in by_source.items():
            file.write(f"== {source}: {len(found)} evidences\n")
            for title, evidence in chance.sample(found, min(PER_SOURCE, len(found))):
                file.write(f"[{title}] {evidence['evidence_text']}\n")
                names = "; ".join(f"{surface} = {identifier}" for surface, identifier in evidence["disambiguations"])
                file.write(f"    {names}\n")


def show(result: dict[str, Any]) -> None:
    """Print the tables."""
    console = Console(width=120)
    rows = result["rows"]
    table = Table(title=f"{result['pages']} pages, {rows['tables']} reference tables", title_justify="left")
    for column in ("figure", "value", "wanted"):
        table.add_column(column, justify="left" if column == "figure" else "right")
    for name in ("whole", "cut", "strict"):
        share = rows[name] / max(1, rows["rows"])
        label = {
            "whole": "rows found",
            "cut": "rows found in pieces, each beside the first cell",
            "strict": "rows found, strict",
        }[name]
        table.add_row(label, f"{share:.2%} of {rows['rows']}", f">= {ROWS_WANTED:.0%}" if name == "whole" else "")
    table.add_row("pages that raise", str(result["raised"]), "0")
    table.add_row("evidences with markup", str(sum(result["markup"].values())), "0")
    for source, count in result["evidences"].items():
        table.add_row(f"{source} evidences a page", f"{count / result['pages']:.1f}", "")
    table.add_section()
    for name, rate in result["pages_a_second"].items():
        table.add_row(f"pages a second, {name}", f"{rate:.1f}", f">= {PAGES_A_SECOND}" if name == "evidences" else "")
    if result["times_beautifulsoup"]:
        table.add_row(
            "evidences against BeautifulSoup parsing", f"{result['times_beautifulsoup']:.1f}x", f">= {TIMES_FASTER}x"
        )
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--misses", action="store_true", help="print rows that were not found and evidences with markup"
    )
    parser.add_argument("--seconds", type=float, default=60, help="for the speed at most; 0 leaves it out")
    options = parser.parse_args()
    folder = data_folder()
    pages, items = read_pages(folder), read_items(folder)
    references: dict[int, list[Reference]] = defaultdict(list)
    for reference in read_references(folder, {page.page_id for page in pages}):
        references[reference.page_id].append(reference)
    counts, misses, raised = Rows(), [], []
    markup: dict[str, int] = dict.fromkeys(MARKUP, 0)
    by_source: dict[str, list[tuple[str, Evidence]]] = {"text": [], "table": [], "info": []}
    for page in track(pages, "reading", console=Console(stderr=True)):
        try:
            found = evidences_of(page, items)
            find_rows(page, references[page.page_id], counts, misses)
        except Exception as error:
            raised.append(f"{page.title}: {type(error).__name__}: {error}")
            continue
        for evidence in found:
            by_source[evidence["source"]].append((page.title, evidence))
            for name, pattern in MARKUP.items():
                if pattern.search(evidence["evidence_text"]):
                    markup[name] += 1
                    if options.misses:
                        print(f"markup {name}: {page.title}: {evidence['evidence_text'][:300]}")
    if options.misses:
        for place, row in misses:
            print(f"missed {place}: {row}")
    for line in raised:
        print(f"raised {line}")
    write_sample(by_source)
    rates = speed(pages, items, options.seconds)
    baseline = rates.get("BeautifulSoup")
    result = {
        "pages": len(pages),
        "rows": asdict(counts),
        "raised": len(raised),
        "markup": markup,
        "evidences": {source: len(found) for source, found in by_source.items()},
        "pages_a_second": rates,
        "times_beautifulsoup": rates["evidences"] / baseline if baseline else None,
    }
    show(result)
    OUTPUT.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(OUTPUT, SAMPLE, sep="\n")


if __name__ == "__main__":
    main()
