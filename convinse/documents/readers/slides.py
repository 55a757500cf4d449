"""Reads slides into blocks."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from ..model import Block, CellGrid, Heading, ReadDocument, TextBlock
from .html import raised_words
from .office import ADDRESSES, chart_table, element_name, plain_package, plain_title, xml_root


def read_slides(data: bytes) -> ReadDocument:
    """Return the text, tables, charts and notes of slides."""
    from pptx import Presentation

    presentation = Presentation(io.BytesIO(plain_package(data)))
    blocks: list[Block] = []
    hidden = 0
    for number, slide in enumerate(presentation.slides, 1):
        if slide.element.get("show") == "0":
            hidden += 1
            continue
        title = slide.shapes.title
        if title is not None and title.text_frame.text.strip():
            blocks.append(Heading(" ".join(title.text_frame.text.split()), 2, page=number))
        else:  # what it shows is not below the title of the slide before
            blocks.append(Heading(f"Slide {number}", 2, page=number))
        for shape in slide.shapes:
            if title is None or shape.shape_id != title.shape_id:
                blocks += _shape(shape, number)
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            notes = " ".join(slide.notes_slide.notes_text_frame.text.split())
            blocks += [TextBlock(notes, page=number, kind="note")] if notes else []
        blocks += [TextBlock(comment, page=number, kind="note") for comment in _comments(slide)]
    left_out = [f"{hidden} hidden slides"] if hidden else []
    return ReadDocument(plain_title(presentation.core_properties.title), blocks, left_out)


def _comments(slide: Any) -> Iterator[str]:
    for relation in slide.part.rels.values():
        if relation.reltype.endswith("/comments") and not relation.is_external:
            for node in xml_root(relation.target_part.blob).iter():
                if element_name(node) in ("text", "txBody") and (words := " ".join("".join(node.itertext()).split())):
                    yield words


def _shape(shape: Any, page: int) -> Iterator[Block]:
    if hasattr(shape, "shapes"):  # a group
        for part in shape.shapes:
            yield from _shape(part, page)
    elif shape.has_table:
        table = shape.table
        grid = CellGrid()
        for number, row in enumerate(table.rows):
            for column, cell in enumerate(row.cells):
                if not cell.is_spanned:
                    words = " ".join(filter(None, map(_words, cell.text_frame.paragraphs)))
                    grid.put(number, column, words, cell.span_height, cell.span_width)
        yield grid.table(len(table.rows), 1 if table.first_row else None)._replace(page=page)
    elif shape.has_chart:
        with suppress(NotImplementedError, KeyError, ValueError):  # kinds of charts that the library does not know
            yield from chart_table(shape.chart, page)
    elif shape.has_text_frame:
        for paragraph in shape.text_frame.paragraphs:
            text = _words(paragraph)
            links = [(" ".join(run.text.split()), run.hyperlink.address or "") for run in paragraph.runs]
            if text:
                yield TextBlock(text, page=page, links=tuple(link for link in links if link[1].startswith(ADDRESSES)))


def _words(paragraph: Any) -> str:
    """Return the words of a paragraph without struck ones; fields, such as dates, and line breaks are among its parts."""
    text = ""
    for part in paragraph._p:
        name = element_name(part)
        if name == "br":
            text += "\n"
        if name not in ("r", "fld"):
            continue
        looks = {key: value for child in part if element_name(child) == "rPr" for key, value in child.attrib.items()}
        if looks.get("strike", "noStrike") == "noStrike":
            words = "".join(child.text or "" for child in part if element_name(child) == "t")
            is_raised = int(looks.get("baseline", "0").rstrip("%") or 0) > 0
            text += (raised_words(text, words.strip(), False) if is_raised else None) or words
    return " ".join(text.split())
