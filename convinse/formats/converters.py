"""Conversion of question answering data: every source is read into neutral records that every target can write.

A converter for a data set is one class: a file in `convinse/formats/sources/` (all of them are found by themselves),
or anywhere in a program of one's own, named as `package.module:Class`::

    @register("mine")
    class Mine(Converter):
        def read(self, path):
            return Dataset("Mine", "", (self._record(value) for _, value in read_lines(path)))

        def _record(self, value):
            text = Part("text", value["passage"])
            answers = [Answer(value["answer"], [Span(value["start"], value["answer"])])]
            return Record([Document([text])], [Question(value["id"], value["question"], answers=answers)])

A class that can be written as well inherits `Format`. All that a converter needs is imported from here: the records are
those of `neutral` under short names.
"""

from __future__ import annotations

import importlib
import logging
import pkgutil
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar, TypeVar

from ..support.errors import ConfigError, DataError, nearest
from ..support.jsonlines import open_packed, read_lines, reading
from ..support.progress import progress
from .neutral import Dataset
from .neutral import NeutralAnswer as Answer
from .neutral import NeutralDocument as Document
from .neutral import NeutralPart as Part
from .neutral import NeutralQuestion as Question
from .neutral import NeutralRecord as Record
from .neutral import NeutralSpan as Span

__all__ = ["Answer", "Converter", "Dataset", "Document", "Part", "Question", "Record", "Span", "read_lines", "register"]

LOGGER = logging.getLogger(__name__)
_HEAD_BYTES = 1 << 18  # bytes of a file in which the keys that tell its format are looked for
_DEEPEST_KEY = 20  # brackets around a key that tells a format
_STRUCTURE = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?|[{}\[\]"]', re.DOTALL)
# keys of JSON objects by which a format is recognised, with the keys around them and without lists; the first entry counts
_SIGNS = (
    ("squad", {"data.paragraphs"}),
    ("squad", {"context", "answers.answer_start"}),
    ("squad", {"data.context", "data.answers.answer_start"}),
    ("multiqa", {"context.documents"}),
    ("multiqa", {"header.dataset_name"}),
    ("hotpotqa", {"supporting_facts"}),
    ("mrqa", {"context", "context_tokens"}),
    ("mrqa", {"context", "qas.qid"}),
    ("mrqa", {"context", "header.dataset"}),
    ("boolq", {"question", "passage"}),
)
_GONE = frozenset({"qamr", "wikitablequestions"})  # data sets of earlier versions


class Converter(ABC):
    """Reads a data set into neutral records."""

    name: ClassVar[str] = ""  # set by `register`

    @abstractmethod
    def read(self, path: Path) -> Dataset:
        """Read the data set of a file, record by record. Raises `DataError`."""


class Format(Converter):
    """A converter that also writes."""

    @abstractmethod
    def write(self, path: Path, dataset: Dataset, counts: Counter[str]) -> None:
        """Write all records and count, in words for the user, the written and the dropped parts in `counts`."""


_REGISTERED: dict[str, type[Converter]] = {}
C = TypeVar("C", bound=type[Converter])


def register(name: str) -> Callable[[C], C]:
    """Return a decorator that registers a converter under a name."""

    def add(converter: C) -> C:
        _REGISTERED[name] = converter
        converter.name = name
        return converter

    return add


def _registered(kind: type = Converter) -> list[str]:
    from . import sources

    for module in pkgutil.iter_modules(sources.__path__):  # the modules register their converters
        importlib.import_module(f"{sources.__name__}.{module.name}")
    return sorted(name for name, converter in _REGISTERED.items() if issubclass(converter, kind))


def find_converter(name: str) -> Converter:
    """Return the converter of a name, or of `package.module:Class`. Raises `ConfigError` or `ModuleError`."""
    names = _registered()
    if name in names:
        return _REGISTERED[name]()
    if name in _GONE:
        raise ConfigError(f"'{name}' is no longer read; write a converter of your own, one class: docs/datasets.md")
    if ":" not in name:
        raise ConfigError(f"unknown data set '{name}'; {nearest(name, names)}")
    from ..support.registry import find_module

    converter: type[Converter] = find_module("converters", name, Converter)
    converter.name = converter.name or name
    return converter()


def find_format(name: str) -> Format:
    """Return the converter of a name, if it writes. Raises `ConfigError`."""
    converter = find_converter(name)
    if not isinstance(converter, Format):
        raise ConfigError(f"'{name}' can only be read; valid: {', '.join(_registered(Format))}")
    return converter


def guess_format(path: Path, option: str = "--from") -> str:
    """Return the name of the format that the beginning of a file has. Raises `DataError`."""
    with open_packed(path) as file, reading(path, lambda: 1):
        text = file.read(_HEAD_BYTES).decode("utf-8", "replace").removeprefix("\ufeff")
    found = set(_keys(text))
    for name, signs in _SIGNS:
        if signs <= found:
            return name
    names = ", ".join(_registered())
    raise DataError(f"{path}: is of no format that is recognised by its content; name it with {option}: {names}")


def _keys(text: str) -> Iterator[str]:
    # the text may break off anywhere
    around: list[str] = []  # the key before each open bracket, empty for elements of a list
    key = ""
    for match in _STRUCTURE.finditer(text):
        token = match[0]
        if token == '"':  # a string that the end of the text cuts off
            return
        if token in "{[":
            around.append(key)
        elif token in "}]":
            del around[-1:]
        key = match[1] if match[2] else ""
        if key and len(around) <= _DEEPEST_KEY:
            yield ".".join(filter(None, [*around, key]))


def convert(
    source: Path, target: Path, to: str, name: str | None = None, quiet: bool = False
) -> tuple[str, dict[str, int]]:
    """Convert a file; returns the name of its format, and counts in the order in which they came up.

    Raises `ConfigError`, `DataError` or `OutputError`.

    Args:
        source: the file to read.
        target: the file to write, packed if its name ends in `.gz`; an older file is replaced.
        to: the format to write.
        name: the data set or format of `source`; None: guessed from its content, and logged.
        quiet: no lines of progress.
    """
    writer = find_format(to)
    if name is None:
        name = guess_format(source)
        LOGGER.info("%s: read as %s; another format is named with --from", source, name)
    if target.exists() and source.samefile(target):
        raise ConfigError(f"{target}: is the file to read; give another name for the result")
    dataset = find_converter(name).read(source)
    counts: Counter[str] = Counter()

    def reported() -> Iterator[Record]:
        with progress(f"reading {source.name}", None, "contexts", quiet) as advance:
            for record in dataset.records:
                yield record
                advance()

    writer.write(target, dataset._replace(records=reported()), counts)
    return name, dict(counts)
