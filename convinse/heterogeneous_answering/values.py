"""The dates and numbers of an evidence, each with what the evidence calls it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from ..language.language import Language
from ..language.property_names import PropertyLabel
from ..language.text import END, Words, folded_words
from ..records.evidence import Entity, Evidence, Mention
from ..records.facts import fact_of
from ..records.literals import is_date, is_number

_BEHIND_NUMBER = re.compile(r"[\s-]*((?:[^\W\d_]+[\s-]*){0,3})")
FAR, _REACH = 0.3, 3.0  # the least nearness in an evidence; words over which nearness halves
_BEHIND = 3.0  # how much farther a word behind an entity is than a word before it ("Director is", "directed by")


class Value(NamedTuple):
    """A date or a number in an evidence.

    Attributes:
        entity: the literal.
        labels: what names it: of a fact its property and qualifier, of a row the header, of an infobox the attribute,
            what stands above it and the header of its column; nothing in a sentence and in a caption.
        unit: keywords of the words behind it (`minut`), and of a currency before it.
    """

    entity: Entity
    labels: tuple[PropertyLabel, ...]
    unit: frozenset[str]


def values(evidence: Evidence, language: Language) -> list[Value]:
    """The dates and numbers that an evidence with structure mentions, in reading order."""
    text, literals = evidence["evidence_text"], []
    labels = {entity["id"]: entity["label"] for entity in evidence["wikidata_entities"]}
    for mention in evidence["mentions"]:
        name, start, end = mention["id"], mention["start"], mention["end"]
        if is_date(name) or is_number(name):
            entity: Entity = {"id": name, "label": labels.get(name, text[start:end])}
            called = dict.fromkeys(label for label in labels_at(evidence, mention) if label.text)
            behind = _BEHIND_NUMBER.match(text, end)
            words = text[start:end].lstrip("0123456789.,") + " " + (behind[1] if behind else "")
            currency = language.literals.currencies.get(text[start - 1 : start], "")
            literals.append(Value(entity, tuple(called), language.properties.keywords(f"{words} {currency}")))
    return literals


def labels_at(evidence: Evidence, mention: Mention) -> Iterator[PropertyLabel]:
    """What names the literal that an evidence mentions."""
    start = mention["start"]
    if fact := fact_of(evidence):
        yield label_of(fact.predicate)
        yield from (label_of(given.predicate) for given in fact.qualifiers if given.value["id"] == mention["id"])
    elif "row" in evidence:
        for cell in evidence["row"]["cells"]:
            if cell["start"] <= start < cell["start"] + len(cell["text"]):
                yield PropertyLabel(cell["header"])
    elif "attribute" in evidence:
        yield from map(PropertyLabel, evidence["attribute"]["path"])
        for value in evidence["attribute"]["values"]:
            if value["start"] <= start < value["start"] + len(value["text"]):
                yield PropertyLabel(value.get("header", ""))


def label_of(predicate: Entity) -> PropertyLabel:
    """What a fact calls its property."""
    return PropertyLabel(predicate["label"], predicate["id"])


def nearness(evidence: Evidence, wanted: AbstractSet[str], language: Words) -> dict[str, float]:
    """How near each mentioned entity stands to a word that is asked for, from `FAR` to 1, by entity id.

    In "Year is 1996, Film is Basquiat, Role is Andy Warhol", a question for the role prefers the value beside it.
    """
    borders = {side for mention in evidence["mentions"] for side in (mention["start"], mention["end"])}
    words, before = _words(evidence["evidence_text"], frozenset(borders))
    hits = [place for place, word in enumerate(words) if language.stem(word) in wanted]
    near: dict[str, float] = {}
    for mention in evidence["mentions"]:
        place, end = before[mention["start"]], before[mention["end"]] - 1
        gaps = [place - hit if hit < place else _BEHIND * (hit - end) for hit in hits if not place <= hit <= end]
        gap = min(gaps, default=None)
        value = FAR if gap is None else FAR + (1 - FAR) / (1 + gap / _REACH)
        near[mention["id"]] = max(near.get(mention["id"], 0.0), value)
    return near


@lru_cache(maxsize=4096)  # the turns of a conversation see the same evidences again
def _words(text: str, borders: frozenset[int]) -> tuple[Sequence[str], Mapping[int, int]]:
    """The folded words of a text, and how many of them stand before each border, the starts and ends of its mentions."""
    places = sorted({0, len(text), *borders})
    pieces = iter(folded_words([text[start:end] for start, end in pairwise(places)]))
    words: list[str] = []
    before: dict[int, int] = {}
    for border in places:
        before[border] = len(words)
        words += iter(lambda: next(pieces, END), END)
    return words, before
