"""Opens files of Office, and reads what documents and slides have in common."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from typing import Any

from ...support.errors import DataError
from ...support.limits import LARGEST_UNPACKED
from ..model import LOCKED, Block, TableBlock

ADDRESSES = ("http://", "https://", "mailto:")
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # a file of Office before 2007, and one with a password
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/")
# templates and files with macros are told apart from plain ones by the kind of their main part
_MAIN_KIND = re.compile(
    rb"application/vnd\.(?:ms-(?:word|powerpoint)\.\w+\.macroEnabled\w*|"
    rb"openxmlformats-officedocument\.(?:word|presentation)\w*\.(?:template|slideshow))\.main\+xml"
)


def unpacked(data: bytes) -> zipfile.ZipFile:
    """Open a zip file. Raises `DataError` if it needs a password, or its unpacked content is too large."""
    if data.startswith(OLE):
        is_locked = "EncryptedPackage".encode("utf-16-le") in data
        raise DataError(LOCKED if is_locked else "is a file of Office before 2007; save it in the new format")
    packed = zipfile.ZipFile(io.BytesIO(data))
    if sum(part.file_size for part in packed.infolist()) > LARGEST_UNPACKED:
        raise DataError(f"unpacks to more than {LARGEST_UNPACKED // 10**6} MB")
    if any(part.flag_bits & 1 for part in packed.infolist()):
        raise DataError(LOCKED)
    return packed


def plain_package(data: bytes) -> bytes:
    """Return an Office file as libraries expect it: with the namespaces of most files, not as a template or with macros."""
    packed = unpacked(data)
    kinds = packed.read("[Content_Types].xml")
    if not (_MAIN_KIND.search(kinds) or _STRICT.search(packed.read("_rels/.rels"))):
        return data
    plain = io.BytesIO()
    with zipfile.ZipFile(plain, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for name in packed.namelist():
            content = packed.read(name)
            if name == "[Content_Types].xml":
                content = _MAIN_KIND.sub(_plain_kind, content)
            elif name.endswith((".xml", ".rels")):
                content = _STRICT.sub(rb"http://schemas.openxmlformats.org/\1/2006/", content)
            file.writestr(name, content)
    return plain.getvalue()


def _plain_kind(match: re.Match[bytes]) -> bytes:
    kind = b"wordprocessingml.document" if b"word" in match[0] else b"presentationml.presentation"
    return b"application/vnd.openxmlformats-officedocument." + kind + b".main+xml"


_NO_TITLES = ("Word Document", "PowerPoint Presentation")  # that programs give to what has none


def xml_root(data: bytes) -> Any:
    """Return the root of XML, of which nothing is fetched or put in for entities."""
    from lxml import etree  # type: ignore[import-untyped]

    return etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True))


def element_name(node: Any) -> str:
    """Return the name of an element without its namespace; an empty text for comments and entities."""
    return node.tag.rpartition("}")[2] if isinstance(node.tag, str) else ""


def plain_title(text: str | None) -> str:
    """Return a title of the metadata; empty for one that a program gives to all its files."""
    return "" if text in _NO_TITLES else text or ""


def chart_table(chart: Any, page: int) -> Iterator[Block]:
    """Yield the numbers of a chart as a table, if it has some."""
    if not len(chart.plots):
        return
    categories = [str(category) for category in chart.plots[0].categories]
    series = [(one.name or "", list(one.values)) for plot in chart.plots for one in plot.series]
    rows = [["", *(name for name, _ in series)]]
    for place, category in enumerate(categories):
        values = [values[place] if place < len(values) else None for _, values in series]
        rows.append([category, *("" if value is None else f"{value:g}" for value in values)])
    title = chart.chart_title.text_frame.text if chart.has_title and chart.chart_title.has_text_frame else ""
    if len(rows) > 1:
        yield TableBlock(rows, heads=1, caption=title, page=page)
