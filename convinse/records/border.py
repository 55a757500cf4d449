"""Evidences that come without structure: imported dumps, modules of a user's own. The one place that takes text apart.

A rendering does not always tell its parts: a cell or a value with a comma in it is cut there. What does not have the form
of its source stays without structure, and is answered from as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

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
    if "mentions" in evidence and (key is None or _is_placed(evidence, key)):
        return evidence
    evidence = evidence.copy()
    if "mentions" not in evidence:
        evidence["mentions"] = list(_mentions(evidence))
    if key is None:
        return evidence
    if key in evidence:
        _place(evidence, key)
    elif source == "kb":
        if fact := _fact(evidence):
            evidence["fact"] = fact
    elif source == "table":
        evidence["row"] = _row(evidence)
    else:
        evidence["attribute"] = _attribute(evidence)
    return evidence


def _mentions(evidence: Evidence) -> Iterator[Mention]:
    """The places of the mentions that are listed in reading order."""
    text, place = evidence["evidence_text"], 0
    for surface, entity_id in evidence["disambiguations"]:
        start = text.find(surface, place) if surface else -1
        if start >= 0:
            place = start + len(surface)
            yield {"start": start, "end": place, "id": entity_id}


# -- structure from text -----------------------------------------------------------------------------------------------


def _fact(evidence: Evidence) -> list[Entity]:
    """Subject, predicate, object ... of a fact; empty where the text has another form. Predicates have no ids but their words."""
    subject, *values = evidence["wikidata_entities"] or [Entity(id="", label="")]
    text = evidence["evidence_text"]
    if not text.startswith(f"{subject['label']}{_SEPARATOR}"):
        return []
    fact, place = [subject], len(subject["label"]) + len(_SEPARATOR)
    for value in values:
        end = text.find(f"{_SEPARATOR}{value['label']}", place)
        if end <= place:
            break
        fact += [Entity(id=text[place:end], label=text[place:end]), value]
        place = end + 2 * len(_SEPARATOR) + len(value["label"])
    return fact if len(fact) > 2 else []


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
    """The path and values of `Title, attribute, value, value`."""
    text = evidence["evidence_text"]
    title, _, rest = text.partition(_SEPARATOR)
    name, _, listed = rest.partition(_SEPARATOR)
    start = len(text) - len(listed)
    values: list[AttributeValue] = []
    for value in filter(None, listed.split(_SEPARATOR)):
        entities = entities_within(evidence, start, start + len(value))
        values.append({"text": value, "entities": entities, "start": start})
        start += len(value) + len(_SEPARATOR)
    return {"path": [name] if name else [], "values": values}


# -- places of given structure -----------------------------------------------------------------------------------------


def _parts(evidence: Evidence, key: str) -> Iterable[Cell | AttributeValue]:
    if key == "row":
        return evidence["row"]["cells"]
    return evidence["attribute"]["values"] if key == "attribute" else ()


def _is_placed(evidence: Evidence, key: str) -> bool:
    return key in evidence and all("start" in part for part in _parts(evidence, key))


def _place(evidence: Evidence, key: str) -> None:
    """Add the places of given cells or values, in reading order; -1 for what does not stand in the text."""
    text, place, parts = evidence["evidence_text"], 0, []
    for column, part in enumerate(_parts(evidence, key)):
        start = text.find(part["text"], place)
        place = start + len(part["text"]) if start >= 0 else place
        parts.append({"column": column, **part, "start": start} if key == "row" else {**part, "start": start})
    if key == "row":
        evidence["row"] = {**evidence["row"], "cells": parts}  # type: ignore[typeddict-item]
    elif key == "attribute":
        evidence["attribute"] = {**evidence["attribute"], "values": parts}  # type: ignore[typeddict-item]
