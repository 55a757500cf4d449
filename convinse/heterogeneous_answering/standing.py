"""What stands in an evidence, and where: as the object of a fact, in a row below a header, in a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from ..language.property_names import PropertyLabel
from ..records.evidence import Entity, Evidence, Mention, entities_within
from ..records.facts import fact_of
from ..records.literals import is_date, is_item, is_number
from ..records.written_values import find_literals
from .values import labels_at

_NAME = re.compile(r"[A-Z][\w'’-]+(?: (?:[A-Z]\.|[A-Z][\w'’-]*)){1,4}")  # two to five words in a sentence
_TITLE = re.compile(r"(?:[A-Z][a-z]{2,}[:,]? )+")  # before a number, in a title: "Space Pilot 3000", not "5 March"
_QUOTED = re.compile(r"[\"“][^\"“”]*[^\W\d_][^\"“”]*[\"”]")  # a title, with whatever numbers: "Space Pilot 3000"
_OWNING = re.compile("['’]s?$")
MOST_WORDS = 8  # of a cell's text that may be a name


class Standing(NamedTuple):
    """A thing in an evidence: where it stands (`as_object`, `in_row` ...), and what names it there."""

    entity: Entity
    stands: str
    labels: tuple[PropertyLabel, ...]


class Unnamed(NamedTuple):
    """A name that no item is known of, where it stands in an evidence, and what names it there."""

    text: str
    start: int
    labels: tuple[PropertyLabel, ...] = ()


def is_known(entity: Entity) -> bool:
    """Whether an entity is an item, a date or a number; else it is words."""
    name = entity["id"]
    return is_item(name) or is_date(name) or is_number(name)


def things_in(evidence: Evidence, source: str, unnamed: Iterable[Unnamed]) -> Iterator[Standing]:
    """What stands in an evidence, and the names `unnamed` in it that no item is known of."""
    entities = {entity["id"]: entity for entity in evidence["wikidata_entities"]}
    if fact := fact_of(evidence):
        predicate = PropertyLabel(fact.predicate["label"], fact.predicate["id"])
        yield Standing(fact.subject, "as_subject", (predicate,))
        yield Standing(fact.object, "as_object", (predicate,))
        for qualifier in fact.qualifiers:
            own = PropertyLabel(qualifier.predicate["label"], qualifier.predicate["id"])
            yield Standing(qualifier.value, "as_qualifier", (own, predicate))
        return
    stands = {"table": "in_row", "info": "in_box"}.get(source, "in_text")
    placed = set()
    for mention in evidence["mentions"]:
        name = mention["id"]
        if name in entities:
            placed.add(name)
            labels = tuple(dict.fromkeys(label for label in labels_at(evidence, mention) if label.text))
            yield Standing(entities[name], stands, labels)
    for name, entity in entities.items():
        if name not in placed:
            yield Standing(entity, stands, ())
    for text, _, labels in unnamed:
        yield Standing({"id": text, "label": text}, stands, labels)


def with_mentions(evidence: Evidence, unnamed: Sequence[Unnamed]) -> Evidence:
    """An evidence that mentions these names, too; by their text."""
    if not unnamed:
        return evidence
    named: list[Mention] = [{"start": start, "end": start + len(text), "id": text} for text, start, _ in unnamed]
    own = evidence.copy()
    own["mentions"] = evidence["mentions"] + named
    return own


def unnamed_in(evidence: Evidence) -> Iterator[Unnamed]:
    """Names that no item is known of: texts of cells and of values of an infobox, and words with capitals in a sentence."""
    if "row" in evidence:
        parts: Iterable[tuple[str, int, tuple[str, ...]]] = (
            (cell["text"], cell["start"], (cell["header"],)) for cell in evidence["row"]["cells"]
        )
    elif "attribute" in evidence:
        path = tuple(evidence["attribute"]["path"])
        parts = ((value["text"], value["start"], path) for value in evidence["attribute"]["values"])
    else:
        for name in _NAME.finditer(evidence["evidence_text"]):
            text, start, end = without_owning(name[0]), *name.span()
            if not any(mention["start"] < end and start < mention["end"] for mention in evidence["mentions"]):
                yield Unnamed(text, start)
        return
    for text, start, labels in parts:
        held = entities_within(evidence, start, start + len(text))
        if _may_be_name(text) and not any(is_item(entity["id"]) for entity in held):
            yield Unnamed(text, start, tuple(PropertyLabel(label) for label in labels if label))


@lru_cache(maxsize=4096)  # the turns of a conversation see the same cells again
def _may_be_name(text: str) -> bool:
    if len(text.split()) > MOST_WORDS:
        return False
    if _QUOTED.fullmatch(text.strip()):
        return True
    literals = list(find_literals(text))
    if not literals:
        return any(map(str.isalpha, text))
    return _TITLE.fullmatch(text[: literals[0].start]) is not None


def without_owning(name: str) -> str:
    """A name without the ending of what owns: "Tolkien" of "Tolkien's"."""
    return _OWNING.sub("", name)
