"""Answers computed from tables and facts.

| operation | question | answer |
|---|---|---|
| `cell` | "How many pupils did Ashdown have in 2023?" | the cell of the row and the column that the question names |
| `order` | "Who produced their first album?", "her longest film" | the row at that place of the order |
| `cell` | "Is the axe in the north or the south?" | the one of these that its row has |
| `comparison` | "Which is longer, the Orla or the Tern?" | the row with the higher amount |
| `difference` | "How many more pupils has Ashdown than Birk?" | the difference of two amounts |
| `sum` | "What do the lamps cost together?" | the sum of a column over the rows that the question selects |
| `count` | "How many ferries are longer than 50 metres?" | the number of those rows |
| `list` | "Which ferries are longer than 50 metres?" | the things in those rows (`table_lists`) |
| `entry` | "What is the address of the issue tracker?" | the value of the name, in a document, that the question has |
| `section` | "What does section 4 say about notice?" | the sentence of that section |
| `span` | "How many years after A was B released?" | the whole years between two dates |
| `interval` | "Who led Y before X?", "Since when has X led Y?" | facts and infobox values that hold for a time |

An operation has no result if rows, facts or values that it needs are missing, if values are equal, or if the question has words
that it does not explain. Rows that sum up others are left out. Of the training questions of WikiTableQuestions `cell` answers 4 %,
nine of ten of them rightly, and the others but `sum` eight, seven (`count`) or six of ten (`order`, and `list` with all its members and no other).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet

from ..language.property_names import PropertyWords
from ..language.read_evidence import ReadEvidence
from ..language.text import fold
from ..records.conversation import Extent
from ..records.evidence import Cell, Entity, passage_start
from ..records.literals import is_date, is_document_item, is_number, number_entity
from ..records.ranked_rows import value_of, written_amount
from ..records.units import BASE_UNITS
from ..records.written_values import day_in, value_at
from .bounds import bound_words, with_measures
from .candidates import Computed
from .comparisons import chosen_by_value
from .counts import MANY_WORDS, counts
from .intervals import by_intervals
from .memberships import shared_names
from .question import Question
from .selections import alternatives, extent_of, in_named_column, selected_rows
from .sentences import best_sentence
from .spans import spans
from .table_lists import listed_rows
from .table_orders import ordered_things
from .table_words import content_words, is_unexplained, unexplained
from .tables import Column, Selection, Table, cell_answers, head_keywords

_UNEXPLAINED = 1  # words of a question for the value of a name, beside the name
_LONGEST_ENTRY = 6  # words of a value that answers as a whole; a longer one has the answer in it
_BESIDE_NAME = re.compile(r"\s*<[^<>]*>")  # "Ada Holt <ada@x.example>"
_HEADING_NUMBER = re.compile(r"\W*(?:[^\W\d]+\s+)?(\d+(?:\.\d+)*)\b")  # of "4 Notice", "§ 4", "Section 4: Notice"
_INITIALS = 2  # letters of words by which a page is not what a question is about: "F.C."
_WEB = re.compile(r"https?://|www\.|mailto:")


def computed_answers(question: Question, tables: Sequence[Table]) -> list[Computed]:
    """Return the results of all operations; `tables` are the whole tables of the evidences' rows."""
    # what relates two tables is not to be asked of one of them
    return shared_names(question, tables) or [
        result for operation in OPERATIONS.values() for result in operation(question, tables)
    ]


def requested_cell(question: Question, table: Table) -> tuple[int, Column] | None:
    """Return the row and the column that a question names; None if it names none, several, or relates rows to each other."""
    operations, keywords = question.language.operations, question.language.properties.keywords
    words_as_written = frozenset(fold(question.in_full).split())
    if operations.relating & words_as_written or operations.order(question.text) or operations.offers(question.text):
        return None
    if {*map(fold, operations.summing.findall(question.in_full))} - table.headers:  # "what did she pay in all?"
        return None
    words = content_words(question)
    selection = table.selection(words)
    namesake = table.own_row(selection)
    rows = selection.rows if namesake is None else [namesake]
    if len(rows) > 1 and table.pairs:  # "when did Ines write?", not to whom
        rows = in_named_column(question, table, selection, words)
    if len(rows) != 1 or not selection.used or not selection.is_whole or len(table.rows) < 2:
        return None
    if is_unexplained("cell", question, table, words, selection.used):
        return None
    row = rows[0]
    column = _requested_column(question, table, row, selection.used)
    if column is None:
        return None
    cell = column.cells[row]
    return None if cell is not None and keywords(cell["text"]) & selection.used else (row, column)


def _requested_column(question: Question, table: Table, row: int, matched: AbstractSet[str]) -> Column | None:
    words, names = question.language.properties.keywords(question.in_full), question.property_names
    wide = with_measures(words, question)
    if question.expected.kind == "person":  # "who drives it?" of a column "Driver"
        wide = question.language.operations.with_doers(wide)
    head = head_keywords(question)
    headed = [column for column in table.columns if column.keywords & head]
    if headed:
        return max(headed, key=lambda column: len(column.keywords & words) / len(column.keywords))
    fits = []
    for number, column in enumerate(table.columns):
        cell = column.cells[row]
        if cell is None or not table.words.keywords(cell["text"]) & matched:
            is_called = table.pairs and column.keywords & words  # "who got a mail from Ines?" of "To"
            coverage = 1.0 if is_called else names.coverage(column.label, wide)
            fits.append(((max(1, len(column.keywords & words)), bool(column.keywords & wide), coverage), number))
    best = max(fits, default=None)
    is_named = best is not None and best[0][-1] >= 0.5
    asks_when = "date" in (question.expected.kind, question.language.answer_types.expected_type(question.in_full).kind)
    # the cell that a question does not name may be empty and say nothing
    if (
        asks_when
        and len(table.dated) == 1
        and not table.dated[0].is_empty(row)
        and is_document_item(table.rows[row]["page"])
        and not matched <= table.title_keywords  # "when do we rehearse?" of "Extra rehearsals"
    ):
        rest = unexplained(question, table, content_words(question), matched)
        if table.pairs or not (is_named or rest):  # "when did she write?" of a mail, "when is the fire drill?"
            return table.dated[0]
    # "what does it charge?" of a column "Rate per hour"
    is_measure = best is not None and bool(table.columns[best[1]].keywords & (wide - words))
    if best is None or not (is_named or is_measure) or [fit for fit, _ in fits].count(best[0]) > 1:
        return None
    return table.columns[best[1]]


def _cell(question: Question, tables: Sequence[Table]) -> list[Computed]:
    for table in tables:
        row, column = requested_cell(question, table) or (0, None)
        cell = None if column is None else column.cells[row]
        if column is None or cell is None:
            continue
        answers = cell_answers(cell, question)
        if table.pairs and (name := _BESIDE_NAME.sub("", cell["text"]).strip()) != cell["text"]:  # of an address
            answers = [{"id": name, "label": name}]
        if question.expected.kind == "number":
            if not answers and cell["text"].isdecimal() and not column.is_dated:  # a count that looks like a year
                answers = [number_entity(cell["text"])]
            if (value := value_at(cell["text"], 0, len(cell["text"]))) is not None:
                # with its unit; of "1 h 50 min" no number is a part
                answers = [{"id": answer["id"], "label": value["label"]} for answer in answers] or [value]
        if not column.keywords & head_keywords(question):
            answers = [answer for answer in answers if _is_of_kind(answer, question, column)]
        day = day_in(cell["text"]) if column.is_dated else None
        if day is not None and (day.start, day.end) == (0, len(cell["text"])):
            answers = [day.entity]
        if question.expected.kind == "date" and column.is_timed:
            answers = [{"id": cell["text"], "label": cell["text"]}]
        if answers:
            # a document among all that have such pairs, if the question says nothing else
            words = content_words(question)
            is_sure = not unexplained(question, table, words, table.selection(words).used)
            extent = extent_of(table, Selection([row], frozenset())) if is_sure else None
            places = _places(question, table, row, column)
            return [Computed(answer, "cell", places, extent=extent) for answer in answers]
    return []


def _places(question: Question, table: Table, row: int, column: Column) -> tuple[int, ...]:
    """Return the places of the evidences of a cell; of a pair that it is, if it is there."""
    headed = [evidence["evidence_text"] for evidence in (table.pairs[row] if table.pairs else ())
              if "attribute" in evidence and evidence["attribute"]["path"][-1] == column.header]  # fmt: skip
    places = [place for place, read in enumerate(question.evidences) if read.evidence["evidence_text"] in headed]
    return tuple(places) or table.evidence_places([row])


def _choice(question: Question, tables: Sequence[Table]) -> list[Computed]:
    """Return which of the values that a question offers the only row has that it names: "Is the axe in the north or the south?"."""
    words = content_words(question)
    for table in tables:
        offered = alternatives(question, table)
        selection = table.selection(words.difference(*offered))
        namesake = table.own_row(selection)
        rows = selection.rows if namesake is None else [namesake]
        held = [name for name in offered if rows[0] in offered[name]] if len(rows) == 1 and selection.used else []
        if len(held) != 1 or is_unexplained("cell", question, table, words, selection.used.union(*offered)):
            continue
        texts = (cell["text"] for column in table.columns if (cell := column.cells[rows[0]]) is not None)
        label = next((text for text in texts if table.words.keywords(text) == held[0]), None)
        if label is not None:
            return [Computed({"id": label, "label": label}, "cell", table.evidence_places(rows))]
    return []


def _held_then(question: Question, tables: Sequence[Table]) -> list[Computed]:
    """Return what the only row says that holds at the time that a question names: "Who was their coach in 2010?"."""
    keywords = question.language.properties.keywords
    if question.expected.kind in ("yesno", "date", "number") or not question.language.times.time(question.in_full):
        return []
    words, about = content_words(question), {entity["id"] for entity in question.about}
    found: list[tuple[int, Computed]] = []  # with the number of unexplained words of the question
    for table in tables:
        page = keywords(question.items.label(table.rows[0]["page"]) or "")
        is_of_topic = table.rows[0]["page"] in about or any(len(word) > _INITIALS for word in page & words)
        selected = selected_rows(question, table, words - page) if table.dated and is_of_topic else None
        if selected is None:
            continue
        synonyms = question.language.properties.with_synonyms
        named = table.headers | table.title_keywords
        synonymous = frozenset(
            word for word in words if synonyms(frozenset((word,))) & named
        )  # "played guitar" of a column "Guitarist"
        if is_unexplained("cell", question, table, words, selected.used | synonymous):
            continue
        asking = synonyms(words - page - selected.used)
        headed = [column for column in table.columns if column.keywords & asking and not column.order]
        best = max(headed, key=lambda column: len(column.keywords & asking) / len(column.keywords), default=None)
        column = best or (table.name_column if table.title_keywords & asking else None)
        cells = {} if column is None else {row: cell for row in selected.rows if (cell := column.cells[row])}
        if column is None or len({fold(cell["text"]) for cell in cells.values()}) != 1:
            continue
        answers = cell_answers(next(iter(cells.values())), question)
        if len(answers) == 1 and _is_of_kind(answers[0], question, column):
            others = frozenset(table.places.values())
            result = Computed(answers[0], "interval", table.evidence_places([*cells]), rivals=others)
            found.append((len(unexplained(question, table, words, selected.used)), result))
    return [min(found, key=lambda pair: pair[0])[1]] if found else []


def _beside(question: Question, tables: Sequence[Table]) -> list[Computed]:
    """Return the name in the row before or after the one that a question names: "Who managed Chelsea after Mourinho?"."""
    times, properties = question.language.times, question.language.properties
    is_later = times.asks_beside(question.in_full)
    if is_later is None or question.expected.kind in ("yesno", "date", "number"):
        return []
    words, about = content_words(question), {entity["id"] for entity in question.about}
    time = times.named(question.in_full)
    for table in tables:
        names = table.name_column
        if names is None or not table.dated or table.rows[0]["page"] not in about:
            continue
        if not properties.with_synonyms(words) & (table.title_keywords | names.keywords):
            continue
        cells = [(period, row, names.cells[row]) for row, period in table.periods() if period is not None]
        held = [(period, row, cell) for period, row, cell in sorted(cells, key=lambda held: held[:2]) if cell]
        named = [at for at, (_, _, cell) in enumerate(held) if _is_named(cell, words, question)]
        if time is not None and len(named) > 1:
            named = [at for at in named if held[at][0].overlaps(time)]
        at = named[0] + (1 if is_later else -1) if len(named) == 1 else -1
        if 0 <= at < len(held):
            _, row, cell = held[at]
            places = table.evidence_places([row, held[named[0]][1]])
            rivals = frozenset(table.places.values())
            return [Computed(answer, "interval", places, rivals) for answer in cell_answers(cell, question)]
    return []


def _is_named(cell: Cell, words: AbstractSet[str], question: Question) -> bool:
    """Return True if a question has the name in a cell, or the last word of it."""
    last = question.language.properties.keywords(cell["text"].rsplit(maxsplit=1)[-1])
    return bool(last) and last <= words


def _entry(question: Question, _: Sequence[Table]) -> list[Computed]:
    properties = question.language.properties
    words, web = properties.keywords(question.in_full), properties.keyword_set(question.language.operations.web)
    found: dict[frozenset[str], list[Computed]] = {}  # by the keywords of the name
    for place, evidence in enumerate(question.evidences):
        if not evidence.is_of_document:
            continue
        if "attribute" in evidence.evidence:
            attribute = evidence.evidence["attribute"]
            names, text = attribute["path"], ", ".join(value["text"] for value in attribute["values"])
        else:
            names, text = _named_item(evidence)
        # "the website of the town hall" is the value of "town hall, address"
        asking = web if _WEB.match(text) else frozenset[str]()
        name = properties.keyword_set(names) - asking
        subject = properties.keywords(evidence.subject["label"]) if evidence.subject is not None else frozenset[str]()
        is_requested = bool(name) and name <= words and (not asking or bool(words & asking))
        is_explained = len(words - name - asking - subject) <= _UNEXPLAINED
        if is_requested and is_explained and len(text.split()) <= _LONGEST_ENTRY:
            found.setdefault(name, []).append(Computed({"id": text, "label": text}, "entry", (place,)))
    best = found[max(found, key=len)] if found else []
    return best if len(best) == 1 else []


def _section(question: Question, _: Sequence[Table]) -> list[Computed]:
    """Return what a section says that a question names, by its number or its heading: "What does section 4 say about notice?"."""
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
        title = read.entities[0]["label"]
        called = {word for word in keywords(heading) if not word.isdigit()}
        number = _HEADING_NUMBER.match(heading)
        if named["number"] != (number and number[1]) if named["number"] else not called or not called <= words:
            continue
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


def _named_item(read: ReadEvidence) -> tuple[list[str], str]:
    """Return the name and the value of an item of a list in a document, "Family ticket: 17 euros"; both empty of other evidences."""
    if "row" in read.evidence or "citation" not in read.evidence or read.subject is None:
        return [], ""
    text = read.text[passage_start(read.evidence, read.subject["label"]) :]
    name, _, value = text.partition(": ")
    is_item = bool(value) and len(name.split()) <= _LONGEST_ENTRY and "\n" not in text
    return ([name], value.rstrip(". ")) if is_item else ([], "")


def _is_of_kind(answer: Entity, question: Question, column: Column) -> bool:
    kind = question.expected.kind
    if kind in ("date", "number"):
        value = value_of(answer["label"])  # "1 h 50 min" has no number as its id
        is_amount = is_number(answer["id"]) or (value is not None and value.unit in BASE_UNITS)
        return is_date(answer["id"]) if kind == "date" else is_amount
    if kind in ("person", "place") and any(map(str.isdigit, answer["label"])):
        return False
    types = question.language.answer_types
    if types.expected_type(question.in_full).kind != "person" or types.expected_type(column.header).kind == "person":
        return True
    # "Who produced her album?" asks for no cell below "Album", "Who published it?" for one below "Publisher"
    return not set(fold(column.header).split()) <= set(fold(question.in_full).split())


def _comparison(question: Question, tables: Sequence[Table]) -> list[Computed]:
    if results := chosen_by_value(question):
        return results
    operations = question.language.operations
    compared = operations.comparison(question.in_full) if operations.offers(question.text) else None
    if compared is None:
        return []
    by, highest = compared
    for table in tables:
        rows, column = _rows_and_measure(question, table, by)
        if len(rows) < 2 or column is None:
            continue
        is_ranked = operations.is_ranking(column.keywords)
        amounts = {row: column.amount(row) or 0.0 for row in rows}
        first, second, *_ = sorted(amounts, key=lambda row: amounts[row], reverse=highest != is_ranked)
        name = rows[first].cells[first]
        if amounts[first] != amounts[second] and name is not None:
            answers = cell_answers(name, question)
            return [Computed(answer, "comparison", table.evidence_places([*rows])) for answer in answers]
    return []


def _difference(question: Question, tables: Sequence[Table]) -> list[Computed]:
    operations = question.language.operations
    if not operations.differing.search(question.in_full):
        return []
    by, _ = operations.comparison(question.in_full) or (frozenset[str](), True)
    for table in tables:
        rows, column = _rows_and_measure(question, table, by)
        if len(rows) == 2 and column is not None and not column.is_timed:
            first, second = (column.amount(row) or 0.0 for row in rows)
            answer = _amount(abs(first - second), column)
            return [Computed(answer, "difference", table.evidence_places([*rows]))]
    return []


def _rows_and_measure(
    question: Question, table: Table, by: AbstractSet[str]
) -> tuple[dict[int, Column], Column | None]:
    """Return the rows that a question names one by one, by which column, and the column of amounts that it names, or the only one."""
    words = question.language.properties.keywords(question.in_full)
    names = table.named(words)
    rows = dict(place for places in names.values() for place in places)
    if len(rows) != len(names):
        return {}, None
    measures = table.measures(with_measures((words | by).difference(*names), question)) or table.amounts
    if len(measures) != 1 or any(measures[0].amount(row) is None for row in rows):
        return {}, None
    return rows, measures[0]


def _sum(question: Question, tables: Sequence[Table]) -> list[Computed]:
    operations, properties = question.language.operations, question.language.properties
    text, counted = question.in_full, question.language.literals.counted
    summing = " ".join(operations.summing.findall(text))
    nouns = _nouns_behind(operations.summing.sub(" ", text), counted, properties)
    if nouns and not nouns[0]:  # "how much did we pay"
        nouns = None
    # "How many hours did Ines work?" is a sum if several rows are hers; in Wikipedia's tables one of them is synonymous
    is_of_several = counted.match(text) and question.is_of_files
    if not summing and not (is_of_several and question.expected.kind in ("number", "any", "item")):
        return []
    if operations.order(text) or operations.differing.search(text) or (bound_words(question) and not summing):
        return []
    spoken = content_words(question) - properties.keywords(summing)
    words = spoken - properties.keyword_set(operations.adding)
    for table in tables:
        # "how much did they pay?" without a column that is called so
        unnamed = [column for column in table.amounts if summing or _is_of_money(column, question)]
        measures = table.measures(with_measures(spoken, question)) or ([] if nouns else unnamed)
        if len(measures) != 1 or measures[0].is_timed:
            continue
        measure = measures[0]
        page = properties.keywords(question.items.label(table.rows[0]["page"]) or "")
        if nouns and not nouns[0] & (measure.keywords | table.title_keywords | page):
            continue
        selected = selected_rows(question, table, words - measure.keywords)
        if selected is None or len(selected.rows) < 2:
            continue
        # "How many hours did Ines drive?"
        verb = frozenset[str]() if summing or not selected.used else properties.keywords(text.rsplit(maxsplit=1)[-1])
        if is_unexplained("sum", question, table, words - verb, selected.used):
            continue
        if not summing and not (selected.used or any(map(str.isdigit, measure.keywords & words))):
            continue  # "gas in 2024" is the sum of a column
        amounts = [amount for row in selected.rows if (amount := measure.amount(row)) is not None]
        if len(amounts) > 1:
            unjudged = selected.unjudged + len(selected.rows) - len(amounts)
            selected = selected._replace(unjudged=unjudged, lacking=measure.header)
            places = table.evidence_places(selected.rows)
            answer = _amount(math.fsum(amounts), measure)
            return [Computed(answer, "sum", places, extent=extent_of(table, selected))]
    return []


def _is_of_money(column: Column, question: Question) -> bool:
    names = question.language.literals.names_of
    return column.has_currency or not column.keywords.isdisjoint(names("euro") | names("money"))


def _nouns_behind(
    text: str, counting: re.Pattern[str], properties: PropertyWords
) -> tuple[frozenset[str], frozenset[str]] | None:
    """Return the keywords of the word behind "how many", and of all words that may name what is counted; None if nothing is."""
    many = counting.search(text)
    if many is None:
        return None
    behind = text[many.end() :].split()[:MANY_WORDS]
    return properties.keyword_set(behind[:1]), properties.keyword_set(behind)


def _amount(number: float, column: Column) -> Entity:
    if column.order is None:
        return number_entity(f"{round(number, 6):.10g}")
    label = written_amount(number, column.texts, column.order)
    return value_at(label, 0, len(label)) or {"id": label, "label": label}


OPERATIONS: dict[str, Callable[[Question, Sequence[Table]], list[Computed]]] = {
    "cell": _cell,
    "choice": _choice,
    "comparison": _comparison,
    "count": counts,
    "difference": _difference,
    "entry": _entry,
    "list": listed_rows,
    "interval": lambda question, tables: (
        by_intervals(question) or _beside(question, tables) or _held_then(question, tables)
    ),
    "order": ordered_things,
    "section": _section,
    "span": lambda question, _: spans(question),
    "sum": _sum,
}
