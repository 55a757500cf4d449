"""The items, dates, numbers and words that the spans of a reader name."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rapidfuzz import fuzz, process

from ..language.read_evidence import ReadEvidence
from ..language.text import Words, fold
from ..records.evidence import Entity
from ..records.literals import MONTHS, is_item, is_known
from ..records.ranked_rows import RowForm, in_evidence
from ..records.written_values import day_in, kind_of_value, value_at
from .ranked_answers import AnswerCandidate

if TYPE_CHECKING:
    from ..encoder.extractive_reader import AnswerSpan

_NEAR = 88.0  # least similarity (0 to 100) of a span and an item's name
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]{2}")
# a letter, a digit or a symbol that a title may consist of, as "+"; a full stop names nothing
_HAS_NAME = re.compile(r"[\w+=<>$€£×÷∞~^|]")
_TITLED = re.compile(r"(?<=[\w,] )The $")  # an article that is written as a part of a name: "by The Rembrandts"
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<>\"]*[\w/]|[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_WRITTEN_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_MONTH = "|".join(MONTHS)
_DAY = r"\d{1,2}[a-z]{0,2}"
_SPOKEN_DAY = re.compile(
    rf"\b{_DAY}\.? (?:of )?(?:{_MONTH})\b(?: \d{{4}}\b)?|\b(?:{_MONTH}) {_DAY}\b(?!:)(?:, \d{{4}}\b)?"
)
_NUMBERED_THING = re.compile(r"([A-Z][^\W\d_]+) \d[\w.]*")
_LEAST = 1e-3  # normalised score of a span
_SHORTEST = 4  # characters of a span that may match a name nearly
_TO_QUESTION_MARK = re.compile(r"[^.!?\n]*\?")


def read_answers(
    spans: Iterable[AnswerSpan],
    evidences: Sequence[ReadEvidence],
    weights: Sequence[float],
    fit: Callable[[Entity], float],
    is_for_reason: bool = False,
) -> list[AnswerCandidate]:
    """Return an answer for each span of the evidences' texts, with normalised scores.

    The score of a span is its probability, times the weight of its evidence and how well the answer fits the expected type.
    Documents have no items, so that most answers from them are words: there the most probable of overlapping texts stands for all:
    "a spa hotel in Harrogate" and "Harrogate". A reason is all that a span says, whatever it names: "it had come to terms with Google".
    """
    read: list[AnswerCandidate] = []
    words: dict[int, list[tuple[int, int, int]]] = defaultdict(list)  # evidence -> start, end, number of the answer
    for span in sorted(spans, key=lambda span: -round(span.probability * weights[span.context], 6)):
        place = span.context
        text, start, end = _whole_words(span, evidences[place])
        is_asked = evidences[place].is_of_document and _TO_QUESTION_MARK.match(evidences[place].text, start)
        if not text or is_asked or evidences[place].names_nothing(text, end):
            continue  # "Can I bring my child?" of a list of questions answers none
        # an address is no item whose name it has
        is_name = _ADDRESS.fullmatch(text) or (
            evidences[place].is_of_document and (_is_numbered_thing(text) or _is_day_of_any_year(text))
        )
        entity = None if is_name else meaning(text, evidences[place], (start, end))
        if is_for_reason and entity is not None and len(entity["label"].split()) < len(text.split()):
            entity = None
        if entity is None:
            article = text[:1].isupper() and _TITLED.search(evidences[place].text, 0, start)
            entity = as_words(f"{article[0]}{text}" if article else text)
        score = span.probability * weights[place] * fit(entity)
        if (evidences[place].is_of_document or is_for_reason) and not is_known(entity):
            beside = next((number for left, right, number in words[place] if start < right and left < end), None)
            if beside is not None:
                read[beside] = read[beside]._replace(score=read[beside].score + score)
                continue
            words[place].append((start, end, len(read)))
        read.append(AnswerCandidate(entity, score, (place,), ("reader",)))
    total = sum(answer.score for answer in read) or 1.0
    return [answer._replace(score=answer.score / total) for answer in read if answer.score >= _LEAST * total]


def in_evidences(spans: Iterable[AnswerSpan], evidences: Sequence[ReadEvidence], form: RowForm) -> list[AnswerSpan]:
    """Return spans of a model's input (`as_read`) as spans of the evidences' texts; spans without a place there are left out."""
    placed = []
    for span in spans:
        place = in_evidence(evidences[span.context].evidence, form, span.start, span.end)
        if place is not None:
            text = evidences[span.context].text[slice(*place)]
            if _HAS_NAME.search(text):
                placed.append(replace(span, text=text, start=place[0], end=place[1]))
    return placed


def meaning(text: str, evidence: ReadEvidence, place: tuple[int, int] | None) -> Entity | None:
    """Return the entity that a span of an evidence names; None if its words name no entity.

    In this order: an item whose name in the evidence is the span, but for case, accents and punctuation; the value at `place` that
    contains the span; a date or a number with this name in the evidence; the item whose mention contains the span ("Judith" of
    "Judith Butler"), except the item that the evidence was retrieved for; an item with a similar name, or a name in the span.
    """
    folded, names = fold(text), evidence.names
    exact = names.get(folded)
    if exact is not None and is_item(exact["id"]):
        return exact
    whole = evidence.text
    if place and (code := evidence.code_at(*place)):
        return as_words(code)
    value = value_at(whole, *place) if place and whole[slice(*place)] == text else value_at(text, 0, len(text))
    if value is not None:
        return value
    if exact is not None:
        return exact
    if place is not None:
        start, end = place
        retrieved_for = None if evidence.subject is None else evidence.subject["id"]
        around = (mention for mention in evidence.mentions if mention["start"] <= start and end <= mention["end"])
        name = next((mention["id"] for mention in around if mention["id"] != retrieved_for), None)
        item = next((entity for entity in evidence.entities if entity["id"] == name), None)
        if item is not None:
            return item
    if len(folded) >= _SHORTEST and names:
        near = process.extractOne(folded, names.keys(), scorer=fuzz.token_sort_ratio, score_cutoff=_NEAR)
        if near is not None:
            return names[near[0]]
        held = [name for name in names if len(name) >= _SHORTEST and f" {name} " in f" {folded} "]
        if held:
            return names[max(held, key=len)]
    return None


def _is_day_of_any_year(text: str) -> bool:
    """Return True for "28 May", whose 28 is no number."""
    return _SPOKEN_DAY.fullmatch(text) is not None and day_in(text) is None


def _is_numbered_thing(text: str) -> bool:
    """Return True for one name of a word and a number, "Room 2.14"; not for "May 2027" and "EUR 12", which are values."""
    value = value_at(text, 0, len(text)) if (match := _NUMBERED_THING.fullmatch(text)) else None
    return match is not None and (
        value is None or (kind_of_value(value["id"]) == "number" and match[1] not in value["label"])
    )


def _whole_words(span: AnswerSpan, evidence: ReadEvidence) -> tuple[str, int, int]:
    # a reader of word pieces may mark a part of a word, a day or an address, several cells, or a value with the end of its label
    start, end, text = span.start, span.end, evidence.text
    if text[start:end] != span.text:
        return span.text, start, end
    if (attribute := evidence.evidence.get("attribute")) is not None:
        value = min(value["start"] for value in attribute["values"])
        label = text.rfind(attribute["path"][-1], 0, value)
        if label < start < value:
            start = min(value, end)
    is_row = evidence.is_of_document and "row" in evidence.evidence
    for cell in evidence.evidence["row"]["cells"] if is_row else ():
        first, last = cell["start"], cell["start"] + len(cell["text"])
        if first <= start < last:
            start, end = (first, last) if _is_numbered_thing(cell["text"]) else (start, min(end, last))
    for day in _SPOKEN_DAY.finditer(text) if evidence.is_of_document else ():  # "28", or "May", of "28 May, 16:00"
        if day.start() <= start and end <= day.end():
            start, end = day.span()
    for day in _WRITTEN_DAY.finditer(text):  # "14 09:00" of "2026-04-14 09:00"
        start = day.start() if day.start() < start < day.end() else start
        end = day.end() if day.start() < end < day.end() else end
    for address in _ADDRESS.finditer(text):
        if address.start() < end and start < address.end() and text[start:end].strip() in address[0]:
            return address[0], *address.span()
    while 0 < start < len(text) and _LATIN.fullmatch(text[start - 1 : start + 1]):
        start -= 1
    while 0 < end < len(text) and _LATIN.fullmatch(text[end - 1 : end + 1]):
        end += 1
    if evidence.is_of_document:
        end = _within_brackets(text, start, end)
    return text[start:end], start, end


def _within_brackets(text: str, start: int, end: int) -> int:
    """Return the end of a span without what stands behind a bracket that closes before it opens, and with one that closes behind it."""
    depth = 0
    for place in range(start, end):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth < 0:
            return place
    return end + 1 if depth == 1 and text[end : end + 1] == ")" else end


def as_words(text: str) -> Entity:
    """Return an entity for words that name no item, date or number; the words are the id."""
    words = " ".join(text.split())
    return {"id": words, "label": words}


def same_words(text: str, language: Words) -> str:
    """Return the string that spellings of the same words share; of a text without words (`+`) the text."""
    return " ".join(word for word in fold(text).split() if word not in language.articles) or text.strip().lower()
