"""Gold answers as benchmarks publish them -> entities of the contract: an item, a date, a number, yes or no, else the text."""

from __future__ import annotations

import re

from ...language.language import english
from ...records.evidence import Entity
from ...records.literals import date_entity, is_date, number_entity
from ...records.written_values import find_literals

_ITEM = re.compile(r"(?:https?://(?:[a-z]+\.)?wikidata\.org/(?:wiki|entity)/)?(Q[1-9][0-9]*)(?:[?#].*)?")
_STAMP = re.compile(r"(-?[0-9]+)-(0[0-9]|1[0-2])-([0-2][0-9]|3[01])T00:00:00Z")
_NUMBER = re.compile(r"([-+]?)[$€£]?([0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?)(?: ([a-z]+))?")
_YES_NO = {"yes": "Yes", "no": "No"}


def item_id(text: str) -> str | None:
    """Return the Wikidata id in a text, bare or as the address of the item's page; None for any other text."""
    match = _ITEM.fullmatch(_bare(text))
    return match[1] if match else None


def contract_answer(text: str, label: str, question: str) -> Entity:
    """Return the entity of an answer.

    Four digits are a year unless the question asks for a number, as in CONVINSE's reading of ConvQuestions, where years
    are bare. A number has its unit or currency in the label only, like the quantities of the knowledge base.

    Args:
        text: the id in the benchmark: an item or the address of its page, a time stamp, or a literal in words.
        label: the label in the benchmark; may be `text` once more.
        question: the question.
    """
    text = text.strip()
    bare = _bare(text)
    label = label.strip() if label.strip() != text else ""
    if item := item_id(text):
        return {"id": item, "label": label or item}
    if stamp := _STAMP.fullmatch(bare):
        year, month, day = map(int, stamp.groups())
        date = date_entity(year) if month <= 1 and day <= 1 else date_entity(year, month, day)
        return {"id": date["id"], "label": label or date["label"]}
    if bare.lower() in _YES_NO:
        word = _YES_NO[bare.lower()]
        return {"id": word, "label": word}
    literals = [span.entity for span in find_literals(bare) if span.end - span.start == len(bare)]
    kind = english().answer_types.expected_type(question).kind
    if literals and is_date(literals[0]["id"]) and not (bare.isdigit() and kind == "number"):
        return literals[0]
    number = _NUMBER.fullmatch(bare)
    if number and number[3] not in english().literals.scales:  # "2 million" is not the number 2
        return {"id": number_entity(number[1] + number[2])["id"], "label": label or bare}
    return {"id": text, "label": label or text}


def _bare(text: str) -> str:
    return text.strip(' "').removesuffix(".")
