"""Finds the candidates for an answer: the entities and names of the evidences, the spans of a reader, the results of computations."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from ..language.language import Language
from ..language.property_names import PropertyLabel
from ..language.read_evidence import ReadEvidence, is_code
from ..language.text import fold
from ..records.evidence import Entity, is_of_mail, is_same_row, normalize_source
from ..records.literals import is_document_item, is_item, is_number
from ..records.written_values import UNKNOWN, find_literals, value_at
from .admission import possible_candidates, set_agreements
from .candidates import Computed, EntityCandidate, EntityRole, RoleKind
from .merging import MergedCandidates
from .question import Question
from .ranked_answers import AnswerCandidate
from .reader import as_words
from .tables.cells import requested_cell, requested_row
from .tables.table import Table
from .tables.words import content_words

_NAME = re.compile(r"[A-Z][\w'’-]+(?: (?:[A-Z]\.|[A-Z][\w'’-]*)){1,4}")  # two to five words in a sentence
_QUOTED = re.compile(r"[\"“][^\"“”]*[^\W\d_][^\"“”]*[\"”]")  # a title, perhaps with numbers: "Space Pilot 3000"
_POSSESSIVE = re.compile("['’]s?$")
_BEHIND_NUMBER = re.compile(r"[\s-]*((?:[^\W\d_]+[\s-]*){0,3})")
_DAYS = frozenset(map(str.casefold, calendar.day_name))
_MONTHS = frozenset(name.casefold() for name in calendar.month_name if name)
_YEAR = re.compile(r"\b(?:1[5-9]|20)[0-9][0-9]\b")
_FROM = "from"  # the header of a mail
_MAX_NAME_WORDS = 8  # of the text of a cell that may be a name


def find_candidates(
    question: Question,
    read: Iterable[AnswerCandidate] = (),
    computed: Iterable[Computed] = (),
    tables: Sequence[Table] = (),
) -> list[EntityCandidate]:
    """Return all candidates of a question, in the order of the evidences.

    Args:
        question: the question with its evidences.
        read: answers of a reader, with normalised scores.
        computed: the results of computations.
        tables: the whole tables of its rows.
    """
    merged = MergedCandidates(question)
    silent = silent_places(question, tables)
    for place, evidence in enumerate(question.evidences):
        for role in () if place in silent else entity_roles(place, evidence, question.language):
            merged.candidate(role.entity).roles.append(role)
    for result in computed:
        candidate = merged.candidate(_value_in_full(result.entity))
        candidate.computed = candidate.computed or result
        candidate.best_places += result.places
    for answer in read:
        if silent.issuperset(answer.places):
            continue
        candidate = merged.candidate(_writer(question, answer) or answer.entity)
        candidate.read += answer.score
        candidate.best_places += answer.places
    candidates = list(merged.candidates.values())
    set_agreements(candidates, question)
    if question.row is not None and any(candidate.computed for candidate in candidates):  # and not by its other cells
        cells = fold(" ".join(cell["text"] for cell in question.row["cells"]))
        candidates = [each for each in candidates if each.computed or fold(each.entity["label"]) in cells]
    possible = possible_candidates(candidates, question)
    total = sum(candidate.read for candidate in possible) or 1.0  # scores of dropped candidates do not count
    for candidate in possible:
        candidate.read /= total
    return possible


def _writer(question: Question, answer: AnswerCandidate) -> Entity | None:
    """Return who wrote the mail in which a reader found "I" or "we"; None of other answers."""
    if fold(answer.entity["label"]) not in question.language.names.writing:
        return None
    read = question.evidences[answer.places[0]]
    if not is_of_mail(read.evidence) or not read.entities:
        return None
    for evidence in question.pages.get(read.entities[0]["id"]) or ():
        if "attribute" in evidence and fold(evidence["attribute"]["path"][-1]) == _FROM:
            return as_words(evidence["attribute"]["values"][0]["text"].partition("<")[0])
    return None


def _value_in_full(entity: Entity) -> Entity:
    """Return the date or the amount with its unit that the words of a cell are, as the reader does: "6 months"; else the entity."""
    label = entity["label"]
    if entity["id"] != label or not any(map(str.isalpha, label)):
        return entity
    value = value_at(label, 0, len(label))
    return entity if value is None or value["label"] != label else value


def silent_places(question: Question, tables: Sequence[Table]) -> frozenset[int]:
    """Return the places of evidences that are about other things than a question that names an empty cell, or a year without a column.

    They are the rows of that table; of an empty cell also other rows, and texts of files, without the words that select its row. Of a
    table of a file in which a question names one row by a whole cell they are its other rows.
    """
    silent: set[int] = set()
    if question.row is not None:  # a follow-up about a row is not answered by others
        rows = [read.evidence.get("row") for read in question.evidences]
        is_known = bool(question.row["cells"])
        return frozenset(place for place, row in enumerate(rows) if not (is_known and is_same_row(question.row, row)))
    for table in tables:
        requested = requested_cell(question, table)
        cell = None if requested is None else requested[1].cells[requested[0]]
        is_unknown = requested is not None and (cell is None or cell["text"].lower() in UNKNOWN)
        if is_unknown or _lacks_year(question, table) or _lacks_day(question, table):
            silent.update(table.places.values())
        if not table.pairs and is_document_item(table.rows[0]["page"]):
            row, used = requested_row(question, table) or (0, frozenset[str]())
            rows_by_name = [{at for at, _ in places} for places in table.named(used).values()]
            if {row} in rows_by_name:
                silent.update(place for at, place in table.places.items() if at != row)
        if is_unknown:
            named = table.selection(content_words(question)).used
            others = ((place, read) for place, read in enumerate(question.evidences) if not named <= read.keywords)
            silent.update(place for place, read in others if "row" in read.evidence or read.is_of_document)
    return frozenset(silent)


def _lacks_year(question: Question, table: Table) -> bool:
    """Return True if columns are named by years, and neither they nor the cells have the year of a question."""
    years = {
        year for year in _YEAR.findall(question.in_full) if not any(year in keywords for keywords in table.row_keywords)
    }
    headed = [column for column in table.columns if _YEAR.fullmatch(column.header.strip())]
    return len(headed) > 1 and bool(years) and not any(column.header.strip() in years for column in headed)


def _lacks_day(question: Question, table: Table) -> bool:
    """Return True if the rows of a file's table are weekdays or months, and none is one of a question: "what's for lunch on Sunday?"."""
    if not is_document_item(table.rows[0]["page"]) or not table.columns:
        return False
    first = {text.strip().casefold() for text in table.columns[0].filled}  # "Monday to Friday" has more than it says
    for names in (_DAYS, _MONTHS):
        spoken = {name for name in names if re.search(rf"\b{name}s?\b", question.in_full.casefold())}
        if spoken and len(first) > 1 and first <= names and first.isdisjoint(spoken) and not spoken & table.headers:
            return True
    return False


def entity_roles(place: int, read: ReadEvidence, language: Language) -> Iterator[EntityRole]:
    """Yield the roles of the entities of an evidence, and of its names that are not items."""
    if fact := read.fact:
        predicate = PropertyLabel(fact.predicate["label"], fact.predicate["id"])
        yield EntityRole(place, "subject", fact.subject, (predicate,))
        yield EntityRole(place, "object", fact.object, (predicate,))
        for qualifier, value in fact.qualifiers:
            label = PropertyLabel(qualifier["label"], qualifier["id"])
            yield EntityRole(place, "qualifier", value, (label, predicate))
        return
    kinds: dict[str, RoleKind] = {"table": "row", "info": "box"}
    kind = kinds.get(normalize_source(read.evidence["source"]), "text")
    entities = {entity["id"]: entity for entity in read.entities}
    mentioned = set()
    for mention in read.mentions:
        entity_id = mention["id"]
        if entity_id in entities:
            mentioned.add(entity_id)
            labels = [label for label in read.labels_at(mention["start"]) if label.text]
            if is_number(entity_id):  # its labels are also the words behind it and its currency
                text, start = read.text, mention["start"]
                behind = _BEHIND_NUMBER.match(text, mention["end"])
                currency = language.literals.currencies.get(text[start - 1 : start], "")
                labels.append(PropertyLabel(f"{behind[1] if behind else ''} {currency}".strip()))
            yield EntityRole(place, kind, entities[entity_id], tuple(dict.fromkeys(labels)))
    for entity_id, entity in entities.items():
        if entity_id not in mentioned:
            yield EntityRole(place, kind, entity)
    for text, start in unlinked_names(read):
        yield EntityRole(place, kind, {"id": text, "label": text}, tuple(read.labels_at(start)))


def unlinked_names(read: ReadEvidence) -> Iterator[tuple[str, int]]:
    """Yield names that are not items, with their starts: texts of cells and infobox values, capitalised words of a sentence."""
    evidence = read.evidence
    if "row" in evidence:
        parts = [(cell["text"], cell["start"]) for cell in evidence["row"]["cells"]]
    elif "attribute" in evidence:
        parts = [(value["text"], value["start"]) for value in evidence["attribute"]["values"]]
    else:
        for name in _NAME.finditer(read.text):
            start, end = name.span()
            if not any(mention["start"] < end and start < mention["end"] for mention in read.mentions):
                yield _POSSESSIVE.sub("", name[0]), start
        return
    for text, start in parts:
        entities = read.within(start, start + len(text))
        if _may_be_name(text) and not any(is_item(entity["id"]) for entity in entities):
            yield text, start


@lru_cache(maxsize=4096)  # the turns of a conversation see the same cells again
def _may_be_name(text: str) -> bool:
    if len(text.split()) > _MAX_NAME_WORDS:
        return False
    if _QUOTED.fullmatch(text.strip()) or is_code(text):
        return True
    return any(map(str.isalpha, text)) and not any(find_literals(text))
