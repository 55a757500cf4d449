"""The official Wikidata JSON dump, one entity document a line, into plain records."""

from __future__ import annotations

import bz2
import gzip
import io
import logging
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import msgspec

from ..records.evidence import Entity
from ..records.literals import number_entity, wikidata_time
from ..support.errors import DataError, one_line

LOGGER = logging.getLogger(__name__)
_OPENERS = {".gz": gzip.open, ".bz2": bz2.open}
_ID = re.compile(r"[QPL][1-9][0-9]*")
_MAX_BAD_SHARE = 0.01  # of the lines: beyond it, the file is taken to be something else


class Value(NamedTuple):
    """The value of a snak: an item (`label` None, `unit` None) or a literal; a quantity's `unit` is an item id."""

    id: str
    label: str | None
    unit: str | None


class Statement(NamedTuple):
    """A statement: `parts` are predicate, object, qualifier predicate, qualifier object, ..."""

    preferred: bool
    parts: tuple[tuple[str, Value], ...]


class Document(NamedTuple):
    """An entity document; `kind` is `item` or `property`."""

    id: str
    kind: str
    label: str
    description: str
    aliases: list[str]
    title: str
    statements: list[Statement]


class BadLineError(ValueError):
    """A line of a dump is no entity document."""


class BadLines:
    """Reports bad lines with their numbers, and stops when they are more than 1 % of all."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines = self._bad = 0

    def count(self, lines: int, bad: list[tuple[int, str]], final: bool = False) -> None:
        """Count `lines` more, of which `bad` (number, reason) are bad.

        Raises:
            DataError: too many are bad; checked against what was read so far, with patience at the beginning.
        """
        self._lines += lines
        for number, reason in bad:
            self._bad += 1
            LOGGER.warning("%s: line %d is no entity document (%s); skipped", self._path, number, reason)
        if self._bad > max(0 if final else 10, self._lines * _MAX_BAD_SHARE):
            raise DataError(
                f"{self._path}: {self._bad} of {self._lines} lines are no entity documents; is this a Wikidata JSON dump?"
            )


def read_dump(path: Path, languages: tuple[str, ...] = ("en", "mul")) -> Iterator[Document]:
    """The labelled entity documents of a dump (`.json`, or packed as `.gz`, `.bz2`, `.zst`), streamed.

    Kept are item, time, quantity, string and monolingual text values of statements that are not deprecated.

    Raises:
        DataError: the file cannot be read, or more than 1 % of its lines are no entity documents (each is reported
            with its number and skipped).
    """
    faults = BadLines(path)
    with open_dump(path) as file:
        for number, line in enumerate(_lines(file, path), 1):
            if not is_entity_line(line):
                continue
            try:
                document = parse_line(line, languages)
            except BadLineError as error:
                faults.count(1, [(number, str(error))])
                continue
            faults.count(1, [])
            if document is not None:
                yield document
    faults.count(0, [], final=True)


@contextmanager
def open_dump(path: Path) -> Iterator[BinaryIO]:
    """The unpacked bytes of a dump. Raises `DataError` when it cannot be opened."""
    try:
        if path.suffix == ".zst":
            import zstandard

            file: Any = io.BufferedReader(
                zstandard.ZstdDecompressor().stream_reader(path.open("rb"), closefd=True), 1 << 20
            )
        else:
            file = _OPENERS.get(path.suffix, open)(path, "rb")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {one_line(error)}") from None
    with file:
        yield file


def _lines(file: BinaryIO, path: Path) -> Iterator[bytes]:
    with reading(path):
        yield from file


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn the errors of a damaged or truncated file into a `DataError` that names it."""
    try:
        yield
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: cannot be read: {one_line(error)}") from None
    except Exception as error:
        if type(error).__name__ == "ZstdError":  # imported only where a .zst is read
            raise DataError(f"{path}: cannot be read: {one_line(error)}") from None
        raise


def is_entity_line(line: bytes) -> bool:
    """Whether a line is more than a blank or the array's brackets."""
    return line.strip() not in (b"", b"[", b"]", b"],")


def parse_line(line: bytes, languages: tuple[str, ...]) -> Document | None:
    """The document of a line; None for one without a label in `languages` and for lexemes.

    Raises:
        BadLineError: the line is no entity document; the text says why.
    """
    try:
        return _document(msgspec.json.decode(line.strip().rstrip(b",")), languages)
    except (msgspec.DecodeError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise BadLineError(one_line(error)) from None


def _document(data: dict[str, Any], languages: tuple[str, ...]) -> Document | None:
    def term(terms: Any) -> str:
        # an empty map is [] in real dumps
        return next((terms[lang]["value"] for lang in languages if terms and lang in terms), "")

    if not _ID.fullmatch(data["id"]):
        raise ValueError(f"id {data['id']!r}")
    label = term(data.get("labels"))
    if not label or data["type"] not in ("item", "property"):
        return None
    aliases = data.get("aliases") or {}
    statements = [
        statement
        for claims in (data.get("claims") or {}).values()
        for claim in claims
        if claim.get("rank") != "deprecated" and (statement := _statement(claim)) is not None
    ]
    return Document(
        id=data["id"],
        kind=data["type"],
        label=label,
        description=term(data.get("descriptions")),
        aliases=[alias["value"] for lang in languages for alias in aliases.get(lang, [])] if aliases else [],
        title=((data.get("sitelinks") or {}).get(f"{languages[0]}wiki") or {}).get("title", ""),
        statements=statements,
    )


def _statement(claim: dict[str, Any]) -> Statement | None:
    main = _value(claim["mainsnak"])
    if main is None:
        return None
    parts = [(claim["mainsnak"]["property"], main)]
    qualifiers = claim.get("qualifiers") or {}
    for prop in claim.get("qualifiers-order") or qualifiers:
        parts += [(prop, value) for snak in qualifiers.get(prop, []) if (value := _value(snak)) is not None]
    return Statement(claim.get("rank") == "preferred", tuple(parts))


def _value(snak: dict[str, Any]) -> Value | None:
    if snak.get("snaktype") != "value":
        return None
    datatype = snak.get("datatype")
    value = snak["datavalue"]["value"]
    if datatype == "wikibase-item":
        return Value(value.get("id") or f"Q{value['numeric-id']}", None, None)
    entity: Entity | None = None
    unit = None
    if datatype == "time":
        entity = wikidata_time(value["time"], value["precision"])
    elif datatype == "quantity":
        entity = number_entity(value["amount"])
        unit = value["unit"].rsplit("/", 1)[-1] if value["unit"] != "1" else None
    elif datatype == "string":
        entity = {"id": value, "label": value}
    elif datatype == "monolingualtext":
        entity = {"id": value["text"], "label": value["text"]}
    return None if entity is None else Value(entity["id"], entity["label"], unit)
