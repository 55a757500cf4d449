"""A cited passage among those around it, as an index has them."""

from __future__ import annotations

from dataclasses import dataclass

from ..records.evidence import Evidence, place_in
from .evidences import item_id
from .index import DocumentIndex

_AROUND = 5  # passages before and behind


@dataclass(frozen=True)
class ShownPassage:
    """A passage as people read it: its headings, its place (`line 7`, `page 3`, or empty), its text without them."""

    heading: str
    place: str
    text: str
    is_cited: bool


def surroundings(index: DocumentIndex, file: str, text: str) -> list[ShownPassage]:
    """A passage with those before and behind it, in reading order; empty if the index does not have it.

    Args:
        index: of the documents.
        file: the file of the citation.
        text: of the evidence.
    """
    item = item_id(file)
    evidences = index.get(item) or []
    cited = next((place for place, own in enumerate(evidences) if own["evidence_text"] == text), None)
    if cited is None:
        return []
    title, start = index.names.label(item), max(0, cited - _AROUND)
    around = evidences[start : cited + _AROUND + 1]
    return [_passage(own, title, place == cited) for place, own in enumerate(around, start)]


def _passage(evidence: Evidence, title: str, is_cited: bool) -> ShownPassage:
    citation, text = evidence["citation"], evidence["evidence_text"]
    row = evidence.get("row")
    if row is not None:
        text = " · ".join(
            f"{cell['header']}: {cell['text']}" if cell["header"] else cell["text"] for cell in row["cells"]
        )
    else:
        lead = dict.fromkeys(part for part in (title, *citation["headings"][-1:]) if part)
        text = text.removeprefix(", ".join(lead) + ", ")
    return ShownPassage(" › ".join(citation["headings"]), place_in(citation), text, is_cited)
