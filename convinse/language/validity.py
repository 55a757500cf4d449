"""Judges whether evidences hold at the time that a question asks about."""

from __future__ import annotations

from collections.abc import Sequence

from ..records.literals import is_date
from ..records.periods import Agreement, JudgedPart, TimedPart, judged
from .language import Language
from .read_evidence import ReadEvidence


def judged_parts(question: str, evidences: Sequence[ReadEvidence], language: Language) -> list[JudgedPart]:
    """Return the dated parts of evidences, and whether they hold at the time in a full question, or else today.

    Empty for a question without a time that asks for an order, a predecessor or successor, or the past; for one that asks for a
    date, only statements of dates are judged.
    """
    time = language.times.time(question)
    if time is None and (
        language.times.asks_for_former(question)
        or language.times.asks_beside(question) is not None
        or language.operations.order(question) is not None
    ):
        return []
    asks_when = time is None and language.answer_types.expected_type(question).kind == "date"

    def parts_of(evidence: ReadEvidence) -> Sequence[TimedPart]:
        if time is None and "row" in evidence.evidence:  # today: rows are history, which later rows do not replace
            return ()
        states_date = evidence.fact is not None and is_date(evidence.fact.object["id"])
        return evidence.parts if states_date or not asks_when else ()

    parts = [parts_of(evidence) for evidence in evidences]
    return judged(parts, time, is_past=language.times.asks_about_past(question))


def contradicting(parts: Sequence[JudgedPart]) -> set[int]:
    """Return the places of evidences all of whose dated parts contradict the time of the question."""
    agreeing = {place for place, _, verdict in parts if verdict != Agreement.CONTRADICTS}
    return {place for place, _, _ in parts} - agreeing


def holding(parts: Sequence[JudgedPart]) -> set[int]:
    """Return the places of evidences with a dated part that holds at the time of the question."""
    return {place for place, _, verdict in parts if verdict == Agreement.HOLDS}
