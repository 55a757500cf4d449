"""Wikipedia pages into evidences: table rows against a reference made by others, markup left over, speed.

    bash run.sh bench wikipedia

A row of the reference (WikiTableQuestions) is found when one table evidence of its page holds all its non-empty cell texts. Texts are
compared without blanks, commas (line breaks in cells become `, `), zero-width signs and footnote marks (`[1]`, `[a]`, `[note 2]`).
BeautifulSoup and lxml are measured if they are installed.
"""

import itertools
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple

from selectolax.lexbor import LexborHTMLParser

from convinse.records.evidence import Entity, Evidence
from convinse.wikipedia.page import page_evidences, parse_page
from recipes.sources import records

from .harness import Bench, Figures, Spec, run
from .timing import Spread, in_turn

SEED = 4
UNCUT = 10**6  # users' evidences have wide rows cut
SECONDS = 60  # that the speed is measured for at most
BATCH = 20  # pages of a round
_FOOTNOTE = re.compile(r"\[(?:\d+|[a-z]{1,2}|(?:note|nb|n|A|N) ?\d+|citation needed|disambiguation needed)\]|\^")
_DROPPED = re.compile("[\\s,\u200b-\u200f\u2060\ufeff\u00ad]+")
_MARKUP = re.compile(
    r"<|\[ ?edit ?\]|\^|\[\d+\]|\{\{|\}\}|\{[^{}]*:[^{}]*\}|\.mw-|"
    r"\b(?:font|background|text|border|margin|padding)-?[a-z]*: ?[\w#]+;"
)


class SavedPage(NamedTuple):
    page_id: int
    title: str
    html: str
    item: Entity  # made up if the page's own is unknown

    def evidences(self, items: dict[str, Entity]) -> list[Evidence]:
        return page_evidences(parse_page(self.title, self.html), self.item, items)


def normal(text: str) -> str:
    """A text without footnote marks, blanks, commas and zero-width signs."""
    return _DROPPED.sub("", _FOOTNOTE.sub("", text))


def rows_found(page: SavedPage, references: list[dict[str, Any]]) -> list[bool]:
    """Of each row of a page's reference tables whether an evidence holds it."""
    snippets = parse_page(page.title, page.html, UNCUT).snippets
    texts = [normal(snippet.text) for snippet in snippets if snippet.source == "table"]
    rows = [list(filter(None, map(normal, row))) for reference in references for row in reference["rows"]]
    return [any(all(cell in text for cell in cells) for text in texts) for cells in rows if cells]


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
    order = random.Random(SEED).sample(pages, len(pages))
    end = time.monotonic() + SECONDS
    batches = (order[first : first + BATCH] for first in range(0, len(order) - BATCH + 1, BATCH))
    in_time = itertools.takewhile(lambda _: time.monotonic() < end, batches)
    rates: dict[str, list[float]] = defaultdict(list)
    for name, batch, spent, _ in in_turn(systems, in_time, time.process_time):
        rates[name].append(len(batch) / spent)
    return {name: Spread.of(values) for name, values in rates.items()}


def pages_part(bench: Bench) -> Figures:
    pages = []
    for name in ("pages_with_qid.jsonl.gz", "pages_sample.jsonl.gz"):
        for record in records(bench.folder, "wikipedia-pages", name):
            item: Entity = {"id": record["qid"] or f"Q{10**9 + len(pages)}", "label": record["title"]}
            pages.append(SavedPage(record["page_id"], record["title"], record["html"], item))
    pages = pages[: bench.size]
    titles = itertools.islice(records(bench.folder, "wikipedia-pages", "title2qid.tsv.gz"), 1, None)
    items: dict[str, Entity] = {title: {"id": qid, "label": title} for title, qid, *_ in titles}
    references: dict[int, list[dict]] = defaultdict(list)  # tables that others extracted, by page
    for reference in records(bench.folder, "wikitablequestions", "tables.jsonl.gz"):
        references[reference["page_id"]].append(reference)
    found: list[bool] = []
    counts: Counter[str] = Counter()
    for page in pages:
        found += rows_found(page, references[page.page_id])
        for evidence in page.evidences(items):
            counts[evidence["source"]] += 1
            counts["markup"] += bool(_MARKUP.search(evidence["evidence_text"]))
    figures: dict[str, tuple[Any, str]] = {
        "rows found": (sum(found) / max(1, len(found)), "{:.2%}"),
        "evidences with markup": (counts["markup"], "{:.0f}"),
        **{
            f"{source} evidences a page": (counts[source] / len(pages), "{:.1f}")
            for source in ("text", "table", "info")
        },
        **{f"pages a second, {name}": (rate, "{:.1f}") for name, rate in speed(bench, pages, items).items()},
    }
    bench.report(f"{len(pages)} pages, reference tables with {len(found)} rows", figures)
    return {name: value for name, (value, _) in figures.items()}


SPEC = Spec("wikipedia", __doc__, {"pages": pages_part}, (20, None, None))

if __name__ == "__main__":
    run(SPEC)
