"""Flattens an element of a page to its text and links."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import unquote

from selectolax.lexbor import LexborNode

from ..language.language import english
from .snippets import Link, Part, Snippet, skip_blank

_EXPONENT = re.compile(r"[-+−–]?[0-9]+(?:\.[0-9]+)?|[nkx]|[0-9nkx]+[-+−–][0-9nkx]+")
_UNITS = frozenset(  # with powers
    "m km cm mm dm hm nm μm µm fm in inch ft foot feet yd yard yards mi mile miles nmi ly pc kpc au s sec".split()
)
_FRACTION = re.compile(r"[0-9]{1,2}[/⁄][0-9]{1,3}")
_CHARGED = re.compile(r"[A-Z][a-z]?[0-9]*[+−-]")  # an ion
_FOOTNOTE = re.compile(r"[\d\s*†‡§¶#^?,;.()\[\]]*|[a-dfgjlpquvwyz]|[a-z](?:,\s?[a-z])+|(?:[Nn]ote|nb|fn)\s?\d+")
_INVISIBLE = str.maketrans("⁄", "/", "\u200b\u200c\u200e\u200f\u2060\ufeff\u00ad")
_MIXED = re.compile(r"(?<=[0-9])\+(?=[0-9]+⁄)")  # 11+1⁄4
_TAG = re.compile(r"<(?:/?(?:ref|br|nowiki|small|b|i|u|s|sup|sub|div|span|center|font|p|li|td|tr)\b[^<>]*>|!--)")
_LESS = re.compile(r" ?< ?(?=[0-9$£€.](?![0-9]{3}))")  # not before a year: "< 2012" leads to the season before
_APART = ", "  # between the lines of an infobox cell
BLOCKS = frozenset(  # elements that are blocks in the default style of HTML
    "address article aside blockquote caption center dd details dialog dir div dl dt fieldset figcaption footer form h1 h2 h3 h4 h5 "
    "h6 header hgroup hr legend li main menu nav ol optgroup option p pre section summary table tbody td tfoot th thead tr ul".split()
)
_LINES = {"info": ("br", "hr", "li", "dd", "tr", "p"), "table": ()}  # elements that are lines of a cell


def flatten(node: LexborNode, source: str, skip_nested: bool = False) -> Snippet:
    """Return the text below a node, blanks collapsed, and its links with their exact places.

    Lines, list items and rows in infobox cells are separated by commas and are the parts of the snippet. With `skip_nested`,
    tables in the node and lists in running text are left out: they are other blocks.
    """
    flattening = _Flattening(source, skip_nested)
    flattening.walk(node)
    return flattening.snippet()


class _Flattening:
    def __init__(self, source: str, skip_nested: bool) -> None:
        self._source, self._skip_nested = source, skip_nested
        self._line_tags = _LINES.get(source, ())
        self._pieces: list[str] = []
        self._links: list[Link] = []
        self._starts = [0]  # of lines
        self._length = 0
        self._pending = ""  # a blank or comma that waits for the next word

    def walk(self, node: LexborNode) -> None:
        for child in node.iter(include_text=True):
            tag = child.tag
            if tag == "-text":
                text = child.text_content or ""
                if "+" in text:
                    text = _MIXED.sub(" ", text)
                if not text.isascii():
                    text = text.translate(_INVISIBLE)
                if "<" in text:  # of markup that MediaWiki did not understand, or a sign
                    text = _LESS.sub(f" {english().pages.less_than} ", _TAG.sub("", text)).replace("<", "")
                self._add(text)
            elif tag in self._line_tags:
                self._pending = _APART if self._length and self._pieces[-1][-1] not in ",:;(" else self._pending or " "
                self.walk(child)
            elif tag == "br":
                self._pending = self._pending or " "
            elif tag == "sup":
                self._raise(child)
            elif tag == "a":
                before = self._length + (len(self._pending) if self._length else 0)
                self.walk(child)
                attributes = child.attributes
                target = _target(attributes.get("href") or "", attributes.get("class") or "")
                if target and self._length > before:
                    self._links.append(Link(before, self._length, target))
            elif self._skip_nested and (tag == "table" or (self._source == "text" and tag in ("ul", "ol", "dl"))):
                self._pending = self._pending or " "
            elif tag in BLOCKS:
                self._pending = self._pending or " "
                self.walk(child)
                self._pending = self._pending or " "
            else:
                self.walk(child)

    def _add(self, text: str) -> None:
        words = " ".join(text.split())
        if text and (not words or text[0].isspace()):
            self._pending = self._pending or " "
        if not words:
            return
        if self._pending and self._length:
            self._pieces.append(self._pending)
            self._length += len(self._pending)
            if self._pending == _APART:
                self._starts.append(self._length)
        self._pieces.append(words)
        self._length += len(words)
        self._pending = " " if text[-1].isspace() else ""

    def _raise(self, sup: LexborNode) -> None:
        """Add raised text: the numerator of a fraction, a power, or other text that is not a footnote."""
        last = self._pieces[-1] if self._length else ""
        exponent = sup.text().strip()
        if is_numerator(sup) or (last[-1:].isdigit() and _FRACTION.fullmatch(exponent)):
            self._pending = " " if last[-1:].isdigit() else self._pending
            self.walk(sup)
            return
        behind = sup.next.text() if self._pending and sup.next is not None else ""
        base = "" if behind[:1].isalpha() else last  # the number of an isotope comes first
        if base and _is_power(base, exponent, self._source):
            self._pending = ""
            self._add(f"^{exponent}")
        elif not base or not _FOOTNOTE.fullmatch(exponent) or _CHARGED.fullmatch(base.rpartition(" ")[2] + exponent):
            self.walk(sup)

    def snippet(self) -> Snippet:
        text = "".join(self._pieces)
        if self._source != "text":
            text = text.rstrip(",; ")
        links = tuple(
            link._replace(start=skip_blank(text, link.start, link.end)) for link in self._links if link.end <= len(text)
        )
        if self._source != "info" or not text:
            return Snippet(text, links, self._source)
        ends = (*(start - len(_APART) for start in self._starts[1:]), self._length)
        lines = (
            Part(start, min(end, len(text))) for start, end in zip(self._starts, ends, strict=True) if start < len(text)
        )
        return Snippet(text, links, self._source, tuple(lines))


def is_numerator(sup: LexborNode) -> bool:
    """Return True if raised text is above the bar of a fraction: `<sup>1</sup>⁄<sub>4</sub>`."""
    bar = sup.next
    if bar is None or bar.tag != "-text" or (bar.text_content or "").strip() not in ("⁄", "/"):
        return False
    return bar.next is not None and bar.next.tag == "sub"


def _is_power(base: str, exponent: str, source: str) -> bool:
    """Whether raised text behind a word or number is its power rather than a footnote."""
    if not _EXPONENT.fullmatch(exponent):
        return False
    digits = re.search(r"[0-9.,]*[0-9]$", base)
    if digits is not None:
        # a power of another number than 10 has a sign, or is in a sentence
        in_text = source == "text" and (len(digits[0]) == 1 or not exponent.isdigit())
        return digits[0] == "10" or exponent[0] in "-−–" or in_text
    word = re.findall(r"[^\W\d_]*", base)[-2]
    if word in _UNITS and exponent != "1":
        return True
    in_text = source == "text" and (len(word) == 1 or re.search(r"=\s?\w{1,3}$", base) is not None)
    return bool(word) and (exponent[0] in "-−–" or in_text)


@lru_cache(maxsize=1 << 16)
def _target(href: str, classes: str) -> str:
    """The article title that a link leads to, without its section; empty for red links and other addresses."""
    if "redlink=1" in href or "new" in classes.split():
        return ""
    match = re.match(r"^(?:(?:https?:)?//[a-z-]+\.(?:m\.)?wikipedia\.org)?(?:/wiki/|\./)([^?#]+)", href)
    if match is None:
        return ""
    title = unquote(match[1]).replace("_", " ").strip()
    return "" if not title or english().pages.not_articles.match(title) else title[0].upper() + title[1:]
