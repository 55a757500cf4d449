"""From the spans that a reader marks to the items, dates, numbers and words that they name."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rapidfuzz import fuzz, process

from ..language.text import Words, fold
from ..records.evidence import Entity, Evidence
from ..records.literals import is_item, is_known
from ..records.ranked_rows import RowForm, in_evidence
from ..records.written_values import value_at
from .ranked_answers import AnswerCandidate

if TYPE_CHECKING:
    from ..encoder.extractive_reader import AnswerSpan

_NEAR = 88.0  # least similarity (0 to 100) of a span and an item's name
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]{2}")
# a letter, a digit or a symbol that a title may consist of, as "+"; a full stop names nothing
_HAS_NAME = re.compile(r"[\w+=<>$€£×÷∞~^|]")
_TITLED = re.compile(r"(?<=[\w,] )The $")  # an article that is written as a part of a name: "by The Rembrandts"
_LEAST = 1e-3  # share of a span: parts of names that nothing marks have less
_SHORTEST = 4  # characters of a span that may match a name nearly


def read_answers(
    spans: Iterable[AnswerSpan], evidences: Sequence[Evidence], weights: Sequence[float], fit: Callable[[Entity], float],
    joins_words: bool = False,
) -> list[AnswerCandidate]:  # fmt: skip
    """The answers that spans of the evidences' own texts stand for, one for each span, in shares.

    The score of a span is its probability, times the weight of its evidence and how well what it names fits the expected type.
    With `joins_words` the most probable of words that overlap stand for all: "a spa hotel in Harrogate" and "Harrogate".
    """
    names = {place: names_in(evidences[place]) for place in {span.context for span in spans}}
    read: list[AnswerCandidate] = []
    words: dict[int, list[tuple[int, int, int]]] = defaultdict(
        list
    )  # of each evidence: start and end, and the number of the answer
    for span in sorted(spans, key=lambda span: -round(span.probability * weights[span.context], 6)):
        place = span.context
        text, start, end = _whole_words(span, evidences[place]["evidence_text"])
        entity = meaning(text, evidences[place], names[place], (start, end))
        if entity is None:
            article = text[:1].isupper() and _TITLED.search(evidences[place]["evidence_text"], 0, start)
            entity = as_words(f"{article[0]}{text}" if article else text)
        score = span.probability * weights[place] * fit(entity)
        if joins_words and not is_known(entity):
            beside = next((number for left, right, number in words[place] if start < right and left < end), None)
            if beside is not None:
                read[beside] = read[beside]._replace(score=read[beside].score + score)
                continue
            words[place].append((start, end, len(read)))
        read.append(AnswerCandidate(entity, score, (place,), ("reader",)))
    total = sum(own.score for own in read) or 1.0
    return [own._replace(score=own.score / total) for own in read if own.score >= _LEAST * total]


def in_evidences(spans: Iterable[AnswerSpan], evidences: Sequence[Evidence], form: RowForm) -> list[AnswerSpan]:
    """Spans of what a model reads (`as_read`) as spans of the evidences' own texts; those without a place there are left out."""
    own = []
    for span in spans:
        place = in_evidence(evidences[span.context], form, span.start, span.end)
        if place is not None:
            text = evidences[span.context]["evidence_text"][slice(*place)]
            if _HAS_NAME.search(text):
                own.append(replace(span, text=text, start=place[0], end=place[1]))
    return own


def meaning(text: str, evidence: Evidence, names: dict[str, Entity], place: tuple[int, int] | None) -> Entity | None:
    """What a span of an evidence stands for; None: the words themselves.

    In this order: an item whose name in the evidence is the span, but for case, accents and punctuation; the whole value of
    which the span, at `place`, is all or a part; a date or a number that the evidence names so; the item of whose
    mention the span is a part; an item whose name is nearly the span, or stands in it.
    """
    folded = fold(text)
    exact = names.get(folded)
    if exact is not None and is_item(exact["id"]):
        return exact
    whole = evidence["evidence_text"]
    value = value_at(whole, *place) if place and whole[slice(*place)] == text else value_at(text, 0, len(text))
    if value is not None:
        return value
    if exact is not None:
        return exact
    if place and (part_of := _mentioned(evidence, *place)) is not None:
        return part_of
    if len(folded) >= _SHORTEST and names:
        near = process.extractOne(folded, names.keys(), scorer=fuzz.token_sort_ratio, score_cutoff=_NEAR)
        if near is not None:
            return names[near[0]]
        held = [name for name in names if len(name) >= _SHORTEST and f" {name} " in f" {folded} "]
        if held:
            return names[max(held, key=len)]
    return None


def _mentioned(evidence: Evidence, start: int, end: int) -> Entity | None:
    """The item of whose mention a place is a part, besides the evidence's own: "Judith" of "Judith Butler"."""
    own = evidence.get("retrieved_for_entity", {}).get("id")
    for mention in evidence["mentions"]:
        if mention["start"] <= start and end <= mention["end"] and mention["id"] != own:
            return next((entity for entity in evidence["wikidata_entities"] if entity["id"] == mention["id"]), None)
    return None


def _whole_words(span: AnswerSpan, text: str) -> tuple[str, int, int]:
    """A span's words, start and end in a text: all of a word of Latin letters of which a reader of word pieces marks a part."""
    start, end = span.start, span.end
    if text[start:end] != span.text:
        return span.text, start, end
    while 0 < start < len(text) and _LATIN.fullmatch(text[start - 1 : start + 1]):
        start -= 1
    while 0 < end < len(text) and _LATIN.fullmatch(text[end - 1 : end + 1]):
        end += 1
    return text[start:end], start, end


def as_words(text: str) -> Entity:
    """What names no item, date or number: the words are their own id."""
    words = " ".join(text.split())
    return {"id": words, "label": words}


def same_words(text: str, language: Words) -> str:
    """The string that spellings of the same words share; a text without words (`+`) is its own."""
    return " ".join(word for word in fold(text).split() if word not in language.articles) or text.strip().lower()


def names_in(evidence: Evidence) -> dict[str, Entity]:
    """The folded names under which an evidence mentions items, dates and numbers."""
    labels = {entity["id"]: entity["label"] for entity in evidence["wikidata_entities"]}
    names: dict[str, Entity] = {}
    for surface, entity_id in evidence["disambiguations"]:
        names.setdefault(fold(surface), {"id": entity_id, "label": labels.get(entity_id, surface)})
    for entity in evidence["wikidata_entities"]:
        names.setdefault(fold(entity["label"]), entity)
    names.pop("", None)
    return names
