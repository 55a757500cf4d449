"""Reads OpenDocument files into blocks: texts, sheets and slides."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice, product
from typing import Any

from ..support.errors import DataError
from .model import Block, Heading, ReadDocument, TableBlock, TextBlock
from .office import element_name, unpacked, xml_root

_MOST_COLUMNS, _MOST_EMPTY = 1000, 100  # of a table of OpenDocument; repeated empty cells that may be between others
_MOST_MERGED = 100_000  # places of merged cells of such a table


def read_open_text(data: bytes) -> ReadDocument:
    """Return the text of an OpenDocument file: a text, a sheet or slides."""
    root = xml_root(unpacked(data).read("content.xml"))
    return ReadDocument("", list(chain.from_iterable(map(_open_blocks, root.iter()))))


def _open_blocks(node: Any) -> Iterator[Block]:
    name, within = element_name(node), {element_name(above) for above in node.iterancestors()}
    if name in ("h", "p") and not within & {"table", "annotation", "note"}:
        text = " ".join("".join(node.itertext()).split())
        level = next((value for key, value in node.attrib.items() if key.endswith("outline-level")), "1")
        if text:
            yield (
                Heading(text, min(int(level), 5) + 1)
                if name == "h"
                else TextBlock(text, kind="item" if "list" in within else "text")
            )
    elif name == "table" and "table" not in within:
        table = _open_table(node)
        if table is not None:
            yield table


def _open_table(node: Any) -> TableBlock | None:
    """Return a table of OpenDocument, its merged cells in each of their places; None if it is empty. Raises `DataError` for too many."""
    rows: list[list[str]] = []
    merged: dict[tuple[int, int], tuple[int, int]] = {}
    for row in (found for found in node.iter() if element_name(found) == "table-row"):
        texts: list[str] = []
        for cell in row:
            sizes = {key.rpartition("}")[2]: value for key, value in cell.attrib.items()}
            text = " ".join(" ".join("".join(part.itertext()) for part in cell).split())
            height, width = (int(sizes.get(f"number-{axis}-spanned", 1)) for axis in ("rows", "columns"))
            if text and len(merged) + height * width > _MOST_MERGED:
                raise DataError(f"has more than {_MOST_MERGED:,} places of merged cells")
            if text:
                places = product(range(len(rows), len(rows) + height), range(len(texts), len(texts) + width))
                merged |= dict.fromkeys(islice(places, 1, None), (len(rows), len(texts)))
            # empty cells are repeated to the end of the sheet
            repeated = int(sizes.get("number-columns-repeated", 1))
            texts += [text] * min(repeated, _MOST_COLUMNS if text else _MOST_EMPTY)
        while texts and not texts[-1]:
            texts.pop()
        if texts or any((len(rows), column) in merged for column in range(_MOST_EMPTY)):
            rows.append(texts[:_MOST_COLUMNS])
    merged = {place: first for place, first in merged.items() if place[0] < len(rows) and place[1] < _MOST_COLUMNS}
    width = max([*map(len, rows), *(column + 1 for _, column in merged)], default=0)
    cells = [[*row, *[""] * (width - len(row))] for row in rows]
    for (down, right), (first_row, first_column) in merged.items():
        cells[down][right] = cells[first_row][first_column]
    return TableBlock(cells, merged) if cells else None
