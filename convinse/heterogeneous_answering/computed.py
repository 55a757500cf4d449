"""Answers computed from tables and facts.

| operation | question | answer |
|---|---|---|
| `cell` | "How many pupils did Ashdown have in 2023?" | the cell of the row and the column that the question names |
| `cell` | "last bus from the station", "who won Oakwood against Ferry?" | the last hour of the row; the side with more points |
| `list` | "What is Beatrix allergic to?" | the headers with a mark in her row (`tables.marks`) |
| `order` | "Who produced their first album?", "her longest film" | the row at that place of the order |
| `cell` | "Is the axe in the north or the south?" | the one of these that its row has |
| `comparison` | "Which is longer, the Orla or the Tern?" | the row with the higher amount |
| `difference` | "How many more pupils has Ashdown than Birk?" | the difference of two amounts |
| `sum` | "What do the lamps cost together?" | the sum of a column over the rows that the question selects |
| `count` | "How many ferries are longer than 50 metres?" | the number of those rows |
| `list` | "Which ferries are longer than 50 metres?" | the things in those rows (`tables.lists`) |
| `address` | "What is the landlord's e-mail?", "phone of the plumber" | the address, number or link in a line of a document |
| `entry` | "What is the address of the issue tracker?" | the value of the name, in a document, that the question has |
| `role` | "Who plays drums in Metallica?" | whom a text calls so: "drummer Lars Ulrich" |
| `role` | "Who is Ben Tiller?" | what a file says beside the name: "Ben Tiller (IT)", "Host: Inês Moura" |
| `role`, `entry`, `list` | "Who prints the tickets?", "What does Omar have to do?" | who does a task, until when, his tasks (`tasks`) |
| `section` | "What does section 4 say about notice?" | the sentence of that section |
| `section` | "What if I cancel too late?" | the sentence that says what holds then (`conditions`) |
| `span` | "How many years after A was B released?", "How long did the relay take?" | the whole years between two dates; from the start to the end of a row |
| `interval` | "Who led Y before X?", "Since when has X led Y?" | facts and infobox values that hold for a time |

An operation has no result if rows, facts or values that it needs are missing, if values are equal, or if the question has words
that it does not explain. Rows that sum up others are left out. Of the training questions of WikiTableQuestions `cell` answers 4 %,
nine of ten of them rightly, and the others but `sum` eight, seven (`count`) or six of ten (`order`, and `list` with all its members and no other).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .addresses import addresses
from .appositions import appositions
from .candidates import Computed
from .conditions import consequences
from .counts import counts
from .document_entries import entries, holders, roles, sections
from .intervals import by_intervals
from .memberships import shared_names
from .question import Question
from .spans import spans
from .statements import requested_entries
from .tables.amounts import comparisons, differences, sums
from .tables.cells import cells, choices
from .tables.durations import durations
from .tables.headers import ordered_hours
from .tables.intervals import beside_rows, boundaries_of_rows, held_in_rows
from .tables.lists import listed_rows
from .tables.marks import marked
from .tables.matches import matches
from .tables.orders import ordered_things
from .tables.spoken_of import spoken_of
from .tables.states import when_overdue
from .tables.table import Table
from .tables.times import when_absent
from .tables.words import with_numbers
from .tasks import tasks


def computed_answers(question: Question, tables: Sequence[Table]) -> list[Computed]:
    """Return the results of all operations; `tables` are the whole tables of the evidences' rows."""
    if results := consequences(question) or spoken_of(question, tables):
        return results
    if question.row is not None and not question.row["cells"]:
        return []
    question, tables = when_absent(when_overdue(with_numbers(question, tables), tables), tables)
    # what relates two tables is not to be asked of one of them, and what a table's form says not of its words
    for operation in (shared_names, matches, marked, ordered_hours):
        if results := operation(question, tables):
            return results
    return [result for operation in OPERATIONS.values() for result in operation(question, tables)]


OPERATIONS: dict[str, Callable[[Question, Sequence[Table]], list[Computed]]] = {
    "address": lambda question, _: addresses(question),
    "cell": cells,
    "choice": choices,
    "comparison": comparisons,
    "count": counts,
    "difference": differences,
    "entry": lambda question, _: entries(question) or requested_entries(question),
    "list": listed_rows,
    "interval": lambda question, tables: (
        beside_rows(question, tables)
        or by_intervals(question)
        or boundaries_of_rows(question, tables)
        or held_in_rows(question, tables)
    ),
    "order": ordered_things,
    "role": lambda question, _: roles(question) or holders(question) or appositions(question),
    "section": lambda question, _: sections(question),
    "span": lambda question, tables: spans(question) or durations(question, tables),
    "sum": sums,
    "task": lambda question, _: tasks(question),
}
