"""Turns a page's HTML into evidences. Pure functions: no network, no cache."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from ..records.evidence import Cell, Entity, Evidence, Row, entities_within
from ..records.ranked_rows import with_ranks
from ..support.limits import MOST_PAGE_TEXT
from .document import blocks, parse_html
from .entities import PageNames
from .flatten import flatten
from .infobox import attributes
from .snippets import Link, Part, Snippet
from .tables import rows

LOGGER = logging.getLogger(__name__)
FORMAT = 6  # raised when the same page gives other evidences; part of every build id
MAX_LENGTH = 400  # the default of evr_max_evidence_length: longer table rows are cut


class Page(NamedTuple):
    """A parsed page: snippets without entities, which need the ids of `targets` first."""

    title: str
    snippets: tuple[Snippet, ...]

    @property
    def targets(self) -> set[str]:
        """The titles that the page links to."""
        return {link.target for snippet in self.snippets for link in snippet.links}


def parse_page(title: str, html: str, max_length: int | None = MAX_LENGTH) -> Page:
    """Return the sentences, table rows and infobox entries of a page (MediaWiki's rendering, legacy or Parsoid).

    Table rows longer than `max_length` are cut at cell borders; snippets beyond `MOST_PAGE_TEXT` characters are left out.
    """
    name = name_in(title)
    tables = itertools.count()

    def page_snippets() -> Iterator[Snippet]:
        for kind, node, section in blocks(parse_html(html)):
            if kind == "infobox":
                yield from attributes(node, name)
            elif kind == "table":
                yield from rows(node, section, name, max_length, next(tables))
            else:
                yield from (snippet.after(f"{name}, ") for snippet in sentences(node, is_item=kind == "li"))

    snippets: list[Snippet] = []
    size = 0
    for snippet in page_snippets():
        size += len(snippet.text)
        if size > MOST_PAGE_TEXT:
            LOGGER.warning("%.100s: gives more than %d characters; the rest is left out", title, MOST_PAGE_TEXT)
            break
        snippets.append(snippet)
    return Page(title, tuple(snippets))


def sentences(node: LexborNode, is_item: bool) -> Iterator[Snippet]:
    """Yield the sentences of a paragraph (by sentencex, the splitter of the Wikimedia Foundation); a list item is one snippet."""
    snippet = flatten(node, "text", skip_nested=True).cleaned()
    if is_item:
        if snippet.text:
            yield snippet
        return
    for left, right in sentence_places(snippet.text):
        yield snippet.part(left, right)


def sentence_places(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each sentence of an English text, without the blanks around it."""
    import sentencex

    start = 0
    for sentence in sentencex.segment("en", text):
        end = start + len(sentence)
        left = end - len(sentence.lstrip())
        right = start + len(sentence.rstrip())
        if right > left:
            yield left, right
        start = end


def name_in(title: str) -> str:
    """Return a title without its bracket, for the beginning of snippets."""
    return title.split(" (")[0] if title.endswith(")") and " (" in title.strip("(") else title


def page_evidences(page: Page, item: Entity, items: Mapping[str, Entity]) -> list[Evidence]:
    """Return the evidences of an item's page, without `retrieved_for_entity`; several may have the same text.

    `items` are those of the titles in `page.targets`.
    """
    lead = len(name_in(page.title))
    names = PageNames(item, page.title, page.snippets, items)
    evidences = []
    for snippet in page.snippets:
        mentions, entities = names.annotate(snippet, lead)
        evidence: Evidence = {
            "evidence_text": snippet.text,
            "source": snippet.source,
            "disambiguations": [[snippet.text[place["start"] : place["end"]], place["id"]] for place in mentions],
            "wikidata_entities": entities,
            "mentions": mentions,
        }
        if snippet.row is not None:
            cells: list[Cell] = []
            for start, end, header, column in snippet.parts:
                text, within = snippet.text[start:end], entities_within(evidence, start, end)
                cells.append({"header": header, "text": text, "entities": within, "start": start, "column": column})
            evidence["row"] = {**snippet.row, "page": item["id"], "cells": cells}
        elif snippet.source == "info":
            values: list[Cell] = []
            for start, end, header, _ in snippet.parts:
                within = entities_within(evidence, start, end)
                value: Cell = {"text": snippet.text[start:end], "entities": within, "start": start}
                if header:
                    value["header"] = header
                values.append(value)
            evidence["attribute"] = {"path": list(snippet.path), "values": values}
        evidences.append(evidence)
    return evidences


def snippet_of(evidence: Evidence, links: tuple[Link, ...]) -> Snippet:
    """The snippet that an evidence was made of, with its links."""
    row, attribute = evidence.get("row"), evidence.get("attribute")
    parts, path = [], []
    if row is not None:
        parts = [_part(cell, cell["column"]) for cell in row["cells"]]
    elif attribute is not None:
        parts, path = [_part(value) for value in attribute["values"]], attribute["path"]
    return Snippet(evidence["evidence_text"], links, evidence["source"], tuple(parts), row, tuple(path))


def _part(cell: Cell, column: int = 0) -> Part:
    return Part(cell["start"], cell["start"] + len(cell["text"]), cell.get("header", ""), column)


def with_ranked_rows(evidences: Sequence[Evidence]) -> list[Evidence]:
    """Return copies of a page's evidences with the ranks of its rows; see `records.ranked_rows`."""
    tables: dict[int, list[Evidence]] = {}
    for evidence in evidences:
        if "row" in evidence and "table" in evidence["row"]:
            tables.setdefault(evidence["row"]["table"], []).append(evidence)
    ranked = {
        (table, row["number"]): row
        for table, of_table in tables.items()
        for row in with_ranks(whole_rows(of_table, table))
    }
    results = []
    for evidence in evidences:
        row = evidence.get("row")
        whole = None if row is None else ranked.get((row.get("table", -1), row.get("number", -1)))
        if row is not None and whole is not None:
            ranks = {cell["column"]: cell["rank"] for cell in whole["cells"] if "rank" in cell}
            cells: list[Cell] = [
                {**cell, "rank": ranks[cell["column"]]} if cell["column"] in ranks else cell for cell in row["cells"]
            ]
            evidence = {**evidence, "row": {**whole, "cells": cells}}
        results.append(evidence)
    return results


def whole_rows(evidences: Iterable[Evidence], table: int) -> list[Row]:
    """Return the rows of a table among the evidences of its page, in their order; a row that was cut is whole again.

    `start` of a cell refers to the text of the evidence that the cell is from.
    """
    rows: dict[int, Row] = {}
    for evidence in evidences:
        row = evidence.get("row")
        if row is None or row.get("table") != table or "number" not in row:
            continue
        first = rows.setdefault(row["number"], row)
        if first is not row:
            columns = {cell["column"]: cell for cell in (*row["cells"], *first["cells"])}
            rows[row["number"]] = {**first, "cells": [columns[column] for column in sorted(columns)]}
    return [rows[number] for number in sorted(rows)]
