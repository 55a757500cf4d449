"""All rows of a table that a question asks for: "Which ferries are longer than 50 metres?", "invoices of the museum"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from ..language.text import fold
from ..records.evidence import Cell, Entity
from .candidates import Computed
from .question import Question
from .selections import (
    Selected,
    best_explained,
    bound_words,
    content_words,
    denied_words,
    extent_of,
    relates_rows,
    unexplained,
)
from .tables import Column, Table, cell_answers, evidence_of_row, head_keywords

_MOST_MEMBERS = 1_000  # of a list; of each the page is read for its evidence
_NOUN_WORDS = 3  # behind "list all"
_BETWEEN_NAMES = re.compile(r"[,;&]")
_BESIDE_NAME = re.compile(r"\([^()]*\)")  # "Grace Okafor (chair)"


def listed_rows(question: Question, tables: Sequence[Table]) -> list[Computed]:
    """Return the list of the things in the rows that a question selects; empty if it asks for no list, or selects no rows for sure."""
    operations, properties, text = question.language.operations, question.language.properties, question.in_full
    others = (operations.counting, operations.differing, operations.summing)
    is_other = operations.order(text) or any(pattern.search(text) for pattern in others)
    asks_when = operations.relating.isdisjoint(fold(text).split()) and (
        "date" in (question.expected.kind, question.language.answer_types.expected_type(text).kind)
    )
    asks_for_relation = question.expected.kind == "date" and not asks_when and not bound_words(question)
    if (
        is_other
        or asks_for_relation
        or operations.offers(text)
        or relates_rows(question)
        or question.expected.kind == "yesno"
    ):
        return []
    asking = operations.listing.match(text)
    times = question.language.times
    asks_for_several = bool(asking or operations.several.search(text))
    is_of_document = any(read.is_of_document for read in question.evidences)
    if is_of_document:
        # "which contract ended in 2024?", "who works in Technics?" may have several answers; of Wikipedia's tables most have one
        is_narrowed = bool(bound_words(question)) or times.time(text) is not None or times.seasons(text) is not None
        # "who is not vaccinated?", "unpaid invoices"
        is_denied = any(any(denied_words(question, table)) for table in tables)
        asks_for_several = asks_for_several or is_narrowed or is_denied
    elif not asks_for_several:
        return []
    if not asks_for_several and question.expected.kind != "person" and not (is_of_document and asks_when):
        return []
    behind = text[asking.end() :].split()[:_NOUN_WORDS] if asking else []
    nouns = head_keywords(question) | properties.keyword_set(behind)
    if not nouns and question.language.answer_types.is_request(text):  # "unpaid invoices"
        nouns = content_words(question)
    words = content_words(question) - (properties.keywords(asking[0]) if asking else frozenset())
    several = [table for table in tables if len(table.rows) > 1]
    things = head_keywords(question) & properties.keyword_set(operations.head(text).split()[:1])
    found = best_explained("list", question, several, words)
    if not found:  # a row may have the noun in another sense: "which currencies have Peso in their name?"
        named = [
            table for table in several if things <= table.headers | table.title_keywords | _page_words(table, question)
        ]
        found = best_explained("list", question, named, words - things)
    for table, selected in found:
        if not selected.rows or not selected.used:
            continue
        if not asks_for_several and (
            len(selected.rows) == 1
            or not _are_named(table, selected)
            or unexplained(question, table, words, selected.used)
            - properties.keyword_set(operations.verbs.findall(text))
        ):
            continue
        column = _listed_column(question, table, selected, nouns)
        cells = {} if column is None else {row: cell for row in selected.rows if (cell := column.cells[row])}
        if table.pairs and column is not table.name_column:
            named = [(row, entity) for row, cell in cells.items() for entity in _people_in(cell)]
        else:
            is_name = column is not None and not column.order
            named = [(row, _entity_in(cell, question, is_name)) for row, cell in cells.items() if cell["text"]]
        distinct = {fold(entity["label"]): (row, entity) for row, entity in reversed(named)}
        if len(distinct) > 1 and operations.sole.intersection(fold(text).split()):
            continue
        if distinct:
            listed = [*reversed(distinct.values())]
            members = tuple((entity, evidence_of_row(table, row, question)) for row, entity in listed[:_MOST_MEMBERS])
            places = table.evidence_places([row for row, _ in listed])
            return [Computed(listed[0][1], "list", places, members=members, extent=extent_of(table, selected))]
    return []


def _entity_in(cell: Cell, question: Question, is_name: bool) -> Entity:
    text = Entity(id=cell["text"], label=cell["text"])
    if is_name and question.expected.kind in ("date", "number"):  # "2024-007" is no year
        return text
    return next(iter(cell_answers(cell, question) or cell["entities"]), text)


def _people_in(cell: Cell) -> list[Entity]:
    """Return the names of a cell with a list of them: of "Ines Albrecht, Grace Okafor (chair)" both."""
    names = (_BESIDE_NAME.sub("", name).strip() for name in _BETWEEN_NAMES.split(cell["text"]))
    return [Entity(id=name, label=name) for name in names if name]


def _listed_column(question: Question, table: Table, selected: Selected, nouns: AbstractSet[str]) -> Column | None:
    """Return the column of the things that a question asks for: that of "which NOUN", people for "who", or the names of the rows."""
    if table.pairs:  # of documents
        return _column_of_people(question, table, selected) or table.name_column
    keywords, types = question.language.properties.keywords, question.language.answer_types
    columns, equal = [], []
    for column in table.columns:
        texts = [cell["text"] for row in selected.rows if (cell := column.cells[row]) is not None]
        if len({*texts}) > 1 or not all(keywords(text) & selected.used for text in texts):
            columns.append(column)
        elif len(texts) > 1:
            equal.append(column)
    words, kind = keywords(question.in_full), question.expected.kind
    headed = [column for column in columns if column.keywords & nouns and not column.keywords & selected.used]
    if not headed and any(column.keywords & nouns for column in equal):
        return None  # "what kinds of waste" of the rows with "organic waste"
    if headed:
        return max(headed, key=lambda column: len(column.keywords & words) / len(column.keywords))
    if types.expected_type(question.in_full).kind == "date" and table.dated:  # "When is paper collected?"
        return table.dated_by(words)[0]
    if kind in ("date", "number"):
        return None
    if kind == "person":
        asking = words - selected.used
        asking |= {f"{word}{ending}" for word in asking for ending in question.language.operations.agents}
        headers = [column for column in columns if column.keywords and column.keywords <= asking]
        people = [column for column in columns if types.expected_type(column.header).kind == kind]
        found = next((column for column in (*headers, *people) if not _has_digits(column)), None)
        if found is not None:
            return found
    named = next((column for column in (table.name_column, *columns) if column in columns and not column.order), None)
    if named is None:
        return None
    is_their_name = bool(nouns & (table.title_keywords | table.headers | _page_words(table, question)))
    is_generic = fold(named.header) in question.language.operations.naming
    is_person = kind == "person" and not _has_digits(named)
    return named if is_their_name or is_generic or is_person else None


def _page_words(table: Table, question: Question) -> frozenset[str]:
    label = question.items.label(table.rows[0]["page"]) or ""
    return question.language.properties.keywords(label).union(*table.titles.values())


def _column_of_people(question: Question, table: Table, selected: Selected) -> Column | None:
    """Return the column of pairs that a question for people names: "Who was present on 12 March?" of "Present: Ines, Yusuf"."""
    asking = content_words(question) - selected.used
    named = [column for column in table.columns[1:] if column.keywords & asking and not _has_digits(column)]
    return named[0] if question.expected.kind == "person" and len(named) == 1 else None


def _has_digits(column: Column) -> bool:
    return any(map(str.isdigit, "".join(column.texts)))


def _are_named(table: Table, selected: Selected) -> bool:
    """Return True if each row has a cell whose words all select it."""
    named = {row for places in table.named(selected.used).values() for row, _ in places}
    return named.issuperset(selected.rows)
