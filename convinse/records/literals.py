"""Dates and numbers as entities; `written_values` reads them from texts.

A date has the id of CLOCQ, an ISO 8601 time stamp at midnight, and a label in words: `1952-03-11T00:00:00Z`,
`11 March 1952`. A year stands for its first day (`1952-01-01T00:00:00Z`, label `1952`), a month, decade, century or millennium likewise. A number has
its digits as id (`1250.5`, `55000000` for "55 million"), so that a number of a table and a quantity of the knowledge base are the same entity.
"""

from __future__ import annotations

import calendar
import re
from datetime import date
from decimal import Decimal

from .evidence import Entity

MONTHS = tuple(calendar.month_name)[1:]
_DATE_ID = re.compile(r"-?[0-9]{4,}-[0-9][0-9]-[0-9][0-9]T00:00:00Z")
_NUMBER_ID = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
# years of Wikibase have 16 digits at most
_WIKIDATA_TIME = re.compile(r"([+-]?)([0-9]{1,16})-([0-9][0-9])-([0-9][0-9])T")
FIRST_DOCUMENT_ITEM = 1 << 40  # of documents: where items of both sources are in order, those of Wikidata come first
_DECADE = 10  # years
_COARSE = {8: (_DECADE, ""), 7: (100, "century"), 6: (1000, "millennium")}  # precisions of Wikibase, years and names
_COARSE_LABEL = re.compile(r"[0-9](?:(?:st|nd|rd|th) )?(s|century|millennium)(?: BC)?$")
_DAYS = 31  # of the longest month; Wikidata has a 30 February of 1712


def date_entity(year: int, month: int | None = None, day: int | None = None) -> Entity:
    """Return the entity of a day, a month or a year; years before Christ are negative (astronomical: 0 is 1 BC)."""
    stamp = f"{'-' if year < 0 else ''}{abs(year):04d}-{month or 1:02d}-{day or 1:02d}T00:00:00Z"
    words = [str(day)] if day and month else []
    words += [MONTHS[month - 1]] if month else []
    words.append(str(year) if year > 0 else f"{1 - year} BC")
    return {"id": stamp, "label": " ".join(words)}


def is_calendar_day(year: int, month: int | None = None, day: int | None = None) -> bool:
    """Return True if a year has this month and day; every fourth year before Christ has 29 February."""
    try:
        date(year if year > 0 else 2000 + year % 400, 1 if month is None else month, 1 if day is None else day)
    except ValueError:  # such as 31 February
        return False
    return True


def number_entity(amount: str, unit: str = "") -> Entity:
    """Return the entity of a written number (`+1,250.50` -> id `1250.5`); `unit` is part of the label only."""
    digits = amount.replace(",", "").lstrip("+")
    if "." in digits:
        digits = digits.rstrip("0").rstrip(".")
    return {"id": digits or "0", "label": f"{digits or '0'} {unit}".strip()}


def wikidata_time(time: str, precision: int) -> Entity | None:
    """Return the date of the Wikidata JSON format (`+1952-03-11T00:00:00Z`, precision 9 = year, 10 = month, 11 = day).

    A decade, a century or a millennium (8, 7, 6) has the id of its first day; None for longer spans, which are not dates.

    Raises:
        ValueError: it is not a time of that format, such as a time in a thirteenth month.
    """
    match = _WIKIDATA_TIME.match(time)
    if match is None or int(match[3]) > len(MONTHS) or int(match[4]) > _DAYS:
        raise ValueError(f"{time[:40]!r} is not a time")
    if precision < min(_COARSE):
        return None
    year, month, day = int(match[2]), int(match[3]), int(match[4])
    if match[1] == "-":
        year = 1 - year  # the format counts 1 BC as year -1
    if precision in _COARSE:
        return _coarse_date(year, *_COARSE[precision])
    if precision == 9 or month == 0:
        return date_entity(year)
    return date_entity(year, month, day if precision >= 11 and day else None)


def _coarse_date(year: int, years: int, name: str) -> Entity:
    # 401 to 500 is the 5th century, 500 to 401 BC the 5th century BC
    era = " BC" if year <= 0 else ""
    if years == _DECADE:
        count = (1 - year if era else year) // years * years
        first, label = (1 - count - (years - 1) if era else count), f"{count}s"
    else:
        count = -((year - 1) // years) if era else (year - 1) // years + 1
        first = 1 - count * years if era else (count - 1) * years + 1
        last = count % 10 if count % 100 not in (11, 12, 13) else 0
        label = f"{count}{['th', 'st', 'nd', 'rd', *['th'] * 6][last]} {name}"
    return {"id": date_entity(first)["id"], "label": label + era}


def years_of(entity: Entity) -> int:
    """Return the years that a date spans by its label: 10 of "1980s", 100 of "5th century BC", else 1."""
    match = _COARSE_LABEL.search(entity["label"])
    return 1 if match is None else {"s": _DECADE, "century": 100, "millennium": 1000}[match[1]]


def is_item(entity_id: str) -> bool:
    """Return True for the id of an item: of Wikidata (`Q42`), or of documents (`F1099511627776`)."""
    return entity_id[:1] in "QF" and entity_id[1:].isdecimal()


def is_document_item(entity_id: str) -> bool:
    """Return True for the id of a document, or of a section or a name in one."""
    return entity_id[:1] == "F" and entity_id[1:].isdecimal()


def is_known(entity: Entity) -> bool:
    """Return True for an item, a date or a number; False for words."""
    name = entity["id"]
    return is_item(name) or is_date(name) or is_number(name)


def is_date(entity_id: str) -> bool:
    """Return True for a time stamp."""
    return _DATE_ID.fullmatch(entity_id) is not None


def year_of(entity_id: str) -> Entity:
    """Return the year of a time stamp."""
    return date_entity(int(entity_id[: entity_id.index("-", 1)]))


def is_number(entity_id: str) -> bool:
    """Return True for the id of a number."""
    return _NUMBER_ID.fullmatch(entity_id) is not None


def in_scale(entity: Entity, scale: int) -> Entity:
    """Return a number in thousands, millions ...: 150 for 150000000 in millions; smaller numbers than the scale unchanged."""
    if scale == 1 or not is_number(entity["id"]) or (number := Decimal(entity["id"])) < scale:
        return entity
    return number_entity(f"{(number / scale).normalize():f}")
