"""Follow-ups about the row of a table that answered: its other cells ("and the score?"), other rows ("and the next one?", "and in 1990?")."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from ..knowledge_base.items import Items
from ..language.language import Language
from ..language.text import fold
from ..records.conversation import Turn
from ..records.evidence import Cell, Entity, Row, has_place, is_same_row
from ..records.literals import is_item
from ..records.periods import Boundary, period_of_cells
from ..records.rewriting import FullQuestion, Insertion
from ..wikipedia.pages import Pages
from .ordered_rows import OrderedRows, cell_below, cell_with

_KINDS_OF_CELLS = ("date", "person", "place")  # which tell a cell without a word of its header
_LONGEST_VERB = 2  # words: "come out"
_DATED_TWICE = 2  # columns of a table whose rows begin and end
_NUMBER = re.compile(r"\d+")
_WORD = re.compile(r"\w+")


class RowFollowUps:
    """Reads follow-ups as questions for a cell in the row of the last answer, or in another row of its table.

    Args:
        pages: the pages of the rows.
        kb: the items of these pages.
        language: the language of the questions.
    """

    def __init__(self, pages: Pages, kb: Items, language: Language) -> None:
        self._pages, self._kb, self._language = pages, kb, language

    def about_row(
        self, question: str, history: Sequence[Turn], earlier: str, named: AbstractSet[str], pronouns: Sequence[str]
    ) -> FullQuestion | None:
        """Return a follow-up in full, with the row and the cell that it asks for; None if it may ask for something else.

        Args:
            question: the follow-up.
            history: the earlier turns, oldest first.
            earlier: the last question in full.
            named: the items that the follow-up names itself.
            pronouns: those in it.
        """
        last, turn, types = history[-1], len(history) - 1, self._language.answer_types
        answers = last.get("answers") or ()
        is_ellipsis = self._language.talk.bare_ellipsis.match(question) is not None  # which may name another row
        operations = self._language.operations
        has_won = operations.won.search(question) is not None or operations.lost.search(question) is not None
        is_yes_no = types.expected_type(question).kind == "yesno"
        if not answers or (is_yes_no and not has_won):  # "is it the longest season?"
            return None
        row = self._row_of_answer(last, answers, earlier)
        answered = None if row is None else cell_with(row, answers)
        if row is None or answered is None or not (is_ellipsis or named <= {row["page"]}):
            return None
        table = OrderedRows(self._pages.table(row["page"], row["table"]), self._language)
        if "abstained" in last and not table.is_named(row, earlier):  # a guess is not gone on about
            return None
        topic = self._kb.entity(row["page"])
        if is_yes_no:  # "did they win?" of a final
            is_of_match = any(not operations.outcomes.isdisjoint(fold(cell["header"]).split()) for cell in row["cells"])
            return self._about_match(question, table.label(row), topic, turn) if is_of_match else None
        vocabulary = self._language.properties.keywords(f"{topic['label']} {earlier} {table.label(row)}") | table.title
        is_later = self._is_later(question)
        by_name = table.with_name(self._content(question)) if is_later is None else None
        holder = None if by_name is None else table.name_cell(by_name)
        # who or what held something for a time, rather than the theme of a season
        is_holder = holder is not None and (
            fold(holder["header"]) in self._language.operations.naming
            or self._kind_of(holder, table) in ("person", "group")
        )
        if by_name is not None and is_holder and not is_same_row(by_name, row):  # "and when did Mourinho leave?"
            row, vocabulary = by_name, vocabulary | self._language.properties.keywords(table.label(by_name))
            found = None
        else:
            found = self._other_row(question, table, row, named - {row["page"]}, is_later)
        if found is None:
            cells = self._other_cells(question, table, row, answered, vocabulary, pronouns)
            return _in_brackets(question, table.label(row), topic, turn, {**row, "cells": cells}) if cells else None
        other, content = found
        name = table.name_cell(row)
        if name == answered:
            content -= self._classes(question)
        if other is None or not self._is_explained(content, question, vocabulary | table.headers):
            return None
        left, model = self._unexplained(content, vocabulary | table.headers), answered
        if left and not (self._language.times.before | self._language.times.after).isdisjoint(
            fold(question).split()[-1:]
        ):
            return None  # "who turned it down before?"
        if self._asked_another_cell(history, row):
            if left:  # "who did they beat the year after?" behind "who was the coach?"
                return None
            if is_later is not None and table.key_words.isdisjoint(content):
                model = name or answered  # "and his next film?" behind "who was in it?"
        cells = self._cell_of_other(question, content, table, other, model, may_tell_by_kind=not left)
        if not cells:
            return None
        if is_later is not None and table.is_gap(row, other):  # no row of the table answers
            return _in_brackets(question, table.label(row), topic, turn, {**row, "cells": []})
        spoken: Row = {**other, "cells": cells}
        full = table.with_other(earlier, row, other) if cells[0]["column"] == answered["column"] else None
        if full is None:
            return _in_brackets(question, table.label(row), topic, turn, spoken)
        return FullQuestion(full, (Insertion(0, len(full) - 1, turn, "question"),), spoken)

    def _about_match(self, question: str, label: str, topic: Entity, turn: int) -> FullQuestion | None:
        """Return "did they win?" in full, with the side whose table it is, and the match behind it; None without a pronoun for it."""
        group = self._language.words.pronouns["group"]
        pronoun = next((match for match in _WORD.finditer(question) if match[0].lower() in group), None)
        if pronoun is None:
            return None
        start, end = pronoun.start(), pronoun.start() + len(topic["label"])
        text = f"{question[:start]}{topic['label']}{question[pronoun.end() :]}".rstrip(" ?.!")
        of_row = Insertion(len(text) + 2, len(text) + 2 + len(label), turn, "answer")
        return FullQuestion(f"{text} ({label})?", (Insertion(start, end, turn, "question", topic), of_row))

    def _other_row(
        self, question: str, table: OrderedRows, row: Row, named: AbstractSet[str], is_later: bool | None
    ) -> tuple[Row | None, frozenset[str]] | None:
        """Return another row that a question asks for, None if it is not there, and the words that do not name it.

        None instead of both if it asks for no other row.
        """
        content, operations = self._content(question), self._language.operations
        numbers, nth = frozenset(_NUMBER.findall(question)), operations.place(question)
        if named:  # "and with Whitney Houston?", "and after Juventus?"
            other = table.with_items(named)
            if other is not None and is_later is not None:
                other = table.beside(other, self._distance(question) * (1 if is_later else -1))
            return other, frozenset()
        if (
            nth is not None
            and not table.is_partial
            and content <= self._language.properties.keyword_set(operations.places)
        ):
            return table.nth(nth), frozenset()  # "and the second one?"
        if is_later is not None:
            return table.beside(row, self._distance(question) * (1 if is_later else -1)), content
        if not numbers:
            return None
        numbering = table.numbering(content)  # "and in 1990?", "and season 2?"
        named_by = numbers if numbering is None else numbers | table.header(numbering)
        return table.numbered(numbers, content), content - named_by

    def _row_of_answer(self, turn: Turn, answers: Sequence[Entity], question: str) -> Row | None:
        """Return the row that an answer is from: of the table that is cited, else of the topics, the one with most words of the question."""
        representation = turn.get("representation")
        spoken = representation.get("row") if representation else None
        evidence = next(iter(turn.get("top_evidences") or ()), None)
        cited = evidence["row"] if evidence is not None and "row" in evidence else None
        if spoken is not None and has_place(spoken) and cell_with(spoken, answers):
            rows = self._pages.table(spoken["page"], spoken["table"])
            return next((row for row in rows if is_same_row(row, spoken)), None)
        if cited is not None and has_place(cited) and cell_with(cited, answers):
            rows = self._pages.table(cited["page"], cited["table"])
        else:
            topics = [*representation["entities"], *representation["context"]] if representation else []
            pages = [self._pages.get(topic["id"]) or () for topic in topics if is_item(topic["id"])]
            rows = [each["row"] for page in pages for each in page if "row" in each and has_place(each["row"])]
            cited = None
        scores: dict[tuple[int, int, int], list[Row]] = {}
        for row in rows:
            if (answered := cell_with(row, answers)) is not None:
                score = (*self._likeness(row, answered, question), is_same_row(row, cited))
                scores.setdefault(score, []).append(row)
        best = scores[max(scores)] if scores else []
        return best[0] if len({row["number"] for row in best}) == 1 else None

    def _likeness(self, row: Row, answered: Cell, question: str) -> tuple[int, int]:
        """Return how well a question names a row beside the cell that answers it: by its time and whole cells, by words."""
        keywords, time = self._language.properties.keywords, self._language.times.named(question)
        words, period = keywords(question), period_of_cells(cell["text"] for cell in row["cells"])
        texts = [keywords(cell["text"]) for cell in row["cells"] if cell is not answered]
        is_then = time is not None and period is not None and time.overlaps(period)
        whole = sum(bool(text) and text <= words for text in texts)  # "7" of season 7, rather than of 7 May
        return is_then + whole, len(words & frozenset[str]().union(*texts))

    def _asked_another_cell(self, history: Sequence[Turn], row: Row) -> bool:
        """Return True if the last question asked for another cell of a row that the one before it was about."""
        if len(history) == 1:
            return False
        before = history[-2]
        question = before.get("resolved_question") or before["question"]
        return is_same_row(self._row_of_answer(before, before.get("answers") or (), question), row)

    def _is_later(self, question: str) -> bool | None:
        """Return True if a question asks for the row behind, False for the one before, None for neither."""
        is_later = self._language.times.asks_beside(question)
        return True if is_later is None and self._language.steps.next_one.match(question) else is_later

    def _distance(self, question: str) -> int:
        """Return how many years lie between a row and the one that a question asks for: 2 for "two years later"; by default 1."""
        numbers = (self._language.literals.number_in_words(word) for word in fold(question).split())
        return next((number for number in numbers if number), 1)

    def _content(self, question: str) -> frozenset[str]:
        """Return the keywords of a question that say what it asks for: "next", "how many" and the "year" of "in which year" do not."""
        if self._language.steps.names_step(question):
            return frozenset()
        properties, times, literals = self._language.properties, self._language.times, self._language.literals
        expected = self._language.answer_types.expected_type(question)
        kinds = properties.keyword_set(expected.words) if expected.kind in _KINDS_OF_CELLS else frozenset[str]()
        counted = literals.counted.search(question) or literals.lasting.search(question)
        beside = times.after | times.before | times.succeeding | times.preceding | times.following
        numbers = {word for word in fold(question).split() if literals.number_in_words(word)}
        words = (
            properties.keywords(question) - properties.light_keywords - properties.keyword_set(beside | numbers) - kinds
        )
        return words - properties.keywords(counted[0]) if counted else words

    def _classes(self, question: str) -> frozenset[str]:
        """Return the keywords of the nouns of a question that name classes of things: "book" of "and his next book?"."""
        types = self._language.answer_types
        nouns = (noun for noun in _WORD.findall(fold(question)) if types.names_class(noun))
        return self._language.properties.keyword_set(noun for noun in nouns if noun not in types.person_nouns)

    def _unexplained(self, content: AbstractSet[str], vocabulary: AbstractSet[str]) -> set[str]:
        properties = self._language.properties
        return {word for word in content if properties.with_synonyms(frozenset((word,))).isdisjoint(vocabulary)}

    def _is_explained(self, content: AbstractSet[str], question: str, vocabulary: AbstractSet[str]) -> bool:
        """Return True if a table or the last question has some words, but for a verb: "what did they release after that?"."""
        words = self._language.words
        has_verb = not (words.doing | words.pronouns["thing"]).isdisjoint(fold(question).split())
        return len(self._unexplained(content, vocabulary)) <= has_verb

    def _other_cells(
        self, question: str, table: OrderedRows, row: Row, answered: Cell, vocabulary: AbstractSet[str],
        pronouns: Sequence[str],
    ) -> list[Cell]:  # fmt: skip
        """Return the cell of the row that a question asks for besides the one that answered; both dates if it asks how long."""
        properties, types, times = self._language.properties, self._language.answer_types, self._language.times
        content, kind, boundary = self._content(question), types.expected_type(question).kind, times.boundary(question)
        dated = [cell for cell in row["cells"] if cell["column"] in table.dated]
        if self._language.operations.faring.search(question):
            outcomes = properties.keyword_set(self._language.operations.outcomes)
            return [cell for cell in row["cells"] if table.header(cell) & outcomes][:1]
        if len(dated) == _DATED_TWICE and self._language.literals.lasting.search(question):
            return dated if self._is_explained(content, question, vocabulary) else []
        if boundary is not Boundary.ANY and kind in ("date", "any"):
            bounds = properties.keyword_set(times.starting | times.ending | times.since | times.until)
            is_asked = len(dated) == _DATED_TWICE and self._is_explained(content - bounds, question, vocabulary)
            return [dated[boundary in (Boundary.END, Boundary.UNTIL)]] if is_asked else []
        people = self._language.words.pronouns["person"]
        is_of_person = not people.isdisjoint(pronouns) and self._kind_of(answered, table) == "person"
        cells = [cell for cell in row["cells"] if cell["column"] != answered["column"]]
        if kind in ("date", "number"):
            cells = [cell for cell in cells if _NUMBER.search(cell["text"])]
        if kind == "number":  # "how many seasons are there?" asks for no number of one
            cells = [cell for cell in cells if not table.numbers_rows(cell["column"])]
        headed = self._headed(content, kind, cells, table)
        # "where was he born?" is about the coach, "which one did he play for first?" about all rows; "what season did he join?" about the row
        is_of_row = not (is_of_person or self._language.operations.order(question))
        if not is_of_row and (headed is None or content.isdisjoint(table.header(headed))):
            return []
        if headed and kind != "date" and headed["column"] in table.dated and content.isdisjoint(table.header(headed)):
            return []  # "which network?" is no question for the day below "First aired"
        if headed:
            vocabulary = vocabulary | properties.with_synonyms(table.headers)  # "cast" of "Leading actors"
            return [headed] if self._is_explained(content, question, vocabulary) else []
        # "when did it come out?" has a verb that no table has
        pointing = self._language.words.pointing | self._language.words.pronouns["thing"]
        words = {*_WORD.findall(fold(question))}  # "when was that director born?" is about no thing
        is_of_thing = people.isdisjoint(pronouns) and bool(pointing & words) and words.isdisjoint(types.person_nouns)
        longest = _LONGEST_VERB if is_of_thing and kind != "person" else 0
        if kind not in _KINDS_OF_CELLS or len(self._unexplained(content, vocabulary)) > longest:
            return []
        return self._of_kind(kind, cells, table)

    def _headed(self, content: frozenset[str], kind: str, cells: Iterable[Cell], table: OrderedRows) -> Cell | None:
        """Return the cell whose header has most of some words, then of words for the same; None without any."""
        properties = self._language.properties
        wide = properties.with_synonyms(content)
        wide = self._language.operations.with_doers(wide) if kind == "person" else wide
        shared = [
            (len(content & (header := table.header(cell))), len(wide & properties.with_synonyms(header)), cell)
            for cell in cells
        ]
        *counts, best = max(shared, key=lambda each: each[:2], default=(0, 0, None))
        return best if any(counts) else None

    def _cell_of_other(
        self, question: str, content: AbstractSet[str], table: OrderedRows, row: Row, answered: Cell, *,
        may_tell_by_kind: bool,
    ) -> list[Cell]:  # fmt: skip
        """Return the cell of another row that a question asks for: by its header or kind, else as the last one."""
        headed = [cell for cell in row["cells"] if content & table.header(cell) and not table.is_key(cell)]
        if headed:
            return headed[:1]
        types, last = self._language.answer_types, self._kind_of(answered, table)
        # "and the year after?" asks for no date
        is_question = not types.opening_words.isdisjoint(fold(question).split())
        kind = types.expected_type(question).kind if is_question else "any"
        same, name = cell_below(row, answered["column"]), table.name_cell(row)
        if kind not in _KINDS_OF_CELLS or kind == last or (kind == "person" and last == "group"):
            return [] if same is None else [same]
        if not may_tell_by_kind:  # "who did they beat the year after?" asks for no coach
            return []
        named = [name] if kind == "person" and name is not None else []
        return self._of_kind(kind, row["cells"], table) or named  # "who was next?" behind "until when?"

    def _of_kind(self, kind: str, cells: Iterable[Cell], table: OrderedRows) -> list[Cell]:
        """Return the only cell of a kind; empty without one."""
        of_kind = [cell for cell in cells if self._kind_of(cell, table) == kind]
        return of_kind if len(of_kind) == 1 else []

    def _kind_of(self, cell: Cell, table: OrderedRows) -> str:
        """Return the kind of what a cell has: a date, a person, a place; that of its header if its items do not tell."""
        if cell["column"] in table.dated:
            return "date"
        types = self._language.answer_types
        items = [entity["id"] for entity in cell["entities"] if is_item(entity["id"])]
        kinds = {types.entity_kind(item, self._kb.types(item)) for item in items}
        return kinds.pop() if len(kinds) == 1 else types.expected_type(cell["header"]).kind


def _in_brackets(question: str, label: str, topic: Entity, turn: int, row: Row) -> FullQuestion:
    """Return a question with the name of its row and the topic behind it, in brackets."""
    text = question.rstrip(" ?.!")
    start = len(text) + 2
    named = f"{label}, {topic['label']}" if label else topic["label"]
    middle = start + len(named) - len(topic["label"])
    insertions = [Insertion(start, start + len(label), turn, "answer")] if label else []
    insertions.append(Insertion(middle, start + len(named), turn, "question", topic))
    return FullQuestion(f"{text} ({named})?", tuple(insertions), row)
