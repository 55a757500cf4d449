"""Turns infoboxes into snippets of attributes and values."""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from .document import row_cells, table_rows
from .flatten import flatten
from .snippets import Snippet, clean

_BULLETS = ("•", "-", "–", "·")
_NAVIGATION = re.compile(r"[<>«»←→]")  # to the season or album before and after
_PLAIN = "\n"  # stands for a parent that takes no bulleted attributes


def attributes(infobox: LexborNode, title: str) -> Iterator[Snippet]:
    """Yield a snippet for each attribute: `Title, sub-header, attribute, value, value`; images and captions are skipped.

    A row of header cells names the columns of the rows below it: `Title, Career, Years is 1990, Team is Arsenal`.
    """
    group = parent = ""  # the sub-header, and the attribute above bulleted attributes
    columns: list[str] = []
    below_header = any_attribute = False
    named = infobox.css_first("caption") is not None
    for number, row in enumerate(table_rows(infobox)):
        cells = list(row_cells(row))
        values = [flatten(cell, "info").cleaned() for cell in cells]
        if len(cells) == 1:
            text = values[0].text
            if not text:
                continue
            columns = []
            bold = cells[0].css_first("b")
            if cells[0].tag == "th" or (bold is not None and bold.text().strip() == cells[0].text().strip()):
                is_title = (number == 0 and not named) or (not any_attribute and title.lower() in text.lower())
                is_above = any(name in _class(cells[0]) for name in ("infobox-above", "summary", "fn"))
                group = "" if is_title or is_above else text.rstrip(": ")
                parent, below_header = "", bool(group)
            elif below_header and not _NAVIGATION.search(text):  # a value over the whole width
                yield values[0].after(", ".join((title, group)) + ", ")._replace(path=(group,))
                below_header = False
            continue
        below_header = False
        if len(cells) > 1 and all(cell.tag == "th" for cell in cells):
            columns = [value.text for value in values]
            continue
        label = values[0].text if values else ""
        bulleted = label[:1] in _BULLETS if label else False
        if bulleted and len(label) == 1:
            values = values[1:]
            label = values[0].text
        if len(values) < 2 or re.fullmatch(r"\^?\w\.", label) and not columns:
            continue  # a footnote of the box, or a label without a value
        if not bulleted:
            if parent and parent != _PLAIN:
                group = ""  # the bulleted attributes of the sub-header are over
            parent = label.rstrip(": ") if not group or "mergedtoprow" in _class(row) else _PLAIN
            if parent != _PLAIN:
                group = ""
        elif group and not parent:
            parent = group
        above = parent if bulleted and parent != _PLAIN else group
        for snippet in _pair(values, columns, title, above):
            any_attribute = True
            yield snippet


def _pair(values: list[Snippet], columns: list[str], title: str, above: str) -> Iterator[Snippet]:
    path = (above,) if above else ()
    if len(values) == len(columns) and len(columns) > 2:
        named = list(zip(columns, values, strict=True))
    else:
        label = clean(values[0].text).lstrip("".join(_BULLETS) + " ").rstrip(": ")
        if not label:
            return
        path = (*path, label)
        named = [("", value) for value in values[1:]]
    named = [(name, value) for name, value in named if value.text]
    snippet = Snippet(", ".join(name for name in (title, *path) if name), (), "info", path=path)
    for name, value in named:
        parts = tuple(part._replace(header=name) for part in value.parts)
        snippet = snippet.plus(f", {name} is " if name else ", ", value._replace(parts=parts))
    if named:
        yield snippet


def _class(node: LexborNode) -> str:
    return node.attributes.get("class") or ""
