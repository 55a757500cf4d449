"""Documents as the rows of a table: their pairs of names and values, and what their sentences say of a date or an amount."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from ...language.text import fold
from ...records.evidence import Cell, Entity, Evidence, Row, is_of_mail, passage_start, shown_citation
from ...records.literals import is_date, is_number
from ...records.written_values import day_in, find_literals
from ...wikipedia.page import sentence_places
from ...wikipedia.pages import EvidencePlace
from ...wikipedia.stored_pages import search_words
from ..question import Question
from .bounds import bound_words, with_measures
from .table import Table, table_of

_UNIT = re.compile(r" ?(?:[^\W\d_]+|%)")  # behind a number
_MIN_ROWS = 2  # of a table: one document alone is read
_NOUN_WORDS = 3  # that may have a noun: "open tasks of"
_MOST_BESIDE = 2  # words of a heading beside the noun of its items: "Tasks", "Offers for the roof"
_MOST_FOUND = 1_000  # passages that may state a date or an amount: a tenth of a second to read


_Value = tuple[Cell, Evidence]  # a cell, whose header is the name of the value, and its evidence
_Values = dict[str, _Value]  # of a document or section, by the folded name


def document_tables(question: Question) -> list[Table]:
    """Return the table of the documents, or sections, that have a pair whose name the question has, or a sentence that says the same.

    Its first column has their titles. Without an evidence of a file no index is opened.
    """
    if not question.is_of_files:
        return []
    return [*_tables_of_items(question), *_tables_of_pairs(question)]


def _tables_of_pairs(question: Question) -> list[Table]:
    keywords, pages = question.language.properties.keywords, question.pages
    words = with_measures(keywords(question.in_full), question)
    header = question.language.operations.header
    names = [name for name in pages.pair_names if keywords(header(name)) & words]
    groups: dict[tuple[str, ...], _Values] = defaultdict(dict)  # by page and headings
    for evidence in pages.with_pairs(names) if names else ():
        attribute = evidence["attribute"]
        text = ", ".join(value["text"] for value in attribute["values"])
        key = evidence["wikidata_entities"][0]["id"], *evidence["citation"]["headings"]
        name = attribute["path"][-1]
        groups[key].setdefault(fold(name), (_cell(text, name), evidence))
    folded = {*map(fold, names)}
    groups = {key: values for key, values in groups.items() if not folded.isdisjoint(values)}
    stated = _stated_values(question)
    condition = _condition(question)
    shared = {fold(name): name for name in reversed(names) if keywords(header(name)) & condition}
    paired = {key[0] for key in groups}
    for page, (cell, evidence) in stated.items():
        if page not in paired:
            name = next(iter(shared.values())) if len(shared) == 1 else cell["header"]
            groups[page,] = {fold(name): ({**cell, "header": name}, evidence)}
    if len(groups) < _MIN_ROWS:
        groups = _dated_sections(question)
    if len(groups) < _MIN_ROWS:
        return []

    def shared_words(item: tuple[str, _Value]) -> int:
        cell, _ = item[1]
        return -len(keywords(cell["header"]) & words)

    # the values that a question asks for are those that are cited
    return [_table(question, {key: dict(sorted(values.items(), key=shared_words)) for key, values in groups.items()})]


def _tables_of_items(question: Question) -> list[Table]:
    """Return the table of the items of lists below headings that have the noun of a question: the tasks of all minutes.

    Its columns are what stands before a colon, what stands behind it, and the day that an item names.
    """
    noun, keywords, operations = _noun(question), question.language.properties.keywords, question.language.operations
    text = question.in_full
    asks_for_several = (
        operations.asks_for_several(text) or operations.listing.match(text) or operations.counting.search(text)
    )
    if not noun or not asks_for_several:
        return []
    rows: list[Row] = []
    pairs: list[list[Evidence]] = []
    found = question.pages.search([*noun], _MOST_FOUND + 1)
    if len(found) > _MOST_FOUND:  # a list or a count of some of them would be wrong
        return []
    for page, evidence in _passages(question, found):
        heading = (evidence["citation"]["headings"] or [""])[-1]
        text = evidence["evidence_text"][passage_start(evidence, question.items.label(page) or "") :]
        named = keywords(heading)
        if not noun <= named or len(named - noun) > _MOST_BESIDE or len([*sentence_places(text)]) != 1:
            continue
        who, colon, what = text.partition(": ")
        day = day_in(text)
        texts = [what, who] if colon else [text, ""]
        texts.append(text[day.start : day.end] if day else "")
        headers = (heading, "", operations.day_header)
        pieces = enumerate(zip(texts, headers, strict=True))
        cells = [_cell(text, header, number) for number, (text, header) in pieces if text]
        rows.append(Row(caption=heading, section="", cells=cells, page=page, table=-1, number=len(rows)))
        pairs.append([evidence])
    return [table_of(question, rows, {}, pairs).among(question.evidences)] if len(rows) >= _MIN_ROWS else []


def _dated_sections(question: Question) -> dict[tuple[str, ...], _Values]:
    """Return the documents and sections with a day in their title, for questions for a time, an order by time, releases or minutes."""
    operations, times, text = question.language.operations, question.language.times, question.in_full
    order = operations.order(text)
    is_by_time = order is not None and not order.by
    is_of_sections = bool(_noun(question) & question.language.properties.keyword_set(operations.dated))
    if (
        not (is_by_time or is_of_sections)
        and times.time(text) is None
        and times.seasons(text) is None
        and question.expected.kind != "date"
    ):
        return {}
    groups: dict[tuple[str, ...], _Values] = {}
    for evidence in question.pages.dated_sections:
        page = evidence["wikidata_entities"][0]
        headings = evidence["citation"]["headings"]
        title = (headings or [page["label"]])[-1]
        if day := day_in(title):
            name = f"{title[: day.start]}{title[day.end :]}".strip(" ()[],:–—-") or title
            key = (page["id"], *headings[:-1], name)
            groups[key] = {"": (_cell(title[day.start : day.end], operations.day_header), evidence)}
    return groups


def _table(question: Question, groups: dict[tuple[str, ...], _Values]) -> Table:
    """Return the table of the pairs of documents or sections; the day in a title is a pair, too, where no pair is called so."""
    names = dict.fromkeys(name for values in groups.values() for name in values)
    columns = {name: number for number, name in enumerate(names, 1)}
    day_header = question.language.operations.day_header
    is_dated = fold(day_header) in columns or any(
        cell["header"] == day_header for values in groups.values() for cell, _ in values.values()
    )
    rows = []
    for number, ((page, *headings), values) in enumerate(groups.items()):
        title = headings[-1] if headings else question.items.label(page) or ""
        item = [] if headings else [Entity(id=page, label=title)]
        cells: list[Cell] = [{**_cell(title, ""), "entities": item}]
        cells += ({**cell, "column": columns[name]} for name, (cell, _) in values.items())
        if not is_dated and (day := day_in(title)):
            cells.append(_cell(title[day.start : day.end], day_header, len(columns) + 1))
        rows.append(Row(caption="", section="", cells=cells, page=page, table=-1, number=number))
    pairs = [[evidence for _, evidence in values.values()] for values in groups.values()]
    mails = [row["page"] for row, (first, *_) in zip(rows, pairs, strict=True) if is_of_mail(first)]
    return table_of(question, rows, {}, pairs, _written_words(question, mails)).among(question.evidences)


def _cell(text: str, header: str, column: int = 0) -> Cell:
    return Cell(text=text, entities=[], start=0, header=header, column=column)


def _written_words(question: Question, mails: Sequence[str]) -> dict[str, frozenset[str]]:
    """Return for each page of a mail the words of the question that its text has: "who wrote about the window?"."""
    words = question.language.properties.keywords(question.in_full)
    written: dict[str, frozenset[str]] = defaultdict(frozenset)
    found = question.pages.search(search_words(question.in_full), _MOST_FOUND) if mails else ()
    for page, evidence in _passages(question, found):
        if page in mails and not evidence["citation"]["headings"]:
            text = evidence["evidence_text"][passage_start(evidence, question.items.label(page) or "") :]
            written[page] |= question.language.properties.keywords(text) & words
    return written


def _condition(question: Question) -> frozenset[str]:
    """Return the keywords of a question that say what its time, bound, order or sum is of: "end" of "which contracts end before March"."""
    keywords, operations, text = question.language.properties.keywords, question.language.operations, question.in_full
    order = operations.order(text)
    others = [*bound_words(question), *operations.adding, *(order.words if order else ())]
    asking = (operations.listing.match(text), operations.counting.search(text), operations.summing.search(text))
    others += [match[0] for match in asking if match]
    return keywords(question.language.times.without_time(text)) - _noun(question) - keywords(" ".join(others))


def _noun(question: Question) -> frozenset[str]:
    """Return the keyword of the things that a question asks for: contracts in "which contracts", "how many contracts", "list all contracts"."""
    operations, text = question.language.operations, question.in_full
    words = (operations.head(question.text) or operations.head(text)).split()
    for match in (operations.counting.search(text), operations.listing.match(text)):
        words = words or (text[match.end() :].split() if match else [])
    dated = question.language.properties.keyword_set(operations.dated)
    noun = next(
        (word for word in words[:_NOUN_WORDS] if question.language.properties.keyword(fold(word)) in dated), None
    )
    return question.language.properties.keyword_set([noun or "".join(words[:1])])  # "which beta releases"


def _stated_values(question: Question) -> dict[str, _Value]:
    """Return for each document the first sentence with the words of the condition and a date or an amount, as a question asks for them."""
    keywords, condition = question.language.properties.keywords, _condition(question)
    operations, text = question.language.operations, question.in_full
    order = operations.order(text)
    has_time = question.language.times.time(text) is not None or (order is not None and not order.by)
    has_amount = bound_words(question) or (order is not None and order.by) or operations.summing.search(text)
    if not condition or not (has_time or has_amount):
        return {}
    is_of_kind = is_date if has_time else is_number
    stated: dict[str, _Value] = {}
    stems = search_words(question.language.times.without_time(question.in_full))
    for page, evidence in _passages(question, question.pages.search(stems, _MOST_FOUND)):
        if page in stated:
            continue
        text = evidence["evidence_text"]
        if not _noun(question) <= keywords(shown_citation(evidence)) | keywords(text):
            continue
        for start, end in sentence_places(text):
            sentence = text[start:end]
            said = keywords(sentence)
            values = [literal for literal in find_literals(sentence) if is_of_kind(literal.entity["id"])]
            if len(values) == 1 and all(with_measures(frozenset({word}), question) & said for word in condition):
                unit = None if has_time else _UNIT.match(sentence, values[0].end)
                value = sentence[values[0].start : unit.end() if unit else values[0].end]
                stated[page] = _cell(value, " ".join(sorted(condition))), evidence
                break
    return stated


def _passages(question: Question, found: Iterable[EvidencePlace]) -> Iterator[tuple[str, Evidence]]:
    """Yield the passages of documents among found evidences, with their pages, in the order of the pages."""
    places: dict[str, list[int]] = defaultdict(list)
    for page, place in found:
        places[page].append(place)
    for page in sorted(places):
        evidences: Sequence[Evidence] = question.pages.get(page) or ()
        for place in sorted(places[page]):
            evidence = evidences[place]
            if "citation" in evidence and evidence["source"] == "text":
                yield page, evidence
