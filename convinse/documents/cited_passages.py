"""Shows a cited passage with the passages around it."""

from __future__ import annotations

from dataclasses import dataclass

from ..records.evidence import place_in
from .evidences import item_id
from .index import DocumentIndex
from .quotes import words_of

_AROUND = 5  # passages before and behind


@dataclass(frozen=True)
class ShownPassage:
    """A passage for display: its headings, its place (`line 7`, `page 3`, or empty), and its text without the headings."""

    heading: str
    place: str
    text: str
    is_cited: bool


def surroundings(index: DocumentIndex, file: str, text: str, around: int = _AROUND) -> list[ShownPassage]:
    """Return the passage of a file with a text and the passages `around` it; empty if the index does not have it."""
    item = item_id(file)
    evidences = index.get(item) or []
    cited = next((place for place, evidence in enumerate(evidences) if evidence["evidence_text"] == text), None)
    if cited is None:
        return []
    title, start = index.names.label(item), max(0, cited - around)
    passages = []
    for place, evidence in enumerate(evidences[start : cited + around + 1], start):
        citation = evidence["citation"]
        passages.append(
            ShownPassage(
                " › ".join(citation["headings"]), place_in(citation), words_of(evidence, title), place == cited
            )
        )
    return passages
