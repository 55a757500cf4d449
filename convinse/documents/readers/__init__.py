"""Reads files of all kinds into blocks, each kind by its own module."""

from __future__ import annotations

from collections.abc import Callable
from pkgutil import resolve_name

from ...support.errors import DataError, one_line
from ..model import ReadDocument

# a module and its function, and the ends of the names of its files
_KINDS = {
    "texts.read_text": ".txt .text .log",
    "separated.read_separated": ".csv .tsv .tab",
    "markdown.read_markdown": ".md .markdown",
    "restructured.read_restructured": ".rst",
    "asciidoc.read_asciidoc": ".adoc .asciidoc .asc",
    "latex.read_latex": ".tex",
    "html.read_html": ".html .htm .xhtml",
    "html.read_book": ".epub",
    "records.read_json": ".json .geojson",
    "records.read_json_lines": ".jsonl .ndjson",
    "settings.read_settings": ".yaml .yml",
    "settings.read_ini": ".ini .cfg",
    "settings.read_toml": ".toml",
    "xml.read_xml": ".xml .rss .atom .svg",
    "pdf.read_pdf": ".pdf",
    "word.read_word": ".docx .docm .dotx .dotm",
    "slides.read_slides": ".pptx .pptm .potx .ppsx",
    "sheets.read_sheets": ".xlsx .xlsm .xltx .xltm",
    "old_sheets.read_old_sheets": ".xls .xlt",
    "open_document.read_open_text": ".odt .ods .odp",
    "rich_text.read_rich_text": ".rtf",
    "notebooks.read_notebook": ".ipynb",
    "mails.read_mail": ".eml",
    "mails.read_mailbox": ".mbox",
    "mails.read_outlook_mail": ".msg",
    "calendars.read_calendar": ".ics",
    "subtitles.read_subtitles": ".srt .vtt",
    "source.read_python": ".py .pyi",
    "source.read_javascript": ".js .ts .jsx .tsx .php",
    "source.read_go": ".go",
    "source.read_java": ".java .c .h .cc .cpp .hpp .rs .kt .swift .cs .scala",
    "source.read_script": ".sh .bash .rb .pl .jl .r",
    "source.read_sql": ".sql",
    "source.read_lua": ".lua",
}


def _reader(name: str) -> Callable[[bytes], ReadDocument]:
    module, _, function = name.partition(".")

    # loaded with the first file of its kind: most questions are about a folder that has not changed
    def read(data: bytes) -> ReadDocument:
        document: ReadDocument = resolve_name(f"{__package__}.{module}:{function}")(data)
        return document

    return read


READERS: dict[str, Callable[[bytes], ReadDocument]] = {}
for _name, _endings in _KINDS.items():
    READERS |= dict.fromkeys(_endings.split(), _reader(_name))
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
        return READERS[".txt"]  # which refuses what is not text
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
