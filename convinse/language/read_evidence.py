"""An evidence as answering reads it: what is read from its text and structure is read once, when it is first asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache

from ..records.evidence import Cell, Entity, Evidence, Mention, entities_within
from ..records.facts import Fact, fact_of
from ..records.literals import is_date
from ..records.periods import TimedPart, timed_parts
from ..records.written_values import find_literals
from .language import Language
from .property_names import PropertyLabel
from .text import fold
from .word_lists import WordSet

# capitals and digits, or groups of digits as telephone numbers have
_CODE = re.compile(
    r"(?=.*[0-9])(?=.*[A-Z])[A-Z0-9]+(?:[ ./-][A-Z0-9]+){0,5}|\+?[0-9]{2,4}(?:[ -][0-9]{2,4}){1,5}"
    r"|[\^~<>=!≤≥]{1,3}\s?[0-9][\w.*]*(?:\s?[^\W\d_%]{0,2}[°%]?[A-Z]?)(?:,\s?[\^~<>=!]{1,2}\s?[0-9][\w.*]*)*"  # ^4.2, > 4 °C
)


@lru_cache(maxsize=4096)  # spans of a reader ask for the same cells
def is_code(text: str) -> bool:
    """Return True for a text that is given as a whole, though it has digits: MX-40, 4QP, 555 0142; not for a value."""
    return _CODE.fullmatch(text) is not None and not any(
        (value.start, value.end) == (0, len(text)) for value in find_literals(text)
    )


class ReadEvidence:
    """An evidence of a turn.

    Attributes:
        evidence: as the turn has it.
        text: its text.
        entities: its entities, as in `wikidata_entities`.
        mentions: their places in the text; empty if the evidence has no structure.
    """

    def __init__(self, evidence: Evidence, language: Language) -> None:
        self.evidence = evidence
        self.text = evidence["evidence_text"]
        self.entities = evidence["wikidata_entities"]
        self.mentions: list[Mention] = evidence.get("mentions", [])
        self._language = language

    @property
    def score(self) -> float:
        """Its score; 1 without one."""
        return self.evidence.get("score", 1.0)

    @property
    def is_of_document(self) -> bool:
        """True if it is of a file of the user's."""
        return "citation" in self.evidence

    @property
    def subject(self) -> Entity | None:
        """The entity that it was retrieved for."""
        return self.evidence.get("retrieved_for_entity")

    def names_nothing(self, text: str, end: int) -> bool:
        """Return True if words that end there are an article without its noun, or only small words of a sentence, such as "after".

        With capitals other small words may be a title.
        """
        words = self._language.properties.words
        if text.lower() in words.articles and self.text[end : end + 1] == " ":
            return True
        is_sentence = "row" not in self.evidence and "attribute" not in self.evidence
        return is_sentence and text.islower() and words.common.issuperset(fold(text).split())

    @cached_property
    def fact(self) -> Fact | None:
        """Its fact; None if it is of a page."""
        return fact_of(self.evidence)

    @cached_property
    def parts(self) -> tuple[TimedPart, ...]:
        """Its parts that may hold for a period: the fact, the row, or the values of an infobox entry."""
        return tuple(timed_parts(self.evidence))

    @cached_property
    def keywords(self) -> WordSet:
        """The keywords of its text."""
        return self._language.properties.keywords(self.text)

    @cached_property
    def years(self) -> list[tuple[int, int]]:
        """The places of numbers of four digits that are taken for years; in rows and entries those that are a whole cell or value."""
        places = ((mention["start"], mention["end"]) for mention in self.mentions if is_date(mention["id"]))
        years = [(start, end) for start, end in places if end - start == 4 and self.text[start:end].isdecimal()]
        if "row" in self.evidence:
            whole = {(cell["start"], cell["start"] + len(cell["text"])) for cell in self.evidence["row"]["cells"]}
        elif "attribute" in self.evidence:
            values = self.evidence["attribute"]["values"]
            whole = {(value["start"], value["start"] + len(value["text"])) for value in values}
        else:
            return years
        return [place for place in years if place in whole]

    @cached_property
    def folded(self) -> str:
        """Its text without case, accents and punctuation, with a space at each end."""
        return f" {fold(self.text)} "

    @cached_property
    def names(self) -> dict[str, Entity]:
        """The items, dates and numbers in it by their folded names."""
        labels = {entity["id"]: entity["label"] for entity in self.entities}
        names: dict[str, Entity] = {}
        for surface, entity_id in self.evidence["disambiguations"]:
            names.setdefault(fold(surface), {"id": entity_id, "label": labels.get(entity_id, surface)})
        for entity in self.entities:
            names.setdefault(fold(entity["label"]), entity)
        names.pop("", None)
        return names

    def within(self, start: int, end: int) -> list[Entity]:
        """Return the entities that its text mentions from `start` to `end`."""
        return entities_within(self.evidence, start, end)

    def code_at(self, start: int, end: int) -> str:
        """Return the cell or value around a place if it is a code, a telephone or a serial number; else an empty string."""
        parts: Sequence[Cell] = ()
        if "row" in self.evidence:
            parts = self.evidence["row"]["cells"]
        elif "attribute" in self.evidence:
            parts = self.evidence["attribute"]["values"]
        for part in parts:
            text = part["text"]
            if part["start"] <= start and end <= part["start"] + len(text) and is_code(text):
                return text
        return ""

    def labels_at(self, start: int) -> Iterator[PropertyLabel]:
        """Yield the labels of the value at a place in a row (its header) or infobox entry (the path of the attribute, its header).

        The title before an entry is no value of it.
        """
        if "row" in self.evidence:
            for cell in self.evidence["row"]["cells"]:
                if cell["start"] <= start < cell["start"] + len(cell["text"]):
                    yield PropertyLabel(cell["header"])
        elif "attribute" in self.evidence:
            values = self.evidence["attribute"]["values"]
            if start >= min((value["start"] for value in values), default=0):
                yield from map(PropertyLabel, self.evidence["attribute"]["path"])
            for value in values:
                if value["start"] <= start < value["start"] + len(value["text"]):
                    yield PropertyLabel(value.get("header", ""))

    def stated_time(self, entity_id: str) -> str:
        """Return in words the period of a fact or infobox entry with an entity as value; empty if it does not state one."""
        if is_date(entity_id) or "row" in self.evidence:
            return ""
        if self.fact is not None and self.fact.object["id"] != entity_id:
            return ""
        mentions = [mention for mention in self.mentions if mention["id"] == entity_id]
        periods = (
            part.period
            for part in self.parts
            if any(part.start <= mention["start"] and mention["end"] <= part.end for mention in mentions)
        )
        return next((period.in_words() for period in periods if period is not None), "")
