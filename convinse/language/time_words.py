"""Finds the time that a question names, and whether it asks for the beginning or the end of an event."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

from ..records.literals import MONTHS, is_calendar_day, is_date
from ..records.periods import ALL_TIME, AskedTime, Boundary, Period, day_number
from ..records.written_values import ORDINAL, find_literals
from .text import Words, fold
from .word_lists import Ordered, Renamed, WordLists, WordSet

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
_HOURS, _MINUTES = 24, 60
_MONTH = rf"(?P<month>{'|'.join(f'{name}|{name[:3]}' for name in MONTHS)})"
_DAY = rf"(?P<day>[0-9]{{1,2}})(?:{ORDINAL})?"
_PHRASE_END = r"(?=\s*(?:$|[?!.,;)]|(?:and|at|between|before|after|from|in|for|on)\b))"
# 3 March, the 3rd of March, March 3rd, on the 14th, on 14.3.; the number of a floor is no day
_DAY_OF_MONTH = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_DAY}(?: of)? {_MONTH}\b",
        rf"\b{_MONTH} (?:the )?{_DAY}\b(?![:.,]?[0-9])",
        rf"\bthe (?P<day>[0-9]{{1,2}}){ORDINAL}\b{_PHRASE_END}(?P<month>)",
        rf"\bon (?P<day>[0-9]{{1,2}})[./](?P<month>[0-9]{{1,2}})\.?(?![0-9/]){_PHRASE_END}",
    )
]
# "22 and 23 April", "1-7 May", "April 3rd", "2026-04-03", "3.4.2026"
_JOINED_DAYS = rf"(?P<first>[0-9]{{1,2}})(?:{ORDINAL})?(?:\s?(?:,|and|or|&|to|until|till|[-–])\s?(?P<last>[0-9]{{1,2}})(?:{ORDINAL})?)?"
_DAYS_IN_TEXT = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_JOINED_DAYS}\.?(?: of)? {_MONTH}\b",
        rf"\b{_MONTH}\b\.? {_JOINED_DAYS}\b(?![:.]?[0-9])",
        r"\b[0-9]{4}-(?P<month>[0-9]{2})-(?P<first>[0-9]{2})(?P<last>)(?![0-9])",
        r"\b(?P<first>[0-9]{1,2})\.(?P<month>[0-9]{1,2})\.(?P<last>)(?:[0-9]{4}\b|(?![0-9]))",
    )
]
_DAYS_OF_ANY_YEAR = _DAYS_IN_TEXT[:2]
_WEEKDAY_BEFORE = re.compile(rf"(?i)(?:{'|'.join((*calendar.day_name, *calendar.day_abbr))})\b[., ]+")
_HOUR = r"(?P<{0}hour>[0-9]{{1,2}})(?:[:.](?P<{0}minute>[0-9]{{2}}))?\s?(?P<{0}half>(?:[ap]\.?m\b\.?)|o['’]?clock\b)?"
_RANGE_OF_HOURS = re.compile(
    rf"(?i)\b(?:between|from) {_HOUR.format('first_')} (?:and|to|until|till) {_HOUR.format('last_')}{_PHRASE_END}"
)
_CLOCK = re.compile(rf"(?i)(?:\b(?P<lead>[a-z]+) )?(?<![\w.,:/-]){_HOUR.format('')}(?![\w%:/-])")


_SHORT_WEEKDAYS = [name.lower() for name in calendar.day_abbr]


class PartOfTime(NamedTuple):
    """Days of any year, or minutes of any day, that a question asks for: "on Mondays", "on 3 March", "before 10:00".

    Attributes:
        words: of the question.
        admits: whether it asks for a day (year, month, day), or for the minutes from the first to the last.
        is_bound: it asks for what comes before or after the day, which years tell.
    """

    words: str
    admits: Callable[..., bool]
    is_bound: bool = False


class TimeWords(WordLists):
    """Words about times in questions; `times.txt` explains the lists."""

    file = "times.txt"
    words: Words
    during: WordSet
    month_words: WordSet
    before: WordSet
    after: WordSet
    since: WordSet
    until: WordSet
    leading_days: WordSet
    by_then: WordSet
    hour_names: Ordered
    parts_of_hour: Renamed
    past_hour: WordSet
    to_hour: WordSet
    beside: WordSet
    starting: WordSet
    ending: WordSet
    succeeding: WordSet
    following: WordSet
    taking_over: re.Pattern[str]
    preceding: WordSet
    former: WordSet
    week: re.Pattern[str]
    hours: re.Pattern[str]
    bound_when: re.Pattern[str]
    hour: re.Pattern[str]
    moments: WordSet
    lasting: WordSet
    future: WordSet
    period: re.Pattern[str]
    while_: WordSet
    present: WordSet
    past: WordSet

    @cached_property
    def leading(self) -> WordSet:
        """The words that lead to a date: "in the year", "until"."""
        return self.during | self.before | self.after | self.since | self.until | self.beside

    @staticmethod
    def places(question: str) -> list[tuple[int, int]]:
        """Return the places of the times that a question names."""
        return [place for place, _ in _named_times(question)]

    def named(self, question: str) -> Period | None:
        """Return the time that a question names in any way ("the 2011 film"); None without a time or with several."""
        if (time := self.time(question)) is not None:
            return time.period
        named = _named_times(question)
        return named[0][1] if len(named) == 1 else None

    def time(self, question: str) -> AskedTime | None:
        """Return the time that a question asks within: "in 1998", "from 1986 to 1988", "before 1990"; None without a time."""
        named = _named_times(question)
        if not named or len(named) > 2:
            return None
        ((start, _), first), (_, last) = named[0], named[-1]
        lead = fold(question[:start]).split()
        while lead and lead[-1] in self.beside:
            beside = lead.pop()
            if beside == "is" and lead and lead[-1] == "time":  # "whose start time is 1995"
                return AskedTime(first, self.boundary(" ".join(lead[-2:])))
        word = lead[-1] if lead else ""
        if len(named) == 2:
            return AskedTime(Period(min(first.first, last.first), max(first.last, last.last)))
        if word in self.before:
            return AskedTime(ALL_TIME._replace(last=first.first - 1))
        if word in self.after:
            return AskedTime(ALL_TIME._replace(first=first.last + 1))
        if word in self.since and self.present.union(self.past).intersection(lead[-2:-1]):
            return AskedTime(first, Boundary.ANY)  # "the invoices that are from 2024"
        if word in self.since or word in self.until:
            return AskedTime(first, Boundary.SINCE if word in self.since else Boundary.UNTIL)
        is_within = word in self.during or not lead or self._ends_request(lead, question, named[-1][0][1])
        return AskedTime(first, self.boundary(question)) if is_within else None

    def _ends_request(self, before: Sequence[str], question: str, end: int) -> bool:
        """Return True for a year behind nothing but names and nouns, at the end of a request: "Chelsea manager 2017"."""
        spoken = [word for word in map(fold, before) if word not in self.words.articles | self.words.definite]
        is_last = end >= len(question.rstrip(" ?."))
        return is_last and bool(spoken) and (self.words.common | self.leading).isdisjoint(spoken)

    def without_time(self, question: str) -> str:
        """Return the question without the time that it asks within and the word before that: "in 1998", "before 1990"."""
        if self.time(question) is None:
            return question
        places = self.places(question)
        before = question[: places[0][0]].split()
        if before and not (len(places) == 1 and self._ends_request(before, question, places[0][1])):
            before.pop()
        return f"{' '.join(before)}{question[places[-1][1] :]}".strip()

    def may_be_time(self, text: str) -> bool:
        """Return True for words that may answer "when?": with a number, a month, a weekday, or another word of times ("after lunch")."""
        words = {*fold(text).split()}
        has_name = self.seasons(text) is not None or not words.isdisjoint(self.moments | self.before | self.after)
        return any(map(str.isdigit, text)) or has_name or not words.isdisjoint(self.while_ | self.until | self.since)

    def days_of_week(self, text: str) -> frozenset[int]:
        """Return the places of the weekdays that a text names, from Monday (0) on, and of those between: "Monday to Thursday"."""
        names = [name.lower() for name in calendar.day_abbr]
        days = set[int]()
        for match in self.week.finditer(text):
            first, last = (names.index(name[:3].lower()) for name in (match["first"], match["last"] or match["first"]))
            days.update((first + further) % 7 for further in range((last - first) % 7 + 1))
        return frozenset(days)

    def seasons(self, question: str) -> PartOfTime | None:
        """Return the days of months, the months and the weekdays that a question names; None without them, or with a year."""
        if _named_times(question):
            return None
        if (day := self._day_of_month(question)) is not None:
            return day
        spelt = [name for name in MONTHS if re.search(rf"\b{name}\b", question)]
        lower = question.lower()
        during = "|".join(self.during)
        spelt += [name for name in MONTHS if re.search(rf"\b(?:{during}) {name.lower()}\b", lower)]
        # "gas january"; "may" and "march" are months in lower case at the end alone
        last = lower.rstrip(" ?.!").rpartition(" ")[2]
        small = {name for name in MONTHS if name.lower() not in self.month_words or name.lower() == last}
        spelt += [name for name in MONTHS if name in small and re.search(rf"\b{name.lower()}\b", lower)]
        months = {MONTHS.index(name) + 1 for name in spelt}
        weekdays = {place for place, name in enumerate(calendar.day_name) if re.search(rf"\b{name.lower()}s?\b", lower)}
        if not months and not weekdays:
            return None
        names = " ".join([*spelt, *(f"{calendar.day_name[place]} {calendar.day_name[place]}s" for place in weekdays)])
        return PartOfTime(
            names,
            lambda year, month, day: (
                (not months or month in months)
                and (
                    not weekdays
                    or (is_calendar_day(year, month, day) and calendar.weekday(year, month, day) in weekdays)
                )
            ),
        )

    @cached_property
    def bounding(self) -> WordSet:
        """The words before a day that something lies before, behind or up to."""
        return self.before | self.after | self.since | self.until | self.by_then

    @staticmethod
    def days_of_year(text: str) -> list[tuple[int, int]]:
        """Return the month and the day of each day that a text names, with or without a year."""
        found = [match for pattern in _DAYS_IN_TEXT for match in pattern.finditer(text)]
        days = [(_month(match["month"]), int(day)) for match in found for day in (match["first"], match["last"]) if day]
        return [(month, day) for month, day in days if 0 < month <= _MONTHS and 0 < day <= _DAYS]

    def bounds_days(self, text: str) -> bool:
        """Return True if a text has a word before a day for what lies before, behind or up to it: "from 1 May", "Since is 2020-05-01"."""
        leads = (fold(text[: match.start()]).split()[-2:] for each in _DAYS_IN_TEXT for match in each.finditer(text))
        return any(not self.bounding.isdisjoint([word for word in lead if word != "is"][-1:]) for lead in leads)

    def with_weekdays(self, question: str) -> str:
        """Return the question with the weekdays in full behind words that lead to them: "on Saturday" for "on sat"."""
        return self._short_weekday.sub(
            lambda match: f"{match['lead']}{calendar.day_name[_SHORT_WEEKDAYS.index(match['day'].lower())]}", question
        )

    @cached_property
    def _short_weekday(self) -> re.Pattern[str]:
        leading = "|".join(sorted(self.leading_days))
        return re.compile(rf"(?i)\b(?P<lead>(?:{leading}) )(?P<day>{'|'.join(_SHORT_WEEKDAYS)})\b\.?(?!-)")

    def _day_of_month(self, question: str) -> PartOfTime | None:
        """Return the only day that a question names without a year, or those before or after it."""
        found = [match for pattern in _DAY_OF_MONTH for match in pattern.finditer(question)]
        if len(found) != 1:
            return None
        (match,) = found
        day, month = int(match["day"]), _month(match["month"])
        if not 0 < day <= _DAYS or month > _MONTHS:
            return None
        lead = {*fold(question[: match.start()]).removesuffix("the").split()[-1:]}
        if lead & self.bounding and month:
            is_later = bool(lead & (self.after | self.since))
            is_included = bool(lead & (self.since | self.until | self.by_then))
            return PartOfTime(
                match[0],
                lambda _, of_month, of_day: (
                    (((of_month, of_day) > (month, day)) is is_later and (of_month, of_day) != (month, day))
                    or (is_included and (of_month, of_day) == (month, day))
                ),
                is_bound=True,
            )
        return PartOfTime(match[0], lambda _, of_month, of_day: of_day == day and month in (0, of_month))

    def clock(self, question: str) -> PartOfTime | None:
        """Return the minutes of a day that a question asks for: "at 9", "between 2 and 4 pm", "before 10:00"; None without them."""
        if between := _RANGE_OF_HOURS.search(question):
            half = between["first_half"] or between["last_half"]
            first, last = (_minutes(between, end, half) for end in ("first_", "last_"))
            if first is None or last is None:
                return None
            return PartOfTime(between[0], lambda begin, end: begin <= last and first <= end)
        if spoken := self._spoken_hour.search(question):
            hour, part = spoken["hour"].lower(), int(self.parts_of_hour[spoken["part"].lower()])
            number = int(hour) if hour.isdigit() else 1 + self.hour_names.index(hour)
            half_day = _HOURS * _MINUTES // 2
            morning = (_MINUTES * number + (part if spoken["past"] else -part)) % half_day
            either = (morning, morning + half_day)
            return PartOfTime(
                spoken[0], lambda begin, end: any(begin == each or begin <= each < end for each in either)
            )
        found = []
        for match in _CLOCK.finditer(question):
            minutes, lead = _minutes(match), fold(match["lead"] or "")
            is_phrase = lead == "at" and re.match(_PHRASE_END, question[match.end() :])
            if minutes is not None and (match["half"] or ":" in match[0] or is_phrase):
                found.append((match[0], lead, minutes, bool(match["half"] or match["minute"])))
        if len(found) != 1:
            return None
        words, lead, time, is_exact = found[0]
        if lead in self.before:
            return PartOfTime(words, lambda begin, _: begin < time, is_bound=True)
        if lead in self.after:
            return PartOfTime(words, lambda begin, _: begin > time, is_bound=True)
        if lead in self.since:
            return PartOfTime(words, lambda begin, end: begin == time or begin == end >= time, is_bound=True)
        if lead in self.until:  # "who works until 6 pm", "what is over by then"
            return PartOfTime(words, lambda begin, end: end == time or begin == end <= time, is_bound=True)
        # "at 2" may be 14:00
        times = (time,) if is_exact or time >= _HOURS * _MINUTES // 2 else (time, time + _HOURS * _MINUTES // 2)
        return PartOfTime(words, lambda begin, end: any(begin == each or begin <= each < end for each in times))

    @cached_property
    def _spoken_hour(self) -> re.Pattern[str]:
        """The pattern of "half past seven" and "quarter to 9"."""
        parts, names = "|".join(self.parts_of_hour), "|".join(self.hour_names)
        past, to = "|".join(sorted(self.past_hour)), "|".join(sorted(self.to_hour))
        return re.compile(
            rf"(?i)\b(?P<part>{parts}) (?:(?P<past>{past})|(?:{to})) (?P<hour>{names}|[0-9]{{1,2}})\b(?![:.][0-9])"
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

        "Who replaced X" asks for what came after, "who was replaced by X" and "whom did X replace" for what came before.
        """
        words = fold(question).split()
        is_object = not self.words.doing.isdisjoint(words[1:2])
        if self.taking_over.search(fold(question)):
            return not is_object
        for place, word in enumerate(words):
            following = "".join(words[place + 1 : place + 2])
            is_time = word in self.after | self.before and not self._begins_clause(words[place + 1 :])
            if word in self.following:
                return True
            if (is_time and word in self.after) or word in self.succeeding:
                return word in self.after or (following != "by" and not is_object)
            if is_time or word in self.preceding:
                return word in self.preceding and following == "by"
        return None

    def _begins_clause(self, words: Sequence[str]) -> bool:
        """Return True for "he was thrown out" behind "after", not for "him" and "him at Chelsea"."""
        is_verb = any(word in self.present | self.past or word not in self.words.common for word in words[1:2])
        return is_verb and not self.words.personal.isdisjoint(words[:1])

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


def _named_times(question: str) -> list[tuple[tuple[int, int], Period]]:
    # the start and the end of each time in the question, in its order
    times: list[tuple[tuple[int, int], Period]] = []
    for match in _DATE.finditer(question):  # year, month and day, or month, day and year; zeros are unknown
        year, month, day = (match[name] for name in ("abc" if len(match["a"]) == 4 else "cab"))
        months, days = int(month), int(day)
        if len(year) == 4 and months <= _MONTHS and days <= _DAYS:
            first = day_number(int(year), months or 1, days or 1)
            last = day_number(int(year), months or _MONTHS, days if months and days else _DAYS)
            times.append((match.span(), Period(first, last, is_point=True)))
    for match in _COARSE.finditer(question):
        centuries = int(match["century"] or 0)
        year = int(match["decade"] or (1 - 100 * centuries if match["bc"] else 100 * centuries - 99))
        last_year = year + (9 if match["decade"] else 99)
        times.append((match.span(), Period(day_number(year), day_number(last_year, 12, 31), is_point=True)))
    for match in _NAMED_DECADE.finditer(question):  # of the twentieth century
        year = 1920 + 10 * _TENS.index(match["word"].lower()) if match["word"] else 1900 + 10 * int(match["tens"])
        times.append((match.span(), Period(day_number(year), day_number(year + 9, 12, 31), is_point=True)))
    for span in find_literals(question):
        if is_date(span.entity["id"]) and not any(start < span.end and span.start < end for (start, end), _ in times):
            times.append(((span.start, span.end), Period.of_date(span.entity)))
    return sorted(times)


def day_of_year(text: str) -> tuple[int, int] | None:
    """Return the month and the day of a text of nothing but a day without a year, perhaps with its weekday: "Thu 23 April"."""
    bare = _WEEKDAY_BEFORE.sub("", text.strip())
    found = next(filter(None, (pattern.fullmatch(bare) for pattern in _DAYS_OF_ANY_YEAR)), None)
    if found is None or found["last"]:
        return None
    month, day = _month(found["month"]), int(found["first"])
    return (month, day) if 0 < day <= _DAYS else None


def clock_times(text: str) -> tuple[int, int] | None:
    """Return the first and the last minute of a text that is a time of the day, or from one to another: "9:15", "2 pm–4 pm"."""
    parts = re.split(r"\s*(?:[–—-]|to)\s*", text.strip())
    matches = [re.fullmatch(_HOUR.format(""), part, re.IGNORECASE) for part in parts]
    if not 0 < len(matches) <= 2 or not any(match and (":" in match[0] or match["half"]) for match in matches):
        return None
    half = matches[-1]["half"] if matches[-1] else None
    minutes = [_minutes(match, half=half) if match else None for match in matches]
    return None if None in minutes else (minutes[0] or 0, minutes[-1] or 0)


def _month(name: str) -> int:
    """Return the number of a month by its name, in full or short, or by its digits; 0 for none."""
    short = [month[:3].casefold() for month in MONTHS]
    return int(name) if name.isdigit() else 1 + short.index(name[:3].casefold()) if name else 0


def _minutes(match: re.Match[str], end: str = "", half: str | None = None) -> int | None:
    hour, minute = int(match[f"{end}hour"]), int(match[f"{end}minute"] or 0)
    half = (match[f"{end}half"] or half or "").lower()
    if hour > _HOURS or minute >= _MINUTES:
        return None
    if half[:1] in ("a", "p") and hour <= _HOURS // 2:
        hour = hour % (_HOURS // 2) + (_HOURS // 2 if half[0] == "p" else 0)
    return hour * _MINUTES + minute
