"""Reads files of all kinds into blocks, each kind by its own module."""

from __future__ import annotations

from collections.abc import Callable

from ..support.errors import DataError, one_line
from .asciidoc import read_asciidoc
from .html import read_book, read_html
from .latex import read_latex
from .markdown import read_markdown
from .model import ReadDocument
from .office import read_slides, read_word
from .old_sheets import read_old_sheets
from .others import (
    read_calendar,
    read_ini,
    read_mail,
    read_mailbox,
    read_notebook,
    read_open_text,
    read_outlook_mail,
    read_settings,
    read_subtitles,
    read_toml,
)
from .pdf import read_pdf
from .records import read_json, read_json_lines
from .restructured import read_restructured
from .rich_text import read_rich_text
from .sheets import read_sheets
from .source import SOURCE_READERS
from .texts import read_separated, read_text
from .xml import read_xml

READERS: dict[str, Callable[[bytes], ReadDocument]] = {
    ".txt": read_text, ".text": read_text, ".md": read_markdown, ".markdown": read_markdown, ".rst": read_restructured,
    ".html": read_html, ".htm": read_html, ".xhtml": read_html, ".csv": read_separated, ".tsv": read_separated, ".tab": read_separated,
    ".json": read_json, ".jsonl": read_json_lines, ".ndjson": read_json_lines, ".pdf": read_pdf, ".docx": read_word, ".xlsx": read_sheets,
    ".pptx": read_slides, ".epub": read_book, ".yaml": read_settings, ".yml": read_settings, ".ini": read_ini, ".cfg": read_ini,
    ".ipynb": read_notebook, ".eml": read_mail, ".mbox": read_mailbox, ".ics": read_calendar, ".srt": read_subtitles,
    ".vtt": read_subtitles, ".odt": read_open_text, ".ods": read_open_text, ".odp": read_open_text, ".log": read_text, ".tex": read_latex,
    ".docm": read_word, ".dotx": read_word, ".dotm": read_word, ".pptm": read_slides, ".potx": read_slides, ".ppsx": read_slides,
    ".xlsm": read_sheets, ".xltx": read_sheets, ".xltm": read_sheets, ".xls": read_old_sheets, ".xlt": read_old_sheets,
    ".toml": read_toml, ".xml": read_xml, ".rss": read_xml, ".atom": read_xml, ".svg": read_xml, ".msg": read_outlook_mail, ".rtf": read_rich_text,
    ".adoc": read_asciidoc, ".asciidoc": read_asciidoc, ".asc": read_asciidoc, **SOURCE_READERS,
}  # fmt: skip
# files of text that projects and people name without an ending
PLAIN = frozenset(
    "readme license licence copying notice authors contributors changelog changes history news install todo".split()
)


def reader_of(name: str) -> Callable[[bytes], ReadDocument] | None:
    """Return the reader of a file by its name; None if its kind is not read."""
    last = name.rpartition("/")[2]  # without pathlib, as it is asked of all files of a folder again and again
    dot = last.rfind(".")
    stem, suffix = (last[:dot], last[dot:]) if 0 < dot < len(last) - 1 else (last, "")
    reader = READERS.get(suffix.lower())
    if reader is None and not name.startswith(".") and (suffix == "" or stem.lower() in PLAIN):
        return read_text  # which refuses what is not text
    return reader


def read_document(name: str, data: bytes) -> ReadDocument:
    """Return a document of a kind that the end of its name tells.

    Raises:
        DataError: it cannot be read; the message gives the reason without the name.
    """
    reader = reader_of(name)
    if reader is None:
        raise DataError("is of a kind that is not read")
    try:
        return reader(data)
    except DataError:
        raise
    except RecursionError:
        raise DataError("is nested too deeply") from None
    except Exception as error:  # of a library: a damaged file never stops the others
        raise DataError(f"cannot be read ({one_line(error)[:200]})") from None
