"""Wikipedia pages into evidences: table rows against a reference made by others, markup left over, speed.

    bash run.sh bench wikipedia

A row of the reference (WikiTableQuestions) is found when one table evidence of its page holds all its non-empty cell
texts. Texts are compared without blanks, commas (line breaks in cells become `, `), zero-width signs and footnote
marks (`[1]`, `[a]`, `[note 2]`); `strict` compares with single blanks and commas as they stand. Wide rows are cut in
the evidences of users: `rows found` takes the rows uncut, `in pieces` asks for each cell beside the first one in some piece.
BeautifulSoup and lxml are measured if they are installed.
"""

import itertools
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from selectolax.lexbor import LexborHTMLParser

from convinse.records.evidence import Entity, Evidence
from convinse.support.progress import progress
from convinse.wikipedia.page import page_evidences, parse_page
from recipes.sources import records

from .harness import Bench, Figures, Spec, run
from .timing import Spread, in_turn

SEED = 4
UNCUT = 10**6
SECONDS = 60  # that the speed is measured for at most
BATCH = 20  # pages of a round
FILES = ("pages_with_qid.jsonl.gz", "pages_sample.jsonl.gz")
_FOOTNOTE = re.compile(r"\[(?:\d+|[a-z]{1,2}|(?:note|nb|n|A|N) ?\d+|citation needed|disambiguation needed)\]|\^")
_ZERO_WIDTH = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad]")
_MARKUP = re.compile(
    r"<|\[ ?edit ?\]|\^|\[\d+\]|\{\{|\}\}|\{[^{}]*:[^{}]*\}|\.mw-|"
    r"\b(?:font|background|text|border|margin|padding)-?[a-z]*: ?[\w#]+;"
)


class SavedPage(NamedTuple):
    page_id: int
    title: str
    html: str
    item: Entity  # made up if the page's own is unknown

    def texts(self, *longest: int) -> list[str]:
        """The texts of the rows of its tables."""
        return [
            snippet.text
            for snippet in parse_page(self.title, self.html, *longest).snippets
            if snippet.source == "table"
        ]

    def evidences(self, items: dict[str, Entity]) -> list[Evidence]:
        return page_evidences(parse_page(self.title, self.html), self.item, items)


def read(folder: Path) -> tuple[list[SavedPage], dict[str, Entity]]:
    """The saved pages, and the items of titles."""
    pages = []
    for record in (record for name in FILES for record in records(folder, "wikipedia-pages", name)):
        item: Entity = {"id": record["qid"] or f"Q{10**9 + len(pages)}", "label": record["title"]}
        pages.append(SavedPage(record["page_id"], record["title"], record["html"], item))
    pairs = itertools.islice(records(folder, "wikipedia-pages", "title2qid.tsv.gz"), 1, None)
    return pages, {title: {"id": qid, "label": title} for title, qid, *_ in pairs}


def strict(text: str) -> str:
    """A text with single blanks and without footnote marks."""
    return " ".join(_FOOTNOTE.sub("", _ZERO_WIDTH.sub("", text)).split())


def normal(text: str) -> str:
    """A text without footnote marks, blanks, commas and zero-width signs."""
    return re.sub(r"[\s,]+", "", strict(text))


def find_rows(page: SavedPage, references: Iterable[dict[str, Any]], counts: Counter[str]) -> None:
    """Count the rows of a page's reference tables that are found."""
    whole = page.texts(UNCUT)
    normals, stricts, pieces = [*map(normal, whole)], [*map(strict, whole)], [*map(normal, page.texts())]
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


def speed(bench: Bench, pages: list[SavedPage], items: dict[str, Entity]) -> dict[str, Spread]:
    """Pages a second on one core: of rounds in which all take the same pages in turn."""
    parsers: dict[str, Callable[[str], object]] = {"selectolax": LexborHTMLParser}
    if bench.has("lxml"):
        import lxml.html

        parsers["lxml"] = lxml.html.fromstring
    if bench.has("bs4"):
        import bs4

        parsers["BeautifulSoup"] = lambda html: bs4.BeautifulSoup(html, "html.parser")
    systems: dict[str, Any] = {"evidences": lambda batch: [page.evidences(items) for page in batch]}
    for name, parse in parsers.items():
        systems[name] = lambda batch, parse=parse: [parse(page.html) for page in batch]
    pages[0].evidences(items)
    order = random.Random(SEED).sample(pages, len(pages))
    end = time.monotonic() + SECONDS
    batches = (order[first : first + BATCH] for first in range(0, len(order) - BATCH + 1, BATCH))
    in_time = itertools.takewhile(lambda _: time.monotonic() < end, batches)
    rates: dict[str, list[float]] = defaultdict(list)
    for name, batch, spent, _ in in_turn(systems, in_time, time.process_time):
        rates[name].append(len(batch) / spent)
    return {name: Spread.of(rates[name]) for name in systems if rates[name]}


def pages_part(bench: Bench) -> Figures:
    pages, items = read(bench.folder)
    pages = pages[: bench.size]
    references: dict[int, list[dict]] = defaultdict(list)  # tables that others extracted, by page
    for reference in records(bench.folder, "wikitablequestions", "tables.jsonl.gz"):
        references[reference["page_id"]].append(reference)
    counts, raised = Counter(), []
    by_source = {"text": 0, "table": 0, "info": 0}
    with progress("reading", len(pages), "pages") as advance:
        for page in pages:
            advance()
            try:
                evidences = page.evidences(items)
                find_rows(page, references[page.page_id], counts)
            except Exception as error:
                raised.append(f"{page.title}: {type(error).__name__}: {error}")
                continue
            for evidence in evidences:
                by_source[evidence["source"]] += 1
                counts["markup"] += bool(_MARKUP.search(evidence["evidence_text"]))
    for line in raised:
        print(f"raised {line}")
    whole, cut, strictly = (counts[name] / max(1, counts["rows"]) for name in ("whole", "cut", "strict"))
    figures = {
        "rows found": (whole, "{:.2%}"),
        "rows found in pieces, each beside the first cell": (cut, "{:.2%}"),
        "rows found, strict": (strictly, "{:.2%}"),
        "pages that raise": (len(raised), "{:.0f}"),
        "evidences with markup": (counts["markup"], "{:.0f}"),
    }
    figures |= {f"{source} evidences a page": (number / len(pages), "{:.1f}") for source, number in by_source.items()}
    rates = speed(bench, pages, items)
    figures |= {f"pages a second, {name}": (rate, "{:.1f}") for name, rate in rates.items()}
    if "BeautifulSoup" in rates:
        times = rates["evidences"].median / rates["BeautifulSoup"].median
        figures["evidences against BeautifulSoup parsing"] = (times, "{:.1f}x")
    bench.report(f"{len(pages)} pages, {counts['tables']} reference tables with {counts['rows']} rows", figures)
    return {name: value for name, (value, _) in figures.items()}


SPEC = Spec("wikipedia", __doc__, {"pages": pages_part}, (20, None, None))

if __name__ == "__main__":
    run(SPEC)
