"""Suggests questions about documents, from their tables and their pairs of names and values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..language.language import english
from ..records.evidence import Evidence
from .index import DocumentIndex

_LONGEST_NAME = 40  # characters of a thing that is named in an example question, which is shown in one line
_QUESTIONS = 3  # of a document


def suggested(index: DocumentIndex, most: int) -> list[tuple[str, list[str]]]:
    """Return the titles of the first `most` documents with tables or values that a question can name, with questions about them."""
    suggestions: list[tuple[str, list[str]]] = []
    for item in index.items():
        if len(suggestions) == most:
            break
        questions = list(dict.fromkeys(questions_about(index.get(item) or [])))
        start = len(suggestions) % max(1, len(questions) - _QUESTIONS + 1)  # documents with the same names differ
        if questions:
            suggestions.append((index.names.label(item), questions[start : start + _QUESTIONS]))
    return suggestions


def questions_about(evidences: Sequence[Evidence]) -> Iterator[str]:
    """Yield questions that the rows and the values among some evidences answer."""
    for evidence in evidences:
        row, attribute = evidence.get("row"), evidence.get("attribute")
        if row is not None and len(row["cells"]) > 1:
            subject, *cells = row["cells"]
            thing = english().follow_ups.row_named(subject["header"], subject["text"])
            start = row.get("number", 0) % len(cells)
            names = [cell["header"] for cell in (*cells[start:], *cells[:start]) if any(map(str.isalnum, cell["text"]))]
        elif attribute is not None and attribute["path"] and not evidence.get("citation", {"headings": []})["headings"]:
            title = evidence["wikidata_entities"][0]["label"]
            thing, names = english().follow_ups.document_named(title), attribute["path"][-1:]
        else:
            continue
        if thing is not None and len(thing) <= _LONGEST_NAME:
            questions = (english().follow_ups.about(name, thing) for name in names)
            if question := next(filter(None, questions), None):
                yield question
