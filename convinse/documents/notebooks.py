"""Reads Jupyter notebooks into blocks."""

from __future__ import annotations

import msgspec

from .code_pages import decoded
from .markdown import read_markdown
from .model import Block, ReadDocument, TextBlock, at_line


def read_notebook(data: bytes) -> ReadDocument:
    """Return the texts and the code of a Jupyter notebook."""
    blocks: list[Block] = []
    for cell in msgspec.json.decode(decoded(data)).get("cells", ()):
        text = "".join(cell.get("source", ""))  # a text, or its lines
        if cell.get("cell_type") == "markdown":
            # lines of a cell say nothing about the file
            blocks += (at_line(block, 0) for block in read_markdown(text.encode()).blocks)
        elif text.strip():
            blocks.append(TextBlock(text, kind="code"))
    document = ReadDocument("", blocks)
    return document._replace(title=document.heading.text) if document.heading is not None else document
