"""Text of the program as Markdown."""

from __future__ import annotations

import re

_CODE = re.compile(r"(`[^`]*`)")
_OPTION = re.compile(r"(?<![\w`-])--[a-z][\w-]*")


def escaped(text: str) -> str:
    """Text in which nothing but code between backticks is Markdown; options of commands become code."""
    parts = _CODE.split(text if "`" in text else _OPTION.sub(r"`\g<0>`", text))
    return "".join(part if part.startswith("`") else re.sub(r"([\\*_<>\[\]{}|$#~])", r"\\\1", part) for part in parts)


def code(text: str) -> str:
    """Text as code within a line; backticks in it make the fence longer."""
    fence = "``" if "`" in text else "`"
    return f"{fence} {text} {fence}" if text[:1] in " `" or text[-1:] in " `" else f"{fence}{text}{fence}"


def directive(name: str, argument: str, text: str = "") -> str:
    """A directive of MyST around Markdown that holds fences of three backticks at the most."""
    return f"````{{{name}}} {argument}\n{text}\n````\n"


def table(columns: list[str], rows: list[list[str]], words: int) -> str:
    """A table whose first columns are words, and the others numbers, at the right."""
    marks = ["---" if place < words else "---:" for place in range(len(columns))]
    lines = [columns, marks, *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines) + "\n"
