"""Reads files of settings into blocks: YAML, TOML and INI."""

from __future__ import annotations

import configparser
import sys

from ..config.yaml_files import read_value
from ..support.errors import ConfigError, DataError, one_line
from .code_pages import decoded
from .model import Block, Heading, PairsBlock, ReadDocument
from .records import blocks_of, document_of_value


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
