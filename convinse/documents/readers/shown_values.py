"""Values of cells as people see them: numbers by their format, dates and times in the form of ISO 8601."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from fractions import Fraction
from typing import Any

from .html import raised_words

_TOKEN = re.compile(r'"([^"]*)"|\\(.)|\[\$([^\]-]*)[^\]]*\]|\[[^\]]*\]|[_*].|(.)', re.DOTALL)
_DIGITS = frozenset("0#?")
_FRACTION = re.compile(r"([0#? ]*[0#?])/([0#?]+|[1-9][0-9]*) *")
_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")  # a sign that XML cannot write


def shown(value: Any, form: str) -> str:
    """Return the value of a cell as its number format shows it; dates and times in the form of ISO 8601."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).upper()
        case datetime() if value.time() == time():
            return value.date().isoformat()
        case datetime():
            return value.isoformat(" ", "seconds").removesuffix(" 00:00:00").removesuffix(":00")
        case date():
            return value.isoformat()
        case time(second=0):
            return value.isoformat("minutes")
        case time():
            return value.isoformat("seconds")
        case timedelta():
            minutes, seconds = divmod(round(value.total_seconds()), 60)
            return f"{minutes // 60}:{minutes % 60:02}" + (f":{seconds:02}" if seconds else "")
        case int() | float():
            return shown_number(value, form)
        case list():
            return _rich_text(value)
    return " ".join(_ESCAPE.sub(lambda match: chr(int(match[1], 16)), str(value)).split())


def _rich_text(pieces: Iterable[Any]) -> str:
    """The words of a cell whose pieces have fonts, without struck ones."""
    text = ""
    for piece in pieces:
        font, words = getattr(piece, "font", None), str(piece)
        if font is None or not font.strike:
            is_raised = font is not None and font.vertAlign == "superscript"
            text += (raised_words(text, words.strip(), False) if is_raised else None) or words
    return shown(text, "")


_FormatPiece = tuple[str, bool]  # a text, and whether it is a sign of the format, not a literal


def shown_number(value: float, form: str) -> str:
    """Return a number as a format shows it, such as `0.0%` or `#,##0.00 "EUR"`."""
    sections = list(_sections(form))
    section, is_negative = sections[0], value < 0
    if is_negative and len(sections) > 1:
        section, value = sections[1], -value
    elif value == 0 and len(sections) > 2:
        section = sections[2]
    fraction = _FRACTION.fullmatch("".join(text for text, _ in section).strip())
    if fraction is not None:
        return ("-" if is_negative else "") + _fraction(abs(value), " " in fraction[1], fraction[2])
    signs = [place for place, (text, is_sign) in enumerate(section) if is_sign and text in _DIGITS]
    if not signs:
        is_general = any(is_sign for _, is_sign in section)  # General, or a format that shows no number
        words = "" if is_general else "".join(text for text, _ in section).strip()
        return words or ("-" if is_negative and value > 0 else "") + _plain(value)
    parted = [text for text, _ in section[signs[0] : signs[-1]] if text not in _DIGITS]
    if "-" in parted and not {".", ",", "E", "e"} & {*parted}:  # 000-0000
        return _filled(value, section)
    before = "".join(text for text, is_sign in section[: signs[0]] if not (is_sign and text in "-+(,."))
    behind = "".join(text for text, is_sign in section[signs[-1] + 1 :] if not (is_sign and text in "),."))
    inner = [text for text, is_sign in section[signs[0] : signs[-1] + 1] if is_sign]
    is_marked = is_negative and value > 0  # its section has the sign of a negative number, or brackets
    number = _digits(abs(value), inner, section, signs[-1])
    if is_marked:
        before, behind = before.replace("(", ""), behind.replace(")", "")
    sign = "-" if (value < 0 or is_marked) and any(digit.isdigit() and digit != "0" for digit in number) else ""
    return " ".join(f"{sign}{before}{number}{behind}".split())


def _sections(form: str) -> Iterator[list[_FormatPiece]]:
    pieces: list[_FormatPiece] = []
    for match in _TOKEN.finditer("General" if form == "@" else form):
        quotation, escape, currency, sign = match.groups()
        if sign == ";":
            yield pieces
            pieces = []
        elif sign is not None:
            pieces.append((sign, sign not in " $€£¥%/:"))
        elif (literal := next((text for text in (quotation, escape, currency) if text), "")) != "":
            pieces.append((literal, False))
    yield pieces


def _digits(value: float, inner: list[str], section: Sequence[_FormatPiece], last: int) -> str:
    whole, _, fraction = "".join(inner).partition(".")
    exponent = re.search(r"[eE][+-](.*)", "".join(inner))
    value *= 100.0 ** sum(text == "%" for text, _ in section)
    for piece in section[last + 1 :]:  # a comma behind the digits divides by a thousand
        if piece != (",", True):
            break
        value /= 1000
    places = sum(sign in _DIGITS for sign in fraction.partition("E")[0].partition("e")[0])
    if exponent is not None:
        return f"{value:.{places}E}"
    text = f"{value:{',' if ',' in whole else ''}.{places}f}"
    needed = fraction.count("0")
    while "." in text and len(text.partition(".")[2]) > needed and text.endswith("0"):
        text = text[:-1]
    head, point, tail = text.rstrip(".").partition(".")
    return head.zfill(whole.count("0")) + point + tail


def _filled(value: float, section: Sequence[_FormatPiece]) -> str:
    """A number whose digits a format parts, such as that of a telephone."""
    places = sum(is_sign and text in _DIGITS for text, is_sign in section)
    digits = str(round(abs(value))).zfill(places)
    text = digits[: len(digits) - places]
    left = iter(digits[len(digits) - places :])
    return text + "".join(next(left) if is_sign and piece in _DIGITS else piece for piece, is_sign in section)


def _fraction(value: float, has_whole: bool, below: str) -> str:
    """A number with a fraction, such as 2 1/4; `below` is the denominator, or a sign for each of its digits."""
    whole = int(value) if has_whole else 0
    rest = Fraction(value - whole)
    if below.isdigit() and int(below):
        above, under = round(rest * int(below)), int(below)
    else:
        above, under = rest.limit_denominator(10 ** len(below) - 1).as_integer_ratio()
    if has_whole:
        whole, above = whole + above // under, above % under
    return f"{whole or ''} {above}/{under}".strip() if above else str(whole)


def _plain(value: float) -> str:
    if isinstance(value, int) or (value.is_integer() and abs(value) < 1e15):
        return str(int(value))
    return f"{value:.12g}"
