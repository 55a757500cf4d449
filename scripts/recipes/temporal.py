"""Questions of FAITH's data sets, TimeQuestions and TIQ, and answers as data sets write them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from convinse.records.evidence import Entity
from convinse.records.literals import date_entity, is_date
from convinse.records.written_values import find_literals
from convinse.support.jsonlines import read_documents
from recipes.embedded.wikidata import is_item

_STAMP = re.compile(r"(-?[0-9]{4,})-([0-9]{2})-([0-9]{2})T00:00:00Z")
_FEW_DIGITS = re.compile(r"[0-9]{1,2}")


class FaithQuestion(NamedTuple):
    """A question with its answers as they are written, and what its data set says of the time in it."""

    text: str
    answers: list[str]
    signals: tuple[str, ...]  # such as BEFORE, OVERLAP, ORDINAL; none where a time is asked for


def faith_questions(path: Path) -> Iterator[FaithQuestion]:
    """The questions of a file, some of which come twice."""
    for _, entry in read_documents(path, unwrap=True):
        answers = (answer.get("WikidataQid") or answer.get("AnswerArgument") for answer in entry["Answer"])
        signals = tuple(signal for signal in entry.get("Temporal signal", ()) if signal != "No signal")
        yield FaithQuestion(" ".join(entry["Question"].split()), [answer for answer in answers if answer], signals)


def answer_entity(text: str, label: Callable[[str], str]) -> Entity | None:
    """An answer as it is written in the data sets as an entity; None for what no fact holds safely.

    Items, time stamps, dates in words, and numbers of three or more digits are looked for.
    """
    if is_item(text):
        return {"id": text, "label": label(text)}
    if match := _STAMP.fullmatch(text):
        year, month, day = (int(part) for part in match.groups())
        return date_entity(year) if (month, day) == (1, 1) else date_entity(year, month, day)
    spans = list(find_literals(text))
    if len(spans) != 1 or (spans[0].start, spans[0].end) != (0, len(text)):
        return None
    entity = spans[0].entity
    return entity if is_date(entity["id"]) or not _FEW_DIGITS.fullmatch(entity["id"]) else None
