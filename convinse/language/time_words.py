"""Finds the time that a question names, and whether it asks for the beginning or the end of an event."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..records.literals import MONTHS, is_calendar_day, is_date
from ..records.periods import ALL_TIME, AskedTime, Boundary, Period, day_number
from ..records.written_values import ORDINAL, find_literals
from .text import fold
from .word_lists import WordSet

# 2014-1-1, 06/30/1993
_DATE = re.compile(r"\b(?P<a>[0-9]{1,4})\s?[-/]\s?(?P<b>[0-9]{1,2})\s?[-/]\s?(?P<c>[0-9]{1,4})\b")
_COARSE = re.compile(
    rf"\b(?:(?P<decade>[1-9][0-9]{{2}}0)s|(?P<century>[1-9][0-9]?){ORDINAL}[ -]century(?P<bc> BCE?\b)?)"
)
_TENS = ("twenties", "thirties", "forties", "fifties", "sixties", "seventies", "eighties", "nineties")
# "the nineties", "the '90s"
_NAMED_DECADE = re.compile(
    rf"(?i)\bthe (?:(?:early|mid|late)[ -])?(?:(?P<word>{'|'.join(_TENS)})|['’]?(?P<tens>[2-9])0['’]?s)\b"
)
_MONTHS, _DAYS = 12, 31


class _NamedTime(NamedTuple):
    start: int
    end: int
    period: Period


@dataclass(frozen=True, eq=False)
class TimeWords:
    """Words about times in questions; `times.txt` explains the lists."""

    during: WordSet
    before: WordSet
    after: WordSet
    since: WordSet
    until: WordSet
    beside: WordSet
    starting: WordSet
    ending: WordSet
    succeeding: WordSet
    preceding: WordSet
    former: WordSet
    lasting: WordSet
    future: WordSet
    while_: WordSet
    present: WordSet
    past: WordSet

    def named(self, question: str) -> Period | None:
        """Return the time that a question names in any way ("the 2011 film"); None without a time or with several."""
        if (time := self.time(question)) is not None:
            return time.period
        named = _named_times(question)
        return named[0].period if len(named) == 1 else None

    def time(self, question: str) -> AskedTime | None:
        """Return the time that a question asks within: "in 1998", "from 1986 to 1988", "before 1990"; None without a time."""
        named = _named_times(question)
        if not named or len(named) > 2:
            return None
        first, last = named[0], named[-1]
        lead = fold(question[: first.start]).split()
        while lead and lead[-1] in self.beside:
            beside = lead.pop()
            if beside == "is" and lead and lead[-1] == "time":  # "whose start time is 1995"
                return AskedTime(first.period, self.boundary(" ".join(lead[-2:])))
        word = lead[-1] if lead else ""
        if len(named) == 2:
            return AskedTime(
                Period(min(first.period.first, last.period.first), max(first.period.last, last.period.last))
            )
        if word in self.before:
            return AskedTime(ALL_TIME._replace(last=first.period.first - 1))
        if word in self.after:
            return AskedTime(ALL_TIME._replace(first=first.period.last + 1))
        if word in self.since and self.present.union(self.past).intersection(lead[-2:-1]):
            return AskedTime(first.period, Boundary.ANY)  # "the invoices that are from 2024"
        if word in self.since or word in self.until:
            return AskedTime(first.period, Boundary.SINCE if word in self.since else Boundary.UNTIL)
        return AskedTime(first.period, self.boundary(question)) if word in self.during or not lead else None

    def without_time(self, question: str) -> str:
        """Return the question without the time that it asks within and the word before that: "in 1998", "before 1990"."""
        if self.time(question) is None:
            return question
        named = _named_times(question)
        before = question[: named[0].start].split()[:-1]
        return f"{' '.join(before)}{question[named[-1].end :]}".strip()

    def seasons(self, question: str) -> Callable[[int, int, int], bool] | None:
        """Return whether a day (year, month, day) is in the months or on the weekdays that a question names; None without them, or with a year."""
        if _named_times(question):
            return None
        months = {MONTHS.index(name) + 1 for name in MONTHS if re.search(rf"\b{name}\b", question)}
        lower = question.lower()
        months |= {
            MONTHS.index(name) + 1
            for name in MONTHS
            if re.search(rf"\b(?:{'|'.join(self.during)}) {name.lower()}\b", lower)
        }
        weekdays = {place for place, name in enumerate(calendar.day_name) if re.search(rf"\b{name.lower()}s?\b", lower)}
        if not months and not weekdays:
            return None
        return lambda year, month, day: (
            (not months or month in months)
            and (not weekdays or (is_calendar_day(year, month, day) and calendar.weekday(year, month, day) in weekdays))
        )

    def clause(self, question: str, event: Period) -> Period | None:
        """Return the time of a clause ("while X played", "after X was founded") about an `event`; None without a clause."""
        words = set(fold(question).split())
        if words & (self.after | self.since):
            return ALL_TIME._replace(first=event.first)
        if words & (self.before | self.until):
            return ALL_TIME._replace(last=event.last)
        return event if words & self.while_ else None

    def asks_beside(self, question: str) -> bool | None:
        """Return True if a question asks for what came after something, False for what came before, None for neither.

        "Who replaced X" asks for what came after, "who was replaced by X" for what came before.
        """
        words = fold(question).split()
        for word, following in zip(words, [*words[1:], ""], strict=False):  # of no words, too
            if word in self.after or word in self.succeeding:
                return word in self.after or following != "by"
            if word in self.before or word in self.preceding:
                return word not in self.before and following == "by"
        return None

    def boundary(self, question: str) -> Boundary:
        """Return the end of an interval that a question speaks of: "when did X become", "until when"."""
        words = set(fold(question).split())
        if words & (self.ending | self.until):
            return Boundary.END
        return Boundary.START if words & (self.starting | self.since) else Boundary.ANY

    def asks_about_present(self, question: str) -> bool:
        """Return True if a question begins like a question about the present ("is", "does")."""
        return not self.present.isdisjoint(fold(question).split()[:1])

    def asks_about_past(self, question: str) -> bool:
        """Return True if a question asks in the past tense ("was", "did")."""
        return not self.past.isdisjoint(fold(question).split())

    def asks_for_former(self, question: str) -> bool:
        """Return True if a question asks for what holds no longer, or for all that held ("former", "ever")."""
        return not self.former.isdisjoint(fold(question).split())


def _named_times(question: str) -> Sequence[_NamedTime]:
    times: list[_NamedTime] = []
    for match in _DATE.finditer(question):  # year, month and day, or month, day and year; zeros are unknown
        year, month, day = (match[name] for name in ("abc" if len(match["a"]) == 4 else "cab"))
        months, days = int(month), int(day)
        if len(year) == 4 and months <= _MONTHS and days <= _DAYS:
            first = day_number(int(year), months or 1, days or 1)
            last = day_number(int(year), months or _MONTHS, days if months and days else _DAYS)
            times.append(_NamedTime(*match.span(), Period(first, last, is_point=True)))
    for match in _COARSE.finditer(question):
        centuries = int(match["century"] or 0)
        year = int(match["decade"] or (1 - 100 * centuries if match["bc"] else 100 * centuries - 99))
        last_year = year + (9 if match["decade"] else 99)
        times.append(_NamedTime(*match.span(), Period(day_number(year), day_number(last_year, 12, 31), is_point=True)))
    for match in _NAMED_DECADE.finditer(question):  # of the twentieth century
        year = 1920 + 10 * _TENS.index(match["word"].lower()) if match["word"] else 1900 + 10 * int(match["tens"])
        times.append(_NamedTime(*match.span(), Period(day_number(year), day_number(year + 9, 12, 31), is_point=True)))
    for span in find_literals(question):
        if is_date(span.entity["id"]) and not any(time.start < span.end and span.start < time.end for time in times):
            times.append(_NamedTime(span.start, span.end, Period.of_date(span.entity)))
    return sorted(times)
