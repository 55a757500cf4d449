"""Reads Jupyter notebooks into blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from ..model import Block, ReadDocument, TextBlock, at_line
from .code_pages import decoded
from .html import html_document
from .markdown import read_markdown
from .texts import read_text


def read_notebook(data: bytes) -> ReadDocument:
    """Return the texts, the code and what it printed of a Jupyter notebook."""
    blocks: list[Block] = []
    notebook = msgspec.json.decode(decoded(data))
    sheets = notebook.get("worksheets", [notebook])  # before version 4
    for cell in (cell for sheet in sheets for cell in sheet.get("cells", ())):
        text = "".join(cell.get("source", cell.get("input", "")))  # a text, or its lines
        if cell.get("cell_type") == "heading":
            text = f"{'#' * cell.get('level', 1)} {text}"
        if cell.get("cell_type") in ("markdown", "heading"):
            blocks += read_markdown(text.encode()).blocks
        elif text.strip():
            blocks.append(TextBlock(text, kind="code"))
        for output in cell.get("outputs", ()):
            blocks += _printed(output)
    # lines of a cell say nothing about the file
    document = ReadDocument("", [at_line(block, 0) for block in blocks])
    return document._replace(title=document.heading.text) if document.heading is not None else document


def _printed(output: dict[str, Any]) -> Iterator[Block]:
    """Yield what a cell shows below its code, in the richest form that is read; not the pictures and errors."""
    if output.get("output_type") not in ("stream", "execute_result", "display_data", "pyout"):
        return
    shown = output.get("data", output)
    for kind in ("text/html", "html", "text/markdown", "text/plain", "text"):
        if text := "".join(shown.get(kind, "")):
            if kind.endswith("html"):
                yield from html_document(text).blocks
            elif kind.endswith("markdown"):
                yield from read_markdown(text.encode()).blocks
            else:
                yield from read_text(text.encode()).blocks
            return
