"""The text of bytes: by a mark, by UTF-8, by a declaration, or by the language that reads best."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import NamedTuple

from ...support.errors import DataError
from ...support.limits import LONGEST_LINE

_SAMPLE = 1 << 14  # bytes of lines with letters beyond ASCII; more of them never changed the guess
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a]")
# that of UTF-32 begins with that of UTF-16
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip
_DECLARATION = re.compile(rb"(?:charset|encoding)\s*=\s*[\"']?\s*([\w.:-]+)|coding[:=]\s*([\w.-]+)", re.IGNORECASE)
# code pages of texts; Python knows others that are no such thing, such as "punycode"
_CODE_PAGE = re.compile(
    r"iso-?\d|latin|l\d|windows|win-|cp-?\d|koi8|mac|x-mac|s(hift)?[-_]?jis|x-sjis|euc|gb|big5|ks_c|tis|ibm|hz"
)
# what writers of pages mean: browsers read these names so
_USUAL_NAMES = {
    "iso-8859-1": "cp1252", "latin-1": "cp1252", "latin1": "cp1252", "iso8859-1": "cp1252", "iso-8859-9": "cp1254",
    "shift_jis": "cp932", "shift-jis": "cp932", "sjis": "cp932", "x-sjis": "cp932", "gb2312": "gb18030", "gbk": "gb18030",
    "euc-kr": "cp949", "ks_c_5601-1987": "cp949", "tis-620": "cp874", "x-mac-cyrillic": "mac_cyrillic",
}  # fmt: skip
_FEW_FAULTS = 0.1  # share of what is not ASCII that may be damaged in a text of a known encoding


def decoded(data: bytes) -> str:
    """Return the text of bytes in any encoding. Raises `DataError` for no text or too long lines."""
    text = _text_of(data)
    if _CONTROL.search(text):
        raise DataError("is not text")
    if max(map(len, text.splitlines()), default=0) > LONGEST_LINE:
        raise DataError(f"has a line of more than {LONGEST_LINE:,} characters")
    return text


def _text_of(data: bytes) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    if wide := _wide(data):
        return data.decode(wide, "replace")
    with suppress(UnicodeDecodeError):
        return data.decode("utf-8")
    for encoding in ("utf-8", *_declarations(data)):
        with suppress(UnicodeDecodeError):
            return data.decode(encoding)
        text = data.decode(encoding, "replace")
        if text.count("\ufffd") <= _FEW_FAULTS * (len(text) - len(text.encode("ascii", "ignore"))):
            return text
    return data.decode(_guess(data), "replace")


def _wide(data: bytes) -> str:
    """The encoding of UTF-16 without a mark: every other byte of Western texts is NUL."""
    start = data[: 1 << 12]
    even, odd = start[::2].count(0), start[1::2].count(0)
    if len(data) % 2 or min(even, odd) * 10 > max(even, odd) or max(even, odd) * 5 < len(start):
        return ""
    return "utf-16-le" if odd > even else "utf-16-be"


def _declarations(data: bytes) -> Iterator[str]:
    for match in _DECLARATION.finditer(data[:1024]):
        name = (match[1] or match[2]).decode("ascii", "replace").lower()
        name = _USUAL_NAMES.get(name, name)
        if _CODE_PAGE.match(name) or name in _USUAL_NAMES.values():
            with suppress(LookupError):
                yield codecs.lookup(name).name


# -- guesses -----------------------------------------------------------------------------------------------------------


class _Language(NamedTuple):
    """How texts of a language look: its letters beyond ASCII, the frequent ones of a script of its own, its encodings."""

    letters: str
    encodings: tuple[str, ...]
    frequent: str = ""


def _rows(encoding: str, first: int, last: int) -> str:
    """The characters of rows of a table of two bytes; the frequent ones of East Asian languages come first."""
    pairs = (bytes((row, cell)) for row in range(first, last + 1) for cell in range(0x40, 0xFF))
    characters = (pair.decode(encoding, "ignore") for pair in pairs)
    return "".join(character for character in characters if len(character) == 1 and not character.isascii())


_WESTERN = ("cp1252", "cp850", "mac_roman", "iso8859_15")
_CENTRAL = ("cp1250", "iso8859_2", "cp852")
_CYRILLIC = ("cp1251", "koi8_u", "cp866", "iso8859_5", "mac_cyrillic")
_RARE = ("cp850", "mac_roman", "cp852")
_CYRILLIC_LETTERS = "абвгдежзийклмнопрстуфхцчшщъыьэюяёіїєґўјљњћђџ"
_KANA = "".join(map(chr, range(0x3041, 0x30FF)))
_JAPANESE = (
    "日本東京大学人年市駅上下中国会社会時月分行出入前後新高山川田野地方自動生部事者見物名間線県区町村都開業建築世界"
)
_KOREAN = (
    "이다의는을를에가고하지로한도서시부산사인자기정리아어대일수스나라해공원국울광역은년월주제전구동그있것들보장안녕세요"
)
# those of both scripts of Chinese
_CHINESE = (
    "的一是在不了有和人中大上国國我以要他年市北京海你好世界天地方日月名字城口家来來会會生到作用于於出就分对對成可主发發"
    "动動同工也能下过過子说說产產种種面而后後多定行学學法所民得经經十三之进進着等部度电電力如水化高自二理起小物现現"
    "实實加量都两兩体體制机機当當使点點从從业業本去把性应應开開它合还還因由其些然前外最新公里区區东東西南山河路车車站百万萬千香港臺湾灣"
)


@cache
def _languages() -> tuple[_Language, ...]:
    """The languages, those first that win if two read equally well."""
    return (
        _Language("áéíóúüñ", _WESTERN), _Language("äöüßéèà", _WESTERN), _Language("àâçéèêëîïôœùûüÿ", _WESTERN),
        _Language("áâãàçéêíóôõúü", _WESTERN), _Language("àèéìíòóùú", _WESTERN), _Language("åäöæøéüèàð", _WESTERN),
        _Language("áéíóúýþæöð", _WESTERN), _Language("àáèéíïòóúüç·", _WESTERN), _Language("äëïöüéèêáóú", _WESTERN),
        _Language("ąćęłńóśźż", _CENTRAL), _Language("áčďéěíňóřšťúůýž", _CENTRAL), _Language("áäčďéíĺľňóôŕšťúýž", _CENTRAL),
        _Language("áéíóöőúüű", _CENTRAL), _Language("čćđšž", _CENTRAL), _Language("ăâîşţ", _CENTRAL),
        _Language("çğıöşüâîİ", ("cp1254",)), _Language("āčēģīķļņšūž", ("cp1257",)), _Language("ąčęėįšųūž", ("cp1257",)),
        _Language(_CYRILLIC_LETTERS, _CYRILLIC, "оеаинтсрвлкмдп"),
        _Language("αβγδεζηθικλμνξοπρστυφχψωάέήίόύώϊϋς", ("cp1253", "iso8859_7"), "αοιετσνηυρλκμπςόίάέή"),
        _Language("אבגדהוזחטיךכלםמןנסעףפץצקרשת", ("cp1255",), "יוהלאתרבשמ"),
        _Language("".join(map(chr, range(0x621, 0x653))) + "پچژگ", ("cp1256",), "اليمونتربة"),
        _Language("".join(map(chr, range(0xE01, 0xE5C))), ("cp874",), "านรกอเงมยลวดทส่้"),
        _Language(_rows("euc_jp", 0xB0, 0xCF) + _KANA, ("cp932", "euc_jp"), _KANA + _JAPANESE),
        _Language(_rows("gb2312", 0xB0, 0xD7), ("gb18030",), _CHINESE),
        _Language(_rows("big5", 0xA4, 0xC6), ("big5",), _CHINESE),
        _Language(_rows("euc_kr", 0xB0, 0xC8), ("cp949",), _KOREAN),
    )  # fmt: skip


_AFTER_LETTERS = "”’»…®™–—\xa0’‘©\xad·"
_BEFORE_LETTERS = "¿¡«“„‘’§©–—\xa0\xad·#…"
_SIGNS = "”’»…®™–—\xa0‘©\xad·¿¡«“„§°²³½¼¾€£¥µ±×÷ºª‰•‚‹›†‡¹、。，；：（）「」『』・！？《》№　ー"
_VOWELS = "aeiouáéíóúàèòâêôãõäëïöü"
_WIDE = re.compile(r"[\u3000-\u9fff\uac00-\ud7a3\uff00-\uffef]")
_AROUND = re.compile(r"(?=(.)([^\x00-\x7f])(.))", re.DOTALL)


def _guess(data: bytes) -> str:
    """The encoding in which the characters beyond ASCII stand as in a text of a language; Windows-1252 if none does."""
    sample, best, most = _sample(data), "cp1252", 0.0
    counts: dict[str, Counter[tuple[str, ...]] | None] = {}
    for language in _languages():
        for encoding in language.encodings:
            if encoding not in counts:
                counts[encoding] = _neighbours(sample, encoding)
            places = counts[encoding]
            if places is None:
                continue
            score = sum(number * _plausibility(language, *place) for place, number in places.items())
            if encoding != "cp1252" and encoding != language.encodings[0]:
                score *= 0.75 if encoding in _RARE else 0.9  # the code pages of Windows are the usual ones
            if encoding == "cp874":
                score *= 0.7  # nearly all bytes are letters of Thai
            if score > most + 1e-9:
                best, most = encoding, score
    return best


def _sample(data: bytes) -> bytes:
    lines, size = [], 0
    for line in data.splitlines():
        if not line.isascii():
            lines.append(line[:_SAMPLE])
            size += len(line)
            if size > _SAMPLE:
                break
    return b"\n".join(lines)


def _neighbours(sample: bytes, encoding: str) -> Counter[tuple[str, ...]] | None:
    """How often each character beyond ASCII stands between which others; None: it is not this encoding."""
    try:
        text = sample.decode(encoding)
    except UnicodeDecodeError as error:
        # else the sample was cut inside of a character
        if len(sample) < _SAMPLE or error.start < len(sample) - 4:
            return None
        text = sample[: error.start].decode(encoding)
    if any("\x7f" <= letter < "\xa0" for letter in text):
        return None
    return Counter(_AROUND.findall(f"\n{text}\n"))


def _plausibility(language: _Language, before: str, letter: str, after: str) -> float:
    """How well a character stands between two others in a language."""
    small = letter.lower()
    if small not in language.letters and letter not in language.letters:
        return -1.5 if letter.isalnum() and letter not in _SIGNS else _of_sign(before, letter, after)
    if before.islower() and letter.isupper() or letter.islower() and after.isupper():
        return -2
    if language.frequent:
        score = 1.0 if small in language.frequent else 0.3
        if score < 1 and _WIDE.match(letter) and before.islower() and after.islower():  # "Orl斬ns"
            return -1
        score *= (2.0 if small in language.frequent else 3.0) if _WIDE.match(letter) else 1.0
        alone = not (before.isalpha() or after.isalpha()) and not _WIDE.match(letter)
        others = any(side.isalpha() and side.lower() not in language.letters for side in (before, after))
        return (0.35 if alone else score if small == letter else 0.85 * score) - 2 * (
            others and not _WIDE.match(letter)
        )
    latin = [side.isascii() and side.isalpha() for side in (before, after)]
    if language.encodings == _WESTERN and not _stands_well(small, after):
        return 0
    # words of Latin letters have few beyond ASCII
    if any(not side.isascii() and side.isalpha() for side in (before, after)):
        return 0.7 if any(latin) else 0.2
    return 1 if any(latin) else 0.35


def _stands_well(letter: str, after: str) -> bool:
    """Whether a Western letter may stand before another; others of Central Europe have the same bytes."""
    if letter == "ì":
        return not after.isalpha()
    if letter == "ç":
        return not after.isalpha() or after.lower() in _VOWELS
    return letter not in "ñõ" or after.lower() in ("e" if letter == "õ" else _VOWELS)


def _of_sign(before: str, letter: str, after: str) -> float:
    if letter not in _SIGNS:
        return -1
    if letter in "²³" and before == "m" or letter in "ºª°" and before in ("n", "N"):
        return 0.5
    if letter in "’–—" and (before.isalpha() or after.isalpha()) or letter in "µ°" and after in (*"gmslCF",):
        return 1.1
    if letter in "«“„‘" and after.isalpha() and not before.isalpha() or letter in "»”" and before.isalpha():
        return 1.1
    if before.isalpha() and letter not in _AFTER_LETTERS and not _WIDE.match(letter):
        return -1.5
    if after.isalpha() and letter not in _BEFORE_LETTERS and not (_WIDE.match(letter) or letter in "°µ’"):
        return -1.5
    return 0.35
