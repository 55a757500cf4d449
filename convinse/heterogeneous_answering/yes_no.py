"""Yes or no: the verdict of the model's entailment head on the best evidences, and how much of the question they contain."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

import numpy as np

from ..language.read_evidence import ReadEvidence
from ..language.text import fold
from ..language.validity import contradicting, holding, judged_parts
from .comparisons import holds as comparison_holds
from .memberships import is_member
from .question import NO, YES, Question
from .ranked_answers import AnswerCandidate, ordered
from .sentences import best_sentence, is_prose, sentence_spans
from .statements import said_by_values
from .tables.bounds import bound_words
from .tables.meanings import meant_column
from .tables.selections import selected_rows
from .tables.table import Table, whole_tables
from .tables.words import content_words, is_of_title, unexplained

_READ = 5  # evidences that the model reads at most
_LEAST = 0.02  # of a probability, for its odds
_LEAST_WEIGHT = 1e-6  # of an evidence: all may have score 0
_EQUAL = 1e-9  # shares that differ by less are equal
_NEW = ";"  # before a clause that begins anew
_TICK = re.compile(r"\[([ xX])\] ")  # before an item of a list to tick off
_COVERED = 0.6  # of a question's words that an evidence must have to say something about it

Judge = Callable[[Sequence[tuple[str, str]]], Sequence[float]]
"""From pairs of a question and a text to the probabilities that the text says yes."""


class YesNoFeatures(NamedTuple):
    """The features for "yes".

    Attributes:
        covered: the largest share of the question's words in an evidence; negative if that evidence denies it.
        read: the model's log-odds for the evidences with most of these words, as a mean weighted by their scores.
    """

    covered: float = 0.0
    read: float = 0.0

    @property
    def is_covered(self) -> bool:
        """True if an evidence says something about the question."""
        return abs(self.covered) >= _COVERED


Verdict = tuple[YesNoFeatures, tuple[int, ...]]  # with the places of the best evidences


def both_answers(yes: float, places: tuple[int, ...]) -> list[AnswerCandidate]:
    """Return "yes", of a probability, and "no", the likelier first; "no" if both are equal."""
    both = ((YES, yes), (NO, 1 - yes))
    return ordered(AnswerCandidate(entity, score, places, ("yes_no",)) for entity, score in both)


def yes_or_no(question: Question, judge: Judge | None = None, of_documents: Sequence[Table] = ()) -> Verdict:
    """Return the verdict of the evidences on a question for yes or no.

    Args:
        question: with its evidences.
        judge: the entailment head of a model.
        of_documents: its `document_tables`.
    """
    computed = comparison_holds(question) or said_by_values(question) or _rows_hold(question, of_documents)
    if computed is not None:
        holds, places = computed
        return _certain(holds), places
    covered = _covered(question)
    order = sorted(range(len(covered)), key=lambda place: (-round(covered[place], 9), place))[:_READ]
    if not order:
        return YesNoFeatures(), ()
    most = covered[order[0]]
    order = [place for place in order if most - covered[place] < _EQUAL]
    # an evidence about another time says no; an evidence that holds at the time need not name it
    times = question.language.times
    is_timed = times.time(question.in_full) is not None or times.asks_about_present(question.in_full)
    parts = judged_parts(question.in_full, question.evidences, question.language) if is_timed else []
    behind, within = contradicting(parts), holding(parts)
    read = 0.0
    if judge is not None:
        weights = np.array([question.shares[place] + _LEAST_WEIGHT for place in order])
        timeless = times.without_time(question.in_full)
        texts = [(timeless if place in within else question.in_full, _text(question, place)) for place in order]
        yes = np.clip(judge(texts), _LEAST, 1 - _LEAST)
        odds = np.log(yes / (1 - yes))
        odds = np.where([place in behind for place in order], -np.abs(odds), odds)
        read = float(weights @ odds / weights.sum())
    best_read = question.evidences[order[0]]
    if (said := _on_days(question, best_read)) is not None or (said := _decides(question, best_read)) is not None:
        return _certain(said), tuple(order[:1])
    denial, best = question.language.words.denial.search, _text(question, order[0])
    is_denied = order[0] in behind or (denial(best) is None) != (denial(question.in_full) is None)
    return YesNoFeatures(-most if is_denied else most, read), tuple(order)


def _text(question: Question, place: int) -> str:
    """Return the text of an evidence; of a passage of a file its title and the sentence with most words of the question."""
    read = question.evidences[place]
    if not is_prose(read) or not (spans := sentence_spans(read)):
        return read.text
    start, end = best_sentence(question, read, question.language.properties.keywords(question.in_full))
    return read.text[: spans[0][0]] + read.text[start:end]


def _certain(holds: bool) -> YesNoFeatures:
    sign = 1 if holds else -1
    return YesNoFeatures(covered=float(sign), read=sign * math.log((1 - _LEAST) / _LEAST))


def _on_days(question: Question, read: ReadEvidence) -> bool | None:
    """Return whether a sentence of a file that names days of the week has those of a question; None if it may not say it.

    "It is open from Monday to Thursday" says that it is not on Friday.
    """
    words, keywords, times = question.language.words, question.language.properties.keywords, question.language.times
    days = times.days_of_week(question.in_full)
    if not days or not read.is_of_document or not sentence_spans(read):
        return None
    timeless = keywords(times.week.sub(" ", question.in_full)) - question.language.properties.light_keywords
    start, end = best_sentence(question, read, timeless)
    sentence = read.text[start:end]
    said = times.days_of_week(sentence)
    is_denied = any(words.denial.search(text) for text in (sentence, question.in_full))
    turned = (words.opposites.get(word, frozenset()) for word in fold(question.in_full).split())
    is_opposed = any(not opposites.isdisjoint(fold(sentence).split()) for opposites in turned)
    if not said or is_denied or is_opposed or not timeless <= read.keywords or timeless.isdisjoint(keywords(sentence)):
        return None
    return days <= said


def _decides(question: Question, read: ReadEvidence) -> bool | None:
    """Return what the clause of a file says that has the last words of a question; None if it does not decide.

    A word of the question or its opposite decides: "Sunday: closed", "Dogs are welcome in rooms, but not in the kitchen"; or a yes or no at
    the end, "for massages no". A clause without such a word says what the one before says, unless it denies or excepts.
    """
    words, keywords = question.language.words, question.language.properties.keywords
    folded = fold(question.in_full).split()
    asking = next((word for word in folded if word in words.opposites), "")
    start, end = best_sentence(question, read, keywords(question.in_full)) if read.is_of_document else (0, 0)
    if start == end or words.denial.search(" ".join(word for word in folded if word not in words.lacking)):
        return None
    before, _, sentence = read.text[start:end].rpartition("? ")  # "Do I need a prescription? For massages no."
    clauses = [part for part in words.clauses.split(sentence) if fold(part)]
    # the document's title says what all of its sentences are about
    about = keywords(f"{read.text[: sentence_spans(read)[0][0]]} {before} {asking}")
    terms = [keyword for word in folded for keyword in keywords(word) - about]
    first = {keyword: place for place, clause in reversed([*enumerate(clauses)]) for keyword in keywords(clause)}
    missing = {*terms} - first.keys()
    # "only allowed on the terrace" forbids smoking in the clubhouse, even below a heading that is called so
    last = next((keyword for word in reversed(folded) for keyword in keywords(word)), "")
    is_limited = not words.limiting.isdisjoint(fold(sentence).split()) and folded[0] in words.permitting
    if is_limited and last not in first and {*terms} - missing:
        return False
    if not missing.isdisjoint(read.keywords):
        return None  # another sentence says it
    # what is permitted is said with other verbs: "can I bring my dog?"
    is_of_other_verb = not asking or folded[0] in words.permitting
    if len(missing) > is_of_other_verb or missing & {*terms[-1:]} or not terms:
        return None
    place = max(first[keyword] for keyword in terms if keyword in first)
    if bool(words.lacking & {*folded}) != (fold(clauses[place]).split()[0] in words.lacking):
        return None
    said: list[bool | None] = []
    earlier: bool | None = None
    for clause in clauses:
        if clause.startswith(_NEW):
            earlier = next((one for one in said if one is not None), None)
        said.append(_says(question, clause, asking, earlier))
        earlier = earlier if said[-1] is None else said[-1]
    return next((one for one in said[place:] if one is not None), None)


def _says(question: Question, clause: str, asking: str, before: bool | None) -> bool | None:
    """Return what a clause says by a word of a question, "allowed", or its opposite; `before`: what clauses before it say.

    Behind a semicolon a clause says nothing of its own, unless it denies: "hamsters are allowed; dogs and cats are not".
    """
    words, operations = question.language.words, question.language.operations
    folded = fold(clause).split()
    if ticked := _TICK.match(clause):
        return ticked[1] != " "
    if folded[-1] in operations.affirming | operations.refusing:
        return folded[-1] in operations.affirming
    opposites = words.opposites.get(asking, frozenset())
    is_affirmed = bool(opposites) and any(words.opposites.get(word) == opposites for word in folded)
    is_opposed = not opposites.isdisjoint(folded)
    denial = words.denial.search(" ".join(word for word in folded if word not in words.lacking))
    if is_affirmed != is_opposed:
        return is_affirmed != bool(denial)
    is_turned = bool(denial or operations.excepting.match(clause))
    if before is not None and (is_turned or not clause.startswith(_NEW)):
        return before != is_turned
    # "Cars must not be parked here", "No glass by the pool"
    is_ban = denial is not None and (denial.start() == 0 or not words.permitting.isdisjoint(folded))
    return False if opposites and is_ban else None


def _rows_hold(question: Question, of_documents: Sequence[Table]) -> tuple[bool, tuple[int, ...]] | None:
    """Return whether the rows of a file say yes, and the places of those that decide; None if they say nothing.

    "Are all invoices paid?", "Is any machine not serviced?", "Has Dune been returned?", "Did Mei borrow Dune?"
    """
    if not question.is_of_files:
        return None
    operations, keywords = question.language.operations, question.language.properties.keywords
    quantifiers = (operations.every.search(question.in_full), operations.existing.search(question.in_full))
    words = content_words(question) - question.language.properties.light_keywords
    words = words.difference(*(keywords(quantifier[0]) for quantifier in quantifiers if quantifier))
    tables = (*whole_tables(question), *of_documents)
    for table in tables:
        said = _judged_rows_hold(question, table, words) or _row_says(question, table, words)
        if said is not None:
            holds, rows = said
            return holds, table.evidence_places(rows)
    return is_member(question, tables, words)


def _judged_rows_hold(question: Question, table: Table, words: frozenset[str]) -> tuple[bool, Sequence[int]] | None:
    """Return whether all rows, one of them, or the only one that a question names are in a state, or within a bound or a time."""
    operations, keywords = question.language.operations, question.language.properties.keywords
    timeless = question.language.times.without_time(question.in_full)
    named = table.selection(words & keywords(timeless) - keywords(" ".join(bound_words(question))))
    selected = selected_rows(question, table, words)
    if selected is None or not selected.lacking:
        return None
    rest = unexplained(question, table, words, selected.used | named.used)
    # "does Rosa work on Friday?" of a rota, which has no word for it
    is_of_weekday = any(column.is_of_weekday and column.header == selected.lacking for column in table.columns)
    rest = frozenset(word for word in rest if not is_of_title(word, table, question))
    if len(rest) > is_of_weekday:
        return None
    about = {*named.rows, *selected.rows}
    if selected.unjudged:  # a repair without a cost is not above 50
        column = next(column for column in table.columns if column.header == selected.lacking)
        about = {row for row in about if not column.is_empty(row)}
    others = sorted(about.difference(selected.rows))
    if operations.every.search(question.in_full):
        return not others, others or selected.rows
    if operations.existing.search(question.in_full) or len(about) == 1:
        return bool(selected.rows), selected.rows or others
    return None


def _row_says(question: Question, table: Table, words: frozenset[str]) -> tuple[bool, Sequence[int]] | None:
    """Return True if one row has all words of a question, False if they are of several rows: "Did Mei borrow Dune?"."""
    if question.language.words.denial.search(question.in_full) or question.language.times.time(question.in_full):
        return None
    verbs = {word for word in words if question.language.operations.with_doers(frozenset({word})) & table.headers}
    rows = {word: table.selection({word}).rows for word in sorted(words - verbs) if table.selection({word}).used}
    rest = unexplained(question, table, words, rows.keys() | verbs)
    if len(rows) < 2 or (rest and not _is_verb_of_column(question, table, rest, rows.keys())):
        return None
    selection = table.selection(words)
    if selection.is_whole:
        return True, selection.rows
    if any(rows.keys() <= table.words.keyword_set(column.texts) for column in table.columns):
        return None  # "Are Dune and Emma books?"
    return False, [those[0] for those in rows.values()]


def _is_verb_of_column(question: Question, table: Table, rest: AbstractSet[str], named: AbstractSet[str]) -> bool:
    """Return True if all that a table does not explain is a verb that means the column of a value: "Does Jan speak English?"."""
    keywords, names = question.language.properties.keyword_set, table.name_column
    begins_with = fold(question.in_full).split()[:1]
    if len(rest) != 1 or names is None or question.language.words.doing.isdisjoint(begins_with):
        return False
    values = [column for column in table.columns if column is not names and named & keywords(column.texts)]
    days = keywords(question.language.answer_types.date_nouns)
    if len(values) != 1:
        return False
    return bool(values[0].keywords & days) or meant_column(question, values, named)[0] is not None


def _covered(question: Question) -> list[float]:
    """Return the share of the question's words in an evidence, for all; words of names and classes count half."""
    language, types = question.language.properties, question.language.answer_types
    words = language.keywords(question.in_full) - question.language.properties.light_keywords
    capitals = language.keywords(" ".join(re.findall(r"(?<!^)\b[A-Z][\w'’-]*", question.in_full)))
    weights = {word: 0.5 if word in capitals or types.names_class(word) else 1.0 for word in words}
    total = sum(weights.values())
    shares = []
    for evidence in question.evidences:
        held = evidence.keywords
        present = {word for word in weights if language.holds(held, word)
                   or (types.names_class(word) and not types.noun_types(word).isdisjoint(held))}  # fmt: skip
        # all evidences of an item have its name, which says nothing
        name = language.keywords("" if evidence.subject is None else evidence.subject["label"])
        shares.append(sum(weights[word] for word in present) / total if present - name else 0.0)
    return shares
