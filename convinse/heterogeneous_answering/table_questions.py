"""Answers that are computed from tables and facts, each with a sentence that states it.

| operation | question | answer |
|---|---|---|
| `role` | "Who played X?" | the row of X, or the fact with the qualifier X |
| `order` | "Who produced their first album?", "her longest film" | the row at that place of the order |
| `interval` | "Who led Y before X?", "Since when has X led Y?" | facts and infobox values that hold for a time |

An operation gives nothing if it cannot be carried out: there are no such rows or facts, or values are equal or missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from ..language.operations import AskedOrder
from ..language.property_names import PropertyWords
from ..records.evidence import Entity, Row
from ..records.facts import Fact, fact_of
from ..records.literals import is_date
from .candidates import Computed
from .intervals import by_intervals
from .question import Question
from .tables import (
    Column,
    Table,
    answer_in_row,
    asking_forms,
    asking_keywords,
    cell_answers,
    name_keywords,
    noun_keywords,
    question_keywords,
    suits,
    whole_tables,
)

_LEAST = 0.5  # of a name that a question must have: "Giles" is Rupert Giles


def computed_answers(question: Question) -> list[Computed]:
    """The results of all operations that can be carried out."""
    return [result for operation in OPERATIONS.values() for result in operation(question)]


# -- role --------------------------------------------------------------------------------------------------------------


class _NamedCell(NamedTuple):
    """A name in the evidence at a place, the values beside it by header, and the keywords of what the row is about."""

    place: int
    name: frozenset[str]
    beside: tuple[tuple[str, tuple[Entity, ...]], ...]
    about: frozenset[str]


def roles(question: Question) -> list[Computed]:
    """The values beside the name that a question asks about, in rows of tables and in facts with qualifiers.

    The name is in a cell, or is the value of a qualifier (a character role): the one name that has most of the question's words.
    The answer is in the cell whose header is asked for and whose content fits the expected type; of a fact it is the object.
    If nothing else of the question is left, no header need be asked for ("And who's Zelda?").
    """
    if question.expected.kind in ("yesno", "number", "date"):
        return []
    types, words = question.language.answer_types, question.language.properties
    # a name has neither the type that is asked for nor words that ask for a header or property ("directed")
    wanted = question_keywords(question).difference(*map(types.noun_types, question.expected.words))
    labels = {
        cell["header"] for evidence in question.evidences if "row" in evidence for cell in evidence["row"]["cells"]
    }
    labels |= {fact.predicate["label"] for evidence in question.evidences if (fact := fact_of(evidence))}
    called = words.keywords(" ".join(labels))
    meant = wanted - frozenset(word for word in wanted if asking_forms([word], words) & called)
    names = list(_named_cells(meant, question)) if meant else []
    best = max((_matching(named.name, meant) for named in names), default=None)
    first = [named for named in names if _matching(named.name, meant) == best]
    if len({named.name for named in first}) > 1:
        return []
    # of several rows with that name the one that has most of the question: the final of that year
    told = words.keywords(question.in_full)
    held = [len(words.keywords(question.evidences[named.place]["evidence_text"]) & told) for named in first]
    first = [named for named, count in zip(first, held, strict=True) if count == max(held)]
    results: dict[str, Computed] = {}
    for named in first:
        for entity in _values_beside(named, wanted, question):
            sentence = question.evidences[named.place]["evidence_text"]
            known = results.setdefault(entity["id"], Computed(entity, "role", sentence, ()))
            results[entity["id"]] = known._replace(places=(*known.places, named.place))
    return list(results.values())


def _named_cells(meant: AbstractSet[str], question: Question) -> Iterator[_NamedCell]:
    for place, evidence in enumerate(question.evidences):
        if fact := fact_of(evidence):
            yield from _of_fact(place, fact, meant, question.language.properties)
        elif "row" in evidence:
            yield from _of_row(place, evidence["row"], meant, question)


def _of_fact(place: int, fact: Fact, meant: AbstractSet[str], words: PropertyWords) -> Iterator[_NamedCell]:
    for qualifier in fact.qualifiers:
        name = words.keywords(qualifier.value["label"])
        if not is_date(qualifier.value["id"]) and _matching(name, meant)[1] >= _LEAST:
            called = words.keywords(f"{qualifier.predicate['label']} {fact.subject['label']}")
            yield _NamedCell(place, name, ((fact.predicate["label"], (fact.object,)),), called)


def _of_row(place: int, row: Row, meant: AbstractSet[str], question: Question) -> Iterator[_NamedCell]:
    words = question.language.properties
    for cell in row["cells"]:
        name = name_keywords(cell, words)
        if _matching(name, meant)[1] >= _LEAST:
            above = words.keywords(f"{row['caption']} {row['section']} {row.get('part', '')} {cell['header']}")
            rest = (neighbour for neighbour in row["cells"] if neighbour is not cell)
            beside = tuple((neighbour["header"], tuple(cell_answers(neighbour, question))) for neighbour in rest)
            yield _NamedCell(place, name, beside, above)


def _matching(name: AbstractSet[str], meant: AbstractSet[str]) -> tuple[int, float]:
    """The number of words of a name that a question has, and their share of the name; digits alone are not a name."""
    held = name & meant
    return (len(held), len(held) / len(name)) if any(map(str.isalpha, held)) else (0, 0.0)


def _values_beside(named: _NamedCell, wanted: AbstractSet[str], question: Question) -> Sequence[Entity]:
    asking = asking_keywords(question)
    suited = [(suits(header, entities, asking, question), entities) for header, entities in named.beside]
    score, entities = max(suited, key=lambda own: own[0], default=(0.0, ()))
    is_alone = not wanted - named.name - named.about
    return entities if score > 1 or (score and is_alone) else ()


# -- order -------------------------------------------------------------------------------------------------------------


class _ListingTable(NamedTuple):
    """A table that lists what is ordered.

    Attributes:
        score: how much of the question it has.
        rows: that the question leaves.
        measures: the columns that order.
        thing: the column of what is ordered.
        is_thing: the answer is what is ordered, not another cell of its row.
        rest: the keywords that may ask for another cell.
    """

    score: float
    table: Table
    rows: Sequence[int]
    measures: Sequence[Column]
    thing: Column | None
    is_thing: bool
    rest: frozenset[str]


def ordered_things(question: Question) -> list[Computed]:
    """The answer to a superlative or an ordinal, of the rows of a table."""
    order = question.language.operations.order(question.text) or question.language.operations.order(question.in_full)
    if order is None:
        return []
    listing = [own for table in whole_tables(question) if (own := _listing(table, order, question)) is not None]
    for own in sorted(listing, key=lambda own: -own.score):
        if results := _at_place(own, order, question):
            return results
    return []


def _listing(table: Table, order: AskedOrder, question: Question) -> _ListingTable | None:
    words = question.language.properties
    nouns = noun_keywords(order.noun, question)
    measures = _measures(table, order, question)
    named = frozenset().union(*map(question.language.literals.names_of, order.noun)) if order.by else frozenset()
    is_measure = any(column.keywords & named for column in measures)
    wanted = noun_keywords(map(question.language.literals.keyword, question.expected.words), question)
    thing = _thing_column(table, wanted if is_measure else nouns)
    if not measures or (thing is None and not is_measure):
        return None
    known = table.about.union(*(column.keywords for column in table.columns))
    page = words.keywords(question.knowledge.kb.label(table.rows[0]["page"]))
    rest = words.keywords(question.in_full) - page - (nouns & known) - words.keyword_set(order.words)
    rows: list[int] = list(range(len(table.rows)))
    held = 0
    if time := question.language.times.time(question.in_full):
        rows = table.within(time)
        rest = frozenset(word for word in rest if not word.isdigit())
    capitals = _capitalised(question)
    for word in sorted(rest - known):
        having = [row for row in rows if word in table.held[row]]
        if having and len(having) < len(rows):
            rows = having
        held += bool(having)
        if not having and word in capitals:
            return None  # the table says nothing about it
    is_thing = _asks_for(wanted if is_measure else nouns, wanted, question)
    score = bool(thing and thing.keywords & nouns) + held + len(rest & known)
    return _ListingTable(score, table, rows, measures, thing, is_thing, asking_keywords(question) - nouns)


def _thing_column(table: Table, nouns: AbstractSet[str]) -> Column | None:
    named = [own for own in table.columns if own.keywords & nouns and (not own.order or own.numbers_rows)]
    named.sort(key=lambda column: column.order is not None)
    return named[0] if named else table.naming if table.about & nouns else None


def _asks_for(nouns: AbstractSet[str], wanted: AbstractSet[str], question: Question) -> bool:
    if question.expected.kind == "item":
        return bool(wanted & nouns)
    kinds = (question.language.answer_types.expected_type(noun).kind for noun in nouns)
    return question.expected.kind == "any" or question.expected.kind in kinds


def _capitalised(question: Question) -> frozenset[str]:
    words = (word for word in question.in_full.split()[1:] if word[:1].isupper())
    return question.language.properties.keywords(" ".join(words))


def _measures(table: Table, order: AskedOrder, question: Question) -> list[Column]:
    """The columns that order: those of dates from the left (of one year the days decide), else the one of the measure."""
    if not order.by:
        return table.dated or [column for column in table.columns if column.numbers_rows][:1]
    numbers = [column for column in table.columns if column.order is not None and not column.is_dated]
    nouns = frozenset().union(*map(question.language.literals.names_of, order.noun))
    named = [column for column in numbers if column.keywords & nouns]
    return (named or [column for column in numbers if column.keywords & order.by])[:1]


def _at_place(own: _ListingTable, order: AskedOrder, question: Question) -> list[Computed]:
    orders = [column.order.amounts for column in own.measures if column.order is not None]
    amounts = {row: tuple(order[row] or 0.0 for order in orders) for row in own.rows if orders[0][row] is not None}
    is_rank = bool(order.by) and question.language.operations.is_ranking(own.measures[0].keywords)
    row = _only_at(amounts, order.highest != is_rank, order.place)
    if row is None:
        return []
    entities = answer_in_row(own.table, row, question, own.rest, own.thing, own.is_thing)
    return [Computed(entity, "order", _ordering(order, entity), own.table.shown([row])) for entity in entities]


def _only_at(amounts: dict[int, tuple[float, ...]], highest: bool, place: int) -> int | None:
    """The only key at a place of the order of amounts, of which there must be at least two."""
    different = sorted(set(amounts.values()), reverse=highest)
    if len(different) < max(2, place):
        return None
    keys = [key for key, amount in amounts.items() if amount == different[place - 1]]
    return keys[0] if len(keys) == 1 else None


def _ordering(order: AskedOrder, entity: Entity) -> str:
    return f"The {' '.join(sorted(order.words))} {' '.join(order.noun)} is {entity['label']}."


OPERATIONS: dict[str, Callable[[Question], list[Computed]]] = {
    "interval": by_intervals,
    "order": ordered_things,
    "role": roles,
}
