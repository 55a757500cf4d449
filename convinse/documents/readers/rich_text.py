"""Reads RTF into blocks: paragraphs, headings by their style, items, tables, footnotes, and links."""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

from ...support.errors import DataError
from ..model import Block, Heading, Kind, ReadDocument, TableBlock, TextBlock
from .separated import MOST_CELLS
from .word import HEADING_STYLE

_DEEPEST_GROUP = 1000  # groups within groups; a file with more is damaged or hostile
_TOKEN = re.compile(r"\\([a-zA-Z]+)(-?\d{1,9})? ?|\\'([0-9a-fA-F]{2})|\\(.)|([{}])|([^\\{}\r\n]+)|[\\\r\n]", re.DOTALL)
_LINK = re.compile(r'HYPERLINK\s+"?((?:https?://|mailto:)[^"\s]+)')
_SIGNS = {
    "tab": " ", "line": " ", "softline": " ", "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“",
    "rdblquote": "”", "bullet": "•", "emspace": " ", "enspace": " ", "nestcell": " ", "nestrow": " ",
}  # fmt: skip
_ESCAPES = {"~": " ", "_": "-", "\\": "\\", "{": "{", "}": "}"}
# groups with words of the document or about it; others that begin with \* have none
_GROUPS = {
    "fonttbl": "fonts", "stylesheet": "styles", "title": "title", "fldinst": "link", "footnote": "note", "fldrslt": "text",
    "shptxt": "text",
}  # fmt: skip
_SKIPPED = frozenset(
    "colortbl info pict header headerl headerr headerf footer footerl footerr footerf listtext pntext nonesttables filetbl".split()
)
_CODE_PAGES = {
    0: "cp1252", 77: "mac_roman", 128: "cp932", 129: "cp949", 134: "gb18030", 136: "big5", 161: "cp1253", 162: "cp1254",
    163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250",
}  # fmt: skip


class _Marks(NamedTuple):
    """The state of a group."""

    goes_to: str = "text"
    fallback: int = 1  # characters behind one of Unicode that say the same for old programs
    font: int = 0
    address: str = ""  # of a link
    is_hidden: bool = False
    is_raised: bool = False


def read_rich_text(data: bytes) -> ReadDocument:
    """Return the content of an RTF file without deleted and hidden text. Raises `DataError`."""
    if not data.lstrip().startswith(b"{\\rtf"):
        raise DataError("is not RTF")
    reading = _RichText()
    reading.read(data.decode("latin-1"))
    return ReadDocument(reading.words("title"), reading.blocks, reading.left_out)


class _RichText:
    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.left_out: list[str] = []
        self._texts: dict[str, list[str]] = {}
        self._bytes = bytearray()
        self._marks = _Marks()
        self._encoding, self._fonts = "cp1252", dict[int, str]()
        self._style = self._skip = 0
        self._levels: dict[int, int] = {}  # of styles
        self._level, self._is_item, self._in_table = 0, False, False
        self._links: list[tuple[str, str]] = []
        self._address, self._link_start = "", 0
        self._notes: list[str] = []
        self._cells: list[str] = []
        self._edges: list[tuple[int, bool]] = []
        self._goes_on, self._heads = False, 0
        # text and right edge of each cell, and whether it is a further part of the one above
        self._rows: list[list[tuple[str, int, bool]]] = []

    def words(self, name: str) -> str:
        """Return the words of a part in one line, and forget them."""
        return _line("".join(self._texts.pop(name, ())))

    def read(self, text: str) -> None:
        """Read the whole file."""
        stack: list[_Marks] = []
        place, is_optional = 0, False
        while match := _TOKEN.match(text, place):
            place = match.end()
            word, number, code, sign, brace, words = match.groups()
            if code is None:
                self._flush()
            if brace or word:
                self._skip = 0
            if brace == "{":
                stack.append(self._marks)
                if len(stack) > _DEEPEST_GROUP:
                    raise DataError("is nested too deeply")
            elif brace == "}" and stack:
                self._end_group(stack.pop())
            elif sign == "*":
                is_optional = True
                continue
            elif word:
                if word == "bin":
                    place += max(int(number or 0), 0)
                elif is_optional and word not in _GROUPS:
                    self._marks = self._marks._replace(goes_to="")
                else:
                    self._control(word, int(number) if number else None)
            elif code and self._skip:
                self._skip -= 1
            elif code:
                self._bytes.append(int(code, 16))
            elif words or sign:
                words = words or _ESCAPES.get(sign, " " if sign in "\r\n" else "")
                skipped = min(self._skip, len(words))
                self._skip -= skipped
                self._add(words[skipped:])
            is_optional = False
        self._flush()
        self._end_paragraph()
        self._end_table()

    def _flush(self) -> None:
        """Decode the bytes that stand together: a sign of East Asian languages has two."""
        if self._bytes:
            encoding = self._fonts.get(self._marks.font) or self._encoding
            self._add(self._bytes.decode(encoding, "replace"))
            self._bytes.clear()

    def _add(self, words: str) -> None:
        marks = self._marks
        if not words or marks.is_hidden or marks.goes_to in ("", "fonts"):
            return
        pieces = self._texts.setdefault(marks.goes_to, [])
        is_power = marks.is_raised and re.fullmatch(r"[-+−]?\d+", words) and pieces and pieces[-1][-1:].isdigit()
        pieces.append(f"^{words}" if is_power else words)

    def _end_group(self, before: _Marks) -> None:
        marks, self._marks = self._marks, before
        if marks.goes_to == "styles" and before.goes_to == "styles":
            name = self.words("styles").rstrip("; ")
            if match := HEADING_STYLE.fullmatch(name):
                self._levels[self._style] = min(int(match[1]), 5) + 1
            elif name == "Title":
                self._levels[self._style] = 1
            self._style = 0
        elif marks.goes_to == "link" != before.goes_to:
            match = _LINK.search(self.words("link"))
            self._address = match[1] if match else ""
        elif marks.goes_to == "note" != before.goes_to and (note := self.words("note")):
            self._notes.append(note)
        elif marks.address != before.address:
            words = _line("".join(self._texts.get("text", [])[self._link_start :]))
            self._links += [(words, marks.address)] if words else []

    def _control(self, word: str, number: int | None) -> None:
        marks, is_on = self._marks, number != 0
        if word in _GROUPS and (marks.goes_to or word in ("title", "shptxt")):
            goes_to = _GROUPS[word]
            if word == "fldrslt":
                self._marks = marks._replace(address=self._address)
                self._address, self._link_start = "", len(self._texts.get("text", ()))
            else:
                self._marks = marks._replace(goes_to=goes_to)
        elif word in _SKIPPED:
            self._marks = marks._replace(goes_to="")
        elif word == "ansicpg":
            self._encoding = _known_encoding(f"cp{number}")
        elif word == "mac":
            self._encoding = "mac_roman"
        elif word == "f" and number is not None:
            self._marks = marks._replace(font=number)
        elif word == "deff":
            self._marks = marks._replace(font=number or 0)
        elif word == "fcharset" and number:
            self._fonts[marks.font] = _CODE_PAGES.get(number, "")
        elif word == "uc":
            self._marks = marks._replace(fallback=min(number or 0, 9))
        elif word == "u" and number is not None:
            self._add(chr(number % 0x10000))
            self._skip = marks.fallback
        elif word in ("v", "deleted", "strike", "striked"):
            self._marks = marks._replace(is_hidden=is_on)
        elif word in ("super", "nosupersub", "sub"):
            self._marks = marks._replace(is_raised=word == "super" and is_on)
        elif word == "plain":
            self._marks = marks._replace(is_hidden=False, is_raised=False)
        elif word == "s" and number is not None:
            self._style = number
            self._level = self._levels.get(number, 0) if marks.goes_to == "text" else self._level
        elif word == "outlinelevel" and number is not None and marks.goes_to == "text":
            self._level = min(number, 4) + 2 if number < 9 else 0
        elif word in _SIGNS:
            self._add(_SIGNS[word])
        elif marks.goes_to == "note" and word in ("par", "pard"):
            self._add(" ")
        elif marks.goes_to == "text":
            self._layout(word, number)

    def _layout(self, word: str, number: int | None) -> None:
        """Read a control word of paragraphs and tables."""
        if word == "pard":
            self._level, self._is_item, self._in_table = 0, False, False
        elif word in ("ls", "pnlvlblt", "pnlvlbody"):
            self._is_item = True
        elif word in ("par", "sect", "page"):
            if self._in_table:
                self._add(" ")
            else:
                self._end_paragraph()
        elif word == "intbl":
            self._in_table = True
        elif word == "trowd":
            self._edges = []
        elif word == "trhdr":
            self._heads += self._heads == len(self._rows)
        elif word in ("clvmrg", "clvmgf"):
            self._goes_on = word == "clvmrg"
        elif word == "cellx":
            self._edges.append((number or 0, self._goes_on))
            self._goes_on = False
        elif word == "cell":
            self._cells.append(self.words("text"))
        elif word == "row":
            edges = self._edges[: len(self._cells)]
            edges += [(number, False) for number in range(10**6 + len(edges), 10**6 + len(self._cells))]
            self._rows.append([(text, *edge) for text, edge in zip(self._cells, edges, strict=True)])
            self._cells = []

    def _end_paragraph(self) -> None:
        text = self.words("text")
        self._end_table()
        if text and self._level:
            self.blocks.append(Heading(text, self._level))
        elif text:
            kind: Kind = "item" if self._is_item else "text"
            self.blocks.append(TextBlock(text, kind=kind, links=tuple(self._links)))
        self.blocks += (TextBlock(note, kind="note") for note in self._notes)
        self._links, self._notes, self._link_start = [], [], 0

    def _end_table(self) -> None:
        """Make a table of the rows: cells end at edges, and one that goes over several edges is a merged one."""
        edges = sorted({edge for row in self._rows for _, edge, _ in row})
        if len(edges) * len(self._rows) > MOST_CELLS:
            self.left_out.append(f"a table of more than {MOST_CELLS:,} cells")
        elif edges:
            columns = {edge: number for number, edge in enumerate(edges)}
            merged: dict[tuple[int, int], tuple[int, int]] = {}
            rows: list[list[str]] = []
            for number, row in enumerate(self._rows):
                texts: list[str] = []
                for text, edge, goes_on in row:
                    first = number, len(texts)
                    above = number - 1, len(texts)
                    if goes_on and rows:
                        first = merged.get(above, above)
                    for column in range(len(texts), columns[edge] + 1):
                        if (number, column) != first:
                            merged[number, column] = first
                        texts.append(rows[first[0]][first[1]] if first[0] < number else text)
                rows.append([*texts, *[""] * (len(edges) - len(texts))])
            self.blocks.append(TableBlock(rows, merged, self._heads or None))
        self._rows, self._heads = [], 0


def _line(text: str) -> str:
    """Return a text in one line; a sign of two numbers of \\u is one."""
    return " ".join(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").split())


def _known_encoding(name: str) -> str:
    try:
        return codecs.lookup("utf-8" if name == "cp65001" else name).name
    except LookupError:
        return "cp1252"
