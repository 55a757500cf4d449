"""Suggests questions about documents, from their tables and their pairs of names and values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..language.language import english
from ..records.evidence import Evidence
from .index import DocumentIndex

_LONGEST_NAME = 30
_QUESTIONS = 3  # of a document


class Suggestion(NamedTuple):
    """The title of a document, and questions that it answers."""

    title: str
    questions: list[str]


def suggested(index: DocumentIndex, most: int) -> list[Suggestion]:
    """Return questions about the first `most` documents with tables or values."""
    suggestions: list[Suggestion] = []
    for item in index.items():
        if len(suggestions) == most:
            break
        questions = list(dict.fromkeys(questions_about(index.get(item) or [])))[:_QUESTIONS]
        if questions:
            suggestions.append(Suggestion(index.names.label(item), questions))
    return suggestions


def questions_about(evidences: Sequence[Evidence]) -> Iterator[str]:
    """Yield questions that the rows and the values among some evidences answer."""
    for evidence in evidences:
        row, attribute = evidence.get("row"), evidence.get("attribute")
        if row is not None and len(row["cells"]) > 1:
            subject, *cells = row["cells"]
            thing, attribute_name = subject["text"], cells[row.get("number", 0) % len(cells)]["header"]
        elif attribute is not None and attribute["path"]:
            thing, attribute_name = evidence["evidence_text"].split(", ")[0], attribute["path"][-1]
        else:
            continue
        is_clause = {*attribute_name.lower().split()[:1]} & english().words.common  # "what it does"
        if _is_name(attribute_name) and not is_clause and _is_name(thing) and any(map(str.isalpha, thing)):
            first = attribute_name[:1].lower() if attribute_name[1:2].islower() else attribute_name[:1]
            yield f"What is the {first}{attribute_name[1:]} of {thing}?"


def _is_name(text: str) -> bool:
    return 1 < len(text) <= _LONGEST_NAME and text[-1] not in ".:;"
