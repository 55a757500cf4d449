"""Infoboxes into attribute-value pairs."""

from __future__ import annotations

from collections.abc import Iterator

from .document import Block, Link, Snippet, clean, flatten
from .tables import _cells, _rows


def attributes(block: Block, title: str) -> Iterator[Snippet]:
    """One snippet an attribute: `Title, sub-header, attribute, value, value`; images and captions are skipped."""
    group = ""
    for tr in _rows(block.node):
        cells = list(_cells(tr))
        if len(cells) == 1:
            text = clean(flatten(cells[0], "info").text)
            group = (
                text if cells[0].tag == "th" and text.lower() != title.lower() and not _is_above(cells[0]) else group
            )
            continue
        if len(cells) < 2:
            continue
        label = clean(flatten(cells[0], "info").text).rstrip(":")
        for cell in cells[1:]:
            value = flatten(cell, "info")
            if not label or not clean(value.text):
                continue
            lead = ", ".join(part for part in (title, group, label) if part) + ", "
            links = [Link(link.start + len(lead), link.end + len(lead), link.target) for link in value.links]
            yield Snippet(lead + value.text, tuple(links), "info")


def _is_above(cell) -> bool:  # noqa: ANN001 - a LexborNode
    classes = cell.attributes.get("class") or ""
    return any(name in classes for name in ("infobox-above", "summary", "fn"))
