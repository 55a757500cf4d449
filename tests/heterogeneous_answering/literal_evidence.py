"""Evidences with structure written by hand, with dates and numbers of their texts, and names of properties."""

from zlib import crc32

import evidences
from convinse.language.language import english
from convinse.records.evidence_structure import structured
from convinse.records.facts import fact_evidence
from convinse.records.written_values import find_literals

ENGLISH = english()


class Known:
    """What answering needs of a knowledge base: the classes and numbers of facts of items, and properties."""

    def candidates(self, form, limit=50):
        return []

    def __init__(self, classes, properties, frequency=None):
        self._classes, self._properties, self._frequency = classes, properties, {} if frequency is None else frequency

    def label(self, entity_id):
        return entity_id

    def is_class(self, entity_id):
        return False

    def types(self, entity_id):
        return self._classes.get(entity_id, ())

    def frequency(self, entity_id):
        return self._frequency.get(entity_id, 0)

    def properties(self):
        return self._properties

    def literals(self, entity_id, properties):
        return {number: [] for number in properties}


def evidence(text, source, *entities, **more):
    """An evidence with the given entities and the literals of its text, in reading order; `more` are keys."""
    literals = ((text[span.start : span.end], span.entity["id"]) for span in find_literals(text))
    return structured(evidences.evidence(text, source, *entities, *literals, **more))


def item_id(label, kind="Q"):
    return f"{kind}{crc32(label.encode()) % 10**6 + 1}"


def fact(*labels, property_id=None, ids=()):
    """A kb evidence of subject, predicate, object, qualifier predicate, qualifier object ..., retrieved for its subject or `property_id`.

    A number is its property_id id, other ids are made from the labels (`item_id`), unless `ids` names them.
    """
    entities = []
    for place, label in enumerate(labels):
        name = label if label.isdigit() else item_id(label, "PQ"[place % 2 == 0])
        entities.append({"id": dict(ids).get(label, name), "label": label})
    return fact_evidence(entities, {"id": item_id(property_id or labels[0]), "label": property_id or labels[0]})


def row(title, caption, *cells, **more):
    """A table evidence of (header, text) cells; `more` are keys of its row, such as `page`, `table` and `number`."""
    text, parts = f"{title}, {caption}" if caption else title, []
    for column, (header, content) in enumerate(cells):
        text += f", {header} is " if header else ", "
        parts.append({"header": header, "text": content, "entities": [], "start": len(text), "column": column})
        text += content
    return evidence(text, "table", row={"caption": caption, "section": "", "cells": parts, **more})


def attribute(title, path, *values, entities=()):
    """An info evidence of an attribute's values: texts, or (header, text) where the box has columns.

    `entities` are lists of them, of the values in their order.
    """
    text, parts = ", ".join((title, *path)), []
    for place, value in enumerate(values):
        header, content = ("", value) if isinstance(value, str) else value
        text += f", {header} is " if header else ", "
        held = entities[place] if entities else []
        parts.append({"text": content, "entities": held, "start": len(text)} | ({"header": header} if header else {}))
        text += content
    return evidence(text, "info", attribute={"path": list(path), "values": parts})
