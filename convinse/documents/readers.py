"""Reads files of all kinds into HTML with `data-line`, `data-page`, headings and tables."""

from __future__ import annotations

import codecs
import csv
import html
import io
import logging
import re
import unicodedata
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import msgspec
from selectolax.lexbor import LexborHTMLParser

from ..config.yaml_files import read_value
from ..support.errors import ConfigError, DataError, DependencyError, missing_extra, one_line
from ..support.jsonlines import JSON_ERRORS
from ..support.limits import LARGEST_CONFIG, LARGEST_UNPACKED, LONGEST_LINE
from ..wikipedia.document import cut_deep

_LONG_VALUE = 200  # characters; a longer value of a record is prose
_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?\n)---[ \t]*\n", re.DOTALL)
_LONGEST_TITLE = 80
_DELIMITERS = ",;\t|"
_SNIFFED = 1 << 16  # characters
_UNDERLINE = re.compile(r"(=+|-+|~+|\*+)\s*")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a]")
_ROLE = re.compile(r":[a-z][\w:+.-]*:`([^`]*)`")
_NUMBER = re.compile(r"[-+]?[$€£]?\d[\d.,:/ -]*%?")
# ligatures of PDF files, which models do not know
_LIGATURES = {
    ord(letters): unicodedata.normalize("NFKC", letters) for letters in "\ufb00\ufb01\ufb02\ufb03\ufb04\ufb05\ufb06"
}


class ReadDocument(NamedTuple):
    """A document: its title, or an empty string, and its content."""

    title: str
    html: str


def read_document(name: str, data: bytes) -> ReadDocument:
    """Return a document of a kind in `READERS`, which the end of its name tells.

    Raises:
        DataError: it cannot be read; the message gives the reason without the name.
        DependencyError: its kind needs a package that is not installed.
    """
    reader = READERS[PurePosixPath(name).suffix.lower()]
    try:
        return reader(data)
    except (DataError, DependencyError):
        raise
    except ModuleNotFoundError as error:
        raise missing_extra(f"needs the package {error.name}", "files") from None
    except Exception as error:  # of a library: a damaged file never stops the others
        raise DataError(f"cannot be read ({one_line(error)[:200]})") from None


# -- texts -------------------------------------------------------------------------------------------------------------


def decoded(data: bytes) -> str:
    """Return the text of bytes: UTF-8, UTF-16 with its mark, else Windows-1252. Raises `DataError` for no text or too long lines."""
    is_wide = data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    try:
        text = data.decode("utf-16" if is_wide else "utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252", "replace")
    if _CONTROL.search(text):
        raise DataError("is not text")
    if max(map(len, text.splitlines()), default=0) > LONGEST_LINE:
        raise DataError(f"has a line of more than {LONGEST_LINE:,} characters")
    return text


def _text(data: bytes) -> ReadDocument:
    parts: list[str] = []
    title = ""
    paragraphs = list(_paragraphs(decoded(data).splitlines()))
    for start, block in paragraphs:
        is_first = not parts and len(paragraphs) > 1
        if is_first and len(block) == 1 and len(block[0]) <= _LONGEST_TITLE and block[0][-1] not in ".:,":
            title = block[0]
            parts.append(f"<h1 data-line={start}>{html.escape(title)}</h1>")
        elif len(block) == 2 and _UNDERLINE.fullmatch(block[1]):
            parts.append(f"<h2 data-line={start}>{html.escape(block[0])}</h2>")
        else:
            parts.append(f"<p data-line={start}>{html.escape(' '.join(block))}</p>")
    return ReadDocument(title, "".join(parts))


def _paragraphs(lines: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    block: list[str] = []
    for number, line in enumerate((*lines, ""), 1):
        if line.strip():
            block.append(line.strip())
        elif block:
            yield number - len(block), block
            block = []


def _markdown(data: bytes) -> ReadDocument:
    from markdown_it import MarkdownIt

    text, before, title = decoded(data), "", ""
    front = _FRONT_MATTER.match(text)
    if front and len(front[1]) <= LARGEST_CONFIG:
        fields: Any = None
        with suppress(ConfigError):  # text between two rules that is not YAML
            fields = read_value(front[1], "front matter")
        if fields and isinstance(fields, dict):
            title = str(fields.pop("title", None) or "")
            before = _pairs(fields)
            text = "\n" * front[0].count("\n") + text[front.end() :]
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    tokens = parser.parse(text)
    for token in tokens:
        if token.map and token.nesting >= 0 and token.type != "html_block":
            token.attrSet("data-line", str(token.map[0] + 1))
    return ReadDocument(title, before + parser.renderer.render(tokens, parser.options, {}))


def _restructured(data: bytes) -> ReadDocument:
    from docutils.core import publish_parts

    settings = {"raw_enabled": False, "file_insertion_enabled": False, "report_level": 5, "halt_level": 5}
    text = _ROLE.sub(r"``\1``", decoded(data))  # docutils does not know the roles of Sphinx
    parts = publish_parts(text, writer="html5", settings_overrides={**settings, "initial_header_level": "2"})
    return ReadDocument(str(parts["title"]) and LexborHTMLParser(parts["title"]).text().strip(), parts["html_body"])


def _html(data: bytes) -> ReadDocument:
    text = cut_deep(decoded(data))
    parsed = LexborHTMLParser(text)
    title = parsed.css_first("h1") or parsed.css_first("title")
    return ReadDocument(title.text().strip() if title is not None else "", text)


# -- tables and records ------------------------------------------------------------------------------------------------


def table(rows: Iterable[tuple[int, Sequence[str]]]) -> str:
    """Return the HTML of rows with their lines (0: unknown); a first row of different words without numbers is the header."""
    lines: list[str] = []
    for line, row in rows:
        if not any(row):
            continue
        is_header = not lines and all(row) and len({*row}) == len(row) and not any(map(_NUMBER.fullmatch, row))
        tag = "th" if is_header else "td"
        cells = "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row)
        lines.append(f"<tr data-line={line}>{cells}</tr>")
    return f'<table class="wikitable">{"".join(lines)}</table>'


def _separated(data: bytes) -> ReadDocument:
    text = decoded(data)
    try:
        delimiter = csv.Sniffer().sniff(text[:_SNIFFED], _DELIMITERS).delimiter
    except csv.Error:
        delimiter = ","
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    return ReadDocument("", table((rows.line_num, [cell.strip() for cell in row]) for row in rows))


def _json_lines(data: bytes) -> ReadDocument:
    # not `splitlines`, which also splits at U+2028 inside of JSON strings
    lines = {number: line for number, line in enumerate(decoded(data).split("\n"), 1) if line.strip()}
    try:
        return _records([msgspec.json.decode(line) for line in lines.values()], list(lines))
    except JSON_ERRORS as error:
        raise DataError(f"a line is not JSON ({one_line(error)})") from None


def _records(value: Any, lines: Sequence[int] = ()) -> ReadDocument:
    """Return records as HTML: rows of a table if their values are short; a record with prose is a section."""
    if not (isinstance(value, list) and value and all(isinstance(record, dict) for record in value)):
        return ReadDocument("", _pairs(value if isinstance(value, dict) else {"": value}))
    records = [dict(_flat(record)) for record in value]
    if all(len(text) <= _LONG_VALUE for record in records for text in record.values()):
        names = list(dict.fromkeys(name for record in records for name in record))
        rows = ([record.get(name, "") for name in names] for record in records)
        return ReadDocument("", table([(0, names), *zip(lines or [0] * len(records), rows, strict=True)]))
    sections = []
    for record in records:
        heading = next((text for text in record.values() if 0 < len(text) <= _LONGEST_TITLE), "")
        short = {name: text for name, text in record.items() if len(text) <= _LONG_VALUE}
        prose = "".join(f"<p>{html.escape(text)}</p>" for text in record.values() if len(text) > _LONG_VALUE)
        sections.append(f"<h2>{html.escape(heading)}</h2>{_pairs(short)}{prose}")
    return ReadDocument("", "".join(sections))


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Return the names and texts of a value's parts; a list of texts is one text."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _flat(part, f"{name} {key}".strip())
    elif isinstance(value, list) and any(isinstance(part, dict | list) for part in value):
        for number, part in enumerate(value, 1):
            yield from _flat(part, f"{name} {number}".strip())
    else:
        yield name, ", ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)


def _pairs(fields: Mapping[str, Any]) -> str:
    pairs = ((name, text) for name, text in _flat(dict(fields)) if text)
    return f"<dl>{''.join(f'<dt>{html.escape(name)}</dt><dd>{html.escape(text)}</dd>' for name, text in pairs)}</dl>"


# -- packed documents, by libraries ------------------------------------------------------------------------------------


def unpacked(data: bytes) -> zipfile.ZipFile:
    """Open a zip file. Raises `DataError` if its unpacked content is too large."""
    packed = zipfile.ZipFile(io.BytesIO(data))
    if sum(part.file_size for part in packed.infolist()) > LARGEST_UNPACKED:
        raise DataError(f"unpacks to more than {LARGEST_UNPACKED // 10**6} MB")
    return packed


def _pdf(data: bytes) -> ReadDocument:
    from pypdf import PdfReader

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # problems of damaged files are raised, too
    reader = PdfReader(io.BytesIO(data))
    if reader.is_encrypted and not reader.decrypt(""):
        raise DataError("needs a password")
    pages = [
        (number, block)
        for number, page in enumerate(reader.pages, 1)
        for _, block in _paragraphs(page.extract_text().translate(_LIGATURES).splitlines())
    ]
    if not pages:
        raise DataError("has no text; is it a scan?")
    title = reader.metadata.title if reader.metadata else None
    return ReadDocument(
        title or "", "".join(f"<p data-page={number}>{html.escape(' '.join(block))}</p>" for number, block in pages)
    )


def _word(data: bytes) -> ReadDocument:
    from docx import Document
    from docx.table import Table

    unpacked(data)
    document, parts = Document(io.BytesIO(data)), []
    for block in document.iter_inner_content():
        if isinstance(block, Table):
            parts.append(table((0, [cell.text.strip() for cell in row.cells]) for row in block.rows))
            continue
        style = (block.style.name if block.style is not None else "") or ""
        level = int(style[-1]) + 1 if re.fullmatch(r"Heading [1-5]", style) else 1 if style == "Title" else 0
        tag = f"h{level}" if level else "li" if style.startswith("List") else "p"
        parts.append(f"<{tag}>{html.escape(block.text)}</{tag}>")
    return ReadDocument(document.core_properties.title or "", "".join(parts))


def _sheets(data: bytes) -> ReadDocument:
    from openpyxl import load_workbook

    unpacked(data)
    workbook = load_workbook(io.BytesIO(data), read_only=True, data_only=True)
    parts = []
    for sheet in workbook.worksheets:
        rows = (
            # a date is read as midnight of that day
            ["" if value is None else str(value).strip().removesuffix(" 00:00:00") for value in row]
            for row in sheet.iter_rows(values_only=True)
        )
        parts.append(f"<h2>{html.escape(sheet.title)}</h2>{table(enumerate(rows, 1))}")
    return ReadDocument(workbook.properties.title or "", "".join(parts))


def _slides(data: bytes) -> ReadDocument:
    from pptx import Presentation

    unpacked(data)
    presentation, parts = Presentation(io.BytesIO(data)), []
    for number, slide in enumerate(presentation.slides, 1):
        for shape in slide.shapes:
            if shape.has_table:
                parts.append(table((0, [cell.text.strip() for cell in row.cells]) for row in shape.table.rows))
            elif shape.has_text_frame:
                tag = "h2" if shape == slide.shapes.title else "p"
                texts = (paragraph.text for paragraph in shape.text_frame.paragraphs)
                parts += [f"<{tag} data-page={number}>{html.escape(text)}</{tag}>" for text in texts if text.strip()]
    return ReadDocument(presentation.core_properties.title or "", "".join(parts))


def _book(data: bytes) -> ReadDocument:
    packed = unpacked(data)
    container = LexborHTMLParser(packed.read("META-INF/container.xml")).css_first("rootfile")
    place = PurePosixPath((container.attributes["full-path"] or "") if container is not None else "")
    content = LexborHTMLParser(packed.read(str(place)))
    files = {item.attributes["id"]: item.attributes["href"] or "" for item in content.css("item")}
    chapters = [files.get(item.attributes["idref"]) for item in content.css("itemref")]
    title = next((node.text().strip() for node in content.css("*") if node.tag == "dc:title"), "")
    texts = (cut_deep(decoded(packed.read(str(place.parent / chapter)))) for chapter in chapters if chapter)
    return ReadDocument(title, "".join(LexborHTMLParser(text).body.inner_html or "" for text in texts))  # type: ignore[union-attr]


READERS: dict[str, Callable[[bytes], ReadDocument]] = {
    ".txt": _text, ".md": _markdown, ".markdown": _markdown, ".rst": _restructured, ".html": _html, ".htm": _html, ".csv": _separated,
    ".tsv": _separated, ".json": lambda data: _records(msgspec.json.decode(decoded(data))), ".jsonl": _json_lines, ".pdf": _pdf,
    ".docx": _word, ".xlsx": _sheets, ".pptx": _slides, ".epub": _book,
}  # fmt: skip
