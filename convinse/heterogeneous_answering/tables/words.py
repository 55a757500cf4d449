"""The words of a question that a table explains, and those that it leaves unexplained."""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from ...language.text import fold
from ...records.literals import is_document_item
from ..question import Question
from .bounds import bound_words, limiting_column
from .columns import Column
from .table import Table, is_alike, lettered

# words of a question that an operation may leave unexplained; chosen on WikiTableQuestions' training part
_MOST_UNEXPLAINED = {"cell": 1, "count": 1, "list": 1, "sum": 0}


# Least cosine of a noun and of the title of the file whose rows it means. Of 30 pairs ("device" and "equipment") 21 are as near, of 20 others
# ("device" and "staff") one.
_MEANS_ROWS = 0.45


def content_words(question: Question) -> frozenset[str]:
    """Return the keywords of a question without "how many", "how much", "what time", "until when" and "else"."""
    keywords, text = question.language.properties.keywords, question.in_full
    operations = question.language.operations
    said = (
        question.language.literals.counted.search(text),
        operations.counting.search(text),
        operations.excluding.search(text),
        question.language.times.hours.search(text),
        question.language.times.bound_when.match(text),
    )
    return (keywords(text) | lettered(text)).difference(*(keywords(match[0]) for match in said if match))


def title_words(table: Table, question: Question) -> frozenset[str]:
    """Return the keywords of the caption and the pages of a table."""
    page = question.language.properties.keywords(question.items.label(table.rows[0]["page"]) or "")
    return page.union(table.title_keywords, *table.titles.values())


def is_of_title(word: str, table: Table, question: Question) -> bool:
    """Return True if a keyword is one of the titles of a table, or has its first letters: "allergic" of "allergies"."""
    return any(is_alike(word, title) for title in title_words(table, question))


def row_words(table: Table, question: Question) -> frozenset[str]:
    """Return the keywords of the titles of a table; of a file also the words of a question that its title means.

    "device" for the rows of "equipment", to put them in order or to add them; to count them "hen" is not "animals".
    """
    titles, page = title_words(table, question), table.rows[0]["page"]
    if table.pairs or not is_document_item(page):
        return titles
    language = question.language
    spoken = {language.properties.keyword(word): word for word in fold(question.in_full).split()}
    content = language.properties.keywords(question.in_full) - language.properties.keyword_set(language.words.common)
    lacking = content.difference(titles, table.headers, *table.row_keywords) & spoken.keys()
    words = [word for word in sorted(lacking) if word.isalpha()]
    title = question.items.label(page) or ""
    vectors = question.embed([title, *(spoken[word] for word in words)]) if words else None
    if vectors is None:
        return titles
    likeness = vectors[1:] @ vectors[0]
    return titles.union(word for word, cosine in zip(words, likeness, strict=True) if cosine >= _MEANS_ROWS)


def with_numbers(question: Question, tables: Sequence[Table]) -> Question:
    """Return a question with a number for the place that a column has several times: "floor 2" for "second floor"."""
    nth = question.language.operations.nth(question.in_full)
    if nth is None or not question.is_of_files:
        return question
    place, word, noun = nth
    keyword = question.language.properties.keyword(noun)
    columns = (column for table in tables for column in table.amounts if column.keywords == {keyword})
    amounts = next((column.amounts for column in columns if not column.is_dated), [])
    if len({*amounts}) == len(amounts) or place not in amounts:
        return question
    as_number = re.compile(rf"(?i)\b{word}\s+{noun}\b")
    return replace(
        question,
        text=as_number.sub(f"{noun} {place}", question.text),
        in_full=as_number.sub(f"{noun} {place}", question.in_full),
    )


def unexplained(question: Question, table: Table, words: AbstractSet[str], used: AbstractSet[str]) -> frozenset[str]:
    """Return the words of a question that are neither used nor those of the table's headers, title or pages."""
    names_of = question.language.literals.names_of
    rest = words - used - title_words(table, question)
    return frozenset(word for word in rest if not names_of(word) & table.headers)


def is_unexplained(
    operation: str, question: Question, table: Table, words: AbstractSet[str], used: AbstractSet[str]
) -> bool:
    """Return True if an operation may not leave so many words of a question unexplained."""
    rest = unexplained(question, table, words, used)
    return sum(not word.isdigit() or operation == "cell" for word in rest) > _MOST_UNEXPLAINED[operation]


def relates_rows(question: Question, tables: Sequence[Table]) -> bool:
    """Return True if a question asks for rows by other rows, not by a bound, a column or a time."""
    operations, spoken = question.language.operations, fold(question.in_full).split()
    words = {word for place, word in enumerate(spoken) if not operations.is_denied(spoken, place)}  # "no next check"
    if denial := question.language.words.denial.search(question.in_full):
        words -= {*fold(denial[0]).split()}
    if bound_words(question) or any(limiting_column(question, table) for table in tables):
        return bool((operations.relating - operations.greater - operations.lesser - operations.bounding) & words)
    times, text = question.language.times, question.in_full
    is_timed = times.time(text) or times.seasons(text) or (times.clock(text) and any(table.clocks for table in tables))
    return bool(operations.relating & words) and not is_timed


def is_of_money(column: Column, question: Question) -> bool:
    """Return True if a column is of amounts of money, by the sign of a currency or by its header."""
    is_by_header = is_of_one_way(column.header, question) or not column.keywords.isdisjoint(money_words(question))
    is_total = question.language.operations.summing.search(column.header) is not None
    return column.has_currency or is_by_header or is_total


def is_of_one_way(header: str, question: Question) -> bool:
    """Return True for the header of what was paid, or of what was received: "Out", "In"."""
    operations = question.language.operations
    return fold(header) in operations.spent | operations.received


def is_of_holders(column: Column, question: Question) -> bool:
    """Return True if a column says by its header who has the things of the rows: "Borrower", "Lent to"."""
    return not column.order and not question.language.operations.holders.isdisjoint(fold(column.header).split())


def column_of_ballot(question: Question, table: Table) -> Column | None:
    """Return the column of the votes that a question asks for: "how many voted for it?" of "Yes" and "No"."""
    spoken = {*fold(question.in_full).split()}
    ballots = question.language.operations.ballots
    by_answer = {fold(column.header): column for column in table.amounts if fold(column.header) in ballots}
    if len(by_answer) != len(ballots) or spoken.isdisjoint(question.language.operations.voting):
        return None
    sides = [column for answer, column in by_answer.items() if not ballots[answer].isdisjoint(spoken)]
    return sides[0] if len(sides) == 1 else None


def money_words(question: Question) -> AbstractSet[str]:
    """Return the words that name amounts of money."""
    names = question.language.literals.names_of
    return names("euro") | names("money")


def total_or_all(columns: list[Column], question: Question) -> list[Column]:
    """Return the one column that is called a total; of "Unit price" and "Total" that is what was paid. Else all.

    Of "In" and "Out" the one that a question means.
    """
    operations = question.language.operations
    totals = [column for column in columns if operations.summing.search(column.header)]
    words = operations.received if operations.receiving.search(question.in_full) else operations.spent
    sided = [column for column in columns if is_of_one_way(column.header, question)]
    sides = [column for column in sided if fold(column.header) in words]
    return totals if len(totals) == 1 else sides if len(sides) == 1 < len(sided) else columns
