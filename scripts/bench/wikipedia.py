"""Wikipedia pages into evidences: table rows against a reference made by others, markup left over, speed, a sample.

    bash run.sh bench wikipedia

A row of the reference (WikiTableQuestions) is found when one table evidence of its page holds all its non-empty cell
texts. Texts are compared without blanks, commas (line breaks in cells become `, `), zero-width signs and footnote
marks (`[1]`, `[a]`, `[note 2]`); `strict` compares with single blanks and commas as they stand. Wide rows are cut in
what users get: `whole rows` takes the rows uncut, `cut` asks for each cell
beside the first one in some piece.

100 random evidences of each source go to
results/bench/wikipedia-sample.txt. BeautifulSoup and lxml are measured where they are installed.
"""

from __future__ import annotations

import gzip
import itertools
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser

from convinse.records.evidence import Entity, Evidence
from convinse.support.progress import progress
from convinse.wikipedia.page import page_evidences, parse_page
from recipes.sources import json_lines, needed

from .harness import Bench, Figure, Figures, Spec, Spread, in_turn, run

PER_SOURCE = 100
SEED = 4
UNCUT = 10**6
SECONDS = 60  # that the speed is measured for at most
BATCH = 20  # pages of a round
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


def read(folder: Path) -> tuple[list[SavedPage], dict[str, Entity]]:
    """The saved pages, and the items of titles."""
    records = [record for name in FILES for record in json_lines(needed(folder, "wikipedia-pages", name))]
    ids = (record["qid"] or f"Q{10**9 + number}" for number, record in enumerate(records))
    pages = [
        SavedPage(record["page_id"], record["title"], record["html"], {"id": qid, "label": record["title"]})
        for record, qid in zip(records, ids, strict=True)
    ]
    with gzip.open(needed(folder, "wikipedia-pages", "title2qid.tsv.gz"), "rt", encoding="utf-8") as file:
        next(file)
        pairs = [line.rstrip("\n").split("\t") for line in file]
    return pages, {title: {"id": qid, "label": title} for title, qid, *_ in pairs}


def normal(text: str) -> str:
    """A text for comparison: no footnote marks, blanks, commas and zero-width signs."""
    return re.sub(r"[\s,]+", "", _FOOTNOTE.sub("", _ZERO_WIDTH.sub("", text)))


def strict(text: str) -> str:
    """A text with single blanks and without footnote marks."""
    return " ".join(_FOOTNOTE.sub("", _ZERO_WIDTH.sub("", text)).split())


def find_rows(page: SavedPage, references: Iterable[dict], counts: Counter[str]) -> None:
    """Count the rows of a page's reference tables that are found."""

    def tables(max_length: int) -> list[str]:
        return [s.text for s in parse_page(page.title, page.html, max_length).snippets if s.source == "table"]

    whole = tables(UNCUT)
    normals, stricts = [normal(text) for text in whole], [strict(text) for text in whole]
    pieces = [normal(s.text) for s in parse_page(page.title, page.html).snippets if s.source == "table"]
    for reference in references:
        counts["tables"] += 1
        for row in reference["rows"]:
            cells = [cell for cell in map(normal, row) if cell]
            if not cells:
                continue
            counts["rows"] += 1
            is_whole = any(all(cell in text for cell in cells) for text in normals)
            counts["whole"] += is_whole
            of_row = [text for text in pieces if cells[0] in text] if is_whole else []
            counts["cut"] += bool(of_row) and all(any(cell in text for text in of_row) for cell in cells)
            plain = [cell for cell in map(strict, row) if cell]
            counts["strict"] += any(all(cell in text for cell in plain) for text in stricts)


def evidences_of(page: SavedPage, items: dict[str, Entity]) -> list[Evidence]:
    return page_evidences(parse_page(page.title, page.html), page.item, items)


def speed(bench: Bench, pages: list[SavedPage], items: dict[str, Entity]) -> dict[str, Spread]:
    """Pages a second on one core: of rounds in which all take the same pages in turn."""

    def evidences(batch: list[SavedPage]) -> None:
        for page in batch:
            evidences_of(page, items)

    parsers: dict[str, Callable[[str], object]] = {"selectolax": LexborHTMLParser}
    if bench.has("lxml"):
        import lxml.html

        parsers["lxml"] = lxml.html.fromstring
    if bench.has("bs4"):
        import bs4

        parsers["BeautifulSoup"] = lambda html: bs4.BeautifulSoup(html, "html.parser")
    systems = {"evidences": evidences}
    for name, parse in parsers.items():
        systems[name] = lambda batch, parse=parse: [parse(page.html) for page in batch]
    evidences_of(pages[0], items)
    order = random.Random(SEED).sample(pages, len(pages))
    end = time.monotonic() + SECONDS
    batches = (order[first : first + BATCH] for first in range(0, len(order) - BATCH + 1, BATCH))
    in_time = itertools.takewhile(lambda _: time.monotonic() < end, batches)
    rates: dict[str, list[float]] = defaultdict(list)
    for name, batch, spent, _ in in_turn(systems, in_time, time.process_time):
        rates[name].append(len(batch) / spent)
    return {name: Spread.of(rates[name]) for name in systems if rates[name]}


def write_sample(path: Path, by_source: dict[str, list[tuple[str, Evidence]]]) -> None:
    """Random evidences of each source, to be read by eye."""
    chance = random.Random(SEED)
    with path.open("w", encoding="utf-8") as file:
        for source, own in by_source.items():
            file.write(f"== {source}: {len(own)} evidences\n")
            for title, evidence in chance.sample(own, min(PER_SOURCE, len(own))):
                file.write(f"[{title}] {evidence['evidence_text']}\n")
                names = "; ".join(f"{surface} = {identifier}" for surface, identifier in evidence["disambiguations"])
                file.write(f"    {names}\n")


def pages_part(bench: Bench) -> Figures:
    folder = bench.folder
    pages, items = read(folder)
    pages = pages[: bench.size]
    references: dict[int, list[dict]] = defaultdict(list)  # tables that others extracted, by page
    for reference in json_lines(needed(folder, "wikitablequestions", "tables.jsonl.gz")):
        references[reference["page_id"]].append(reference)
    counts, raised = Counter(), []
    markup: dict[str, int] = dict.fromkeys(MARKUP, 0)
    by_source: dict[str, list[tuple[str, Evidence]]] = {"text": [], "table": [], "info": []}
    with progress("reading", len(pages), "pages") as advance:
        for page in pages:
            advance()
            try:
                evidences = evidences_of(page, items)
                find_rows(page, references[page.page_id], counts)
            except Exception as error:
                raised.append(f"{page.title}: {type(error).__name__}: {error}")
                continue
            for evidence in evidences:
                by_source[evidence["source"]].append((page.title, evidence))
                for name, pattern in MARKUP.items():
                    markup[name] += bool(pattern.search(evidence["evidence_text"]))
    for line in raised:
        print(f"raised {line}")
    write_sample(bench.options.output.with_name("wikipedia-sample.txt"), by_source)
    rates = speed(bench, pages, items)
    result = {
        "pages": len(pages), "rows": counts, "raised": len(raised), "markup": markup,
        "evidences": {source: len(own) for source, own in by_source.items()},
        "pages_a_second": rates,
    }  # fmt: skip
    whole, cut, strictly = (counts[name] / max(1, counts["rows"]) for name in ("whole", "cut", "strict"))
    figures = [
        Figure("rows found", whole, "{:.2%}"),
        Figure("rows found in pieces, each beside the first cell", cut, "{:.2%}"),
        Figure("rows found, strict", strictly, "{:.2%}"),
        Figure("pages that raise", len(raised), "{:.0f}"),
        Figure("evidences with markup", sum(markup.values()), "{:.0f}"),
    ]
    figures += [Figure(f"{source} evidences a page", len(own) / len(pages)) for source, own in by_source.items()]
    for name, (median, least, most) in rates.items():
        form = f"{{:.1f}} ({least:.1f}-{most:.1f})"
        figures.append(Figure(f"pages a second, {name}", median, form))
    if "BeautifulSoup" in rates:
        result["times_beautifulsoup"] = times = rates["evidences"].median / rates["BeautifulSoup"].median
        figures.append(Figure("evidences against BeautifulSoup parsing", times, "{:.1f}x"))
    bench.report(f"{len(pages)} pages, {counts['tables']} reference tables with {counts['rows']} rows", figures)
    return result


SPEC = Spec("wikipedia", __doc__, {"pages": pages_part}, (20, None, None))

if __name__ == "__main__":
    run(SPEC)
