"""Dates and numbers as entities, from Wikidata values and from running text.

A date has the id of CLOCQ, an ISO 8601 time stamp at midnight, and a label in words: `1952-03-11T00:00:00Z`,
`11 March 1952`. A year stands for its first day (`1952-01-01T00:00:00Z`, label `1952`), a month likewise. A number has
its digits as id (`1250.5`, `55000000` for "55 million"), so that a number of a table and a quantity of the knowledge base are the same entity.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import NamedTuple

from .evidence import Entity

MONTHS = tuple(calendar.month_name)[1:]
_MONTH = {name.lower(): number for number, name in enumerate(MONTHS, 1)}
_MONTH |= {name[:3].lower(): number for number, name in enumerate(MONTHS, 1)} | {"sept": 9}
_NAMES = "|".join(sorted(_MONTH, key=len, reverse=True))
_YEAR = r"(?:1[0-9]|20)[0-9][0-9]"

ORDINAL = "(?:st|nd|rd|th)"  # behind the digits of an ordinal: dates are read, and labelled, as English writes them
_SCALES = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}  # behind digits, as powers of ten
# Longest forms first: an alternative matches only where no longer one does.
_LITERAL = re.compile(
    rf"""(?<![\w.,-])(?=[0-9jfmasond])(?:  # where a date or a number can begin: most places of a text fail here
      (?<![$€£])(?:
      (?P<dmy>(?P<d1>[0-3]?[0-9]){ORDINAL}?\s+(?:of\s+)?(?P<m1>{_NAMES})\.?,?\s+(?P<y1>{_YEAR}))
    | (?P<mdy>(?P<m2>{_NAMES})\.?\s+(?P<d2>[0-3]?[0-9]){ORDINAL}?,?\s+(?P<y2>{_YEAR}))
    | (?P<iso>(?P<y3>{_YEAR})-(?P<m3>[01][0-9])-(?P<d3>[0-3][0-9]))
    | (?P<my>(?P<m4>{_NAMES})\.?,?\s+(?P<y4>{_YEAR}))
    | (?P<range>(?P<y5>{_YEAR})\s?[–—-]\s?(?P<y6>{_YEAR}|[0-9][0-9]))
    | (?P<year>{_YEAR})
    )(?![\w%]|[.,][0-9]|-[0-9])
    | (?P<number>[0-9]{{1,3}}(?:,[0-9]{{3}})+(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?)
      (?:(?:\s|-(?=\w+-|\w+\s))(?P<scale>{"|".join(_SCALES)})(?!\w)|(?![\w%]|[.,][0-9]|-\w)))""",
    re.IGNORECASE | re.VERBOSE,
)
_DATE_ID = re.compile(r"-?[0-9]{4,}-[0-9][0-9]-[0-9][0-9]T00:00:00Z")
_NUMBER_ID = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
# years of Wikibase have 16 digits at most
_WIKIDATA_TIME = re.compile(r"([+-]?)([0-9]{1,16})-([0-9][0-9])-([0-9][0-9])T")
_DAYS = 31  # of the longest month; Wikidata has a 30 February of 1712


class LiteralSpan(NamedTuple):
    """An entity and where it stands in a text: `text[start:end]` is its surface form."""

    start: int
    end: int
    entity: Entity


def date_entity(year: int, month: int | None = None, day: int | None = None) -> Entity:
    """The entity of a day, a month or a year; years before Christ are negative (astronomical: 0 is 1 BC)."""
    stamp = f"{'-' if year < 0 else ''}{abs(year):04d}-{month or 1:02d}-{day or 1:02d}T00:00:00Z"
    words = [str(day)] if day and month else []
    words += [MONTHS[month - 1]] if month else []
    words.append(str(year) if year > 0 else f"{1 - year} BC")
    return {"id": stamp, "label": " ".join(words)}


def number_entity(amount: str, unit: str = "") -> Entity:
    """The entity of a number as written (`+1,250.50` -> id `1250.5`); `unit` is part of the label only."""
    digits = amount.replace(",", "").lstrip("+")
    if "." in digits:
        digits = digits.rstrip("0").rstrip(".")
    return {"id": digits or "0", "label": f"{digits or '0'} {unit}".strip()}


def wikidata_time(time: str, precision: int) -> Entity | None:
    """A time value of the Wikidata JSON format (`+1952-03-11T00:00:00Z`, precision 9 = year, 10 = month, 11 = day).

    None for decades and coarser spans, which are no dates.

    Raises:
        ValueError: it is no time of that format, such as one of a thirteenth month.
    """
    match = _WIKIDATA_TIME.match(time)
    if match is None or int(match[3]) > len(MONTHS) or int(match[4]) > _DAYS:
        raise ValueError(f"{time[:40]!r} is no time")
    if precision < 9:
        return None
    year, month, day = int(match[2]), int(match[3]), int(match[4])
    if match[1] == "-":
        year = 1 - year  # the format counts 1 BC as year -1
    if precision == 9 or month == 0:
        return date_entity(year)
    return date_entity(year, month, day if precision >= 11 and day else None)


def is_item(entity_id: str) -> bool:
    """Whether an id is that of an item."""
    return entity_id[:1] == "Q" and entity_id[1:].isdecimal()


def is_date(entity_id: str) -> bool:
    """Whether an id is a time stamp."""
    return _DATE_ID.fullmatch(entity_id) is not None


def year_of(entity_id: str) -> Entity:
    """The year that a time stamp lies in."""
    return date_entity(int(entity_id[: entity_id.index("-", 1)]))


def is_number(entity_id: str) -> bool:
    """Whether an id is a number."""
    return _NUMBER_ID.fullmatch(entity_id) is not None


def in_scale(entity: Entity, scale: int) -> Entity:
    """A number counted in thousands, millions ...: 150 for 150000000 in millions; what is not at least one of them as it is."""
    if scale == 1 or not is_number(entity["id"]) or (number := Decimal(entity["id"])) < scale:
        return entity
    return number_entity(f"{(number / scale).normalize():f}")


def find_literals(text: str) -> Iterator[LiteralSpan]:
    """Dates, years, year ranges (both years) and numbers of a text, from left to right, without overlap."""
    for match in _LITERAL.finditer(text):
        kind, parts = match.lastgroup, match.groupdict()
        if parts["number"]:
            yield LiteralSpan(*match.span(), _scaled(parts["number"], parts["scale"]))
            continue
        if parts["range"]:
            first, last = parts["y5"], parts["y6"]
            yield LiteralSpan(*match.span("y5"), date_entity(int(first)))
            end = int(first[: 4 - len(last)] + last)
            yield LiteralSpan(
                *match.span("y6"), date_entity(end if end >= int(first) else end + 100)
            )  # 1999-00 ends in 2000
        else:
            year, month, day = (
                next((parts[f"y{n}"], parts.get(f"m{n}"), parts.get(f"d{n}")) for n in "1234" if parts[f"y{n}"])
                if kind != "year"
                else (parts["year"], None, None)
            )
            number = int(month) if month and month.isdigit() else _MONTH.get(month.lower()) if month else None
            number_of_day = int(day) if day else None
            try:
                date(int(year), 1 if number is None else number, 1 if number_of_day is None else number_of_day)
            except ValueError:  # such as 31 February
                continue
            yield LiteralSpan(*match.span(), date_entity(int(year), number, number_of_day))


def _scaled(amount: str, scale: str | None) -> Entity:
    if scale is None:
        return number_entity(amount)
    number = Decimal(amount.replace(",", "")).scaleb(_SCALES[scale.lower()])
    return number_entity(f"{number:f}") | {"label": f"{amount} {scale}"}
