"""Evidences that come without structure: imported dumps, modules of a user's own. The one place that takes text apart.

A rendering does not always tell its parts: a cell or a value with a comma in it is cut there. What does not have the form
of its source stays without structure, and is answered from as text.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from typing import Any

from .evidence import Attribute, AttributeValue, Cell, Entity, Evidence, Mention, Row, entities_within, normalize_source

_STRUCTURE = {"kb": "fact", "table": "row", "info": "attribute"}
_SEPARATOR = ", "
_HEADER = re.compile(r"(?:^|, )([^,]+?) is ")


def structured(evidence: Evidence) -> Evidence:
    """An evidence with its mentions' places and, where its text shows it, what it was made from.

    An evidence that has both is returned as it is, else a copy. Structure that it brings along is never replaced; places
    that it lacks (`start`, `column`) are added.
    """
    source = normalize_source(evidence["source"])
    key = _STRUCTURE.get(source)
    is_placed = key is None or (key in evidence and all("start" in part for part in _parts(evidence, key)))
    if "mentions" in evidence and is_placed:
        return evidence
    evidence = evidence.copy()
    if "mentions" not in evidence:
        evidence["mentions"] = _mentions(evidence)
    if key is None:
        return evidence
    if key in evidence:
        _place(evidence, key)
    elif source == "kb":
        if fact := _fact(evidence):
            evidence["fact"] = fact
    elif source == "table":
        if (row := _row(evidence))["cells"]:
            evidence["row"] = row
    elif (attribute := _attribute(evidence))["values"]:
        evidence["attribute"] = attribute
    return evidence


def in_own_form(evidence: Any) -> Any:
    """An evidence as CONVINSE and EXPLAIGNN may have it, in the form of this project; what is none stays as it is.

    Mentions without an item are dropped: CONVINSE's annotator notes None or False as the item of a link that leads to
    none. Of several entities that it was retrieved for, as EXPLAIGNN has them, the first stays.
    """
    if not isinstance(evidence, dict):
        return evidence
    pairs, entities = evidence.get("disambiguations"), evidence.get("retrieved_for_entity")
    if isinstance(pairs, list) and any(map(_leads_nowhere, pairs)):
        evidence = {**evidence, "disambiguations": [pair for pair in pairs if not _leads_nowhere(pair)]}
    if isinstance(entities, list):
        evidence = {key: value for key, value in evidence.items() if key != "retrieved_for_entity"}
        if entities:
            evidence["retrieved_for_entity"] = entities[0]
    return evidence


def _leads_nowhere(pair: Any) -> bool:
    return isinstance(pair, list | tuple) and len(pair) == 2 and not all(isinstance(part, str) for part in pair)


def _mentions(evidence: Evidence) -> list[Mention]:
    """The places of the mentions, none in another: in the order they are listed in, where that is the reading order."""
    text, place = evidence["evidence_text"], 0
    taken = bytearray(len(text))
    mentions: list[Mention] = []
    spent: set[str] = set()  # surfaces that stand nowhere else
    for surface, entity_id in evidence["disambiguations"]:
        if surface in spent or not isinstance(surface, str) or not isinstance(entity_id, str):
            continue  # CONVINSE's annotator also notes links without an item
        for start in itertools.chain(_words(text, surface, place), _words(text, surface, 0)):
            end = start + len(surface)
            if not any(taken[start:end]):
                taken[start:end] = bytes([1]) * len(surface)
                place = end
                mentions.append({"start": start, "end": end, "id": entity_id})
                break
        else:
            spent.add(surface)
    return sorted(mentions, key=lambda mention: mention["start"])


def _words(text: str, surface: str, start: int) -> Iterator[int]:
    start = text.find(surface, start) if surface else -1
    while start >= 0:
        end = start + len(surface)
        if not text[max(0, start - 1) : start].isalnum() and not text[end : end + 1].isalnum():
            yield start
        start = text.find(surface, start + 1)


# -- structure from text -----------------------------------------------------------------------------------------------


def _fact(evidence: Evidence) -> list[Entity]:
    """Subject, predicate, object ... of a fact; empty where the text has another form. Predicates have no ids but their words.

    A fact may name an entity twice that is listed once.
    """
    text, entities = evidence["evidence_text"], evidence["wikidata_entities"]
    if not entities or not entities[0]["label"] or not text.startswith(entities[0]["label"] + _SEPARATOR):
        return []
    by_label: dict[str, list[Entity]] = {}
    for entity in filter(lambda entity: entity["label"], entities):
        by_label.setdefault(entity["label"], []).append(entity)
    labels = "|".join(map(re.escape, sorted(by_label, key=len, reverse=True)))
    value = re.compile(rf"{_SEPARATOR}({labels})(?={_SEPARATOR}|\Z)")

    def named(label: str) -> Entity:
        same = by_label[label]
        return same.pop(0) if len(same) > 1 else same[0]

    fact, place = [named(entities[0]["label"])], len(entities[0]["label"]) + len(_SEPARATOR)
    while (match := value.search(text, place)) is not None:
        predicate = text[place : match.start()]
        fact += [Entity(id=predicate, label=predicate), named(match[1])]
        place = match.end() + len(_SEPARATOR)
    return fact if len(fact) > 1 else []


def _row(evidence: Evidence) -> Row:
    """The cells of `Title, caption, header is cell, header is cell`; without any header there are none to tell."""
    text = evidence["evidence_text"]
    headers = list(_HEADER.finditer(text))
    above = text[: headers[0].start()].split(_SEPARATOR)[1:] if headers else []
    cells: list[Cell] = []
    for column, header in enumerate(headers):
        start = header.end()
        end = headers[column + 1].start() if column + 1 < len(headers) else len(text)
        entities = entities_within(evidence, start, end)
        cells.append(
            {"header": header[1], "text": text[start:end], "entities": entities, "start": start, "column": column}
        )
    return {"caption": _SEPARATOR.join(above), "section": "", "cells": cells}


def _attribute(evidence: Evidence) -> Attribute:
    """The path and values of `Title, attribute, value, value`.

    What mentions nothing before a value that does is taken for the attribute below a sub-header.
    """
    text = evidence["evidence_text"]
    _, name, *listed = _pieces(evidence) + [(0, 0)] * 2
    values: list[AttributeValue] = []
    for start, end in listed:
        if start < end:
            values.append({"text": text[start:end], "entities": entities_within(evidence, start, end), "start": start})
    if len(values) > 1 and not values[0]["entities"] and values[1]["entities"]:  # "Release, Running time, 117 minutes"
        return {"path": [text[slice(*name)], values[0]["text"]], "values": values[1:]}
    return {"path": [text[slice(*name)]], "values": values}


def _pieces(evidence: Evidence) -> list[tuple[int, int]]:
    text, within = evidence["evidence_text"], [(place["start"], place["end"]) for place in evidence["mentions"]]
    commas = [match.span() for match in re.finditer(_SEPARATOR, text)]
    free = [(left, right) for left, right in commas if not any(start < left < end for start, end in within)]
    starts, ends = [0, *(right for _, right in free)], [*(left for left, _ in free), len(text)]
    return list(zip(starts, ends, strict=True))


# -- places of given structure -----------------------------------------------------------------------------------------


def _parts(evidence: Evidence, key: str) -> Iterable[Cell | AttributeValue]:
    if key == "row":
        return evidence["row"]["cells"]
    return evidence["attribute"]["values"] if key == "attribute" else ()


def _place(evidence: Evidence, key: str) -> None:
    """Add the places of given cells or values, in reading order; -1 for what does not stand in the text."""
    text, place, parts = evidence["evidence_text"], 0, []
    for column, part in enumerate(_parts(evidence, key)):
        start = _find(text, part, place)
        place = start + len(part["text"]) if start >= 0 else place
        parts.append(
            {"header": "", "column": column, **part, "start": start} if key == "row" else {**part, "start": start}
        )
    if key == "row":
        evidence["row"] = {**evidence["row"], "cells": parts}  # type: ignore[typeddict-item]
    elif key == "attribute":
        evidence["attribute"] = {**evidence["attribute"], "values": parts}  # type: ignore[typeddict-item]


def _find(text: str, part: Cell | AttributeValue, place: int) -> int:
    for lead in (f"{part.get('header', '')} is ", _SEPARATOR, ""):
        start = text.find(lead + part["text"], place)
        if start >= 0:
            return start + len(lead)
    return -1
