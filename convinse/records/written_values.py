"""Dates and numbers in texts: with era, sign, grouping, scale and unit, as ranges and as compounds.

A regular expression finds the pieces; pieces that belong together ("7–10", "63–14 BC", "5 ft 11 in") are joined to a value. The
entity of a value is a date or a number, else its words (a range, a decade, a score). `find_literals` returns only dates and
numbers, with both ends of ranges of dates, but no parts of further values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from .evidence import Entity
from .literals import MONTHS, date_entity, is_calendar_day, is_date, is_number, number_entity
from .units import CURRENCY, MONEY_WORDS, UNIT, UNIT_RANKS

_MONTH = {name.lower(): number for number, name in enumerate(MONTHS, 1)}
_MONTH |= {name[:3].lower(): number for number, name in enumerate(MONTHS, 1)} | {"sept": 9}
_NAMES = "|".join(sorted(_MONTH, key=len, reverse=True))
ORDINAL = "(?:st|nd|rd|th)"  # behind the digits of an ordinal: dates are read, and labelled, as English writes them
_SCALES = {"hundred": 2, "thousand": 3, "lakh": 5, "million": 6, "crore": 7, "billion": 9, "trillion": 12}
_SHORT_SCALES = {
    "k": 3,
    "mn": 6,
    "mln": 6,
    "m": 6,
    "bn": 9,
    "bln": 9,
    "b": 9,
    "tn": 12,
    "trn": 12,
}  # k, m and b not of all numbers
_FRACTIONS = dict(
    zip("½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞", "1/2 1/3 2/3 1/4 3/4 1/5 2/5 3/5 4/5 1/6 5/6 1/8 3/8 5/8 7/8".split(), strict=True)
)
_VULGAR = f"[{''.join(_FRACTIONS)}]"
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺−–", "0123456789-+--")
# texts of a cell among prices: nothing is to be paid
FREE = frozenset(("free", "free of charge", "gratis"))
# texts of a cell that says nothing
UNKNOWN = frozenset(
    (
        "",
        "n/a",
        "na",
        "-",
        "–",
        "—",
        "?",
        "unknown",
        "none",
        "tbd",
        "tba",
        "not known",
        "nan",
        "null",
        "#n/a",
        "n.a.",
        "...",
        "…",
    )
)
_BLANKS = "\u00a0\u2004-\u200a\u202f"

_YEAR = r"(?:1[0-9]|20)[0-9][0-9]"
_AFTER = r"(?-i:\s?(?:BCE?|B\.\s?C\.(?:E\.)?|CE|C\.E\.|AD|A\.D\.|bce?))(?!\w)"
_BEFORE = r"(?-i:AD|A\.D\.)\s?"
_DASH = r"\s?(?:[–—/-]|\bto\b|\band\b|&)\s?"
_DAY = f"[0-3]?[0-9]{ORDINAL}?"
# a decimal comma, only of an amount of something: "3,5 kg", but not "chapters 3,5"
_COMMA = rf"[0-9]{{1,3}},[0-9]{{1,2}}(?:(?=(?:\s?(?:[–—-]|to)\s?[0-9]+,[0-9]{{1,2}})?(?:{UNIT.pattern}))|(?=\s(?:{'|'.join(_SCALES)})\b))|(?<=[{CURRENCY}])[0-9]{{1,3}},[0-9]{{2}}(?![0-9,])"
_NUMBER = rf"""[0-9]{{1,3}}(?:(?:,[0-9]{{2,3}}){{0,6}},[0-9]{{3}}(?:\.[0-9]+)?
    | (?:[{_BLANKS}\ ][0-9]{{3}}){{1,6}}(?![0-9])(?!\ [0-9])(?:\.[0-9]+|,[0-9]{{1,2}}(?![0-9]))? | (?:['’][0-9]{{3}}){{1,6}}(?:\.[0-9]+|,[0-9]{{1,2}}(?![0-9]))?
    | (?:\.[0-9]{{3}}){{2,6}}(?:,[0-9]+)?) | {_COMMA} | [0-9]+(?:\.[0-9]+)?"""


def _year(number: int, more: str = "") -> str:
    # a year by its digits, by its era or by the text behind it
    return (
        rf"(?:(?P<ad{number}>{_BEFORE})(?P<z{number}>[1-9][0-9]{{0,3}})"
        rf"|(?P<y{number}>{_YEAR}|[1-9][0-9]{{0,3}}(?:[,{_BLANKS}\ ][0-9]{{3}})?(?={_AFTER}){more})(?P<e{number}>{_AFTER})?)"
    )


_ALONE = r"|[1-9][0-9]{2}(?=[.,;:)\]](?![0-9])|\s*$)"  # "on 24 August 410.", but not "on 24 August 410 people"
_ATTACHED = r"[kcm]?m[²³]?|kg|ft|lbs?|mph|ha|[kMG]W|[kMG]Hz|[MGT]B|cc|hp|min|hr?s?|in|oz|yd|st(?=\s?[0-9]{1,2}\s?lb)"  # units without a blank
_END = r"(?![\w%‰]|[.,:/][0-9]|-(?![0-9]+(?:[.,][0-9]+)*(?![\w-]))\w)"  # a piece of a longer token is not a value
# Longest forms first: an alternative matches only if no longer one does.
_PIECE = re.compile(
    rf"""(?:(?<![\w.,])|(?<=[\s(]c\.)|(?<=[\s(]ca\.))(?<![0-9][:/])(?=[0-9{"".join(_FRACTIONS)}]|{"|".join(name[:3] for name in MONTHS)}|a\.?d)(?:(?<![^\s(\[0-9]-)|(?<=mid-)|(?<=late-)|(?<=early-))(?:  # most places of a text fail before
      (?<![{CURRENCY}])(?:
      (?P<dmy>(?:(?P<d10>{_DAY})(?:\s+(?P<m10>{_NAMES})\.?)?{_DASH})?(?P<d1>{_DAY})(?:\s+(?:of\s+)?(?P<m1>{_NAMES})\.?,?\s+|-(?P<m11>{_NAMES})-){_year(1, _ALONE)})
    | (?P<mdy>(?P<m2>{_NAMES})\.?\s+(?:(?P<d20>{_DAY}){_DASH}(?:(?P<m20>{_NAMES})\.?\s+)?)?(?P<d2>{_DAY}),?\s+{_year(2, _ALONE)})
    | (?P<iso>(?P<y3>{_YEAR})(?P<between>[-/])(?P<m3>[01][0-9])(?P=between)(?P<d3>[0-3][0-9]))
    | (?P<my>(?:(?P<m40>{_NAMES})\.?\s?(?:[–—/-]|\bto\b)\s?)?(?P<m4>{_NAMES})\.?,?\s+(?:of\s+)?{_year(4)})
    | (?P<slashed>(?P<a>[0-3]?[0-9])/(?P<b>[0-3]?[0-9])/(?P<y5>{_YEAR}))
    | (?P<dotted>(?P<d5>[0-3]?[0-9])\.(?P<m5>[01]?[0-9])\.(?P<y9>{_YEAR}))
    | (?P<coarse>(?:{_YEAR}|[1-9][0-9]0)['’]?s(?:{_AFTER})?|[0-9]{{1,2}}{ORDINAL}(?:\s?(?:[–-]|to|and|or)\s?[0-9]{{1,2}}{ORDINAL})?[ -](?:centur(?:y|ies)|millenni(?:um|a))(?:{_AFTER})?)(?!\w)
    | (?P<partial>(?-i:{_DAY}\s(?:of\s)?(?:{"|".join(MONTHS)})|(?:{"|".join(MONTHS)})\s{_DAY})(?![\w,]))
    | (?P<year>(?P<y7>{_YEAR})\s?[–—/-]\s?(?P<y8>{_YEAR}|[0-9][0-9])(?P<e8>{_AFTER})?|{_year(6)}(?!\s?(?:{MONEY_WORDS})(?!\w)))
    ){_END}
    | (?P<number>(?P<power>(?:(?P<factor>[0-9]+(?:\.[0-9]+)?)\s?[×x·*]\s?)?10(?:\^\(?(?P<exponent>[−–+-]?[0-9]{{1,2}})\)?|(?P<raised>[⁻⁺]?[⁰¹²³⁴-⁹]{{1,2}})))
      | (?P<token>(?:[0-9]{{1,3}}\.){{3}}[0-9]{{1,3}}(?![.,]?[0-9])|(?<=\+)[0-9]{{1,3}}(?:[ .-]\(?[0-9]{{2,5}}\)?){{2,5}}|[0-9]{{3}}[ .-][0-9]{{3}}[ .-][0-9]{{4}}(?![0-9])
          |0[0-9]{{1,4}}(?:[ /-][0-9]{{2,4}}){{1,4}}(?![0-9.,]\d)|[0-9]{{3}}(?:[ ][0-9]{{4}}|-0[0-9]{{3}})(?![0-9]|[.,][0-9]))
      | (?P<whole>{_NUMBER})?(?:(?:(?<=[0-9])\ )?(?P<vulgar>{_VULGAR})|(?:(?<=[0-9])[+\ -])?(?P<above>(?<![0-9])[0-9]{{1,2}})[⁄/](?P<below>[0-9]{{1,3}}))
      | (?P<amount>{_NUMBER}))
      (?:(?:\s|-(?=\w+-|\w+\s))(?P<scale>{"|".join(_SCALES)})(?:\s(?P<more>crore|million|billion))?(?!\w)
       |\s?(?P<short>(?-i:tr?n|bl?n|ml?n|[kmb]|BN|MN?|K|B))(?![\w-])|(?P<percent>%|\s?‰)|(?=(?-i:{_ATTACHED})(?!\w))|{_END})
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_JOIN = r"\s?(?P<join>[–—‒−‑-]|to|until|and|or)\s?"
_RANGED = re.compile(_JOIN)
_DIGIT = re.compile(f"[0-9{''.join(_FRACTIONS)}]")
_YEAR_DIGITS = re.compile(r"[0-9]{3}|BC|AD|CE")
_TOKEN = re.compile(r"[^\s(\[\"“]*[0-9][^\s)\]\"”]*")
_APPROXIMATE = re.compile(r"(?:(?<!\w)(?:c|ca|circa)\.?\s?|(?<!\w)(?:early|mid|late)[\s-]|~)$", re.IGNORECASE)
_SHOWN = re.compile(r"^(?:c|ca|circa|early|mid|late)\b|AD|A\.D\.|(?<!B)(?<!B\.)C\.?E")  # of a date
_MONEY = re.compile(rf"(?:[A-Z]{{0,3}}[{CURRENCY}]|\b(?:[A-Z]{{3}}|Rs\.?)\s)\s?$")
_MONEY_BEHIND = re.compile(rf"\s?(?:[{CURRENCY}]|(?:{MONEY_WORDS})(?!\w))", re.IGNORECASE)
_ROUND = re.compile(
    r"[1-9][0-9]{0,2}\.[0-9]00"
)  # a whole amount of money with a point between thousands: "250.000 euros"
_COMPOUND = re.compile(r"\s?(?P<unit>[^\W\d_]+|['′’\"″”°]{1,2})\.?,?\s?(?:and\s)?")
_JOINED = re.compile(
    rf"(?:{UNIT.pattern})?\.?{_JOIN.replace('|or', '|or|by|[×x±]')}(?:[A-Z]{{0,3}}[{CURRENCY}]|[−‒‑-])?", re.IGNORECASE
)
_DECIMAL_COMMA = re.compile(r"^[^,.]+,[0-9]{1,2}$")
_LAST_UNIT = re.compile(rf"[^0-9{''.join(_FRACTIONS)}]*$")
_TALL = re.compile(r"f(?:oo|ee)?t|stone")  # units whose smaller one may be left out
_LONGEST_GAP = 24  # characters between two values that may be one: "between 3 and 5", "5 ft 11 in"
_SIGNS = "−‒–‑-﹣－"


class LiteralSpan(NamedTuple):
    """An entity and its place: `text[start:end]` is its surface form."""

    start: int
    end: int
    entity: Entity


class WrittenValue(NamedTuple):
    """A value and its place; `parts` are its dates and numbers."""

    start: int
    end: int
    kind: str  # date, days (a range of days or months) or number
    parts: tuple[LiteralSpan, ...] = ()


def find_literals(text: str) -> Iterator[LiteralSpan]:
    """Yield the dates, years, both ends of ranges of dates, and numbers of a text, from left to right, without overlap."""
    for value in _values(text):
        yield from value.parts


def day_in(text: str) -> LiteralSpan | None:
    """Return the only day or month of a text; None without one, or with several."""
    if not any(map(str.isdigit, text)):
        return None
    literals = (literal for literal in find_literals(text) if is_date(literal.entity["id"]))
    days = [literal for literal in literals if not literal.entity["label"].lstrip("-").isdigit()]
    return days[0] if len(days) == 1 else None


def value_at(text: str, start: int, end: int) -> Entity | None:
    """Return the whole value that `text[start:end]` marks in full or in part: "7–10 days" for "7", "11 March 1952" for "March".

    Its label has its unit and currency; a value other than a single date or number is its words. None if the span marks no value
    or several, or a part of a value together with further words.
    """
    values = _cached_values(text)
    marked = [value for value in values if value.start < end and start < value.end]
    if not marked:  # the unit, and more: "euros a month" of "30 euros a month"
        marked = [value for value in values if (reach := _surroundings(text, value))[0] <= start < reach[1]]
        start, end = (marked[0].start, marked[0].end) if marked else (start, end)
    dates = [value for value in marked if value.kind != "number"]
    ids = {part.entity["id"] for value in dates for part in value.parts} | {"" for value in dates if not value.parts}
    if len(ids) == 1:  # beside other numbers, the text marks one date
        marked = dates[:1]
    if len(marked) != 1:
        return _token_at(text, start, end) if not marked else None
    value = marked[0]
    first, last = _surroundings(text, value)
    is_number_value = value.kind == "number"
    is_inside = first <= start and end <= last
    is_whole = start <= value.start and value.end <= end
    # "1952 in London" states a date, "on 11" of "on 11 March" does not
    is_date_stated = not is_number_value and any(part.kind != "number" for part in _values(text[start:end]))
    if not (is_inside or is_whole or is_date_stated):
        return None
    around = text[start:first] + text[last:end]
    if is_number_value and sum(map(str.isalpha, around)) > (end - start) // 2:
        return None
    words = " ".join(text[first:last].split())
    # the dates of a life stand in brackets behind a name, and are two answers: "(26 March 1913 – 20 September 1996)"
    is_life = (
        text.rfind("(", 0, first) > text.rfind(")", 0, first)
        and bool(value.parts)  # the first date has a year: not in "5–7 June 1944"
        and _YEAR_DIGITS.search(text, value.parts[0].start, value.parts[0].end) is not None
    )
    if value.kind != "days" or is_life:
        parts = [part for part in value.parts if part.start < end and start < part.end]
        if len(parts) == 1:
            entity = parts[0].entity
            is_plain = value.kind == "date" and words[0].isalnum() and not _SHOWN.search(words)
            return entity if is_plain or len(value.parts) > 1 else {"id": entity["id"], "label": words}
    return {"id": words, "label": words}


@lru_cache(maxsize=8192)  # candidates repeat
def kind_of_value(entity_id: str) -> str:
    """Return "date" or "number" for a date or number, and for words that are a value, such as a range; empty for other ids."""
    if is_date(entity_id):
        return "date"
    if is_number(entity_id):
        return "number"
    values = _values(entity_id)
    if len(values) != 1 or _surroundings(entity_id, values[0]) != (0, len(entity_id)):
        return ""
    return "number" if values[0].kind == "number" else "date"


@lru_cache(maxsize=1024)  # a reader marks several spans of an evidence
def _cached_values(text: str) -> list[WrittenValue]:
    return _values(text)


def _values(text: str) -> list[WrittenValue]:
    values: list[WrittenValue] = []
    if not _DIGIT.search(text):
        return values
    for match in _PIECE.finditer(text):
        value = _date(match) if match.lastgroup in _DATES else _number(match)
        if value is None:
            continue
        joined = _joined(text, values[-1], value) if values and value.start - values[-1].end <= _LONGEST_GAP else None
        front = value.start
        if value.kind == "number" and (money := _MONEY.search(text[max(0, front - 6) : front])):
            front -= len(money[0])
        if joined is not None:
            values[-1] = joined
        elif value.kind != "number" or front == 0 or text[front - 1] not in _SIGNS:
            is_minus = value.kind == "number" and text[max(0, front - 6) : front].lower() == "minus "
            values.append(_negative(value, value.start - front + 6) if is_minus else value)
        elif front == 1 or text[front - 2] in " (\u00a0[\n":
            values.append(_negative(value, value.start - front + 1))
        elif text[front - 1] != "-" or front != value.start:
            values.append(value)
    return values


_LONGEST_TURN = 50  # years of a range over the end of a century; "2025-11" is a month
_DATES = ("dmy", "mdy", "iso", "my", "slashed", "dotted", "coarse", "partial", "year")


def _date(match: re.Match[str]) -> WrittenValue | None:
    kind = match.lastgroup
    start, end = match.span()
    if kind in ("coarse", "partial"):
        return WrittenValue(start, end, "date")
    if kind == "year":
        if match["y7"] is None:
            return _dated(start, _day_at(start, end, _numbered(match, 6)))
        first, last = match["y7"], match["y8"]
        before = bool(match["e8"]) and match["e8"].strip()[0] in "Bb"
        year = int(first[: 4 - len(last)] + last)
        if not before and year < int(first):
            year += 100  # 1999-00 ends in 2000
            if (
                year - int(first) > _LONGEST_TURN
                and "-" in match[0]
                and 1 <= int(last) <= len(MONTHS)
                and len(last) == 2
            ):
                return _dated(start, _day_at(start, end, int(first), int(last)))
        if "/" in match[0] and len(last) == 2 and year != int(first) + 1:
            return WrittenValue(start, end, "date")
        return _dated(
            start,
            _day_at(*match.span("y7"), _astronomical(int(first), before)),
            _day_at(match.start("y8"), end, _astronomical(year, before)),
        )
    if kind == "slashed":
        a, b, year = int(match["a"]), int(match["b"]), int(match["y5"])
        if a > 12 or b > 12 or a == b:
            return _dated(start, _day_at(start, end, year, min(a, b) if a != b else a, max(a, b)))
        return WrittenValue(start, end, "date")
    if kind == "dotted":  # the day is first wherever dates have points
        return _dated(start, _day_at(start, end, int(match["y9"]), int(match["m5"]), int(match["d5"])))
    if kind == "iso":
        return _dated(start, _day_at(start, end, int(match["y3"]), int(match["m3"]), int(match["d3"])))
    number = {"dmy": 1, "mdy": 2, "my": 4}[kind or ""]
    year, month = _numbered(match, number), _MONTH[(match[f"m{number}"] or match["m11"]).lower()]
    if kind == "my":
        last = _day_at(match.start("m4"), end, year, month)
        if not match["m40"]:
            return _dated(start, last)
        earlier = _day_at(*match.span("m40"), year, _MONTH[match["m40"].lower()])
    else:
        day, earlier_day = _day(match[f"d{number}"]), match[f"d{number}0"]
        earlier_month = match[f"m{number}0"]
        month_before = _MONTH[earlier_month.lower()] if earlier_month else month
        if kind == "mdy" and earlier_day:  # "May 28 – June 3, 1940": the first month stands in front
            month_before, month = month, month_before
        begin = match.start(f"d{number}") if earlier_day else start
        last = _day_at(begin, end, year, month, day)
        if not earlier_day:
            return _dated(start, last)
        earlier = _day_at(start, match.end(f"d{number}0"), year, month_before, _day(earlier_day))
    return _dated(start, earlier, last, kind="days")


def _day_at(start: int, end: int, year: int, month: int | None = None, day: int | None = None) -> LiteralSpan | None:
    # None if the calendar lacks the day
    return LiteralSpan(start, end, date_entity(year, month, day)) if is_calendar_day(year, month, day) else None


def _dated(start: int, *days: LiteralSpan | None, kind: str = "date") -> WrittenValue | None:
    parts = tuple(day for day in days if day is not None)
    return WrittenValue(start, parts[-1].end, kind, parts) if len(parts) == len(days) else None


def _numbered(match: re.Match[str], number: int) -> int:
    # the year of a group of `_year`
    if match[f"z{number}"]:
        return int(match[f"z{number}"])
    era = match[f"e{number}"] or ""
    return _astronomical(int(re.sub(r"\D", "", match[f"y{number}"])), era.strip()[:1] in ("B", "b"))


def _astronomical(year: int, is_before_christ: bool) -> int:
    return 1 - year if is_before_christ else year


def _day(digits: str) -> int:
    return int(digits.rstrip("stndrhSTNDRH"))


def _number(match: re.Match[str]) -> WrittenValue | None:
    start, end = match.span()
    short, scale, text = match["short"], match["scale"], match.string
    power = 0
    if short:
        is_money = _is_money(text, start)
        is_attached = match.start("short") == match.end("number")
        digits = match["amount"] or ""
        # "450K" and "1.2M" are amounts, "4K" and "221B" are names
        is_amount = "." in digits or short == "k" or (short == "K" and len(digits) > len("10"))
        if len(short) > 1 or is_money or (is_attached and is_amount and short not in "mb"):
            power = _SHORT_SCALES[short.lower()]
        elif is_attached and short in "kKbBM":
            return WrittenValue(start, end, "number")  # 4K
        else:
            end = match.end("number")
    if match["percent"] or match["token"]:
        return WrittenValue(start, end, "number")
    if scale:
        power = _SCALES[scale.lower()] + (_SCALES[match["more"].lower()] if match["more"] else 0)
    if (amount := match["amount"]) and not power:
        if _ROUND.fullmatch(amount) and (_is_money(text, start) or _MONEY_BEHIND.match(text, end)):
            amount = amount.replace(".", "")
        return WrittenValue(start, end, "number", (LiteralSpan(start, end, number_entity(_digits(amount))),))
    if match["above"] and int(match["above"]) >= int(match["below"]):  # 24/7
        return WrittenValue(start, end, "number")
    entity = number_entity(f"{_amount(match).scaleb(power):f}")
    if scale:
        entity["label"] = " ".join(re.sub("-", " ", match[0]).split())
    return WrittenValue(start, end, "number", (LiteralSpan(start, end, entity),))


def _is_money(text: str, start: int) -> bool:
    return bool(_MONEY.search(text[max(0, start - 6) : start]))


def _amount(match: re.Match[str]) -> Decimal:
    if match["power"]:
        exponent = (match["exponent"] or match["raised"]).translate(_RAISED)
        return Decimal(match["factor"] or "1").scaleb(int(exponent))
    amount = Decimal(_digits(match["amount"] or match["whole"] or "0"))
    if not match["vulgar"] and not match["above"]:
        return amount
    above, below = _FRACTIONS[match["vulgar"]].split("/") if match["vulgar"] else (match["above"], match["below"])
    return amount + round(Decimal(above) / Decimal(below), 4)


def _digits(amount: str) -> str:
    # without grouping
    if amount.isdecimal():
        return amount
    if amount.count(".") > 1:
        amount = amount.replace(".", "").replace(",", ".")
    elif _DECIMAL_COMMA.search(amount):
        amount = amount.replace(",", ".")
    return re.sub(rf"[,'’\s{_BLANKS}]", "", amount)


def _negative(value: WrittenValue, sign: int) -> WrittenValue:
    start = value.start - sign
    parts = tuple(LiteralSpan(start, part.end, number_entity(f"-{part.entity['id']}")) for part in value.parts)
    return value._replace(start=start, parts=parts)


def _joined(text: str, first: WrittenValue, second: WrittenValue) -> WrittenValue | None:
    # the ends of a range, or the parts of a compound, whose second unit is smaller
    gap = text[first.end : second.start]
    kinds = first.kind, second.kind
    if kinds == ("number", "number"):
        last = _LAST_UNIT.search(text[first.start : second.start])  # of a compound, too: "2 days 4 h 10 min"
        match, behind = _COMPOUND.fullmatch(last[0]) if last else None, _COMPOUND.match(text, second.end)
        large, small = match["unit"].lower() if match else "", behind["unit"].lower() if behind else ""
        if behind and any(ranks.get(large, 9) < ranks.get(small, -1) for ranks in UNIT_RANKS):
            return WrittenValue(first.start, behind.end("unit"), "number")
        if _TALL.fullmatch(large) and gap.strip() == large and len(text[second.start : second.end]) == 1:  # "6 foot 2"
            return WrittenValue(first.start, second.end, "number")
        match = _JOINED.fullmatch(gap)
        is_range = match is not None and _is_range(match["join"], text, first)
        return WrittenValue(first.start, second.end, "number") if is_range else None
    match = _RANGED.fullmatch(gap)
    if match is None or len(second.parts) != 1 or len(first.parts) != 1 or not _is_range(match["join"], text, first):
        return None
    if kinds == ("date", "date"):
        is_era = match["join"].lower() in ("to", "until") and second.parts[0].entity["label"].endswith("BC")
        kind = "days" if is_era or "-01-01T" not in first.parts[0].entity["id"] else "date"
        return WrittenValue(first.start, second.end, kind, (*first.parts, *second.parts))
    if kinds == ("date", "number") and re.match(_BEFORE, text[first.start : first.end]):  # "AD 98–117"
        last_year = second.parts[0].entity["id"]
        if last_year.isdecimal() and text[second.start : second.end] == last_year:
            part = LiteralSpan(second.start, second.end, date_entity(int(last_year)))
            return WrittenValue(first.start, second.end, "date", (*first.parts, part))
        return None
    years, label = first.parts[0].entity["id"], second.parts[0].entity["label"]
    if kinds == ("number", "date") and years.isdecimal() and re.search(_AFTER, text[second.start : second.end]):
        year = _astronomical(int(years), label.endswith("BC"))  # "63–14 BC"
        part = LiteralSpan(first.start, first.end, date_entity(year))
        return WrittenValue(first.start, second.end, "date", (part, *second.parts))
    return None


def _is_range(join: str, text: str, first: WrittenValue) -> bool:
    return join.lower() != "and" or text[max(0, first.start - 8) : first.start].lower() == "between "


def _surroundings(text: str, value: WrittenValue) -> tuple[int, int]:
    # with a currency in front and a unit behind, or "c." before a date
    start, end = value.start, value.end
    front = (_MONEY if value.kind == "number" else _APPROXIMATE).search(text[max(0, start - 8) : start])
    behind = UNIT.match(text, end) if value.kind == "number" else None
    return start - len(front[0]) if front else start, behind.end() if behind else end


def _token_at(text: str, start: int, end: int) -> Entity | None:
    # the token that the span cuts, if it has digits
    if not any(map(str.isdigit, text[start:end])):
        return None
    for match in _TOKEN.finditer(text, max(0, start - 40), end + 40):
        token = match[0].rstrip(".,;:!?'’")
        if match.start() <= start and end <= match.start() + len(token):
            before, behind = text[match.start() : start], token[end - match.start() :]
            is_number_cut = any(map(str.isdigit, before[-2:] + behind[:2]))
            is_cut = is_number_cut or behind[:1].isalpha() or before[-1:].isalpha()
            return {"id": token, "label": token} if is_cut or behind[:1] == "%" else None
    return None
