"""Addresses in documents: "What is the landlord's e-mail?", "phone of the plumber", "Which website does the club have?"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..language.read_evidence import ReadEvidence
from ..records.conversation import Extent
from .candidates import Computed
from .question import Question

# by the kinds of `operations.addresses`; a date is no phone number
_FORMS = {
    "mail": re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    "web": re.compile(r"(?:https?://|www\.)[^\s<>\"']*[^\s<>\"'.,;:!?)]"),
    "phone": re.compile(r"(?<![\w.,/-])(?!\d{4}-\d\d-\d\d)[+(]?\d(?:[ ()/–-]{0,2}\d){5,14}(?![\w@]|[.,/-]\d)"),
}
_LINE = re.compile(r"(?<=[.;!?])\s+|\s*\n\s*")  # between lines and sentences


def address_form(question: Question) -> re.Pattern[str] | None:
    """Return what an address that a question over files asks for looks like; None if it asks for none ("who wrote the mail?")."""
    properties, types = question.language.properties, question.language.answer_types
    if not question.is_of_files or types.expected_type(question.in_full).kind not in ("any", "item", "number"):
        return None
    words = properties.keywords(question.in_full)
    kinds = question.language.operations.addresses
    return next((_FORMS[kind] for kind, names in kinds.items() if words & properties.keyword_set(names)), None)


def addresses(question: Question) -> list[Computed]:
    """Return the address that a question over files asks for, if one line or row has it with all other words of the question.

    Empty if several have one.
    """
    form, operations, properties = address_form(question), question.language.operations, question.language.properties
    if form is None:
        return []
    keywords = properties.keywords
    # "address" and "number" say no more than "mail" and "phone"
    names = frozenset().union(operations.web, *operations.addresses.values())
    asking = properties.keyword_set(names) | properties.counting_stems | properties.light_keywords
    owner = keywords(question.in_full) - asking
    found: dict[str, set[int]] = {}  # with the places of their evidences
    for place, read in enumerate(question.evidences):
        title = keywords(read.subject["label"]) if read.subject is not None else frozenset[str]()
        for line in _lines(read) if read.is_of_document else ():
            if owner and owner <= keywords(line) | title and owner & keywords(line):
                for address in form.findall(line):
                    found.setdefault(address, set()).add(place)
    if len(found) != 1:
        return []
    ((address, places),) = found.items()
    extent = Extent(rows=1, files=1)
    return [Computed({"id": address, "label": address}, "address", tuple(sorted(places)), extent=extent)]


def _lines(read: ReadEvidence) -> Iterator[str]:
    """Yield the lines and sentences of a text; a row or an entry is one."""
    if "row" in read.evidence or "attribute" in read.evidence:
        yield read.text
    else:
        yield from _LINE.split(read.text)
