"""Questions that documents suggest: of what their tables and their pairs of names and values say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..language.language import english
from ..records.evidence import Evidence
from .index import DocumentIndex

_LONGEST_NAME = 30
_QUESTIONS = 3  # of a document


class Suggestion(NamedTuple):
    """A document's title, and questions that can be asked of it."""

    title: str
    questions: list[str]


def suggested(index: DocumentIndex, most: int) -> list[Suggestion]:
    """Questions about the first documents whose tables or values suggest some."""
    suggestions: list[Suggestion] = []
    for item in index.items():
        if len(suggestions) == most:
            break
        questions = list(dict.fromkeys(questions_about(index.get(item) or [])))[:_QUESTIONS]
        if questions:
            suggestions.append(Suggestion(index.names.label(item), questions))
    return suggestions


def questions_about(evidences: Sequence[Evidence]) -> Iterator[str]:
    """Questions that the rows and the values among some evidences answer."""
    for evidence in evidences:
        row, attribute = evidence.get("row"), evidence.get("attribute")
        if row is not None and len(row["cells"]) > 1:
            subject, *cells = row["cells"]
            thing, asked = subject["text"], cells[row.get("number", 0) % len(cells)]["header"]
        elif attribute is not None and attribute["path"]:
            thing, asked = evidence["evidence_text"].split(", ")[0], attribute["path"][-1]
        else:
            continue
        is_clause = {*asked.lower().split()[:1]} & english().words.common  # "what it does"
        if _is_name(asked) and not is_clause and _is_name(thing) and any(map(str.isalpha, thing)):
            yield f"What is the {asked[:1].lower() if asked[1:2].islower() else asked[:1]}{asked[1:]} of {thing}?"


def _is_name(text: str) -> bool:
    return 1 < len(text) <= _LONGEST_NAME and text[-1] not in ".:;"
