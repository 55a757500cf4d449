"""The files of an index folder: names, types, the manifest and its checks.

Everything is a flat array that is mapped into memory, little-endian. Items are numbers (Q42 is 42); the place of an
item is its place in the sorted `items`.

======================  ========  ====================================================================================
`items`                 uint32    the items, ascending
`text_start`, `_size`   uint64/32 place of an item's text in `text` (bytes)
`fact_start`, `_size`   uint64/32 place of an item's facts in `tokens` (tokens); its facts stand one after the other
`fact_count`            uint32    number of facts that the item is the subject of
`inverse_start`         uint64    (n + 1) places in `postings`: facts that the item occurs in otherwise
`postings`              uint32/64 place in `tokens` of such facts: as object first, then in qualifiers
`tokens`                uint32    a fact: subject, header (pairs of qualifiers << 20 | property), object, then property and
                                  value of every qualifier; a value is an item, or `LITERAL` | number of a literal
`literal_start`         uint64    (m + 1) places in `literals`
`literals`, `text`      bytes     UTF-8, fields separated by `SEPARATOR`
`form_hash`             uint64    hashes of folded labels and aliases, ascending
`form_item`             uint32    the item that a form names; `LITERAL` is set where it is the label
======================  ========  ====================================================================================

`properties.json` holds the properties, `names/` the full-text index of names, `manifest.json` what this module checks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ..support.errors import IndexFileError, one_line

FORMAT = 2
MANIFEST = "manifest.json"
PROPERTIES = "properties.json"
NAMES = "names"
SEPARATOR = "\x1f"
LITERAL = 1 << 31
PAIRS_SHIFT = 20
PROPERTY_MASK = (1 << PAIRS_SHIFT) - 1
ARRAYS = {
    "items": "<u4", "text_start": "<u8", "text_size": "<u4", "fact_start": "<u8", "fact_size": "<u4", "fact_count": "<u4",
    "inverse_start": "<u8", "postings": "<u4", "tokens": "<u4", "literal_start": "<u8", "literals": "u1", "text": "u1",
    "form_hash": "<u8", "form_item": "<u4",
}  # fmt: skip
_SAMPLE = 1 << 14  # bytes of a block
_BLOCKS = 32  # blocks of a large file that opening reads
_WHOLE = 1 << 24  # files up to this size are read whole


class FileRecord(msgspec.Struct):
    """Size and checksums of a file: `sha256` over all of it, `sample` over the blocks that opening reads."""

    size: int
    sha256: str
    sample: str


class Manifest(msgspec.Struct):
    """What an index folder says of itself; `build_id` depends on the documents and the format only."""

    format: int
    build_id: str
    items: int
    properties: int
    facts: int
    languages: list[str]
    wide_postings: bool
    files: dict[str, FileRecord]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(record.size for record in self.files.values())


def record(path: Path) -> FileRecord:
    """Measure a file that was just written."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 22):
            digest.update(block)
    return FileRecord(path.stat().st_size, digest.hexdigest(), _sample(path))


def _sample(path: Path) -> str:
    """A checksum over a small file, or over evenly spread blocks of a large one."""
    size = path.stat().st_size
    digest = hashlib.blake2b(str(size).encode(), digest_size=16)
    with path.open("rb") as file:
        if size <= _WHOLE:
            digest.update(file.read())
        else:
            for number in range(_BLOCKS):
                file.seek((size - _SAMPLE) * number // (_BLOCKS - 1))
                digest.update(file.read(_SAMPLE))
    return digest.hexdigest()


def index_files(folder: Path) -> Iterator[Path]:
    """The files of an index besides its manifest."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != MANIFEST and not path.name.startswith("."):
            yield path


def read_manifest(folder: Path) -> Manifest:
    """The manifest of an index folder.

    Raises:
        IndexFileError: there is none, it is damaged, or of another format.
    """
    file = folder / MANIFEST
    try:
        data = file.read_bytes()
    except OSError as error:
        raise IndexFileError(f"{folder}: no knowledge base here ({one_line(error)}); check kb_path") from None
    try:
        found = msgspec.json.decode(data)["format"]
    except (msgspec.DecodeError, KeyError, TypeError) as error:
        raise IndexFileError(f"{file}: damaged ({one_line(error)}); build it again") from None
    if found != FORMAT:
        raise IndexFileError(f"{file}: format {found}, this version reads format {FORMAT}; build it again")
    try:
        return msgspec.json.decode(data, type=Manifest)
    except msgspec.DecodeError as error:
        raise IndexFileError(f"{file}: damaged ({one_line(error)}); build it again") from None


def check(folder: Path, manifest: Manifest, whole: bool = False) -> None:
    """Compare the files with the manifest: their sizes and samples, or (`whole`) every byte.

    Raises:
        IndexFileError: a file is missing, truncated or altered; the message names it.
    """
    for name, expected in manifest.files.items():
        path = folder / name
        try:
            size = path.stat().st_size
            if size != expected.size:
                raise IndexFileError(f"{path}: {size} bytes where the manifest says {expected.size}; build it again")
            same = record(path).sha256 == expected.sha256 if whole else _sample(path) == expected.sample
        except OSError as error:
            raise IndexFileError(f"{path}: cannot be read: {one_line(error)}; build it again") from None
        if not same:
            raise IndexFileError(f"{path}: altered since it was built; build it again")
