"""The files of an index folder: names, types, the manifest and its checks.

Everything is a flat array that is mapped into memory, little-endian. Items are numbers (Q42 is 42); the place of an
item is its place in the sorted `items`.

======================  ========  ====================================================================================
`items`                 uint32    the items, ascending
`text_start`, `_size`   uint64/32 place of an item's text in `text` (bytes)
`fact_start`, `_size`   uint64/32 place of an item's facts in `tokens` (tokens); its facts stand one after the other
`fact_count`            uint32    number of facts that the item is the subject of
`inverse_start`         uint64    (n + 1) places in `postings`: facts with the item in another place than the subject
`postings`              uint32/64 place in `tokens` of these facts: as object first, then in qualifiers
`tokens`                uint32    a fact: subject, header (rank << 29 | pairs of qualifiers << 20 | property), object, then property and
                                  value of every qualifier; a value is an item, or `LITERAL` | number of a literal
`literal_start`         uint64    (m + 1) places in `literals`
`literals`, `text`      bytes     UTF-8, fields separated by `SEPARATOR`
`form_hash`             uint64    hashes of folded labels and aliases, ascending
`form_item`             uint32    the item that a form names; `LITERAL` is set if it is the label
======================  ========  ====================================================================================

`properties.json` holds the properties, `names/` the full-text index of names, `manifest.json` their checksums.
"""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np

from ..support import manifest
from ..support.errors import IndexFileError, one_line
from ..support.jsonlines import JSON_ERRORS
from ..support.manifest import Manifest

_Header = TypeVar("_Header", int, "np.ndarray")

KIND = "knowledge base"
FORMAT = 4  # of the files below; raised when one changes
REMEDY = "build it again"
PROPERTIES = "properties.json"
NAMES = "names"
SEPARATOR = "\x1f"
LITERAL = 1 << 31  # the upper bit of a uint32
RANKS = ("", "preferred", "former")  # of a statement; former: it has ended at an unknown time
RANK_SHIFT, PAIRS_SHIFT = 29, 20
MOST_PAIRS = (1 << RANK_SHIFT - PAIRS_SHIFT) - 1  # qualifiers of a fact
PROPERTY_MASK = (1 << PAIRS_SHIFT) - 1
RANKED_PROPERTY = PROPERTY_MASK | 3 << RANK_SHIFT  # of a header: without the number of pairs
ARRAYS = {
    "items": "<u4", "text_start": "<u8", "text_size": "<u4", "fact_start": "<u8", "fact_size": "<u4", "fact_count": "<u4",
    "inverse_start": "<u8", "postings": "<u4", "tokens": "<u4", "literal_start": "<u8", "literals": "u1", "text": "u1",
    "form_hash": "<u8", "form_item": "<u4",
}  # fmt: skip


class KnowledgeBaseManifest(Manifest, kw_only=True):
    """The manifest of an index folder."""

    items: int
    properties: int
    facts: int
    languages: list[str]
    wide_postings: bool


class Property(msgspec.Struct):
    """A property as an index keeps it."""

    id: str
    label: str
    aliases: list[str]


def read_properties(folder: Path, data: bytes) -> list[Property]:
    """Return the properties in the `data` of an index folder's file. Raises `IndexFileError` if it is damaged."""
    try:
        return msgspec.json.decode(data, type=list[Property])
    except JSON_ERRORS as error:
        raise IndexFileError(f"{folder / PROPERTIES}: damaged ({one_line(error)}); {REMEDY}") from None


def pairs_in(header: _Header) -> _Header:
    """Return the number of qualifiers that a fact with this header, or each of these headers, has."""
    return header >> PAIRS_SHIFT & MOST_PAIRS


def read_manifest(folder: Path) -> KnowledgeBaseManifest:
    """Return the manifest of an index folder. Raises `IndexFileError` if it is missing, damaged or of another format."""
    missing = "no knowledge base here ({}); build one with kb build, or check kb_path"
    return manifest.read_manifest(folder, KnowledgeBaseManifest, FORMAT, REMEDY, missing)
