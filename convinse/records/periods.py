"""When something holds: the interval of a statement, a table row or a line of an infobox, and the time that a question names.

Days are numbers that grow with time (372 a year), so that intervals compare across eras; see `day_number`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from enum import Enum
from functools import partial
from typing import NamedTuple

from .evidence import Entity, Evidence
from .facts import END_TIME, POINT_IN_TIME, START_TIME, Fact, fact_of
from .literals import MONTHS, is_date, is_number, years_of
from .written_values import find_literals

_NOW = "present|now|today|current|incumbent|date"  # behind a dash: ranges that go on, as English writes them
_OPEN = re.compile(rf"\s*(?:[–—-]|to|until)\s*(?:{_NOW})?\s*(?=$|[),;])", re.IGNORECASE)
_PRESENT = re.compile(rf"[–—-]\s*(?:{_NOW})\b", re.IGNORECASE)
_EARLIEST, _LATEST = -(10**9), 10**9  # days without a beginning or an end
_DAYS = 372  # of a year whose months all have 31


def day_number(year: int, month: int = 1, day: int = 1) -> int:
    """Return a number that grows with time; years before Christ are astronomical (0 is 1 BC)."""
    return year * _DAYS + (month - 1) * 31 + day - 1


class Period(NamedTuple):
    """An interval of days, both included; `is_point`: something that happened or was counted then, and does not go on."""

    first: int
    last: int
    is_point: bool = False

    @classmethod
    def of_years(cls, first: int | None, last: int | None) -> Period:
        """From the first day of a year to the last day of another; None: without a beginning, or an end."""
        start = _EARLIEST if first is None else day_number(first)
        return cls(start, _LATEST if last is None else day_number(last, 12, 31))

    @classmethod
    def of_date(cls, entity: Entity) -> Period:
        """All days of a date: one, or those of a month or year, as its label is precise."""
        year, month, day = _parts(entity["id"])
        if not any(name in entity["label"] for name in MONTHS) and (month, day) == (1, 1):
            return cls(day_number(year), day_number(year + years_of(entity) - 1, 12, 31), is_point=True)
        is_month = day == 1 and not entity["label"].startswith("1 ")
        return cls(day_number(year, month, day), day_number(year, month, 31 if is_month else day), is_point=True)

    @property
    def is_open(self) -> bool:
        """Whether it has no known end."""
        return self.last == _LATEST

    @property
    def spans_years(self) -> bool:
        """Whether it begins in one year and ends in another."""
        return not self.is_point and self.first // _DAYS < self.last // _DAYS

    def overlaps(self, period: Period) -> bool:
        """Whether the intervals share a day."""
        return self.first <= period.last and period.first <= self.last

    def is_followed_by(self, period: Period) -> bool:
        """Return True if another period begins in the year in which this one ends, or the next."""
        return period.first // _DAYS - self.last // _DAYS in (0, 1)

    def in_words(self) -> str:
        """Return "since 2019", "until 2002", "2005–2013" or "2021"."""
        first, last = (str(day // _DAYS) if day >= _DAYS else f"{1 - day // _DAYS} BC" for day in self[:2])
        if self.first == _EARLIEST:
            return f"until {last}"
        if self.last == _LATEST:
            return f"since {first}"
        return first if first == last else f"{first}–{last}"


def _parts(stamp: str) -> tuple[int, int, int]:
    year, month, day = stamp.removesuffix("T00:00:00Z").rsplit("-", 2)
    return int(year), int(month), int(day)


class Boundary(Enum):
    """Which end of an interval a question speaks of; `ANY`: what holds at the time.

    `SINCE`, `UNTIL`: a state that began or ended then, or all that happened from then on, or up to then.
    """

    ANY = "any"
    START = "start"
    END = "end"
    SINCE = "since"
    UNTIL = "until"


class AskedTime(NamedTuple):
    """The time that a question names; with a boundary, what began or ended then."""

    period: Period
    boundary: Boundary = Boundary.ANY

    def admits(self, period: Period) -> bool:
        """Whether what holds in a period fits the question."""
        asked, boundary = self.period, self.boundary
        if boundary in (Boundary.START, Boundary.SINCE) and not period.is_point:
            return asked.first <= period.first <= asked.last
        if boundary in (Boundary.END, Boundary.UNTIL) and not period.is_point:
            return asked.first <= period.last <= asked.last
        if boundary is Boundary.SINCE:
            return period.first >= asked.first
        return period.last <= asked.last if boundary is Boundary.UNTIL else period.overlaps(asked)


class TimedPart(NamedTuple):
    """A part of an evidence that holds in a period: `evidence_text[start:end]`, one of those that `group` names.

    `rank` is that of a fact; `is_count`: its value is a number, which holds until the next count.
    """

    start: int
    end: int
    period: Period | None
    group: tuple[str, ...]
    rank: str = ""
    is_count: bool = False


def period_of_fact(fact: Fact) -> Period | None:
    """When a fact holds, by its start time, end time and point in time; None if it says nothing of that."""
    dates: dict[str, list[Period]] = defaultdict(list)
    for qualifier in fact.qualifiers:
        if qualifier.predicate["id"] in (START_TIME, END_TIME, POINT_IN_TIME) and is_date(qualifier.value["id"]):
            dates[qualifier.predicate["id"]].append(Period.of_date(qualifier.value))
    starts, ends, points = dates[START_TIME], dates[END_TIME], dates[POINT_IN_TIME]
    if starts or ends:
        first = min((period.first for period in starts), default=_EARLIEST)
        return Period(first, max((period.last for period in ends), default=_LATEST))
    return Period(min(points).first, max(point.last for point in points), is_point=True) if points else None


def period_of_text(text: str) -> Period | None:
    """From the first date that a text states to its last, or without an end ("2006–present"); None if it states none."""
    spans = [span for span in find_literals(text) if is_date(span.entity["id"])]
    if not spans:
        return None
    periods = [Period.of_date(span.entity) for span in spans]
    first, last = min(period.first for period in periods), max(period.last for period in periods)
    if _OPEN.match(text, spans[-1].end) or _PRESENT.search(text, spans[-1].end):
        return Period(first, _LATEST)
    return Period(first, last, is_point=len(spans) == 1)


def period_of_cells(texts: Iterable[str]) -> Period | None:
    """When a row with these dated cells holds: the one cell's, or from the first date of all to the last; None without dates."""
    periods = [period for text in texts if (period := period_of_text(text)) is not None]
    if len(periods) < 2:
        return periods[0] if periods else None
    return Period(min(period.first for period in periods), max(period.last for period in periods))


def _is_dated(text: str) -> bool:
    """Return True if most of a text is dates."""
    dates = sum(span.end - span.start for span in find_literals(text) if is_date(span.entity["id"]))
    return 2 * dates >= len(text)


def timed_parts(evidence: Evidence) -> Iterator[TimedPart]:
    """The parts of an evidence of which is known when they hold: the fact, the row, the values of an infobox entry."""
    text = evidence["evidence_text"]
    if fact := fact_of(evidence):
        group: tuple[str, ...] = (fact.subject["id"], fact.predicate["id"])
        rank = fact.predicate.get("rank", "")
        yield TimedPart(0, len(text), period_of_fact(fact), group, rank, is_number(fact.object["id"]))
    elif "row" in evidence:
        dated = (cell["text"] for cell in evidence["row"]["cells"] if _is_dated(cell["text"]))
        yield TimedPart(0, len(text), period_of_cells(dated), _table_of(evidence))
    elif "attribute" in evidence:
        path = evidence["attribute"]["path"]
        group = (evidence.get("retrieved_for_entity", {}).get("id", ""), *path[:-1], re.sub(r"\W*\d.*", "", path[-1]))
        named = period_of_text(path[-1])
        for value in evidence["attribute"]["values"]:
            period = period_of_text(value["text"]) or named
            end = value["start"] + len(value["text"])
            yield TimedPart(value["start"], end, period, group, is_count=named is not None)


def _table_of(evidence: Evidence) -> tuple[str, ...]:
    row = evidence["row"]
    return row.get("page", ""), str(row.get("table", "")), row["caption"], row["section"]


class Agreement(Enum):
    """Whether a part of an evidence holds at the time that a question asks about."""

    HOLDS = 1
    UNKNOWN = 0
    CONTRADICTS = -1


class JudgedPart(NamedTuple):
    """A part of the evidence at a place, and whether it holds when the question asks."""

    place: int
    part: TimedPart
    verdict: Agreement


def judged(evidences: Sequence[Evidence], time: AskedTime | None, *, is_past: bool = False) -> list[JudgedPart]:
    """Whether the timed parts of evidences hold at the time of a question; with None they are asked about as of today.

    A count, such as a population, holds until the next of its group. Of today's statements those contradict that have ended or
    were counted earlier where another of the group holds, and those of normal rank beside a preferred one. A question about the
    past (`is_past`) is for what has ended, too.
    """
    groups: dict[tuple[str, ...], list[tuple[int, TimedPart]]] = defaultdict(list)
    for place, evidence in enumerate(evidences):
        if time is None and "row" in evidence:  # a row tells what was, and is not replaced by the next
            continue
        for part in timed_parts(evidence):
            groups[part.group].append((place, part))
    judge = partial(_as_of_today, is_past=is_past) if time is None else partial(_at, time)
    return [
        JudgedPart(place, part, verdict)
        for group in groups.values()
        for (place, part), verdict in zip(group, judge([part for _, part in group]), strict=True)
    ]


def _at(time: AskedTime, parts: Sequence[TimedPart]) -> list[Agreement]:
    if not any(part.period is not None and time.admits(part.period) for part in parts):
        counts = (part.period for part in parts if part.is_count and part.period is not None and part.period.is_point)
        latest = max((period for period in counts if period.last < time.period.first), default=None)
        if latest is not None:
            time = AskedTime(latest)
    return [_agreement(time, part) for part in parts]


def _agreement(time: AskedTime, part: TimedPart) -> Agreement:
    if part.period is None or (part.rank == "former" and part.period.is_open):
        return Agreement.UNKNOWN
    return Agreement.HOLDS if time.admits(part.period) else Agreement.CONTRADICTS


def _as_of_today(parts: Sequence[TimedPart], *, is_past: bool) -> list[Agreement]:
    today = date.today()
    now = day_number(today.year, today.month, today.day)
    if any(part.rank == "preferred" for part in parts):
        current = [part.rank == "preferred" for part in parts]
    else:
        latest = max((part.period.last for part in parts if part.is_count and part.period), default=None)
        current = [(is_past and not part.is_count) or _is_current(part, now, latest) for part in parts]
    if all(current) or not any(current):
        return [Agreement.UNKNOWN] * len(parts)
    return [Agreement.HOLDS if holds else Agreement.CONTRADICTS for holds in current]


def _is_current(part: TimedPart, now: int, latest: int | None) -> bool:
    if part.rank == "former":
        return False
    if part.is_count and (part.period is None or part.period.is_point):
        return latest is None or (part.period is not None and part.period.last == latest)
    return part.period is None or part.period.is_point or part.period.last >= now


def stated_time(evidence: Evidence, entity_id: str) -> str:
    """Return in words when a fact or a value of an infobox holds whose value is an entity; empty if the evidence does not say."""
    fact = fact_of(evidence)
    if is_date(entity_id) or "row" in evidence or (fact is not None and fact.object["id"] != entity_id):
        return ""
    mentions = [mention for mention in evidence["mentions"] if mention["id"] == entity_id]
    periods = (
        part.period
        for part in timed_parts(evidence)
        if any(part.start <= mention["start"] and mention["end"] <= part.end for mention in mentions)
    )
    return next((period.in_words() for period in periods if period is not None), "")
