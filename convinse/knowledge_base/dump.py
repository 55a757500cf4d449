"""The official Wikidata JSON dump, one entity document a line, into plain records."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ..records.evidence import Entity
from ..records.literals import number_entity, wikidata_time
from ..support.blocks import Faults
from ..support.errors import one_line
from ..support.jsonlines import raw_lines

_ID = re.compile(r"[QPL][1-9][0-9]*")


class SnakValue(NamedTuple):
    """The value of a snak: an item (`label` None, `unit` None) or a literal; a quantity's `unit` is an item id."""

    id: str
    label: str | None
    unit: str | None


class Statement(NamedTuple):
    """A statement: `parts` are predicate, object, qualifier predicate, qualifier object, ..."""

    preferred: bool
    parts: tuple[tuple[str, SnakValue], ...]


class EntityDocument(NamedTuple):
    """An entity document; `kind` is `item` or `property`."""

    id: str
    kind: str
    label: str
    description: str
    aliases: list[str]
    title: str
    statements: list[Statement]


class BadLineError(ValueError):
    """A line of a dump is no entity document; the text says so and why."""


def line_faults(path: Path) -> Faults:
    """Counts the lines of a dump that are no entity documents."""
    return Faults(path, "lines", "is this a Wikidata JSON dump?")


def read_dump(path: Path, languages: tuple[str, ...] = ("en", "mul")) -> Iterator[EntityDocument]:
    """The labelled entity documents of a dump (`.json`, or packed as `.gz`, `.bz2`, `.zst`), streamed.

    Kept are item, time, quantity, string and monolingual text values of statements that are not deprecated.

    Raises:
        DataError: the file cannot be read, or more than 1 % of its lines are no entity documents (each is reported
            with its number and skipped).
    """
    faults = line_faults(path)
    for number, line in raw_lines(path):
        if not is_entity_line(line):
            continue
        try:
            document = parse_line(line, languages)
        except BadLineError as error:
            faults.count(1, [(f"line {number}", str(error))])
            continue
        faults.count(1)
        if document is not None:
            yield document
    faults.count(0, final=True)


def is_entity_line(line: bytes) -> bool:
    """Whether a line is more than a blank or the array's brackets."""
    return line.strip() not in (b"", b"[", b"]", b"],")


def parse_line(line: bytes, languages: tuple[str, ...]) -> EntityDocument | None:
    """The document of a line; None for one without a label in `languages` and for lexemes.

    Raises:
        BadLineError: the line is no entity document; the text says why.
    """
    try:
        return _document(msgspec.json.decode(line.strip().rstrip(b",")), languages)
    except (msgspec.DecodeError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise BadLineError(f"is no entity document ({one_line(error)})") from None


def _document(data: dict[str, Any], languages: tuple[str, ...]) -> EntityDocument | None:
    def term(terms: Any) -> str:
        # an empty map is [] in real dumps
        return next((terms[lang]["value"] for lang in languages if terms and lang in terms), "")

    if not _ID.fullmatch(data["id"]):
        raise ValueError(f"id {data['id']!r}")
    label = term(data.get("labels"))
    if not label or data["type"] not in ("item", "property"):
        return None
    aliases = data.get("aliases") or {}
    claims = (claim for own in (data.get("claims") or {}).values() for claim in own)
    statements = (_statement(claim) for claim in claims if claim.get("rank") != "deprecated")
    return EntityDocument(
        id=data["id"],
        kind=data["type"],
        label=label,
        description=term(data.get("descriptions")),
        aliases=[alias["value"] for lang in languages for alias in aliases.get(lang, [])] if aliases else [],
        title=((data.get("sitelinks") or {}).get(f"{languages[0]}wiki") or {}).get("title", ""),
        statements=[statement for statement in statements if statement is not None],
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


def _value(snak: dict[str, Any]) -> SnakValue | None:
    if snak.get("snaktype") != "value":
        return None
    datatype = snak.get("datatype")
    value = snak["datavalue"]["value"]
    if datatype == "wikibase-item":
        return SnakValue(value.get("id") or f"Q{value['numeric-id']}", None, None)
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
    return None if entity is None else SnakValue(entity["id"], entity["label"], unit)
