"""Named values and sections of documents: "What is the address of the issue tracker?", "What does section 4 say about notice?"."""

from __future__ import annotations

import re

from ..language.read_evidence import ReadEvidence
from ..language.text import fold
from ..records.conversation import Extent
from ..records.evidence import Entity, is_of_mail, passage_start
from .addresses import without_address
from .candidates import Computed
from .question import Question
from .sentences import best_sentence

_UNEXPLAINED = 1  # words of a question for the value of a name, beside the name
_LONGEST_ENTRY = 6  # words of a value that answers as a whole; a longer one has the answer in it
_HEADING_NUMBER = re.compile(r"\W*(?:[^\W\d]+\s+)?(\d+(?:\.\d+)*)\b")  # of "4 Notice", "§ 4", "Section 4: Notice"
_ROLE = re.compile(r"((?:[^\W\d_][\w'’.-]* ){0,3}[^\W\d_][\w'’.-]*) \(([^(),;]{2,40})\)")  # "Katrin Oswald (manager)"
# also "Ms Ottilie Kern, 8 Chapel Road, Bath (landlady)"
_HOLDER = re.compile(r"\b([A-Z][\w'’.-]*(?: [A-Z][\w'’.-]*){0,3})(?:, \d[^();]{2,60})? \(([^(),;]{2,40})\)")
_WORD_BEFORE = re.compile(r"\b([a-z]{3,})(?=((?: [A-Z][\w'’.-]*){1,4}))")
_WEB = re.compile(r"https?://|www\.|mailto:")


def entries(question: Question) -> list[Computed]:
    """Return the value of the longest name in a document that a question has; empty if several have such a name."""
    properties = question.language.properties
    words, web = properties.keywords(question.in_full), properties.keyword_set(question.language.operations.web)
    found: dict[frozenset[str], list[Computed]] = {}  # by the keywords of the name
    for place, read in enumerate(question.evidences):
        if not read.is_of_document:
            continue
        if role := _asked_of_mail(question, read, words):
            entity = _entity(without_address(_named_value(read)[1]))
            found.setdefault(role, []).append(Computed(entity, "entry", (place,)))
            continue
        names, text = _named_value(read)
        # "the website of the town hall" is the value of "town hall, address"
        asking = web if _WEB.match(text) else frozenset[str]()
        name = properties.keyword_set(names) - asking
        subject = properties.keywords(read.subject["label"]) if read.subject is not None else frozenset[str]()
        is_requested = bool(name) and name <= words and (not asking or bool(words & asking))
        is_explained = len(words - name - asking - subject) <= _UNEXPLAINED
        parts = _parts(text) if question.language.operations.asks_for_several(question.in_full) else []
        if is_requested and is_explained and (parts or len(text.split()) <= _LONGEST_ENTRY):
            entity, *others = map(_entity, parts or [text])
            members = tuple((each, read.evidence) for each in (entity, *others)) if others else ()
            found.setdefault(name, []).append(Computed(entity, "entry", (place,), members=members))
    best = found[max(found, key=len)] if found else []
    return best if len(best) == 1 else []


def roles(question: Question) -> list[Computed]:
    """Return what a file says a person is whom a question asks for: "Ben Tiller (IT)", "Host: Inês Moura"; empty if several differ."""
    name = fold(question.language.steps.identified(question.in_full))
    if not name or not question.is_of_files:
        return []
    found: dict[str, Computed] = {}
    for place, read in enumerate(question.evidences):
        names, text = _named_value(read)
        role = names[-1] if names and fold(without_address(text)) == name else ""
        bracket = next((match for match in _ROLE.finditer(read.text) if fold(match[1]).endswith(name)), None)
        role = bracket[2] if bracket else role or _role_before(question, read.text, name)
        if read.is_of_document and role and not any(map(str.isdigit, role)):
            found.setdefault(fold(role), Computed(_entity(role), "role", (place,)))
    return [*found.values()] if len(found) == 1 else []


def holders(question: Question) -> list[Computed]:
    """Return the person whom a file puts beside a role that a question names, "Rosa (manager)"; empty if several differ."""
    keywords, types = question.language.properties.keywords, question.language.answer_types
    if not question.is_of_files or types.expected_type(question.in_full).kind != "person":
        return []
    words = keywords(question.in_full) - question.language.properties.light_keywords
    found: dict[str, Computed] = {}
    for place, read in enumerate(question.evidences):
        names = [match[1] for match in _HOLDER.finditer(read.text) if words and words == keywords(match[2])]
        for name in names if read.is_of_document else ():
            found.setdefault(fold(name), Computed(_entity(name), "role", (place,)))
    return [*found.values()] if len(found) == 1 else []


def _role_before(question: Question, text: str, name: str) -> str:
    """Return the noun for a person before a name: "owner" of "owner Frauke Hansen"; empty without one."""
    before = (match[1] for match in _WORD_BEFORE.finditer(text) if fold(match[2]).startswith(name))
    return next((word for word in before if question.language.operations.roles.search(word)), "")


def _entity(text: str) -> Entity:
    """Return a value as an answer in its own words."""
    return Entity(id=text, label=text)


def _asked_of_mail(question: Question, read: ReadEvidence, words: frozenset[str]) -> frozenset[str]:
    """Return the words by which a question asks who sent or got the mail of a pair: "who wrote the letter about the fees?"; else none."""
    names, _ = _named_value(read)
    if not names or not is_of_mail(read.evidence) or read.subject is None or question.expected.kind != "person":
        return frozenset()
    keywords = question.language.properties.keywords
    role = words & keywords(question.language.operations.header(names[-1]))
    subject = words & keywords(read.subject["label"]) - role
    is_explained = bool(subject) and len(words - role - subject) <= _UNEXPLAINED
    return role if is_explained else frozenset()


def _parts(text: str) -> list[str]:
    """Return the names of a value that lists some: of "Jena Biotech GmbH; Institute of Botany" both; else none."""
    parts = [part.strip() for part in text.split(";" if ";" in text else ",")]
    is_list = len(parts) > 1 and all(part[:1].isupper() and len(part.split()) <= _LONGEST_ENTRY for part in parts)
    return parts if is_list else []


def _named_value(read: ReadEvidence) -> tuple[list[str], str]:
    """Return the names and the value of a pair, or of an item of a list in a document: "Family ticket: 17 euros"; else both empty."""
    if "attribute" in read.evidence:
        attribute = read.evidence["attribute"]
        return attribute["path"], ", ".join(value["text"] for value in attribute["values"])
    if "row" in read.evidence or "citation" not in read.evidence or read.subject is None:
        return [], ""
    text = read.text[passage_start(read.evidence, read.subject["label"]) :]
    name, _, value = text.partition(": ")
    is_item = bool(value) and len(name.split()) <= _LONGEST_ENTRY and "\n" not in text
    return ([name], value.rstrip(". ")) if is_item else ([], "")


def sections(question: Question) -> list[Computed]:
    """Return what a section says that a question names, by its number or its heading."""
    keywords, text = question.language.properties.keywords, question.in_full
    named = question.language.operations.sections.search(text)
    if named is None:
        return []
    words, about = keywords(text), keywords(named["about"] or "")
    found: list[tuple[int, int, str]] = []  # with the number of the words of its document, and its place
    for place, read in enumerate(question.evidences):
        citation = read.evidence.get("citation")
        heading = citation["headings"][-1] if citation and citation["headings"] else ""
        if not heading or read.evidence["source"] != "text" or not read.entities:
            continue
        if named["number"]:
            number = _HEADING_NUMBER.match(heading)
            if number is None or number[1] != named["number"]:
                continue
        else:
            called = {word for word in keywords(heading) if not word.isdigit()}
            if not called or not called <= words:
                continue
        title = read.entities[0]["label"]
        passage = read.text[passage_start(read.evidence, title) :]
        best = read.text[slice(*best_sentence(question, read, about))]
        if best and (about & keywords(best) or (best == passage.strip() and about <= keywords(heading))):
            found.append((len(keywords(title) & words), place, best))
    best_found = [each for each in found if each[0] == max(found)[0]]
    if len(best_found) != 1:
        return []
    at, sentence = best_found[0][1:]
    extent = Extent(rows=1, files=1) if about <= keywords(sentence) else None
    return [Computed({"id": sentence, "label": sentence}, "section", (at,), extent=extent)]
