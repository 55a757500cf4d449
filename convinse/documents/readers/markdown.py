"""Reads Markdown into blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from selectolax.lexbor import LexborHTMLParser

from ...support.errors import DataError
from ...support.limits import LARGEST_CONFIG
from ...wikipedia.document import cut_deep
from ..model import Block, Heading, Kind, PairsBlock, ReadDocument, TableBlock, TextBlock, at_line
from .code_pages import decoded
from .html import html_blocks, raised_words
from .records import blocks_of
from .settings import toml_value, yaml_values
from .texts import fields_of

if TYPE_CHECKING:
    from markdown_it.token import Token

_FRONT_MATTER = re.compile(r"(---|\+\+\+)[ \t]*\n(.*?\n)(?:\1|\.\.\.)[ \t]*(?:\n|$)", re.DOTALL)
# inline tags that change how words look; other words in angle brackets are words: List<String>, <none>
_LOOKS = re.compile(
    r"</?(?:a|abbr|b|bdi|bdo|big|br|cite|code|em|font|i|img|kbd|mark|picture|q|samp|small|source|span|strong|sub|sup|tt|u|var|wbr)"
    r"(?:\s[^<>=]*=[^<>]*)?[\s/]*>|<!--.*?-->",
    re.IGNORECASE | re.DOTALL,
)
_BAR = re.compile(r"</sup>\s*[/⁄]\s*<sub")  # of a fraction
# marks of other dialects: 10^6^, H~2~O, ==marked==, [[page|words]]
_MARKS = [
    (re.compile(r"(?<=\w)\^([^\s^]{1,20})\^"), r"^\1"),
    (re.compile(r"(?<=\w)~([^\s~]{1,20})~"), r"\1"),
    (re.compile(r"(?<!\w)==(\S(?:[^=]*\S)?)==(?!\w)"), r"\1"),
    (re.compile(r"(?<!!)\[\[(?:[^\[\]|]*\|)?([^\[\]|]+)\]\]"), r"\1"),
]
_STRUCK = re.compile(r"<(/?)(?:del|s|strike)(?:\s[^<>]*)?>", re.IGNORECASE)


def read_markdown(data: bytes) -> ReadDocument:
    """Return the content of Markdown, with its front matter as pairs."""
    from markdown_it import MarkdownIt

    text, title, blocks = decoded(data).replace("\r\n", "\n").replace("\r", "\n"), "", list[Block]()
    front = _FRONT_MATTER.match(text)
    if front and len(front[2]) <= LARGEST_CONFIG:
        fields: Any = None
        with suppress(DataError):  # text between two rules that is neither YAML nor TOML
            fields = toml_value(front[2]) if front[1] == "+++" else yaml_values(front[2])[0]
        if fields and isinstance(fields, dict):
            title = str(fields.pop("title", None) or "")
            if fields:
                blocks += (
                    block._replace(line=1) if isinstance(block, PairsBlock) else block for block in blocks_of(fields)
                )
            text = "\n" * front[0].count("\n") + text[front.end() :]
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    blocks += _TokenWalk(parser.parse(cut_deep(text))).blocks()
    return ReadDocument(title, blocks)


class _TokenWalk:
    """A walk over the tokens of a document."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._open: list[str] = []  # the containers of the token

    def blocks(self) -> Iterator[Block]:
        place = 0
        while place < len(self._tokens):
            token = self._tokens[place]
            line = token.map[0] + 1 if token.map else 0
            if token.type == "table_open":
                end = next(at for at in range(place, len(self._tokens)) if self._tokens[at].type == "table_close")
                yield _table(self._tokens[place:end])
                place = end
            elif token.type.endswith(("list_item_open", "blockquote_open")):
                self._open.append(token.type)
            elif token.type.endswith(("list_item_close", "blockquote_close")):
                self._open.pop()
            elif token.type in ("fence", "code_block"):
                yield TextBlock(token.content.strip("\n"), line, kind="code")
            elif token.type == "html_block":
                body = LexborHTMLParser(cut_deep(token.content)).body
                if body is not None:
                    yield from (at_line(block, line) for block in html_blocks(body))
            elif token.type == "inline":
                yield from self._inline(self._tokens[place - 1], token, line)
            place += 1

    def _inline(self, around: Token, token: Token, line: int) -> Iterator[Block]:
        text, links = inline_words(token.children or ())
        if not text:
            return
        if around.type == "paragraph_open" and not self._open and (pairs := _fields(token.children or ())):
            yield from (PairsBlock([pair], line + number) for number, pair in enumerate(pairs))
            return
        if around.type == "heading_open":
            yield Heading(text, int(around.tag[1]), line)
            return
        kinds: dict[str, Kind] = {"list_item_open": "item", "blockquote_open": "quotation"}
        yield TextBlock(text, line, kind=kinds[self._open[-1]] if self._open else "text", links=links)


def _fields(tokens: Sequence[Token]) -> list[tuple[str, str]]:
    """Return the names and values of a paragraph whose lines are "Name: value", or nothing."""
    lines: list[list[Token]] = [[]]
    for token in tokens:
        if token.type in ("softbreak", "hardbreak"):
            lines.append([])
        else:
            lines[-1].append(token)
    return fields_of(inline_words(line)[0] for line in lines)


def inline_words(tokens: Sequence[Token]) -> tuple[str, list[tuple[str, str]]]:
    """Return the words of inline tokens in one line, and the words and addresses of links."""
    pieces: list[str] = []
    links: list[tuple[str, str]] = []
    address, start, struck, raised = "", 0, 0, False
    for number, token in enumerate(tokens):
        if token.type == "link_open":
            address, start = str(token.attrGet("href") or ""), len(pieces)
        elif token.type == "link_close":
            if address.startswith(("http://", "https://", "mailto:", "tel:")):
                links.append((" ".join("".join(pieces[start:]).split()), address))
        elif token.type == "s_open":
            struck += 1
        elif token.type == "s_close":
            struck -= 1
        elif token.type == "html_inline" and (mark := _STRUCK.fullmatch(token.content)):
            struck += -1 if mark[1] else 1
        elif struck > 0:
            continue
        elif token.type == "html_inline" and _LOOKS.fullmatch(token.content):
            raised = token.content.lower().startswith("<sup")
            pieces.append("\n" if token.content.lower().startswith("<br") else "")
        elif token.type in ("softbreak", "hardbreak"):
            pieces.append("\n")
        elif token.content or token.type == "image":
            behind = "".join(token.content for token in tokens[number + 1 : number + 4]).lower()
            words = raised_words("".join(pieces), token.content, bool(_BAR.match(behind))) if raised else None
            pieces.append(words or (_plain(token.content) if token.type == "text" else token.content))
    return " ".join("".join(pieces).split()), links


def _plain(text: str) -> str:
    """Return a text without the marks of other dialects."""
    for mark, words in _MARKS:
        text = mark.sub(words, text)
    return text


def _table(tokens: Sequence[Token]) -> TableBlock:
    rows: list[list[str]] = []
    lines: list[int] = []
    links: list[tuple[str, str]] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
            lines.append(token.map[0] + 1 if token.map else 0)
        elif token.type == "inline":
            words, addresses = inline_words(token.children or ())
            rows[-1].append(words)
            links += addresses
    width = max(map(len, rows))
    return TableBlock([[*row, *[""] * (width - len(row))] for row in rows], heads=1, lines=lines, links=links)
