"""Conversion of question answering data: every source is read into neutral records that every target can write.

A converter for a data set is one class: a file in `convinse/benchmarks/sources/` (all of them are found by themselves),
or anywhere in a program of one's own::

    @register("mine")
    class Mine(Converter):
        def read(self, path):
            return Dataset("Mine", "", (self._record(value) for _, value in read_lines(path)))

        def _record(self, value):
            text = Part("text", value["passage"])
            answers = [Answer(value["answer"], [Span(value["start"], value["answer"])])]
            return Record([Document([text])], [Question(value["id"], value["question"], answers=answers)])

Classes outside of the project are named as `package.module:Class`, or by an entry point of the group
`convinse.converters`. A class that can be written as well inherits `Format`.

All offsets are characters (code points) of the part they are in. What a source has and the neutral records do not know
goes into `extras` under the source's own keys; writers put it beside the keys of their format.
"""

from __future__ import annotations

import hashlib
import importlib
import logging
import pkgutil
import re
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import entry_points
from itertools import islice
from pathlib import Path
from typing import ClassVar, NamedTuple, TypeVar

import msgspec

from ..errors import ConfigError, DataError, nearest
from .jsonlines import open_packed, reading
from .records import Extras
from .tokens import DOCUMENT_MARK, PARAGRAPH_MARK, TITLE_MARK, Token, TokenizedText, normalize, tokenize

LOGGER = logging.getLogger(__name__)
NO_SPANS = ("yesno", "generated_text", "date", "number")
_HEAD_BYTES = 1 << 18
_BEFORE_SIZE = 200  # records that are read before the first line of progress
_LOG_EVERY = 10.0  # seconds
_STRUCTURE = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?|[{}\[\]"]', re.DOTALL)


class Part(msgspec.Struct, frozen=True):
    """A text of a document: its `title`, its `text`, a search engine's `snippet`, ...; None: tokens are not known."""

    name: str
    text: str
    tokens: list[Token] | None = None


class Document(msgspec.Struct, frozen=True):
    """A document: its parts in order, each name once."""

    parts: list[Part]
    extras: Extras = {}

    def part(self, name: str) -> Part | None:
        """The part of that name."""
        return next((part for part in self.parts if part.name == name), None)


class Span(msgspec.Struct, frozen=True):
    """A place: `text` begins at character `start` of a part of a document (its number in the record)."""

    start: int
    text: str
    document: int = 0
    part: str = "text"


class Answer(msgspec.Struct, frozen=True):
    """An answer and the places where the source says that it stands; none: the source does not say."""

    text: str
    spans: list[Span] = []
    extras: Extras = {}

    def is_span(self) -> bool:
        """Whether it stands in a text: not if the `type` in `extras` is one of MultiQA's `NO_SPANS`."""
        return self.extras.get("type") not in NO_SPANS


class Question(msgspec.Struct, frozen=True):
    """A question.

    Attributes:
        id: the source's own; empty: made of question and context by `question_id`.
        text: the question.
        tokens: the source's own tokens, None: not known.
        answers: as annotated, in order; equal ones of several annotators are all here.
        accepted: further strings that count as right, and those of `answers` that do (any order).
        unanswerable: the source says that the documents do not answer it.
        extras: what else the source has.
    """

    id: str
    text: str
    tokens: list[Token] | None = None
    answers: list[Answer] = []
    accepted: list[str] = []
    unanswerable: bool = False
    extras: Extras = {}

    def texts(self) -> list[str]:
        """All strings that count as right, each once: `accepted` first."""
        return list(dict.fromkeys([*self.accepted, *(answer.text for answer in self.answers)]))


class Record(msgspec.Struct, frozen=True):
    """A context: documents and the questions about them."""

    documents: list[Document]
    questions: list[Question]
    id: str = ""
    extras: Extras = {}


class Dataset(NamedTuple):
    """What a source reads: the header and the records, which are read while they are used.

    Attributes:
        name: of the data set; may be empty.
        split: such as `train`; may be empty.
        records: an iterator over the contexts.
        extras: what else the source's header has.
        all_spans: the spans of an answer are all of its places that count; False: the source marks one of them.
    """

    name: str
    split: str
    records: Iterator[Record]
    extras: Extras = {}
    all_spans: bool = True


class Head(NamedTuple):
    """The beginning of a file, from which its format is guessed.

    Attributes:
        path: the file.
        text: its first characters, unpacked.
        keys: the keys of JSON objects in them with those around, joined by dots and without lists: `data.paragraphs`.
    """

    path: Path
    text: str
    keys: frozenset[str]


class Converter(ABC):
    """Reads a data set into neutral records."""

    name: ClassVar[str] = ""  # set by `register`

    @abstractmethod
    def read(self, path: Path) -> Dataset:
        """The data set in a file; its records are read one after the other. Raises `DataError`."""

    @classmethod
    def recognizes(cls, head: Head) -> bool:
        """Whether a file that begins like this is of the format; only needed without `--from`."""
        return False


class Format(Converter):
    """A converter that also writes."""

    @abstractmethod
    def write(self, path: Path, dataset: Dataset, counts: Counter[str]) -> None:
        """Write all records; `counts` gets what was written, and what could not be, in words for the user.

        Raises:
            DataError: from the source.
            OutputError: the file cannot be written.
        """


class Converted(NamedTuple):
    """What a conversion did: `counts` in words -> how many, in the order in which they came up."""

    source: str
    target: str
    counts: dict[str, int]
    seconds: float


_REGISTERED: dict[str, type[Converter]] = {}
C = TypeVar("C", bound=type[Converter])


def register(name: str) -> Callable[[C], C]:
    """A decorator that makes a converter known by a name."""

    def add(found: C) -> C:
        _REGISTERED[name] = found
        found.name = name
        return found

    return add


def converter_names(writable: bool = False) -> list[str]:
    """The names of all converters, or of those that write; plug-ins (`convinse.converters`) are included."""
    _load()
    if writable:
        return sorted(name for name, found in _REGISTERED.items() if issubclass(found, Format))
    return sorted({*_REGISTERED, *(point.name for point in entry_points(group="convinse.converters"))})


def find_converter(name: str) -> Converter:
    """The converter of a name, or of `package.module:Class`.

    Raises:
        ConfigError: no converter has that name.
        ModuleError: a class of one's own cannot be used.
    """
    _load()
    found = _REGISTERED.get(name)
    if found is None:
        if ":" not in name and name not in converter_names():
            raise ConfigError(f"unknown data set '{name}'; {nearest(name, converter_names())}")
        from ..registry import find_module

        found = find_module("converters", name, Converter)
        if not found.name:
            found.name = name
    return found()


def find_format(name: str) -> Format:
    """The converter of a name that writes. Raises `ConfigError`."""
    found = find_converter(name)
    if not isinstance(found, Format):
        raise ConfigError(f"'{name}' can only be read; valid: {', '.join(converter_names(writable=True))}")
    return found


def _load() -> None:
    """Import all modules of `sources`, which register themselves."""
    from . import sources

    for module in pkgutil.iter_modules(sources.__path__):
        importlib.import_module(f"{sources.__name__}.{module.name}")


def read_head(path: Path) -> Head:
    """The beginning of a file. Raises `DataError`."""
    with open_packed(path) as file, reading(path, lambda: 1):
        text = file.read(_HEAD_BYTES).decode("utf-8", "replace").removeprefix("\ufeff")
    return Head(path, text, frozenset(_keys(text)))


def _keys(text: str) -> Iterator[str]:
    """The dotted keys of the JSON objects in a text, which may break off anywhere."""
    around: list[str] = []  # the key before each open bracket, empty for elements of a list
    key = ""
    for match in _STRUCTURE.finditer(text):
        what = match[0]
        if what == '"':  # a string that the end of the text cuts off
            return
        if what in "{[":
            around.append(key)
            key = ""
        elif what in "}]":
            if around:
                around.pop()
            key = ""
        elif match[2]:
            key = match[1]
            yield ".".join(filter(None, [*around, key]))
        else:
            key = ""


def guess_format(path: Path, option: str = "--from") -> str:
    """The name of the converter that recognises a file; `option` is how a user names it instead.

    Raises:
        DataError: none does, or several do.
    """
    _load()
    head = read_head(path)
    names = [name for name, found in sorted(_REGISTERED.items()) if found.recognizes(head)]
    if len(names) == 1:
        return names[0]
    what = f"looks like {' and '.join(names)}" if names else "is of no format that is recognised by its content"
    raise DataError(f"{path}: {what}; name it with {option}: {', '.join(converter_names())}")


def convert(source: Path, target: Path, to: str, name: str | None = None, quiet: bool = False) -> Converted:
    """Convert a file.

    Args:
        source: the file to read.
        target: the file to write, packed where its name ends in `.gz`; an older one is replaced.
        to: the format to write.
        name: the data set or format of `source`; None: guessed from its content, and logged.
        quiet: no lines of progress.

    Raises:
        ConfigError: a name is unknown.
        DataError: the source cannot be read.
        OutputError: the target cannot be written, or is the source.
    """
    begin = time.perf_counter()
    writer = find_format(to)
    if name is None:
        name = guess_format(source)
        LOGGER.info("%s: read as %s; another format is named with --from", source, name)
    if target.exists() and source.samefile(target):
        raise ConfigError(f"{target}: is the file to read; give another name for the result")
    dataset = find_converter(name).read(source)
    counts: Counter[str] = Counter()
    if not quiet:
        dataset = dataset._replace(records=_reporting(dataset.records, source))
    writer.write(target, dataset, counts)
    return Converted(name, to, dict(counts), time.perf_counter() - begin)


def _reporting(records: Iterable[Record], path: Path) -> Iterator[Record]:
    """A line now and then; how much there is in all is not known."""
    last = time.monotonic()
    records = iter(records)
    yield from islice(records, _BEFORE_SIZE)
    for number, record in enumerate(records, _BEFORE_SIZE + 1):
        if (now := time.monotonic()) - last >= _LOG_EVERY:
            last = now
            LOGGER.info("%s: %d contexts so far", path, number)
        yield record


def question_id(question: str, context: str) -> str:
    """The id of a question without one: the same for equal question and context, in any file and order."""
    return hashlib.sha256(f"{question}\0{context}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


class Flat(NamedTuple):
    """The documents of a record as one text.

    Attributes:
        context: the text.
        offsets: where each part begins, by number of the document and name of the part.
        tokens: the tokens of the text.
    """

    context: str
    offsets: dict[tuple[int, str], int]
    tokens: list[Token]

    def locate(self, span: Span) -> tuple[int, int] | None:
        """The first and the last character of a span; None where its text does not stand there.

        Spelling variants are accepted that are equal after normalisation, as some data sets give the answer's main
        spelling with a span.
        """
        offset = self.offsets.get((span.document, span.part))
        if offset is None or span.start < 0 or not span.text:
            return None
        start = offset + span.start
        found = self.context[start : start + len(span.text)]
        if found == span.text or (found and normalize(found) == normalize(span.text)):
            return start, start + len(found) - 1
        return None


def flatten(record: Record) -> Flat:
    """The documents of a record as one text, as MRQA joins them.

    A single document is its texts as they stand, joined by `[PAR]` where there are several; its title is left out
    unless an answer stands in it. Several documents each become `[DOC] [TLE] title [PAR] text`.
    """
    many = len(record.documents) > 1
    titled = many or any(
        span.part == "title" for question in record.questions for answer in question.answers for span in answer.spans
    )
    pieces: list[str] = []
    tokens: list[Token] = []
    offsets: dict[tuple[int, str], int] = {}
    size = 0

    def add(text: str, own: list[Token] | None) -> int:
        nonlocal size
        if size:
            pieces.append(" ")
            size += 1
        begin = size
        pieces.append(text)
        size += len(text)
        found = tokenize(text) if own is None else own
        tokens.extend(found if not begin else [(token, offset + begin) for token, offset in found])
        return begin

    for number, document in enumerate(record.documents):
        if many:
            add(DOCUMENT_MARK, None)
        title = document.part("title")
        if title is not None and titled:
            add(TITLE_MARK, None)
            offsets[number, "title"] = add(title.text, title.tokens)
        first = True
        for part in document.parts:
            if part.name == "title":
                continue
            if not first or (title is not None and titled):
                add(PARAGRAPH_MARK, None)
            offsets[number, part.name] = add(part.text, part.tokens)
            first = False
    return Flat("".join(pieces), offsets, tokens)


class Located(NamedTuple):
    """An answer and its places in a text: inclusive spans of characters, in order."""

    answer: Answer
    spans: list[tuple[int, int]]


def locate(question: Question, flat: Flat, text: TokenizedText, all_spans: bool = True) -> list[Located]:
    """The answers of a question with their places in the flattened documents; answers without a place are left out.

    The places that the source gives are used. Those of a span without any are detected on token borders; so are
    those of the further `accepted` strings if nothing else is found, and, unless `all_spans`, the other places of
    answers that have one. Answers are as in `question.answers`, equal ones included.

    Args:
        question: the question of a record.
        flat: `flatten` of the record.
        text: `flat.context` with its tokens.
        all_spans: as in `Dataset`.
    """
    found = []
    detected: dict[str, list[tuple[int, int]]] = {}

    def detect(answer: str) -> list[tuple[int, int]]:
        if answer not in detected:
            detected[answer] = [(place.start, place.end) for place in text.find(answer)]
        return detected[answer]

    for answer in question.answers:
        given = [place for span in answer.spans if (place := flat.locate(span)) is not None]
        spans = given if (given and all_spans) or not answer.is_span() else [*given, *detect(answer.text)]
        if spans:
            found.append(Located(answer, list(dict.fromkeys(spans))))
    if not found:
        known = {answer.text for answer in question.answers}
        for accepted in question.accepted:
            if accepted not in known and (spans := detect(accepted)):
                found.append(Located(Answer(accepted), spans))
    return found
