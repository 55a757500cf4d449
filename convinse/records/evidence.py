"""Evidence and its sources: a JSON-shaped record and its checks.

The records are plain dictionaries, written and read as they are; the `TypedDict` classes describe them for type checkers. The
shapes are those of CONVINSE and ConvMix (Christmann et al., SIGIR 2022).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import msgspec
from typing_extensions import NotRequired, TypedDict

from ..support.errors import ConfigError, DataError, one_line

SOURCES = ("kb", "text", "table", "info")
DEFAULT_SOURCES = "_".join(SOURCES)
_SHEETS = (".xlsx", ".xlsm", ".xltx", ".xltm", ".xls", ".xlt", ".ods")
_SLIDES = (".pptx", ".pptm", ".ppsx", ".potx", ".odp")
_MAILS = (".eml", ".msg", ".mbox")


class Entity(TypedDict):
    """An item, a date or a number: `id` is a Wikidata id, an ISO time stamp or a literal.

    >>> facts = ClocqRetriever("lexical.yml").retrieve_kb_facts_for_item("Q42574")
    >>> [fact[2] for fact in facts if fact[1]["label"] == "date of birth"]
    [{'id': '1954-08-16T00:00:00Z', 'label': '16 August 1954'}]
    """

    id: str
    label: str


class Predicate(Entity):
    """The property of a fact; `rank` of its statement is left out if it is normal: see `records.facts`."""

    rank: NotRequired[str]


class Mention(TypedDict):
    """The place of an entity in an evidence: `evidence_text[start:end]`, in characters."""

    start: int
    end: int
    id: str


class Cell(TypedDict):
    """A cell of a table's row, or a value of an infobox's attribute, which has no more than `header` beside the first three.

    `text` stands at `start` of the evidence's text and mentions `entities`; `header` is empty if the table has none; `column`
    counts from 0, a cell over several columns comes once for each header above it. A user's evidence may leave them out:
    `records.evidence_structure` adds them. `rank` is set for models (`records.ranked_rows`): `lowest` or `highest` of the values
    of the column, of dates `earliest` or `latest`.
    """

    text: str
    entities: list[Entity]
    start: NotRequired[int]
    header: NotRequired[str]
    column: NotRequired[int]
    rank: NotRequired[str]


_PLACE = frozenset({"page", "table", "number"})  # keys of a row that identify it


class Row(TypedDict):
    """The row of a table as the source of an evidence; cells without text are left out.

    `caption` is that of the table, `section` the heading above it; `part` is the title over the whole width of the rows below it.
    `page` (an item), `table` and `number` (of the row; both count from 0) identify the whole table: see
    `WikipediaRetriever.table`. A long row is several evidences of the same number. For models (`records.ranked_rows`), `rank` is
    the row's place in its table (`first`, `last`, else empty), and `before` and `behind` name the rows next to it.
    """

    caption: str
    section: str
    cells: list[Cell]
    part: NotRequired[str]
    page: NotRequired[str]
    table: NotRequired[int]
    number: NotRequired[int]
    rank: NotRequired[str]
    before: NotRequired[str]
    behind: NotRequired[str]


def is_same_row(row: Row | None, other: Row | None) -> bool:
    """Return True if two rows, perhaps parts of them, are the same row of a table."""
    if row is None or other is None or not has_place(row):
        return False
    return all(row.get(key) == other.get(key) for key in _PLACE)


def has_place(row: Row) -> bool:
    """Return True if a row says of which table it is; those of a user's evidences may not."""
    return row.keys() >= _PLACE


class Attribute(TypedDict):
    """The attribute of an infobox as the source of an evidence.

    `path` has the titles above it (`Career`), then its name; the values are lines or cells, in their order.
    """

    path: list[str]
    values: list[Cell]


class Citation(TypedDict):
    """The place of an evidence in a document: its file, the headings above it, and the line or the page, from 1."""

    file: str
    headings: list[str]
    line: NotRequired[int]
    page: NotRequired[int]


class QuoteSpan(TypedDict):
    """The span of an answer in the words of a quote: `words[start:end]`, in characters."""

    start: int
    end: int


class Quote(TypedDict):
    """The words of a file that an evidence is made of, as its reader gives them; see `documents.quotes`.

    `path` is the name of the file in citations (in a proof its path), `sha256` that of its bytes when they were read, `place` its
    line, page, slide or row of a sheet (`line 7`), or empty. `words` are the passage without its headings, or the cells of a row;
    `spans` those of the answer. `boxes` are those of the lines of the words on the `page` of a PDF file, from 1: left, top, right
    and bottom, in parts of its width and height from its upper left corner; see `documents.quotes.add_boxes`.
    """

    path: str
    sha256: str
    headings: list[str]
    place: str
    words: str
    spans: list[QuoteSpan]
    page: NotRequired[int]
    boxes: NotRequired[list[list[float]]]


class Origin(TypedDict):
    """The source of a fetched evidence: the addresses of its statement or page and of the revision, and the day of the look-up."""

    url: str
    revision_url: str
    date: str


class Evidence(TypedDict):
    """A piece of evidence; `score` is added by scoring, `retrieved_for_entity` by retrieval, or `page`, the item of its page, if
    the question does not name it.

    `evidence_text` is a rendering for people and models. Its source is optional: `fact` (subject, predicate, object, qualifier
    predicate, qualifier object ...) of `kb`, `row` of `table`, `attribute` of `info`, and the places of its mentions, in reading
    order; `records.evidence_structure` adds missing ones. `citation` is the place of an evidence in a file (`documents`), `quote`
    its words there (`documents.quotes`), `origin` the source of a fetched evidence.

    >>> evidence = WikipediaRetriever("lexical.yml").retrieve_wp_evidences("Q44578")[0]
    >>> evidence["evidence_text"], evidence["source"]
    ('Titanic, Directed by, James Cameron', 'info')
    >>> [entity["label"] for entity in evidence["wikidata_entities"]]
    ['Titanic', 'James Cameron']
    """

    evidence_text: str
    source: str
    disambiguations: list[list[str]]
    wikidata_entities: list[Entity]
    retrieved_for_entity: NotRequired[Entity]
    page: NotRequired[Entity]
    score: NotRequired[float]
    fact: NotRequired[list[Entity]]
    row: NotRequired[Row]
    attribute: NotRequired[Attribute]
    mentions: NotRequired[list[Mention]]
    citation: NotRequired[Citation]
    quote: NotRequired[Quote]
    origin: NotRequired[Origin]


# the sources of evidences, as their authors may give them
_STRUCTURE = {"fact": list[Entity], "row": Row, "attribute": Attribute, "mentions": list[Mention]}


def is_of_mail(evidence: Evidence) -> bool:
    """Return True if an evidence is of a file of mails."""
    return "citation" in evidence and evidence["citation"]["file"].lower().endswith(_MAILS)


def shown_citation(evidence: Evidence) -> str:
    """Return the place of an evidence for people: `guide.md, Install > Linux, line 12`, or its day and address; else empty."""
    citation, origin = evidence.get("citation"), evidence.get("origin")
    if origin is not None:
        return f"as of {origin['date']}, {origin['url']}"
    if citation is None:
        return ""
    return ", ".join(part for part in (citation["file"], " > ".join(citation["headings"]), place_in(citation)) if part)


def place_in(citation: Citation) -> str:
    """Return the place of a citation in its file: `line 12`, `row 5` of a sheet, `page 3`, `slide 2`, or an empty string."""
    name = citation["file"].lower()
    if "line" in citation:
        return f"{'row' if name.endswith(_SHEETS) else 'line'} {citation['line']}"
    return f"{'slide' if name.endswith(_SLIDES) else 'page'} {citation['page']}" if "page" in citation else ""


def passage_start(evidence: Evidence, title: str) -> int:
    """Return where the words of a passage of a document begin in the text of its evidence: behind the title and the headings."""
    text, start = evidence["evidence_text"], 0
    for part in dict.fromkeys((title, *evidence["citation"]["headings"])):
        if part and text.startswith(f"{part}, ", start):
            start += len(part) + 2
    return start


def with_score(evidence: Evidence, score: float) -> Evidence:
    """Return a copy of an evidence with this `score`."""
    return {**evidence, "score": score}


def parse_sources(text: str | Sequence[str], where: str = "sources") -> tuple[str, ...]:
    """Return the sources of `"kb_text_infobox"` or of a list of names, in the order kb, text, table, info.

    Raises:
        ConfigError: a name is not a source; the message names `where` and lists the valid names.
    """
    if not isinstance(text, str | Sequence | AbstractSet):
        raise ConfigError(f"{where}: '{text}' names no sources; give them as kb_text or as a list")
    names = text.split("_") if isinstance(text, str) else list(text)
    chosen = set()
    for name in names:
        source = normalize_source(name)
        if source not in SOURCES:
            raise ConfigError(
                f"{where}: unknown source '{name}' in '{text}'; valid: {', '.join(SOURCES)} (joined by _)"
            )
        chosen.add(source)
    if not chosen:
        raise ConfigError(f"{where}: no source; valid: {', '.join(SOURCES)} (joined by _)")
    return tuple(source for source in SOURCES if source in chosen)


def normalize_source(name: str) -> str:
    """Return `info` for CONVINSE's `infobox`; other names unchanged."""
    return "info" if name == "infobox" else name


def is_sources(text: str) -> bool:
    """Return True if `text` looks like a combination of sources (`kb_text`) and not like a file name."""
    names = text.split("_")
    return any(normalize_source(name) in SOURCES for name in names) and not re.search(r"[./\\]", text)


def question_items(evidences: Iterable[Evidence]) -> list[Entity]:
    """Return the items that evidences were retrieved for, with repetitions, in their order."""
    return [evidence["retrieved_for_entity"] for evidence in evidences if "retrieved_for_entity" in evidence]


def unique_entities(entities: Iterable[Entity]) -> list[Entity]:
    """Return the entities without repeated ids, in order."""
    first: dict[str, Entity] = {}
    for entity in entities:
        first.setdefault(entity["id"], entity)
    return list(first.values())


def entities_within(evidence: Evidence, start: int, end: int) -> list[Entity]:
    """Return the entities that an evidence with places mentions in a part of its text, without repetitions."""
    inside = [mention["id"] for mention in evidence["mentions"] if start <= mention["start"] and mention["end"] <= end]
    if not inside:
        return []
    entities = {entity["id"]: entity for entity in evidence["wikidata_entities"]}
    return [entities[entity_id] for entity_id in dict.fromkeys(inside) if entity_id in entities]


def merge_duplicates(evidences: Iterable[Evidence]) -> list[Evidence]:
    """Return evidences in which those of equal text and source are merged, with the entities and mentions of all.

    The first gives the other keys and the place in the order. The arguments are not changed.
    """
    merged: dict[tuple[str, str], Evidence] = {}
    for evidence in evidences:
        key = (evidence["evidence_text"], evidence["source"])
        first = merged.get(key)
        if first is None:
            merged[key] = evidence.copy()
            continue
        first["wikidata_entities"] = unique_entities([*first["wikidata_entities"], *evidence["wikidata_entities"]])
        mentions = [*first["disambiguations"], *evidence["disambiguations"]]
        first["disambiguations"] = [list(pair) for pair in dict.fromkeys(map(tuple, mentions))]
        _merge_places(first, evidence)
    return list(merged.values())


def _merge_places(first: Evidence, evidence: Evidence) -> None:
    if "mentions" not in first or "mentions" not in evidence:
        first.pop("mentions", None)  # `structured` adds the places of both
        return
    places = [*first["mentions"], *evidence["mentions"]]
    mentions = {(place["start"], place["end"], place["id"]): place for place in places}
    if len(mentions) == len(first["mentions"]):
        return
    first["mentions"] = [mentions[place] for place in sorted(mentions)]
    if "row" in first:
        cells = first["row"]["cells"]
        first["row"] = {**first["row"], "cells": [{**cell, "entities": _mentioned(first, cell)} for cell in cells]}
    if "attribute" in first:
        values = first["attribute"]["values"]
        values = [{**value, "entities": _mentioned(first, value)} for value in values]
        first["attribute"] = {"path": first["attribute"]["path"], "values": values}


def _mentioned(evidence: Evidence, part: Cell) -> list[Entity]:
    start = part.get("start", -1)
    return part["entities"] if start < 0 else entities_within(evidence, start, start + len(part["text"]))


def check_evidence(evidence: object, where: str) -> None:
    """Raise `DataError` naming `where` unless `evidence` has the shape of an `Evidence`."""

    def fault(text: str) -> DataError:
        return DataError(f"{where}: {text}; docs/evidences.md shows the format")

    if not isinstance(evidence, Mapping):
        raise fault(f"an evidence is {type(evidence).__name__}, not a dictionary")
    if not isinstance(evidence.get("evidence_text"), str):
        raise fault("an evidence has no 'evidence_text' string")
    if normalize_source(str(evidence.get("source"))) not in SOURCES:
        raise fault(f"an evidence has the source {evidence.get('source')!r} (valid: {', '.join(SOURCES)})")
    entities = evidence.get("wikidata_entities")
    if not isinstance(entities, list) or not all(_is_entity(entity) for entity in entities):
        raise fault("an evidence has no list of {id, label} in 'wikidata_entities'")
    pairs = evidence.get("disambiguations")
    if not isinstance(pairs, list) or not all(isinstance(pair, Sequence) and len(pair) == 2 for pair in pairs):
        raise fault("an evidence has no list of [surface form, id] in 'disambiguations'")
    for key in ("retrieved_for_entity", "page"):
        if key in evidence and not _is_entity(evidence[key]):
            raise fault(f"'{key}' of an evidence is not {{id, label}}")
    check_values(evidence, _STRUCTURE, where, "; docs/evidences.md shows the format")


def check_values(
    record: Mapping[str, Any], kinds: Mapping[str, Any], where: str, remedy: str = "", path: str = "$"
) -> None:
    """Raise `DataError` naming `where` and the path unless the values of a record, if present, are of these types by key."""
    for key, kind in kinds.items():
        if key in record:
            try:
                msgspec.convert(record[key], kind)
            except msgspec.ValidationError as error:
                reason, _, inner = one_line(error).partition(" - at `$")
                raise DataError(f"{where}: {reason} - at `{path}.{key}{inner or '`'}{remedy}") from None


def _is_entity(value: Any) -> bool:
    is_mapping = type(value) is dict or isinstance(value, Mapping)
    return is_mapping and isinstance(value.get("id"), str) and isinstance(value.get("label"), str)
