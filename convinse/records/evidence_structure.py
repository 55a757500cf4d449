"""Structure for evidences without structure, of imported dumps and users' modules, parsed from their texts.

A cell or a value with a comma is cut there. Texts in another form stay without structure; answers come from their words.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from typing import Any

from .evidence import Attribute, Cell, Entity, Evidence, Mention, Row, entities_within, normalize_source

_STRUCTURE = {"kb": "fact", "table": "row", "info": "attribute"}
_SEPARATOR = ", "
_HEADER = re.compile(r"(?:^|, )([^,]+?) is ")


def structured(evidence: Evidence) -> Evidence:
    """Return an evidence with the places of its mentions and, if its text has the form of its source, its fact, row or attribute.

    A complete evidence is returned as it is, else a copy. Existing structure is never replaced; missing places (`start`, `column`)
    are added.
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
        _add_places(evidence, key)
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
    """Return an evidence of CONVINSE or EXPLAIGNN in the form of this project; other values unchanged.

    Mentions without an item (None or False in CONVINSE's annotations) are dropped. Of several entities in `retrieved_for_entity`,
    as EXPLAIGNN has them, the first stays.
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
    # the places do not overlap; they are in the order of the list, if that is the reading order
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
    """Return subject, predicate, object ... of a fact; empty if the text has another form. Ids of predicates are their words."""
    text, entities = evidence["evidence_text"], evidence["wikidata_entities"]
    if not entities or not entities[0]["label"] or not text.startswith(entities[0]["label"] + _SEPARATOR):
        return []
    by_label: dict[str, list[Entity]] = {}
    for entity in filter(lambda entity: entity["label"], entities):
        by_label.setdefault(entity["label"], []).append(entity)
    labels = "|".join(map(re.escape, sorted(by_label, key=len, reverse=True)))
    value = re.compile(rf"{_SEPARATOR}({labels})(?={_SEPARATOR}|\Z)")

    def named(label: str) -> Entity:
        same = by_label[label]  # an entity that is listed once may be named twice
        return same.pop(0) if len(same) > 1 else same[0]

    fact, place = [named(entities[0]["label"])], len(entities[0]["label"]) + len(_SEPARATOR)
    while (match := value.search(text, place)) is not None:
        predicate = text[place : match.start()]
        fact += [Entity(id=predicate, label=predicate), named(match[1])]
        place = match.end() + len(_SEPARATOR)
    return fact if len(fact) > 1 else []


def _row(evidence: Evidence) -> Row:
    # of `Title, caption, header is cell, header is cell`; without headers the row has no cells
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
    # of `Title, attribute, value, value`; commas within mentions do not separate
    text, within = evidence["evidence_text"], [(place["start"], place["end"]) for place in evidence["mentions"]]
    commas = [match.span() for match in re.finditer(_SEPARATOR, text)]
    free = [(left, right) for left, right in commas if not any(start < left < end for start, end in within)]
    starts, ends = [0, *(right for _, right in free)], [*(left for left, _ in free), len(text)]
    _, name, *listed = [*zip(starts, ends, strict=True), (0, 0), (0, 0)]
    values: list[Cell] = []
    for start, end in listed:
        if start < end:
            values.append({"text": text[start:end], "entities": entities_within(evidence, start, end), "start": start})
    # a first value without mentions is the attribute below a sub-header: "Release, Running time, 117 minutes"
    if len(values) > 1 and not values[0]["entities"] and values[1]["entities"]:
        return {"path": [text[slice(*name)], values[0]["text"]], "values": values[1:]}
    return {"path": [text[slice(*name)]], "values": values}


# -- places of existing structure --------------------------------------------------------------------------------------


def _parts(evidence: Evidence, key: str) -> Iterable[Cell]:
    if key == "row":
        return evidence["row"]["cells"]
    return evidence["attribute"]["values"] if key == "attribute" else ()


def _add_places(evidence: Evidence, key: str) -> None:
    # in reading order; -1 for cells and values that are not in the text
    text, place, parts = evidence["evidence_text"], 0, []
    for column, part in enumerate(_parts(evidence, key)):
        leads = (f"{part.get('header', '')} is ", _SEPARATOR, "")
        starts = ((text.find(lead + part["text"], place), len(lead)) for lead in leads)
        start = next((start + lead for start, lead in starts if start >= 0), -1)
        place = start + len(part["text"]) if start >= 0 else place
        parts.append(
            {"header": "", "column": column, **part, "start": start} if key == "row" else {**part, "start": start}
        )
    if key == "row":
        evidence["row"] = {**evidence["row"], "cells": parts}  # type: ignore[typeddict-item]
    elif key == "attribute":
        evidence["attribute"] = {**evidence["attribute"], "values": parts}  # type: ignore[typeddict-item]
