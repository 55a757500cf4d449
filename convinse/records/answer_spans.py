"""Where the evidences of an answer say it."""

from __future__ import annotations

import re

from .conversation import EvidenceSpan, RankedAnswer
from .evidence import Evidence
from .literals import is_date, year_of

_MOST = 20  # spans of an evidence: a page's own name may stand in every line
_VERDICT = "yes_no"  # what is decided stands nowhere


def answer_spans(answer: RankedAnswer, evidences: list[Evidence]) -> list[EvidenceSpan]:
    """The spans of the evidences that an answer names; none for yes and no.

    What an evidence mentions by the answer's id counts; a year is said by the dates in it. Where nothing is mentioned so, the
    answer's own words count, whole and in any case.

    Args:
        answer: has its `evidences`, if it has any.
        evidences: of its turn; places outside of them are passed over.
    """
    if _VERDICT in answer.get("reasons", ()):
        return []
    spans: list[EvidenceSpan] = []
    for place in answer.get("evidences", ()):
        if isinstance(place, int) and 0 <= place < len(evidences):
            own = _mentioned(answer["answer"]["id"], evidences[place])
            own = own or _worded(str(answer["answer"].get("label") or ""), evidences[place]["evidence_text"])
            spans += ({"evidence": place, "start": start, "end": end} for start, end in own[:_MOST])
    return spans


def _mentioned(name: str, evidence: Evidence) -> list[tuple[int, int]]:
    mentions = evidence.get("mentions", [])
    exact = [(mention["start"], mention["end"]) for mention in mentions if mention["id"] == name]
    if exact or not is_date(name) or year_of(name)["id"] != name:
        return exact
    return [
        (mention["start"], mention["end"])
        for mention in mentions
        if is_date(mention["id"]) and year_of(mention["id"])["id"] == name
    ]


def _worded(label: str, text: str) -> list[tuple[int, int]]:
    if not label.strip():
        return []
    pattern = re.compile(rf"(?<!\w){re.escape(label.strip())}(?!\w)", re.IGNORECASE)
    return [match.span() for match in pattern.finditer(text)]
