"""The row directly before or behind that of a name: "which album came after Help!?", "who replaced Mourinho?"."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from ..language.operations import AskedNeighbour
from ..language.text import fold
from .question import AskedQuestion
from .ranking import AnswerCandidate, in_shares
from .standing import is_known
from .tables import Column, Table, asked_cell, asking_forms, asking_keywords, name_keywords, noun_keywords, whole_tables

_LEAST = 0.5  # of a name that a question must have, its last word among it: "Guardiola" is Pep Guardiola
_LEAST_FIT = 0.5  # of the expected type, where the table is not called as what is asked for
_LEAST_FIT_OF_COLUMN = 0.3  # that of an unknown type


class _NamedCell(NamedTuple):
    row: int
    column: Column
    name: frozenset[str]


def next_to(asked: AskedQuestion) -> list[AnswerCandidate]:
    """What stands directly before or behind the name that a question has, in the order of a table's dates.

    Nothing where the name is not in exactly one row, rows lack dates or share them, the spans of years leave a gap, the table
    lists only a selection, or the question has more that the table does not speak of; and where tables tell different things.
    """
    if asked.expected.kind in ("yesno", "number"):
        return []
    tables: list[Table] | None = None
    for question in dict.fromkeys((asked.question, asked.in_full)):
        for neighbour in asked.language.operations.neighbours(question):
            if not neighbour.named or _in_a_name(question, neighbour.place, _names(asked)):
                continue
            tables = whole_tables(asked) if tables is None else tables
            given = [answers for table in tables if (answers := _of_table(table, neighbour, question, asked))]
            if len({frozenset(answer.entity["id"] for answer in answers) for answers in given}) == 1:
                return given[0]
    return []


def _of_table(table: Table, neighbour: AskedNeighbour, question: str, asked: AskedQuestion) -> list[AnswerCandidate]:
    own = _named_cell(table, neighbour.named, asked)
    if own is None or _in_a_name(question, neighbour.place, _texts(own.column)):
        return []
    row = _beside(table, own.row, neighbour, asked)
    rest = neighbour.asking - own.name
    wanted = noun_keywords(map(asked.language.literals.keyword, asked.expected.words), asked)
    unknown = _unknown(rest, table, asked)
    if row is None or unknown - wanted:
        return []
    is_date = asked.expected.kind == "date"  # of which "released" says the column
    asking = asking_keywords(asked) - own.name if is_date else asking_forms(rest, asked.language.properties)
    more = asking - own.column.keywords  # "who directed the film after X" asks for no film
    is_more_asked = any(column.keywords & more for column in table.columns)
    is_asked = bool(wanted & own.column.keywords) or (not is_more_asked and _fits(own.column, asked))
    if is_more_asked:
        asking = more
    entities = asked_cell(table, row, asked, asking, own.column, is_asked)
    if unknown and max(map(asked.fit, filter(is_known, entities)), default=0.0) < _LEAST_FIT:
        return []
    places = table.shown((own.row, row))
    return in_shares([AnswerCandidate(entity, 1.0, places, ("beside",)) for entity in entities])


def _fits(column: Column, asked: AskedQuestion) -> bool:
    """Whether something in a column may be of the expected type: what stands beside it is of its kind, known or not."""
    if asked.expected.kind == "date":
        return False
    entities = (entity for cell in column.cells if cell is not None for entity in cell["entities"])
    return max(map(asked.fit, entities), default=0.0) >= _LEAST_FIT_OF_COLUMN


def _unknown(rest: AbstractSet[str], table: Table, asked: AskedQuestion) -> frozenset[str]:
    """The keywords that neither the names of a table, its page and columns have, nor mean what these say."""
    words, row = asked.language.properties, table.rows[0]
    page = f"{asked.resources.kb.label(row['page'])} {asked.renamed.get(row['page'], '')}"
    above = words.keywords(f"{page} {row['caption']} {row['section']}")
    known = above.union(*(column.keywords for column in table.columns))
    return frozenset(word for word in rest if not (asking_forms([word], words) | noun_keywords([word], asked)) & known)


# -- the name ----------------------------------------------------------------------------------------------------------


def _named_cell(table: Table, named: AbstractSet[str], asked: AskedQuestion) -> _NamedCell | None:
    """The cell whose name has most of the words; None where several rows do as well."""
    words = asked.language.properties
    best: list[_NamedCell] = []
    most = (0, 0.0)
    for column in table.columns:
        for row, cell in enumerate(column.cells):
            if cell is None:
                continue
            name = name_keywords(cell, words)
            held = name & named
            if not any(map(str.isalpha, held)) or (name != held and not _is_surname(cell["text"], held, name, asked)):
                continue
            matching = (len(held), len(held) / len(name))
            if matching > most:
                best, most = [], matching
            if matching == most:
                best.append(_NamedCell(row, column, name))
    return best[0] if best and len({own.row for own in best}) == 1 else None


def _is_surname(text: str, held: AbstractSet[str], name: AbstractSet[str], asked: AskedQuestion) -> bool:
    last = asked.language.properties.keywords(text.split()[-1])
    return bool(last) and last <= held and len(held) >= _LEAST * len(name)


def _names(asked: AskedQuestion) -> Iterator[str]:
    yield from asked.renamed.values()
    for entity in asked.about:
        yield entity["label"]
    for evidence in asked.evidences:
        for entity in evidence["wikidata_entities"]:
            yield entity["label"]


def _texts(column: Column) -> Iterator[str]:
    return (cell["text"] for cell in column.cells if cell is not None)


def _in_a_name(question: str, place: int, names: Iterable[str]) -> bool:
    """Whether the word at a place of a question belongs to a name: "The Day After Tomorrow"."""
    words = fold(question).split()
    word = words[place]
    for text in dict.fromkeys(names):
        name = fold(text).split()
        if len(name) > 1 and word in name:
            starts = (place - at for at, own in enumerate(name) if own == word and at <= place)
            if any(words[start : start + len(name)] == name for start in starts):
                return True
    return False


# -- the order ---------------------------------------------------------------------------------------------------------


def _beside(table: Table, row: int, neighbour: AskedNeighbour, asked: AskedQuestion) -> int | None:
    """The row next to another in the order of a table; None where the order does not tell it."""
    named = [column for column in table.dated if column.keywords & neighbour.asking]
    columns = named or table.dated or [column for column in table.columns if column.counts_rows][:1]
    orders = [column.order.amounts for column in columns if column.order is not None]
    if not orders or any(amount is None for amount in orders[0]):
        return None
    amounts = [tuple(order[own] or 0.0 for order in orders) for own in range(len(table.rows))]
    different = sorted(set(amounts))
    place = different.index(amounts[row]) + (1 if neighbour.later else -1)
    if amounts.count(amounts[row]) > 1 or not 0 <= place < len(different) or amounts.count(different[place]) > 1:
        return None
    neighbouring = amounts.index(different[place])
    return neighbouring if _is_next(table, sorted((row, neighbouring), key=amounts.__getitem__), asked) else None


def _is_next(table: Table, rows: Sequence[int], asked: AskedQuestion) -> bool:
    """Whether nothing lies between two rows: of spans of years the one ends when the other begins, else the table is whole."""
    if any((period := table.period(row)) is not None and period.spans_years for row in range(len(table.rows))):
        first, second = (table.period(row) for row in rows)
        return first is not None and second is not None and first.is_followed_by(second)
    row = table.rows[0]
    return not asked.language.operations.is_selection(table.words.keywords(f"{row['caption']} {row['section']}"))
