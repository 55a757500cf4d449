"""Reads the official Wikidata JSON dump, one entity document a line, into plain records."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

import msgspec

from ..records.facts import END_TIME
from ..records.literals import number_entity, wikidata_time
from ..support.blocks import Faults
from ..support.errors import one_line
from ..support.jsonlines import JSON_ERRORS, raw_lines
from .layout import LITERAL, PROPERTY_MASK, RANKS

T = TypeVar("T")

_ID = re.compile(r"([QP])([1-9][0-9]{0,18})")
_LARGEST = {"Q": LITERAL - 1, "P": PROPERTY_MASK}  # numbers that an index can hold
_LONGEST_NUMBER = 127  # characters of an amount, as Wikibase has it
_AMOUNT = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?")
BESIDE = b" \t\r\n[],"  # an entity on its line: blanks, the brackets of the array, commas
_ONE = "1"  # the unit of amounts without one
LANGUAGES = ("en", "mul")  # of labels, by default
LeftOut = Counter[str]  # values by datatype, and entities without a label, that a dump has and an index does not


class SnakValue(NamedTuple):
    """The value of a snak: an item (`label` None, `unit` None) or a literal; a quantity's `unit` is an item id."""

    id: str
    label: str | None
    unit: str | None


# a statement: its place among `RANKS`, and predicate and object, then each qualifier's
Statement = tuple[int, tuple[tuple[str, SnakValue], ...]]


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
    """A line of a dump is not an entity document; the text says so and why."""


def line_faults(path: Path) -> Faults:
    """Return a counter of the lines of a dump that are not entity documents."""
    remedy = "is this a Wikidata JSON dump? It has one entity a line; of other JSON write it so with: jq -c '.. | select(.claims?)'"
    return Faults(path, "lines", f"{remedy} {path}")


def read_dump(path: Path) -> Iterator[EntityDocument]:
    """Yield the labelled entity documents of a dump (`.json`, or packed as `.gz`, `.bz2`, `.zst`).

    Their statements, without deprecated ones, have item, time, quantity, string and monolingual text values. Bad lines are
    reported and skipped; more than 1 % of them raise `DataError`.
    """
    faults = line_faults(path)
    for number, line in raw_lines(path):
        if not is_entity_line(line):
            continue
        try:
            document = parse_line(line, LANGUAGES, Counter())
        except BadLineError as error:
            faults.count(1, [(f"line {number}", str(error))])
            continue
        faults.count(1)
        if document is not None:
            yield document
    faults.count(0, final=True)


def is_entity_line(line: bytes) -> bool:
    """Return True if a line is more than a blank or the array's brackets."""
    return bool(line.strip(BESIDE))


def parse_line(line: bytes, languages: tuple[str, ...], left_out: LeftOut) -> EntityDocument | None:
    """Return the document of a line, None for lexemes or without a label in `languages`; raise `BadLineError` for other lines."""
    try:
        entity = _ENTITY.decode(line.strip(BESIDE))
        return _document(entity, languages, left_out) if entity.type in ("item", "property") else None
    except (*JSON_ERRORS, ValueError) as error:
        raise BadLineError(f"is not an entity document ({one_line(error)})") from None


# an empty map is [] in real dumps
_Map = dict[str, T] | Annotated[list[Any], msgspec.Meta(max_length=0)] | None


class _Term(msgspec.Struct):
    value: str


class _Link(msgspec.Struct):
    title: str = ""


class _DataValue(msgspec.Struct):
    value: msgspec.Raw  # its shape depends on the datatype
    type: str | None = None


class _Snak(msgspec.Struct):
    snaktype: str = ""
    property: str = ""
    datatype: str | None = None
    datavalue: _DataValue | None = None


class _DumpedClaim(msgspec.Struct):
    mainsnak: _Snak
    rank: str | None = None
    qualifiers: _Map[list[_Snak]] = None
    order: list[str] | None = msgspec.field(default=None, name="qualifiers-order")


class DumpedEntity(msgspec.Struct):
    """An entity document as Wikidata writes it, with the members that an index uses."""

    id: str
    type: str
    labels: _Map[_Term] = None
    descriptions: _Map[_Term] = None
    aliases: _Map[list[_Term]] = None
    claims: _Map[list[_DumpedClaim]] = None
    sitelinks: _Map[_Link] = None


class _ItemValue(msgspec.Struct):
    kind: str = msgspec.field(default="item", name="entity-type")
    id: str | None = None
    number: int | None = msgspec.field(default=None, name="numeric-id")  # alone in old dumps


class _TimeValue(msgspec.Struct):
    time: str
    precision: int


class _QuantityValue(msgspec.Struct):
    amount: str
    unit: str


class _TextValue(msgspec.Struct):
    text: str


class FetchedEntity(DumpedEntity):
    """An entity document as `wbgetentities` and `Special:EntityData` answer it."""

    type: str = "item"  # absent in missing entities
    lastrevid: int = 0
    modified: str = ""
    missing: Any = None
    redirects: dict[str, str] | None = None  # `from` the id that was asked for
    articles: int = 0  # in all Wikipedias

    @property
    def is_missing(self) -> bool:
        """True if Wikidata has no entity with this id."""
        return self.missing not in (None, False)


_ENTITY, FETCHED_ENTITY = msgspec.json.Decoder(DumpedEntity), msgspec.json.Decoder(FetchedEntity)
_ITEM, _TIME = msgspec.json.Decoder(_ItemValue), msgspec.json.Decoder(_TimeValue)
_QUANTITY, _TEXT = msgspec.json.Decoder(_QuantityValue), msgspec.json.Decoder(_TextValue)
_STRING = msgspec.json.Decoder(str)


def members_of(members: _Map[T]) -> dict[str, T]:
    """Return the members of an object, none of the empty list that stands for an empty one."""
    return dict(members or ())


def _document(entity: DumpedEntity, languages: tuple[str, ...], left_out: LeftOut) -> EntityDocument | None:
    def term(terms: _Map[_Term]) -> str:
        by_language = members_of(terms)
        return next((by_language[language].value for language in languages if language in by_language), "")

    _checked(entity.id, "Q" if entity.type == "item" else "P")
    label = term(entity.labels)
    if not label:
        left_out[f"entities without a label in {' or '.join(languages)}"] += 1
        return None
    aliases, sitelink = members_of(entity.aliases), members_of(entity.sitelinks).get(f"{languages[0]}wiki")
    claims = (claim for of_property in members_of(entity.claims).values() for claim in of_property)
    statements = (_statement(claim, left_out) for claim in claims if claim.rank != "deprecated")
    return EntityDocument(
        id=entity.id,
        kind=entity.type,
        label=label,
        description=term(entity.descriptions),
        aliases=[alias.value for language in languages for alias in aliases.get(language, [])],
        title="" if sitelink is None else sitelink.title,
        statements=[statement for statement in statements if statement is not None],
    )


def _statement(claim: _DumpedClaim, left_out: LeftOut) -> Statement | None:
    main = _value(claim.mainsnak, left_out)
    if main is None:
        return None
    parts = [(_checked(claim.mainsnak.property, "P"), main)]
    qualifiers = members_of(claim.qualifiers)
    for prop in claim.order or qualifiers:
        values = [value for snak in qualifiers.get(prop, ()) if (value := _value(snak, left_out)) is not None]
        parts += [(_checked(prop, "P"), value) for value in values]
    has_ended = any(snak.snaktype == "somevalue" for snak in qualifiers.get(END_TIME, ()))
    rank = "former" if has_ended else "preferred" if claim.rank == "preferred" else ""
    return RANKS.index(rank), tuple(parts)


@lru_cache(maxsize=1 << 15)  # properties, classes, countries: most statements name what others did
def _checked(name: str, letter: Literal["Q", "P"]) -> str:
    match = _ID.fullmatch(name)
    if match is None or match[1] != letter or int(match[2]) > _LARGEST[letter]:
        kind = "an item" if letter == "Q" else "a property"
        raise ValueError(f"{name[:40]!r} is not an id of {kind}, or beyond {letter}{_LARGEST[letter]}")
    return name


def _value(snak: _Snak, left_out: LeftOut) -> SnakValue | None:
    if snak.snaktype != "value":
        return None
    if snak.datavalue is None:
        raise ValueError(f"a value of {snak.property[:40]} without its datavalue")
    data = snak.datavalue.value
    datatype = snak.datatype or snak.datavalue.type or _datatype(data)  # other writers of dumps leave types out
    reader = _READERS.get(datatype)
    try:
        value = None if reader is None else reader(data)
    except (*JSON_ERRORS, ValueError) as error:
        raise ValueError(f"a value of {snak.property[:40]}: {one_line(error)}") from None
    if value is None:
        left_out[f"values of type {datatype[:40]}"] += 1
    return value


def _datatype(data: msgspec.Raw) -> str:
    members = msgspec.json.decode(data)  # a plain text may be an id or an address
    return next((_TYPES[name] for name in _TYPES if isinstance(members, dict) and name in members), "unknown")


def _item(data: msgspec.Raw) -> SnakValue | None:
    value = _ITEM.decode(data)
    if value.kind != "item":
        return None
    return SnakValue(_checked(value.id or f"Q{value.number}", "Q"), None, None)


def _time(data: msgspec.Raw) -> SnakValue | None:
    value = _TIME.decode(data)
    entity = wikidata_time(value.time, value.precision)
    return None if entity is None else SnakValue(entity["id"], entity["label"], None)


def _quantity(data: msgspec.Raw) -> SnakValue | None:
    value = _QUANTITY.decode(data)
    if not _AMOUNT.fullmatch(value.amount) or len(value.amount) > _LONGEST_NUMBER:
        raise ValueError(f"{value.amount[:40]!r} is not an amount, or has more than {_LONGEST_NUMBER} characters")
    unit = None if value.unit == _ONE else _checked(value.unit.rsplit("/", 1)[-1], "Q")
    entity = number_entity(value.amount)
    return SnakValue(entity["id"], entity["label"], unit)


def _text(text: str) -> SnakValue:
    return SnakValue(text, text, None)


_TYPES = {"entity-type": "wikibase-item", "time": "time", "amount": "quantity", "language": "monolingualtext"}
_READERS: dict[str | None, Callable[[msgspec.Raw], SnakValue | None]] = {
    "wikibase-item": _item, "wikibase-entityid": _item, "time": _time, "quantity": _quantity,
    "string": lambda data: _text(_STRING.decode(data)), "monolingualtext": lambda data: _text(_TEXT.decode(data).text),
}  # fmt: skip
