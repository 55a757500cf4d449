"""Periods for which facts, table rows and infobox values hold, compared with the time that a question names.

Days are numbers that grow with time, so that periods compare across eras; see `day_number`.
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
_SINCE = re.compile(
    r"(?:^|[(;])\s*(?:since|from|m\.|married)\s*$", re.IGNORECASE
)  # before the only date: "Thomas Mars (since 2011)"
_EARLIEST, _LATEST = -(10**9), 10**9  # days without a beginning or an end
_DAYS = 372  # of a year; each month counts 31


def day_number(year: int, month: int = 1, day: int = 1) -> int:
    """Return a number that grows with time; years before Christ are astronomical (0 is 1 BC)."""
    return year * _DAYS + (month - 1) * 31 + day - 1


def day_of(number: float) -> tuple[int, int, int]:
    """Return the year, month and day of a `day_number`."""
    year, rest = divmod(int(number), _DAYS)
    return year, rest // 31 + 1, rest % 31 + 1


YEAR = day_number(1) - day_number(0)  # in days


class Period(NamedTuple):
    """A period from a first to a last day, both included; `is_point`: the time of an event or a count, not of a state."""

    first: int
    last: int
    is_point: bool = False

    @classmethod
    def of_date(cls, entity: Entity) -> Period:
        """Return all days of a date: a day, month, year or longer, by the precision of its label."""
        year, month, day = map(int, entity["id"].removesuffix("T00:00:00Z").rsplit("-", 2))
        if not any(name in entity["label"] for name in MONTHS) and (month, day) == (1, 1):
            return cls(day_number(year), day_number(year + years_of(entity) - 1, 12, 31), is_point=True)
        is_month = day == 1 and not entity["label"].startswith("1 ")
        return cls(day_number(year, month, day), day_number(year, month, 31 if is_month else day), is_point=True)

    @property
    def is_open(self) -> bool:
        """True if the period has no known end."""
        return self.last == _LATEST

    def overlaps(self, period: Period) -> bool:
        """Return True if the periods share a day."""
        return self.first <= period.last and period.first <= self.last

    def leaves_gap(self, behind: Period) -> bool:
        """Return True if more than a year lies between two that held something: "Selected coaches" leave some out."""
        return not (self.is_point or behind.is_point) and behind.first - self.last >= YEAR

    def in_words(self) -> str:
        """Return "since 2019", "until 2002", "2005–2013" or "2021"."""
        first, last = (str(day // _DAYS) if day >= _DAYS else f"{1 - day // _DAYS} BC" for day in self[:2])
        if self.first == _EARLIEST:
            return f"until {last}"
        if self.last == _LATEST:
            return f"since {first}"
        return first if first == last else f"{first}–{last}"


def place_beside(periods: Sequence[Period], place: int, is_later: bool) -> int:
    """Return the place of the period that begins next after another has ended, or that ended last before it began; by years.

    A club to which a player was lent is not the one that he went to next. If none has its time so, that of the one behind or
    before in the sequence, which is sorted; it may be outside.
    """
    one, others = periods[place], [other for other in range(len(periods)) if other != place]
    if is_later:
        found = [other for other in others if periods[other].first // YEAR >= one.last // YEAR]
        return min(found, key=lambda other: periods[other].first, default=place + 1)
    found = [other for other in others if periods[other].last // YEAR <= one.first // YEAR]
    return max(found, key=lambda other: periods[other].last, default=place - 1)


ALL_TIME = Period(_EARLIEST, _LATEST)


class Boundary(Enum):
    """The relation between the time that a question names and the periods that it asks about.

    `ANY`: they overlap. `START`, `END`: states begin or end then. `SINCE`, `UNTIL`: the same, or events from then on, or up to then.
    """

    ANY = "any"
    START = "start"
    END = "end"
    SINCE = "since"
    UNTIL = "until"


class AskedTime(NamedTuple):
    """The time that a question names, and how the periods that it asks about relate to it."""

    period: Period
    boundary: Boundary = Boundary.ANY

    def admits(self, period: Period) -> bool:
        """Return True if a statement that holds for a period fits the question."""
        time, boundary = self.period, self.boundary
        if boundary in (Boundary.START, Boundary.SINCE) and not period.is_point:
            return time.first <= period.first <= time.last
        if boundary in (Boundary.END, Boundary.UNTIL) and not period.is_point:
            return time.first <= period.last <= time.last
        if boundary is Boundary.SINCE:
            return period.first >= time.first
        if boundary is Boundary.UNTIL:
            return period.last <= time.last
        # "from 1972 to 2005": what began or ended in one of these years held in hardly any of them
        shared = min(period.last, time.last) - max(period.first, time.first)
        is_long = not period.is_point and min(period.last - period.first, time.last - time.first) > 2 * _DAYS
        return shared >= (_DAYS if is_long else 0)


class TimedPart(NamedTuple):
    """A part of an evidence that holds in a period: `evidence_text[start:end]`; parts of a `group` state the same property.

    `rank` is the rank of a fact; `is_count`: the value is a number, which holds until the next count.
    """

    start: int
    end: int
    period: Period | None
    group: tuple[str, ...]
    rank: str = ""
    is_count: bool = False


def period_of_fact(fact: Fact) -> Period | None:
    """Return the period of a fact, by its start time, end time and point in time; None without these."""
    dates: dict[str, list[Period]] = defaultdict(list)
    for predicate, value in fact.qualifiers:
        if predicate["id"] in (START_TIME, END_TIME, POINT_IN_TIME) and is_date(value["id"]):
            dates[predicate["id"]].append(Period.of_date(value))
    starts, ends, points = dates[START_TIME], dates[END_TIME], dates[POINT_IN_TIME]
    if starts or ends:
        first = min((period.first for period in starts), default=_EARLIEST)
        return Period(first, max((period.last for period in ends), default=_LATEST))
    return Period(min(points).first, max(point.last for point in points), is_point=True) if points else None


def period_of_text(text: str) -> Period | None:
    """Return the period from the first date of a text to its last, or without an end ("2006–present"); None without dates."""
    spans = [span for span in find_literals(text) if is_date(span.entity["id"])]
    if not spans:
        return None
    periods = [Period.of_date(span.entity) for span in spans]
    first, last = min(period.first for period in periods), max(period.last for period in periods)
    is_open = len(spans) == 1 and _SINCE.search(text[: spans[0].start])
    if is_open or _OPEN.match(text, spans[-1].end) or _PRESENT.search(text, spans[-1].end):
        return Period(first, _LATEST)
    return Period(first, last, is_point=len(spans) == 1)


def period_of_cells(texts: Iterable[str]) -> Period | None:
    """Return the period of a row with these dated cells, from the first date of all to the last; None without dates."""
    periods = [period for text in texts if (period := period_of_text(text)) is not None]
    if len(periods) < 2:
        return periods[0] if periods else None
    return Period(min(period.first for period in periods), max(period.last for period in periods))


def timed_parts(evidence: Evidence) -> Iterator[TimedPart]:
    """Yield the parts of an evidence with their periods: the fact, the row, or the values of an infobox entry."""
    text = evidence["evidence_text"]
    if fact := fact_of(evidence):
        group: tuple[str, ...] = (fact.subject["id"], fact.predicate["id"])
        rank = fact.predicate.get("rank", "")
        yield TimedPart(0, len(text), period_of_fact(fact), group, rank, is_number(fact.object["id"]))
    elif "row" in evidence:
        row, dated = evidence["row"], []
        for cell in row["cells"]:  # a cell is dated if at least half of its text is dates
            spans = [span for span in find_literals(cell["text"]) if is_date(span.entity["id"])]
            if 2 * sum(span.end - span.start for span in spans) >= len(cell["text"]):
                dated.append(cell["text"])
        group = (row.get("page", ""), str(row.get("table", "")), row["caption"], row["section"])
        yield TimedPart(0, len(text), period_of_cells(dated), group)
    elif "attribute" in evidence:
        path = evidence["attribute"]["path"]
        group = (evidence.get("retrieved_for_entity", {}).get("id", ""), *path[:-1], re.sub(r"\W*\d.*", "", path[-1]))
        path_period = period_of_text(path[-1])
        for value in evidence["attribute"]["values"]:
            period = period_of_text(value["text"]) or path_period
            end = value["start"] + len(value["text"])
            yield TimedPart(value["start"], end, period, group, is_count=path_period is not None)


class Agreement(Enum):
    """The verdict on a part of an evidence: whether it holds at the time that a question asks about."""

    HOLDS = 1
    UNKNOWN = 0
    CONTRADICTS = -1


JudgedPart = tuple[int, TimedPart, Agreement]  # the place of an evidence, a part of it, and the verdict on that


def judged(parts: Sequence[Sequence[TimedPart]], time: AskedTime | None, *, is_past: bool = False) -> list[JudgedPart]:
    """Return whether the timed parts of each evidence hold at the time of a question, or today if `time` is None.

    A count, such as a population, holds until the next count of its group. Today, ended statements and earlier counts contradict
    if another part of the group holds, and statements of normal rank contradict beside a preferred statement. For a question
    about the past (`is_past`) ended statements hold, too.
    """
    groups: dict[tuple[str, ...], list[tuple[int, TimedPart]]] = defaultdict(list)
    for place, of_evidence in enumerate(parts):
        for part in of_evidence:
            groups[part.group].append((place, part))
    judge = partial(_judge_today, is_past=is_past) if time is None else partial(_judge_at, time)
    return [
        (place, part, verdict)
        for group in groups.values()
        for (place, part), verdict in zip(group, judge([part for _, part in group]), strict=True)
    ]


def _judge_at(time: AskedTime, parts: Sequence[TimedPart]) -> list[Agreement]:
    # if no part holds then, the last count before it does
    if not any(part.period is not None and time.admits(part.period) for part in parts):
        counts = (part.period for part in parts if part.is_count and part.period is not None and part.period.is_point)
        latest = max((period for period in counts if period.last < time.period.first), default=None)
        if latest is not None:
            time = AskedTime(latest)
    verdicts = []
    for part in parts:
        if part.period is not None and not time.admits(part.period):
            verdicts.append(Agreement.CONTRADICTS)
        else:  # one that has ended at an unknown time may have ended before
            is_known = part.period is not None and not (part.rank == "former" and part.period.is_open)
            verdicts.append(Agreement.HOLDS if is_known else Agreement.UNKNOWN)
    return verdicts


def _judge_today(parts: Sequence[TimedPart], *, is_past: bool) -> list[Agreement]:
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
