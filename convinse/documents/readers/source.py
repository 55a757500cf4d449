"""Reads what programs say in words: docstrings and comments below the names that they are about. Code itself is not read."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from ..model import Block, Heading, ReadDocument, TextBlock
from .code_pages import decoded

_LARGEST_PARSED = 2_000_000  # characters; the tree of a larger file takes gigabytes
_LONGEST_LINE = 300  # characters of a line that may name something
_RULE = re.compile(r"[\W_]*")
# comments that are for programs, and code that is switched off
_NO_WORDS = re.compile(
    r"!|.*\b(?:noqa|pylint:|type: ignore|eslint|pragma|fmt: (?:on|off|skip)|coding[:=]|vim:)|.*[;{}]$|[\w.]+\(.*\)$|\w+ = "
)
_STRING = r'"(?:\\.|[^"\\\n])*"'
_QUOTED = r"'(?:\\.|[^'\\\n])*'"
_SLASHES = r"//[^\n]*|/\*.*?(?:\*/|\Z)"
_HASH = r"(?:(?<=\s)|^)\#[^\n]*"
_MARK = re.compile(r"^\s*(?:/\*+!?|//[/!]?|\*+(?!/)|--+(?:\[\[)?|#'|#+=?|=begin)?|\s*(?:\*+/|\]\]|=#|=end)\s*$")
_NAMED = re.compile(
    r"\s*(?:[\w@]+(?:\([\w\s]*\))?\s+){0,6}?(?:class|interface|struct|enum|trait|impl|func|fn|fun|function|def|sub|module|namespace|object"
    r"|protocol|record|type|(?i:table|view|procedure|trigger))\s+(?:(?i:if\s+not\s+exists)\s+)?(?:\([^()]*\)\s*)?([A-Za-z_][\w.:]*)"
)
_ASSIGNED = re.compile(
    r"\s*(?:export\s+)?(?:const\s+)?([\w.]+)\s*(?:=|<-)\s*(?:async\s+)?(?:function\b|\([^()]*\)\s*=>|\w+\s*=>)"
)
_CALLABLE = re.compile(r"\s*(?:[\w<>\[\],.:&*~?]+\s+){1,6}[*&]*([A-Za-z_~][\w:~]*)\s*\([^;]*$")  # of C and Java
_METHOD = re.compile(
    r"\s*(?:(?:async|static|get|set)\s+)*([A-Za-z_]\w*)\s*\([^()]*\)\s*\{\s*\}?$"
)  # of JavaScript and shells
_NO_NAMES = frozenset(
    "if else for while switch return catch new throw do case await yield delete when using lock".split()
)
_ABOVE = re.compile(r"\s*(?:@|#\[|\[\w|template\b)|\s*$")  # lines between a comment and what it is about


class _Comment(NamedTuple):
    line: int
    end: int
    text: str


def read_python(data: bytes) -> ReadDocument:
    """Return the docstrings and comments of a Python file, each below its class and function."""
    text = decoded(data)
    try:
        if len(text) <= _LARGEST_PARSED:
            return _in_order(_python_pieces(text))
    except (
        SyntaxError,
        ValueError,
        MemoryError,
        RecursionError,
        tokenize.TokenError,
    ):  # of an older Python, or damaged
        pass
    return read_script(data)


_Piece = tuple[int, int, Block]  # a block, its line, and its place among those of the line


def _in_order(pieces: Iterable[_Piece]) -> ReadDocument:
    """Return the blocks by their lines, without the names that nothing is said about."""
    blocks: list[Block] = []
    level = 0  # of the heading behind; text is below all
    ordered = sorted(pieces, key=lambda piece: piece[:2])
    for *_, block in ordered[::-1]:
        match block:
            case Heading() if block.level >= level:
                continue
            case Heading():
                level = block.level
            case _:
                level = 9
        blocks.append(block)
    return ReadDocument("", blocks[::-1])


def _python_pieces(text: str) -> Iterator[_Piece]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the file
        tree = ast.parse(text)
    comments: list[_Comment] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            is_alone = not token.line[: token.start[1]].strip()
            _join(comments, token.start[0], token.start[0], token.string, is_alone)
    starts = {comment.end + 1: comment.line for comment in comments if comment.end}
    for node, level in _definitions(tree, 1):
        if not isinstance(node, ast.Module):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            yield starts.get(first, node.lineno), 0, Heading(node.name, min(level, 6), node.lineno)
        if words := ast.get_docstring(node):
            line = node.body[0].lineno
            yield from ((line, 1, block) for block in _paragraphs(words, line))
    for comment in comments:
        yield from ((comment.line, 1, block) for block in _paragraphs(comment.text, comment.line))


_Definition = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def _definitions(node: ast.AST, level: int) -> Iterator[tuple[_Definition, int]]:
    match node:
        case ast.Module() | ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
            yield node, level
            level += 1
        case ast.stmt() | ast.ExceptHandler():  # such as `if`, with definitions in it
            pass
        case _:
            return
    for child in ast.iter_child_nodes(node):
        yield from _definitions(child, level)


def _join(comments: list[_Comment], line: int, end: int, text: str, is_alone: bool) -> None:
    """Add a comment; one alone on its line goes on with that of the line above."""
    words = "\n".join(_MARK.sub("", part).strip() for part in text.splitlines())
    if comments and is_alone and comments[-1].end == line - 1:
        before = comments.pop()
        comments.append(_Comment(before.line, end, f"{before.text}\n{words}"))
    else:
        # a comment behind code ends with its line
        comments.append(_Comment(line, end if is_alone else 0, words))


def _paragraphs(text: str, line: int) -> Iterator[TextBlock]:
    """Yield the paragraphs of a comment without rules and words for programs."""
    words: list[str] = []
    start = line
    for number, part in enumerate([*text.splitlines(), ""], line):
        if not _RULE.fullmatch(part) and not _NO_WORDS.match(part):
            start = start if words else number
            words.append(part.strip())
        elif words:
            if len(joined := " ".join(" ".join(words).split())) > 2:
                yield TextBlock(joined, start)
            words = []


def reader_of_comments(pattern: str) -> Callable[[bytes], ReadDocument]:
    """Return the reader of languages whose comments and strings match a pattern."""
    tokens = re.compile(pattern, re.DOTALL | re.MULTILINE)

    def read_comments(data: bytes) -> ReadDocument:
        return _comments(decoded(data).replace("\r\n", "\n"), tokens)

    return read_comments


def _comments(text: str, tokens: re.Pattern[str]) -> ReadDocument:
    lines = text.split("\n")
    comments: list[_Comment] = []
    line, place = 1, 0
    code: list[str] = []  # the text without comments and strings
    for match in tokens.finditer(text):
        line += text.count("\n", place, match.start())
        code.append(text[place : match.start()])
        end = line + match[0].count("\n")
        if match[1]:
            is_alone = not text[text.rfind("\n", 0, match.start()) + 1 : match.start()].strip()
            _join(comments, line, end, match[1], is_alone)
        code.append("\n" * (end - line))
        line, place = end, match.end()
    code.append(text[place:])
    ends = {comment.end: comment for comment in comments}
    pieces: list[_Piece] = [
        (comment.line, 1, block) for comment in comments for block in _paragraphs(comment.text, comment.line)
    ]
    for number, part in enumerate("".join(code).split("\n"), 1):
        if name := _name(part):
            above = number - 1
            while above > 0 and above not in ends and _ABOVE.match(lines[above - 1]):
                above -= 1
            # what a comment is about comes before it
            first = ends[above].line if above in ends and above >= number - 5 else number
            level = 2 if len(part) == len(part.lstrip()) else 3
            pieces.append((first, 0, Heading(name, level, number)))
    return _in_order(pieces)


def _name(line: str) -> str:
    """Return the name of a class, a function or a table that a line defines; else an empty text."""
    if not line.strip() or len(line) > _LONGEST_LINE or line.split()[0].strip("}") in _NO_NAMES:
        return ""
    match = _NAMED.match(line) or _ASSIGNED.match(line) or _CALLABLE.match(line) or _METHOD.match(line)
    return match[1].rstrip(":") if match and match[1] not in _NO_NAMES else ""


read_javascript = reader_of_comments(rf"({_SLASHES}|{_HASH})|{_STRING}|{_QUOTED}|`(?:\\.|[^`\\])*`")
read_go = reader_of_comments(rf"({_SLASHES})|{_STRING}|'(?:\\.[^']*|[^'\\])'|`[^`]*`")
read_java = reader_of_comments(rf"({_SLASHES})|{_STRING}|'(?:\\.[^'\n]*|[^'\\])'")
read_script = reader_of_comments(rf"({_HASH}|^=begin\b.*?^=end\b|#=.*?=#)|\"\"\".*?\"\"\"|{_STRING}|{_QUOTED}")
read_sql = reader_of_comments(rf"(--[^\n]*|/\*.*?(?:\*/|\Z))|{_STRING}|'[^']*'")
read_lua = reader_of_comments(rf"(--\[\[.*?(?:\]\]|\Z)|--[^\n]*)|{_STRING}|{_QUOTED}")
