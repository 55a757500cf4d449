"""Quotes: the words of a file that an evidence is made of, and the spans of an answer in them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..records.conversation import RankedAnswer, Turn
from ..records.evidence import Evidence, QuoteSpan, passage_start, place_in
from .evidences import item_id
from .files import path_of
from .index import DocumentIndex

if TYPE_CHECKING:
    from .readers.pdf_pages import PageBox

BETWEEN_CELLS = " · "


def answers_of(turn: Turn) -> list[RankedAnswer]:
    """Return the answers that a turn gives: all of a list, else the first; none if it abstains."""
    if "abstained" in turn:
        return []
    answers = turn.get("pred_answers", [])
    return [answer for answer in answers if answer.get("list")] or answers[:1]


def add_quotes(turns: Iterable[Turn], index: DocumentIndex | None) -> None:
    """Write a `quote` into each evidence of a file, with the spans of the turn's answers."""
    if index is None:
        return
    checksums: dict[str, str] = {}
    for turn in turns:
        answers = answers_of(turn) or turn.get("pred_answers", [])[:1]  # a suggestion is marked, too
        for number, evidence in enumerate(turn.get("top_evidences", ())):
            if "citation" not in evidence:
                continue
            citation = evidence["citation"]
            file = citation["file"]
            words = words_of(evidence, index.names.label(item_id(file)))
            evidence["quote"] = {
                "path": file,
                "sha256": checksums.get(file) or checksums.setdefault(file, index.sha256(file)),
                "headings": citation["headings"],
                "place": place_in(citation),
                "words": words,
                "spans": spans_in(words, evidence, number, answers),
            }


def add_boxes(turns: Iterable[Turn], index: DocumentIndex, over: Sequence[Path]) -> None:
    """Write `page` and `boxes` into the quotes of PDF files that answers cite; those of files that changed since have none.

    `over` are the absolute paths that were asked.
    """
    contents: dict[str, bytes] = {}
    for turn in turns:
        evidences = turn.get("top_evidences", [])
        for place in {place for answer in answers_of(turn) for place in answer.get("evidences", ())}:
            if place >= len(evidences) or not is_drawn(evidences[place]):
                continue
            evidence = evidences[place]
            name = evidence["citation"]["file"]
            if name not in contents:
                contents[name] = content_of(path_of(name, over), evidence["quote"]["sha256"])
            if contents[name]:
                page, boxes = place_of(contents[name], evidence, index.names.label(item_id(name)))
                evidence["quote"]["page"], evidence["quote"]["boxes"] = page, [[*box] for box in boxes]


def is_drawn(evidence: Evidence) -> bool:
    """Return True if an evidence is of a page of a PDF file."""
    citation = evidence.get("citation")
    return citation is not None and "page" in citation and citation["file"].lower().endswith(".pdf")


def content_of(path: Path | None, sha256: str) -> bytes:
    """Return the content of a file; empty if it is gone, or is no longer the one with this checksum."""
    try:
        data = b"" if path is None else path.read_bytes()
    except OSError:
        return b""
    return data if hashlib.sha256(data).hexdigest() == sha256 else b""


def place_of(data: bytes, evidence: Evidence, title: str) -> tuple[int, list[PageBox]]:
    """Return the page and the boxes of an evidence of a PDF file with this content and title."""
    from .readers.pdf_pages import find_on_page

    return find_on_page(data, evidence["citation"]["page"], pieces_of(evidence, title))


def words_of(evidence: Evidence, title: str) -> str:
    """Return the words of an evidence in a document of this title: without title and headings, a row as its cells."""
    if "row" in evidence or "attribute" in evidence:
        return BETWEEN_CELLS.join(f"{name}{text}" for name, text, _ in _parts(evidence))
    return evidence["evidence_text"][passage_start(evidence, title) :]


def pieces_of(evidence: Evidence, title: str) -> list[str]:
    """Return what of an evidence stands in its file: the words of a passage, the texts of cells, a name and its values."""
    if "row" in evidence:
        return [cell["text"] for cell in evidence["row"]["cells"]]
    if "attribute" in evidence:
        return [evidence["attribute"]["path"][-1], *(value["text"] for value in evidence["attribute"]["values"])]
    return [words_of(evidence, title) or (evidence["citation"]["headings"] or [title])[-1]]


def spans_in(words: str, evidence: Evidence, number: int, answers: Iterable[RankedAnswer]) -> list[QuoteSpan]:
    """Return the spans of answers in the words of its turn's evidence of this number; those in headings are left out.

    A number is marked with its unit if the answer has one.
    """
    if "row" in evidence or "attribute" in evidence:
        places, behind = [], 0
        for name, text, start in _parts(evidence):
            places.append((start, start + len(text), behind + len(name)))
            behind += len(name) + len(text) + len(BETWEEN_CELLS)
    else:
        end = len(evidence["evidence_text"])
        places = [(end - len(words), end, 0)]
    spans = set()
    for answer in answers:
        label = re.compile(rf"(?<!\w){re.escape(answer['answer']['label'])}(?!\w)", re.IGNORECASE)
        labels = [match.span() for match in label.finditer(words)]
        for span in answer.get("spans", ()):
            for start, end, place in places:
                if span["evidence"] == number and start <= span["start"] and span["end"] <= end:
                    first, last = span["start"] - start + place, span["end"] - start + place
                    spans.add(
                        next((whole for whole in labels if whole[0] <= first and last <= whole[1]), (first, last))
                    )
    return [{"start": start, "end": end} for start, end in sorted(spans)]


def _parts(evidence: Evidence) -> Iterator[tuple[str, str, int]]:
    """Yield the cells or values of an evidence: its name, its text, and where the text begins in that of the evidence."""
    if "row" in evidence:
        for cell in evidence["row"]["cells"]:
            yield f"{cell['header']}: " if cell["header"] else "", cell["text"], cell["start"]
    else:
        *_, name = ("", *evidence["attribute"]["path"])
        for value in evidence["attribute"]["values"]:
            yield f"{name}: " if name else "", value["text"], value["start"]
