"""Shows a cited passage with the passages around it, or on its page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..records.evidence import Evidence, place_in
from .evidences import item_id
from .index import DocumentIndex
from .quotes import content_of, is_drawn, place_of, words_of
from .readers.pdf_pages import PageBox, page_count

_AROUND = 5  # passages before and behind


@dataclass(frozen=True)
class ShownPassage:
    """A passage for display: its headings, its place (`line 7`, `page 3`, or empty), and its text without the headings."""

    heading: str
    place: str
    text: str
    is_cited: bool


@dataclass(frozen=True)
class CitedPage:
    """The page of a PDF file that a passage is cited from: its number, how many there are, and the boxes of the words."""

    number: int
    count: int
    boxes: list[PageBox]


def cited_page(path: Path | None, evidence: Evidence, title: str, sha256: str) -> CitedPage | None:
    """Return the page of a `drawn_evidence` in its file; None if the file changed or is gone."""
    data = content_of(path, sha256)
    if not data:
        return None
    page, boxes = place_of(data, evidence, title)
    return CitedPage(page, page_count(data), boxes)


def drawn_evidence(index: DocumentIndex, file: str, text: str) -> tuple[Evidence, str, str] | None:
    """Return the evidence of a PDF file with a text, the title of its document, and the SHA-256 of the file when it was read.

    None if the file is no PDF, or the index does not have it.
    """
    item = item_id(file)
    evidences = index.get(item) or []
    cited = _place_of(evidences, text)
    if cited is None or not is_drawn(evidences[cited]):
        return None
    return evidences[cited], index.names.label(item), index.sha256(file)


def _place_of(evidences: Sequence[Evidence], text: str) -> int | None:
    return next((place for place, evidence in enumerate(evidences) if evidence["evidence_text"] == text), None)


def surroundings(index: DocumentIndex, file: str, text: str, around: int = _AROUND) -> list[ShownPassage]:
    """Return the passage of a file with a text and the passages `around` it; empty if the index does not have it."""
    item = item_id(file)
    evidences = index.get(item) or []
    cited = _place_of(evidences, text)
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
