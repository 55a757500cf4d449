"""The spans of an answer in its evidences."""

from __future__ import annotations

import re

from .conversation import EvidenceSpan, RankedAnswer
from .evidence import Evidence
from .literals import is_date, year_of

_MOST = 20  # spans of an evidence: the name of a page may stand in all lines
_VERDICT = "yes_no"  # the reason of verdicts, which stand nowhere


def answer_spans(answer: RankedAnswer, evidences: list[Evidence]) -> list[EvidenceSpan]:
    """Return the spans of an answer in its evidences; empty for yes and no.

    Spans are mentions with the answer's id, a number with its unit, or for a year the dates in it; without mentions, the words of the
    answer, whole and in any case.

    Args:
        answer: with its `evidences`, if any.
        evidences: of its turn; places outside of them are skipped.
    """
    if _VERDICT in answer.get("reasons", ()):
        return []
    name, label = answer["answer"]["id"], str(answer["answer"].get("label") or "").strip()
    words = re.compile(rf"(?<!\w){re.escape(label)}(?!\w)", re.IGNORECASE)
    is_year = is_date(name) and year_of(name)["id"] == name
    spans: list[EvidenceSpan] = []
    for place in answer.get("evidences", ()):
        if not (isinstance(place, int) and 0 <= place < len(evidences)):
            continue
        mentions = evidences[place].get("mentions", [])
        named = [mention for mention in mentions if mention["id"] == name]
        if not named and is_year:
            dates = [mention for mention in mentions if is_date(mention["id"])]
            named = [mention for mention in dates if year_of(mention["id"])["id"] == name]
        written = [match.span() for match in words.finditer(evidences[place]["evidence_text"])] if label else []
        within = [_with_unit(mention["start"], mention["end"], written) for mention in named] or written
        spans += ({"evidence": place, "start": start, "end": end} for start, end in within[:_MOST])
    return spans


def _with_unit(start: int, end: int, written: list[tuple[int, int]]) -> tuple[int, int]:
    """Return the words of an answer around a mention, "6 months" around "6"; else the mention."""
    return next(((first, last) for first, last in written if first <= start and end <= last), (start, end))
