"""Reads AsciiDoc into blocks: its head, headings, paragraphs, lists, admonitions, code, tables and footnotes."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from ...support.limits import MOST_TABLE_CELLS
from ..model import Block, CellGrid, Heading, Kind, PairsBlock, ReadDocument, TableBlock, TextBlock
from .code_pages import decoded

_MOST_SPAN = 100  # columns or rows of a cell
_HEADING = re.compile(r"(={1,6}|#{1,6})\s+(\S.*)")
_ATTRIBUTE = re.compile(r":(!?[\w-]+!?):(?:\s+(.*))?")
_STYLE = re.compile(r"\[(?!\[)(.*)\]|\[\[.*\]\]")
_TITLE = re.compile(r"\.(?![\s.])(.+)")
_DIRECTIVE = re.compile(r"(?:ifdef|ifndef|ifeval|endif|include|toc)::\S*\[.*\]|'''|<<<|//(?!/).*")
_MEDIA = re.compile(r"(?:image|video|audio)::\S+?\[([^,\]]*).*\]")
_VERBATIM = re.compile(r"-{4,}|\.{4,}|\+{4,}|/{4,}|```.*")
_CONTAINER = re.compile(r"_{4,}|\*{4,}|={4,}|--")
_TABLE = re.compile(r"([|,:!])={3,}")
_ITEM = re.compile(r"\s*(?:\*{1,5}|-|\.{1,5}|\d+\.|<[\d.]+>)\s+(\S.*)")
_TERM = re.compile(r"\s*(\S.{0,100}?)(?::{2,4}|;;)(?:\s+(.*))?")
_AUTHOR = re.compile(r"[^\W\d_][^:=|\[\]]{0,200}")
# before the bar of a cell: how often or how far it goes, where its words stand, how they look
_CELL = re.compile(r"(?:(?<=\s)|^)(?:(\d+)?(?:\.(\d+))?([+*]))?(?:[<^>]?(?:\.[<^>])?)([a-z])?(?<!\\)\||(?<!\\)\|")
# attributes about how a document looks
_LOOKS = re.compile(
    r"!|_|toc|icons|source-|experimental|doctype|sect|id(?:prefix|separator)|.*dir$|.*css|page-|context|data-uri"
)
# parts of a pattern have a longest length, so that no line costs its square
_FOOTNOTE = re.compile(r"footnote(?:ref)?:[\w-]{0,99}\[([^\]]{0,2000})\]")
_LINK = re.compile(
    r"(?:link:(?:\+\+)?)?((?:https?://|mailto:)[^\s\[\]<>]+)(?:\[([^\]]{0,500})\])?|link:\S{1,500}?\[([^\]]{0,500})\]"
)
_REFERENCE = re.compile(r"<<([^<>,]{1,500})(?:,\s?([^<>]{1,500}))?>>|xref:([^\s\[\]]{1,500})\[([^\]]{0,500})\]")
_MENU = re.compile(r"menu:([^\[\]]{1,99})\[([^\]]{0,300})\]")
_MACRO = re.compile(
    r"\b(?:kbd|btn|pass|stem|latexmath|asciimath|image|icon|anchor|indexterm2?):{1,2}[^\s\[\]]{0,300}\[([^\],]{0,300})(?:,[^\]]{0,300})?\]"
)
_ANCHOR = re.compile(r"\[\[[^\]]{0,300}\]\]|\[[.#%][^\]\s]{0,99}\](?=[#*_`])|\(\(\(.{0,300}?\)\)\)")
_MARKS = re.compile(r"(\*\*|__|``|##|\+\+)(\S.{0,500}?)\1|(?<![\w\\])([*_`#+])(\S|\S.{0,500}?\S)\3(?!\w)")
_RAISED = re.compile(r"(?<=\S)\^([^\s^]{1,99})\^")
_LOWERED = re.compile(r"(?<=\S)~([^\s~]{1,99})~")


def read_asciidoc(data: bytes) -> ReadDocument:
    """Return the content of AsciiDoc; files that it includes are not read."""
    reading = _AsciiDoc(re.split(r"\r\n|\r|\n", decoded(data)))
    blocks = list(reading.blocks())
    return ReadDocument(reading.title, blocks)


class _AsciiDoc:
    def __init__(self, lines: Sequence[str]) -> None:
        self.title = ""
        self._lines, self._place = lines, 0
        self._attributes: dict[str, str] = {}
        self._fields: list[tuple[str, str]] = []  # of the head
        self._caption = self._style = self._term = ""
        self._words: list[str] = []
        self._line, self._kind = 0, "text"
        self._is_quotation = False

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks of the document."""
        while self._place < len(self._lines):
            line = self._lines[self._place].rstrip()
            self._place += 1
            if not line or line == "+":
                yield from self._paragraph()
            elif _DIRECTIVE.fullmatch(line):
                continue
            elif match := _VERBATIM.fullmatch(line):
                yield from self._paragraph()
                yield from self._verbatim(line)
            elif _CONTAINER.fullmatch(line):
                yield from self._paragraph()
                self._is_quotation = line.startswith("____") and not self._is_quotation
            elif match := _TABLE.fullmatch(line):
                yield from self._paragraph()
                yield from self._table(match[1], line)
            elif (
                (match := _ITEM.fullmatch(line)) or (match := _TERM.fullmatch(line)) and (self._term or not self._words)
            ):
                yield from self._paragraph()
                self._line, self._kind = self._place, "item"
                if match.re is _TERM:
                    self._term = match[1]
                self._words = [match[match.lastindex or 1]] if match.re is _ITEM or match[2] else []
            elif self._words or self._term:
                self._words.append(line.strip().removesuffix(" +"))
            elif line[0] in " \t":
                yield self._indented()
            else:
                yield from self._start(line)
        yield from self._paragraph()
        yield from self._head()

    def _start(self, line: str) -> Iterator[Block]:
        """Read the first line of a block."""
        if match := _HEADING.fullmatch(line):
            self._caption = self._style = ""
            if len(match[1]) == 1 and not self.title:
                self.title = self._text(match[2])
                self._read_author()
            else:
                yield from self._head()
                yield Heading(self._text(match[2]), len(match[1]), self._place)
        elif match := _ATTRIBUTE.fullmatch(line):
            name, value = match[1], (match[2] or "").removesuffix("\\").strip()
            self._attributes[name] = value
            if value and not _LOOKS.match(name):
                self._fields.append((name.replace("-", " "), self._text(value)))
        elif match := _STYLE.fullmatch(line):
            self._style = match[1] or self._style
        elif match := _TITLE.fullmatch(line):
            self._caption = match[1]
        elif match := _MEDIA.fullmatch(line):
            if words := self._text(self._caption or match[1].strip('"')):
                yield TextBlock(words, self._place)
            self._caption = ""
        else:
            self._line, self._kind = self._place, "quotation" if self._is_quotation else "text"
            self._words = [line.removesuffix(" +")]

    def _read_author(self) -> None:
        """Read the lines below the title: who wrote the document, its version and date."""
        for name in ("author", "revision"):
            line = self._lines[self._place].strip() if self._place < len(self._lines) else ""
            if not (_AUTHOR if name == "author" else re.compile(r"v?\d.*")).fullmatch(line):
                return
            self._fields.append((name, line))
            self._place += 1

    def _head(self) -> Iterator[Block]:
        if self._fields:
            yield PairsBlock(self._fields, 1)
        self._fields = []

    def _paragraph(self) -> Iterator[Block]:
        """Yield what stands in the lines since the last block."""
        lines, term, self._words, self._term = self._words, self._term, [], ""
        if not lines:
            if term:  # its definition comes in blocks of their own
                yield TextBlock(self._text(term), self._line)
            return
        yield from self._head()
        if self._caption:
            yield TextBlock(self._text(self._caption), max(self._line - 1, 1))
        self._caption = ""
        if len(lines) > 1 and all(line.startswith("|") for line in lines):
            yield self._grid(
                [[(cell, 1, 1) for cell in line.strip("|").split("|")] for line in lines], None, self._line
            )
            return
        notes: list[str] = []
        links: list[tuple[str, str]] = []
        text = self._text(" ".join(lines), notes, links)
        style, self._style = self._style.partition(",")[0], ""
        if re.fullmatch(r"[A-Z]{3,12}", style):  # an admonition
            text = f"{style}: {text}"
        kind: Kind = "item" if self._kind == "item" else "quotation" if self._kind == "quotation" else "text"
        if term:
            yield PairsBlock([(self._text(term), text)], self._line)
        elif text:
            yield TextBlock(text, self._line, kind=kind, links=tuple(links))
        yield from (TextBlock(note, self._line, kind="note") for note in notes if note)

    def _lines_to(self, mark: str) -> list[str]:
        """Return the lines up to a mark, and go on behind it."""
        lines: list[str] = []
        while self._place < len(self._lines):
            line = self._lines[self._place].rstrip()
            self._place += 1
            if line == mark:
                break
            lines.append(line)
        return lines

    def _verbatim(self, mark: str) -> Iterator[Block]:
        """Yield the lines up to a mark as code; comments and what another program reads are left out."""
        mark, line = mark[:3] if mark.startswith("```") else mark, self._place + 1
        found = self._lines_to(mark)
        if mark[0] not in "+/" and any(found):
            if self._caption:
                yield TextBlock(self._text(self._caption), line)
            yield TextBlock("\n".join(found), line, kind="code")
        self._caption = self._style = ""

    def _indented(self) -> TextBlock:
        start = self._place - 1
        while self._place < len(self._lines) and self._lines[self._place].strip():
            self._place += 1
        lines = [line.strip() for line in self._lines[start : self._place]]
        return TextBlock("\n".join(lines), start + 1, kind="code")

    def _text(self, text: str, notes: list[str] | None = None, links: list[tuple[str, str]] | None = None) -> str:
        """Return the words of a line without marks; add its footnotes and links to the lists."""

        def linked(match: re.Match[str]) -> str:
            words = (match[2] or match[3] or "").rstrip("^").partition(",window")[0].strip('"')
            if match[1] and words and links is not None:
                links.append((words, match[1]))
            return words or match[1] or ""

        if notes is not None:
            notes += (self._text(note) for note in _FOOTNOTE.findall(text))
        text = re.sub(r"\{([\w-]+)\}", lambda match: self._attributes.get(match[1]) or match[0], text)
        text = _LINK.sub(linked, _FOOTNOTE.sub("", text))
        text = _REFERENCE.sub(lambda match: match[2] or match[4] or match[1] or match[3], text)
        text = _MENU.sub(r"\1 > \2", text)
        text = re.sub(r"\(\(([^()]+)\)\)", r"\1", _ANCHOR.sub("", _MACRO.sub(r"\1", text)))
        for _ in range(2):  # marks within marks
            text = _MARKS.sub(lambda match: match[2] or match[4], text)
        text = _RAISED.sub(lambda match: f"^{match[1]}" if match[1].isdigit() else match[1], text)
        return " ".join(_LOWERED.sub(r"\1", text).split())

    def _table(self, sign: str, mark: str) -> Iterator[Block]:
        start = self._place
        lines = self._lines_to(mark)
        filled = [place for place, line in enumerate(lines) if line]
        caption, style = self._text(self._caption), self._style
        self._caption = self._style = ""
        if not filled:
            return
        has_head = "header" in style or filled[0] == 0 and filled[1:2] != [1] and len(filled) > 1
        if sign in ",:":
            rows = [[(cell, 1, 1) for cell in row] for row in csv.reader(filter(None, lines), delimiter=sign)]
            yield self._grid(rows, 1 if has_head else None, start + 1)._replace(caption=caption)
            return
        has_head = has_head or bool(re.search(r"(?:^|\s)[<^>.]*h\|", lines[filled[0]]))
        columns = re.search(r'cols="?([^"\]]*)', style)
        width = _width(columns[1]) if columns else len(_cells(lines[filled[0]], sign)) or 1
        by_line = [_cells(lines[place], sign) for place in filled]
        if all(_is_row(row, width) for row in by_line):
            table = self._grid([row[:width] for row in by_line], 1 if has_head else None, 0)
            yield table._replace(caption=caption, lines=[start + 1 + place for place in filled])
        else:
            rows = _rows(_cells("\n".join(lines), sign), width)
            yield self._grid(rows, 1 if has_head else None, start + 1 + filled[0])._replace(caption=caption)

    def _grid(self, rows: Sequence[Sequence[tuple[str, int, int]]], heads: int | None, line: int) -> TableBlock:
        """Return a table of cells with the columns and rows that they go over."""
        grid = CellGrid()
        for number, row in enumerate(rows):
            column = 0
            for text, right, down in row:
                column = grid.free(number, column)
                words = self._text(text)
                if len(grid.texts) > MOST_TABLE_CELLS:
                    break
                grid.put(number, column, words, min(down, len(rows) - number), right)
        return grid.table(len(rows), heads, lines=[line] * len(rows))


def _width(columns: str) -> int:
    """Return the number of columns of a specification such as `1,3*,2`."""
    parts = [part for part in re.split(r"[,;]", columns) if part.strip()] or [""]
    times = (re.match(r"\s*(\d{1,3})\*", part) for part in parts)
    return min(sum(int(match[1]) if match else 1 for match in times), _MOST_SPAN)


def _is_row(cells: Sequence[tuple[str, int, int]], width: int) -> bool:
    """Return True if the cells of a line are a row; a bar at its end has no cell behind it."""
    is_whole = len(cells) == width or len(cells) == width + 1 and not cells[-1][0]
    return is_whole and all(cell[1:] == (1, 1) for cell in cells)


def _cells(text: str, sign: str) -> list[tuple[str, int, int]]:
    """Return the cells of a text with the columns and rows that each goes over."""
    text = text.replace("!", "|") if sign == "!" else text
    matches = list(_CELL.finditer(text))
    cells: list[tuple[str, int, int]] = []
    for match, after in zip_longest(matches, matches[1:]):
        words = text[match.end() : after.start() if after else len(text)].replace("\\|", "|").strip()
        right, down = (min(int(match[group] or 1), _MOST_SPAN) for group in (1, 2))
        cells += [(words, 1, 1)] * right if match[3] == "*" else [(words, max(right, 1), max(down, 1))]
    return cells


def _rows(cells: Sequence[tuple[str, int, int]], width: int) -> list[list[tuple[str, int, int]]]:
    """Return the rows that cells fill one after the other; those from rows above take places."""
    rows: list[list[tuple[str, int, int]]] = [[]]
    taken: dict[int, int] = {}  # the number of a row -> its places that cells of rows above take
    used = 0
    for cell in cells:
        while used and used + taken.get(len(rows) - 1, 0) >= width or taken.get(len(rows) - 1, 0) >= width:
            rows.append([])
            used = 0
        rows[-1].append(cell)
        used += cell[1]
        for row in range(len(rows), len(rows) + cell[2] - 1):
            taken[row] = taken.get(row, 0) + cell[1]
    return [row for row in rows if row]
