"""Reads files that programs write for one another, and that people keep: mails, calendars, notebooks, subtitles, settings, ODF texts."""

from __future__ import annotations

import configparser
import email
import email.policy
import re
import sys
from collections.abc import Iterator
from email.message import EmailMessage
from itertools import chain, islice, product
from typing import Any

import msgspec

from ..config.yaml_files import read_value
from ..support.errors import ConfigError, DataError, one_line
from .code_pages import decoded
from .html import html_document
from .markdown import read_markdown
from .model import Block, Heading, PairsBlock, ReadDocument, TableBlock, TextBlock, at_line
from .office import OLE, element_name, unpacked
from .records import blocks_of, document_of_value
from .texts import read_text

_SHOWN_FIELDS = ("From", "To", "Cc", "Date", "Subject")
_MOST_COLUMNS, _MOST_EMPTY = 1000, 100  # of a table of OpenDocument; repeated empty cells that may be between others
_MOST_MERGED = 100_000  # places of merged cells of such a table
_LONGEST_SPEECH = 2000  # characters of what one speaker says, in a paragraph
_STAMP = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)\d\dZ?)?")
_EVENT = {
    "SUMMARY": "event",
    "DTSTART": "start",
    "DTEND": "end",
    "DUE": "due",
    "LOCATION": "location",
    "ORGANIZER": "organizer",
}


def read_settings(data: bytes) -> ReadDocument:
    """Return the values of a YAML file."""
    try:
        value = read_value(decoded(data), "the file")
    except ConfigError as error:
        raise DataError(f"is not YAML ({error})") from None
    return ReadDocument("", list(blocks_of(value)))


def read_toml(data: bytes) -> ReadDocument:
    """Return the values of a TOML file; a number keeps the form that it is written in."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        value = tomllib.loads(decoded(data).replace("\r\n", "\n"), parse_float=str)
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"is not TOML ({one_line(error)})") from None
    return document_of_value(value)


class _Sections(configparser.RawConfigParser):
    def optionxform(self, optionstr: str) -> str:
        """Return a name as it is written."""
        return optionstr


def read_ini(data: bytes) -> ReadDocument:
    """Return the sections of an INI file and their values."""
    parser = _Sections(strict=False, allow_no_value=True, interpolation=None)
    parser.read_string(decoded(data))
    blocks: list[Block] = []
    for name in parser.sections():
        blocks += [Heading(name, 2), PairsBlock([(key, value or "") for key, value in parser.items(name)])]
    return ReadDocument("", blocks)


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


def read_mail(data: bytes) -> ReadDocument:
    """Return the fields and the text of a mail; files in it are named."""
    message = email.message_from_bytes(data, policy=email.policy.default)
    if not isinstance(message, EmailMessage) or not message.keys():
        raise DataError("is not a mail")
    return ReadDocument(str(message["Subject"] or ""), list(_mail(message)))


def _mail(message: EmailMessage) -> Iterator[Block]:
    yield PairsBlock([(name, str(message[name])) for name in _SHOWN_FIELDS if message[name]])
    body = message.get_body(("plain", "html"))
    if body is not None:
        text = body.get_content()
        is_html = body.get_content_subtype() == "html"
        yield from html_document(text).blocks if is_html else read_text(text.encode("utf-8", "replace")).blocks
    names = [str(part.get_filename()) for part in message.iter_attachments() if part.get_filename()]
    if names:
        yield PairsBlock([("files", ", ".join(names))])


def read_outlook_mail(data: bytes) -> ReadDocument:
    """Return the fields and the text of a mail of Outlook; files in it are named."""
    from oxmsg import Message

    if not data.startswith(OLE):
        raise DataError("is not a mail of Outlook")
    message = Message.load(data)
    headers = message.message_headers
    people = ", ".join(f"{person.name} <{person.email_address}>" for person in message.recipients)
    fields = {"From": message.sender, "To": people, "Date": message.sent_date, "Subject": message.subject}
    pairs = [(name, str(headers.get(name) or fields.get(name) or "")) for name in _SHOWN_FIELDS]
    files = ", ".join(filter(None, (attachment.file_name for attachment in message.attachments)))
    if message.body:
        text = list(read_text(message.body.encode("utf-8", "replace")).blocks)
    else:
        text = list(html_document(message.html_body or "").blocks)
    return ReadDocument(message.subject or "", [_pairs(pairs), *text, *([_pairs([("files", files)])] if files else ())])


def _pairs(pairs: list[tuple[str, str]]) -> PairsBlock:
    return PairsBlock([(name, " ".join(value.split())) for name, value in pairs if value])


def read_mailbox(data: bytes) -> ReadDocument:
    """Return the mails of a mailbox, each below its subject."""
    parts = re.split(rb"(?m)^From .*\r?\n", data)[1:]
    blocks: list[Block] = []
    for part in parts:
        message = read_mail(part)
        blocks += [Heading(message.title or "mail", 2), *message.blocks]
    return ReadDocument("", blocks)


def read_calendar(data: bytes) -> ReadDocument:
    """Return the events of a calendar, each below its name."""
    lines = re.sub(r"\r?\n[ \t]", "", decoded(data)).splitlines()  # long lines go on behind a blank
    blocks: list[Block] = []
    fields: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        name = name.partition(";")[0].upper()
        if name == "BEGIN":
            fields = {}
        elif name == "END" and value.strip().upper() in ("VEVENT", "VTODO", "VJOURNAL"):
            blocks.append(Heading(fields.pop("event", "event"), 2))
            text = fields.pop("", "")
            blocks.append(PairsBlock(list(fields.items())))
            blocks += [TextBlock(text)] if text else []
        elif name in _EVENT or name == "DESCRIPTION":
            words = value.replace("\\n", " ").replace("\\,", ",").replace("\\;", ";").removeprefix("mailto:")
            fields[_EVENT.get(name, "")] = _STAMP.sub(_day, words)
    return ReadDocument("", blocks)


def _day(match: re.Match[str]) -> str:
    year, month, day, hour, minute = match.groups()
    return f"{year}-{month}-{day}" + (f" {hour}:{minute}" if hour else "")


def read_subtitles(data: bytes) -> ReadDocument:
    """Return what is said in subtitles, without times: a paragraph of each speaker, and the notes."""
    said: list[TextBlock] = []
    speaker = ""
    lines = [*decoded(data).splitlines(), ""]
    start = 0
    for end in (number for number, line in enumerate(lines) if not line.strip()):
        cue, start, first = lines[start:end], end + 1, start
        timing = next((number for number, line in enumerate(cue) if "-->" in line), None)
        if timing is None:
            if cue and (note := re.fullmatch(r"NOTE\b\s*(.*)", " ".join(cue))):
                said.append(TextBlock(note[1], first + 1, kind="note"))
            continue
        for line in cue[timing + 1 :]:
            for name, words in re.findall(r"(?:<v[^>\s]*\s+([^>]*)>)?((?:(?!<v[.\s]).)+)", line):
                text = " ".join(re.sub(r"<[^<>]*>|\{[^{}]*\}", "", words).split())
                goes_on = (
                    said
                    and said[-1].kind == "text"
                    and (not name or name == speaker)
                    and len(said[-1].text) < _LONGEST_SPEECH
                )
                speaker = name or speaker
                if goes_on:
                    said[-1] = said[-1]._replace(text=f"{said[-1].text} {text}".strip())
                elif text:
                    said.append(TextBlock(f"{name}: {text}" if name else text, first + timing + 2))
    return ReadDocument("", [block for block in said if block.text])


def read_open_text(data: bytes) -> ReadDocument:
    """Return the text of an OpenDocument file: a text, a sheet or slides."""
    from lxml import etree  # type: ignore[import-untyped]

    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
    root = etree.fromstring(unpacked(data).read("content.xml"), parser)
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
