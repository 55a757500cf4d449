"""Addresses in documents: "What is the landlord's e-mail?", "phone of the plumber", "Which website does the club have?"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..language.read_evidence import ReadEvidence
from ..records.conversation import Extent
from .candidates import Computed
from .question import Question
from .sentences import is_prose, sentence_spans

_SHORT = 100  # characters of an evidence that is a line of its own
_IN_BRACKETS = re.compile(r"\s*<[^<>]*>")
# by the kinds of `operations.addresses`; a date is no phone number
_FORMS = {
    "mail": re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    "web": re.compile(r"(?:https?://|www\.)[^\s<>\"']*[^\s<>\"'.,;:!?)]"),
    # "Holm 14, 24937 Flensburg", "12 Mill Lane, London SW1A 2AA", "5 Oak Street, Salem, OR 97301", "45 Rue de Lille, 75007 Paris", "12 Linden Street"
    "post": re.compile(
        r"[^\W\d_][\w'’.-]+(?: [\w'’.-]+){0,3} \d{1,4} ?[a-z]?, (?:[A-Z]{1,2}-)?\d{4,5} [^\W\d_]\w+"
        r"|\d{1,4}[a-z]? [A-Z][\w'’.-]+(?: [A-Z][\w'’.-]+){0,3},? [A-Z]\w+(?: \w+)?,? (?:[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}|[A-Z]{2} \d{5})"
        r"|\d{1,4} [A-Z][\w'’.-]+(?: [\w'’.-]+){0,4}, \d{4,5} [A-Z]\w+"
        r"|\d{1,4}[a-z]? [A-Z][\w'’-]+(?: [A-Z][\w'’-]+){1,3}"
    ),
    "account": re.compile(r"\b[A-Z]{2}\d\d(?: ?[A-Z\d]{4}){2,7}(?: ?[A-Z\d]{1,3})?\b"),
    "phone": re.compile(
        r"(?<![\w.,/-])(?!\d{4}-\d\d-\d\d)(?:\+|\((?=[^()]{1,6}\)))?\d(?:[ ()/–-]{0,2}\d){5,14}(?![\w@]|[.,/-]\d)"
    ),
}


def without_address(name: str) -> str:
    """Return the name of whom a mail is from or to: of "Ada Holt <ada@x.example>" the first two words."""
    return _IN_BRACKETS.sub("", name).strip()


def is_phone(text: str) -> bool:
    """Return True for a telephone number, of which no part is a number."""
    return _FORMS["phone"].fullmatch(text.strip()) is not None


def address_form(question: Question) -> re.Pattern[str] | None:
    """Return what an address that a question over files asks for looks like.

    None if it asks for none ("who wrote the mail?"), or for several things ("mails from the lab", "who has no phone?").
    """
    properties, operations, text = question.language.properties, question.language.operations, question.in_full
    kind = question.language.answer_types.expected_type(text).kind
    is_of_several = operations.asks_for_several(text) or operations.listing.match(text)
    is_denied = question.language.words.denial.search(text)
    if not question.is_of_files or kind not in ("any", "item", "number") or is_of_several or is_denied:
        return None
    kinds, words = operations.addresses, properties.keywords(text)
    return next((_FORMS[kind] for kind, names in kinds.items() if words & properties.keyword_set(names)), None)


def addresses(question: Question) -> list[Computed]:
    """Return the address that a question over files asks for, if one sentence or row has it with all other words of the question.

    Empty if several have one.
    """
    operations, properties = question.language.operations, question.language.properties
    keywords, hours = properties.keywords, question.language.times.hours.search(question.in_full)
    form = question.language.times.hour if hours else address_form(question) or _form_of_number(question)
    if form is None or not question.is_of_files:
        return []
    # "address" and "number" say no more than "mail" and "phone"
    names = frozenset().union(operations.web, *operations.addresses.values())
    asking = properties.keyword_set(names) | properties.counting_stems | properties.light_keywords
    asking |= keywords(hours[0]) if hours else frozenset()
    owner = keywords(question.in_full) - asking
    found: dict[str, set[int]] = {}  # with the places of their evidences
    for place, read in enumerate(question.evidences):
        title = keywords(read.subject["label"]) if read.subject is not None else frozenset[str]()
        for line in _lines(read) if read.is_of_document else ():
            if not form.search(line):
                continue
            said = keywords(f"{_line_above(question, read)} {line}")
            if not owner or (owner <= said | title and owner & said):
                for address in form.finditer(line):
                    found.setdefault(address[form.groups], set()).add(place)
    if len(found) != 1:
        return []
    ((label, places),) = found.items()
    extent = Extent(rows=1, files=1)
    return [Computed({"id": label, "label": label}, "address", tuple(sorted(places)), extent=extent)]


def _form_of_number(question: Question) -> re.Pattern[str] | None:
    """Return what the number of a thing looks like that a question asks for: "INVOICE No. 2026-014" for "the invoice number"."""
    called = question.language.operations.numbered.search(question.in_full)
    if called is None:
        return None
    words = "|".join({called["word"].lower(), *question.language.operations.numbering})
    return re.compile(rf"(?i)\b{re.escape(called['thing'])}(?:\W+(?:{words})\b)?\W*([\w/.-]*\d[\w/-]*)")


def _line_above(question: Question, read: ReadEvidence) -> str:
    """Return the short line before an evidence in its file, such as the name in the head of a letter."""
    page = read.entities[0]["id"] if read.entities and is_prose(read) else ""
    evidences = question.pages.get(page) or () if page else ()
    texts = [evidence["evidence_text"] for evidence in evidences]
    place = texts.index(read.text) if read.text in texts else 0
    return texts[place - 1] if place and len(texts[place - 1]) <= _SHORT else ""


def _lines(read: ReadEvidence) -> Iterator[str]:
    """Yield the sentences of a passage; a row or an entry is one."""
    yield from (read.text[start:end] for start, end in sentence_spans(read)) if is_prose(read) else (read.text,)
