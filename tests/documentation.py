"""What the tests read of README.md and the pages in docs/: code blocks, commands, links."""

import re
import shlex
from functools import cache
from typing import NamedTuple

from places import ROOT

_BLOCK = re.compile(r"^```(\w*|\{[\w-]+\}.*?)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_MARKED = re.compile(
    r"(?:^<!-- (tested|not run|file|printed): (.*?) -->\n)?^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE
)
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "cache/README.md")
)


@cache
def page(name):
    """The text of a page, such as `docs/reader.md`."""
    return (ROOT / name).read_text(encoding="utf-8")


def block(name, language, after=""):
    """The first code block of a language in a page, after some words."""
    text = page(name)
    return next(block[2] for block in _BLOCK.finditer(text, text.index(after)) if block[1] == language)


def blocks(name, language):
    """All code blocks of a language in a page."""
    return [block[2] for block in _BLOCK.finditer(page(name)) if block[1] == language]


class MarkedBlock(NamedTuple):
    """A code block; `mark` is what the line above says of it, `said` the rest of that line."""

    line: int
    language: str
    text: str
    mark: str
    said: str


def marked_blocks(name):
    """All code blocks of a page with their marks, see tests/test_docs_blocks.py."""
    text = page(name)
    return [
        MarkedBlock(text.count("\n", 0, block.start()) + 1, block[3], block[4], block[1] or "", block[2] or "")
        for block in _MARKED.finditer(text)
    ]


def links(name):
    """The targets of a page's links."""
    return re.findall(r"\]\(([^)\s]+)\)", _CODE.sub("", page(name)))


@cache
def anchors(name):
    """What a link can name in a page: its headings, as they are made into anchors."""
    headings = re.findall(
        r"^#+ (.*)$", re.sub(r"^```.*?^```", "", page(name), flags=re.DOTALL | re.MULTILINE), re.MULTILINE
    )
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def inline_code(name):
    """What a page has between single backticks."""
    return re.findall(r"`([^`\n]+)`", _BLOCK.sub("", page(name)))


def code(name):
    """All code of a page: its blocks, then what it has between backticks, a line each."""
    return "\n".join([*(block[2] for block in _BLOCK.finditer(page(name))), *inline_code(name)])


def commands(name):
    """The words after `bash run.sh` of every command that a page shows: in blocks, and between backticks."""
    shown = [line.strip().removeprefix("$ ") for line in code(name).replace("\\\n", " ").splitlines()]
    return [shlex.split(line, comments=True)[2:] for line in shown if line.startswith("bash run.sh ")]
