"""Reads files of settings into blocks: YAML, TOML and INI."""

from __future__ import annotations

import configparser
import re
import sys
from typing import Any

from ...support.errors import DataError, one_line
from ..model import Block, Heading, PairsBlock, ReadDocument
from .code_pages import decoded
from .records import blocks_of, document_of_value

_NO_SECTION = "\x00"
_MOST_VALUES = 1_000_000  # of a file, those that aliases repeat counted


def read_settings(data: bytes) -> ReadDocument:
    """Return the values of a YAML file, of all its documents."""
    blocks = [block for value in yaml_values(decoded(data)) for block in blocks_of(value)]
    return ReadDocument("", blocks)


def yaml_values(text: str) -> list[Any]:
    """Return the documents of a YAML file; a value keeps the form that it is written in: 1.10, 0301234. Raises `DataError`."""
    import yaml

    class TextLoader(yaml.SafeLoader):
        yaml_implicit_resolvers = {
            "<": [("tag:yaml.org,2002:merge", re.compile("<<$"))],
            **dict.fromkeys(("~", "n", "N", ""), [("tag:yaml.org,2002:null", re.compile("(?:~|null|Null|NULL)?$"))]),
        }

        def construct_scalar(self, node: Any) -> Any:
            text = super().construct_scalar(node)
            text.encode()  # half of a surrogate pair, which YAML may write as an escape, is not text
            return text

    def plain(loader: Any, tag: str, node: Any) -> Any:  # a value with a tag of its program, such as !Ref
        kinds = {yaml.MappingNode: loader.construct_mapping, yaml.SequenceNode: loader.construct_sequence}
        return kinds[type(node)](node, deep=True) if type(node) in kinds else loader.construct_scalar(node)

    TextLoader.add_multi_constructor("!", plain)
    try:
        loader = TextLoader(text)
        values = []
        while loader.check_node():
            node = loader.get_node()
            if _size(node, {}) > _MOST_VALUES:
                raise DataError(f"has more than {_MOST_VALUES:,} values")
            values.append(loader.construct_document(node))
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise DataError(f"is not YAML ({one_line(error)})") from None
    return values


def _size(node: Any, sizes: dict[int, int]) -> int:
    """The number of values below a node; one that stands in several places counts in each."""
    if isinstance(node.value, str):
        return 1
    if id(node) not in sizes:
        sizes[id(node)] = _MOST_VALUES  # a node within itself
        pairs = (part for entry in node.value for part in (entry if isinstance(entry, tuple) else (entry,)))
        sizes[id(node)] = 1 + sum(_size(part, sizes) for part in pairs)
    return sizes[id(node)]


def read_toml(data: bytes) -> ReadDocument:
    """Return the values of a TOML file; a number keeps the form that it is written in."""
    return document_of_value(toml_value(decoded(data).replace("\r\n", "\n")))


def toml_value(text: str) -> dict[str, Any]:
    """Return the values of a text in TOML. Raises `DataError`."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        value: dict[str, Any] = tomllib.loads(text, parse_float=str)
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"is not TOML ({one_line(error)})") from None
    return value


class _Sections(configparser.RawConfigParser):
    def optionxform(self, optionstr: str) -> str:
        """Return a name as it is written."""
        return optionstr


def read_ini(data: bytes) -> ReadDocument:
    """Return the sections of an INI file and their values."""
    parser = _Sections(strict=False, allow_no_value=True, interpolation=None)
    parser.read_string(f"[{_NO_SECTION}]\n{decoded(data)}")  # files may begin without one
    blocks: list[Block] = []
    for name in parser.sections():
        heading = [] if name == _NO_SECTION else [Heading(name, 2)]
        pairs = [(key, value or "") for key, value in parser.items(name)]
        blocks += [*heading, PairsBlock(pairs)] if heading or pairs else []
    return ReadDocument("", blocks)
