"""JSON documents one after the other in a file: streamed reading and writing in flat memory.

Two kinds of files are read, plain or packed (gzip, bzip2, Zstandard; recognised by their first bytes, not by their name):
JSON lines (`read_lines`), and documents of any layout that follow each other, pretty-printed or not (`read_documents`).
"""

from __future__ import annotations

import bz2
import gzip
import io
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, overload

import msgspec

from .errors import DataError, OutputError, one_line
from .files import replacing
from .limits import LARGEST_PACKED, LONGEST_LINE, MOST_UNPACKED

T = TypeVar("T")

_BLOCK = 1 << 17
_LONGEST_PIECE = 1 << 22  # of a line, once a document turns out to be more than a line
_LEVEL = 6  # of gzip: the smallest files for a reasonable time
BOM = b"\xef\xbb\xbf"
_MAGIC = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zst"}
# what moves the depth of a JSON text: whole strings (skipped), brackets, and a string that the piece cuts off
_STRUCTURE = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]]|"', re.DOTALL)
JSON_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_ENCODER = msgspec.json.Encoder()


@contextmanager
def open_packed(path: Path) -> Iterator[BinaryIO]:
    """The unpacked bytes of a file. Raises `DataError` when it cannot be opened; reading needs `reading` around it."""
    with unpacked(path) as (_, file):
        yield file


@contextmanager
def unpacked(path: Path) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """A file as it is, whose `tell` says how much of it is read, and its unpacked bytes; see `open_packed`."""
    try:
        raw = path.open("rb")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {one_line(error)}") from None
    with raw:
        with reading(path, lambda: 1):
            start = raw.read(4)
            raw.seek(0)
        kind = next((name for magic, name in _MAGIC.items() if start.startswith(magic)), None)
        if kind == "zst":
            import zstandard

            with io.BufferedReader(
                zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True), _BLOCK
            ) as file:
                yield raw, file
        elif kind is not None:
            with (
                gzip.GzipFile(fileobj=raw) if kind == "gz" else bz2.BZ2File(raw) as packed,
                io.BufferedReader(packed, _BLOCK) as file,
            ):
                yield raw, file
        else:
            yield raw, raw


@contextmanager
def reading(path: Path, line: Callable[[], int]) -> Iterator[None]:
    """Turn the errors of a damaged or truncated file into a `DataError` that names it and the line."""
    try:
        yield
    except Exception as error:
        # the package of ZstdError is imported only where such a file is read
        if isinstance(error, (OSError, EOFError, zlib.error)) or type(error).__name__ == "ZstdError":
            raise DataError(f"{path}:{line()}: cannot be read: {one_line(error)}; is the file complete?") from None
        raise


def read_bytes(path: Path) -> bytes:
    """The unpacked bytes of a file without a byte order mark. Raises `DataError`."""
    with unpacked(path) as (raw, file), reading(path, lambda: 1):
        packed = file is not raw
        most = max(LARGEST_PACKED, MOST_UNPACKED * path.stat().st_size) if packed else -1
        data = file.read(most + 1 if packed else -1)
        if packed and len(data) > most:
            raise DataError(
                f"{path}: more than {most >> 20} MB unpacked, {MOST_UNPACKED} times its size; unpack it first"
            )
        return data.removeprefix(BOM)


def whole_lines(path: Path, file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file with their ends. Raises `DataError` for one that is longer than `LONGEST_LINE`."""
    number = 0
    while line := file.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            raise too_long(path, number)
        yield line


def too_long(path: Path, line: int) -> DataError:
    """The error of a line or document that would fill the memory."""
    return DataError(f"{path}:{line}: longer than {LONGEST_LINE >> 20} MB; is this a file of lines?")


def raw_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a file that hold more than blanks, as bytes with their numbers from 1. Raises `DataError`."""
    number = 0
    with open_packed(path) as file, reading(path, lambda: number + 1):
        for number, line in enumerate(whole_lines(path, file), 1):
            if number == 1:
                line = line.removeprefix(BOM)
            if not line.isspace() and line:
                yield number, line


@overload
def read_lines(path: Path) -> Iterator[tuple[int, Any]]: ...
@overload
def read_lines(path: Path, kind: type[T]) -> Iterator[tuple[int, T]]: ...
def read_lines(path: Path, kind: Any = Any) -> Iterator[tuple[int, Any]]:
    """The documents of JSON lines, with the number of their line.

    Args:
        path: the file, plain or packed.
        kind: the type of every document, as `msgspec` understands it; keys that it does not name are skipped fast.

    Raises:
        DataError: the file cannot be read, or a line is no JSON, no UTF-8 or not of the type; names file and line.
    """
    return _decoded(path, kind, raw_lines(path))


def _decoded(path: Path, kind: Any, documents: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, Any]]:
    decoder = msgspec.json.Decoder(kind)
    for number, document in documents:
        yield number, decoded(decoder, path, number, document)


def decoded(decoder: msgspec.json.Decoder[T], path: Path, line: int, document: bytes) -> T:
    """A document of a file, which begins on a line. Raises `DataError`."""
    try:
        return decoder.decode(document)
    except JSON_ERRORS as error:
        raise not_json(path, line, error) from None


@overload
def read_documents(path: Path, *, unwrap: bool = False) -> Iterator[tuple[int, Any]]: ...
@overload
def read_documents(path: Path, kind: type[T], *, unwrap: bool = False) -> Iterator[tuple[int, T]]: ...
def read_documents(path: Path, kind: Any = Any, *, unwrap: bool = False) -> Iterator[tuple[int, Any]]:
    """The documents of a file, with the number of the line that each begins on; JSON lines are only the usual case.

    Args:
        path: the file, plain or packed.
        kind: the type of every document.
        unwrap: whether a list stands for its elements, which are then streamed one by one.

    Raises:
        DataError: as `read_lines`; the line is the one that the broken document begins on.
    """
    return _decoded(path, kind, raw_documents(path, unwrap=unwrap))


def raw_documents(path: Path, *, unwrap: bool = False) -> Iterator[tuple[int, bytes]]:
    """The bytes of each document of a file and the line it begins on; what is between brackets is not looked at."""
    splitter = _Splitter(path, unwrap)
    with open_packed(path) as file, reading(path, lambda: splitter.line):
        while piece := file.readline(_LONGEST_PIECE):
            yield from splitter.feed(piece)
        splitter.finish()


class _Splitter:
    """Cuts pieces of text (lines, or parts of very long ones) into documents by counting brackets outside of strings."""

    def __init__(self, path: Path, unwrap: bool) -> None:
        self._path = path
        self._unwrap = unwrap
        self._floor = 0  # the depth at which documents begin: 1 inside a list that is unwrapped
        self._depth = 0
        self._parts: list[bytes] = []  # of the document under way
        self._kept = 0  # their bytes
        self._began = 1  # the line of its beginning
        self._rest = b""  # the beginning of a string that a piece cut off
        self.line = 1  # of the next piece

    def feed(self, piece: bytes) -> Iterator[tuple[int, bytes]]:
        line = self.line
        self.line += piece.endswith(b"\n")
        if line == 1 and not self._parts and self._depth == 0:
            piece = piece.removeprefix(BOM)
        text = self._rest + piece
        self._rest = b""
        begin = 0
        for match in _STRUCTURE.finditer(text):
            what = match[0]
            if what in (b"{", b"["):
                if self._depth == self._floor:
                    self._between(text[begin : match.start()], line)
                    if what == b"[" and self._unwrap and self._floor == 0:
                        self._floor = self._depth = 1
                        begin = match.end()
                        continue
                    begin, self._began = match.start(), line
                self._depth += 1
            elif what in (b"}", b"]"):
                if self._depth == self._floor:
                    if self._floor and what == b"]":  # the end of the list
                        self._between(text[begin : match.start()], line)
                        self._floor = self._depth = 0
                        begin = match.end()
                        continue
                    raise self._fault(line, f"a '{what.decode()}' that closes nothing")
                self._depth -= 1
                if self._depth == self._floor:
                    yield self._began, b"".join((*self._parts, text[begin : match.end()]))
                    self._parts.clear()
                    self._kept = 0
                    begin = match.end()
            elif len(what) == 1:  # a string without an end
                if text.endswith(b"\n"):
                    raise self._fault(line, "a string does not end on its line")
                self._rest, text = text[match.start() :], text[: match.start()]
                break
            elif self._depth == self._floor:
                raise self._fault(line, "text outside of an object or a list")
        if self._depth == self._floor:
            self._between(text[begin:], line)
        else:
            self._parts.append(text[begin:])
            self._kept += len(text) - begin
        if self._kept + len(self._rest) > LONGEST_LINE:
            raise too_long(self._path, self._began)

    def finish(self) -> None:
        if self._depth or self._rest:
            at = f"the document that begins here does not end (line {self.line} is the last)"
            raise self._fault(self._began, at)

    def _between(self, text: bytes, line: int) -> None:
        """What stands between documents: white space, and commas in a list."""
        rest = text.strip(b" \t\r\n," if self._floor else b" \t\r\n")
        if rest:
            raise self._fault(line, f"text outside of an object or a list: {rest[:40].decode('utf-8', 'replace')!r}")

    def _fault(self, line: int, text: str) -> DataError:
        return DataError(f"{self._path}:{line}: not valid JSON: {text}")


def not_json(path: Path, line: int, error: BaseException) -> DataError:
    """The error of a document that `msgspec` refuses: what is no JSON, or JSON of another shape."""
    if isinstance(error, RecursionError):
        return DataError(f"{path}:{line}: not valid JSON: nested too deep")
    if isinstance(error, msgspec.ValidationError):
        return DataError(f"{path}:{line}: {one_line(error)}")
    return DataError(f"{path}:{line}: not valid JSON: {one_line(error)}")


@contextmanager
def writing(path: Path) -> Iterator[Callable[[Any], object]]:
    """A function that writes one document a line; the file takes its place when the block ends well.

    Raises:
        OutputError: as `writing_bytes`, or a document cannot be expressed in JSON.
    """
    with writing_bytes(path) as write:
        yield lambda document: write(encoded(path, document) + b"\n")


def encoded(path: Path, document: Any) -> bytes:
    """A document as JSON in one line. Raises `OutputError`, which names the file that it was made for."""
    try:
        return _ENCODER.encode(document)
    except (TypeError, ValueError, RecursionError) as error:  # ValueError: a half of a surrogate pair
        raise OutputError(f"{path}: a document cannot be written as JSON: {one_line(error)}") from None


@contextmanager
def writing_bytes(path: Path) -> Iterator[Callable[[bytes], object]]:
    """A function that writes bytes; the file takes its place when the block ends well.

    A name that ends in `.gz` is packed; equal bytes give equal files (no time stamp, no file name inside).

    Raises:
        OutputError: the file cannot be written.
    """
    with replacing(path) as temporary, temporary.open("wb") as raw:
        if path.suffix == ".gz":
            # mtime and an empty name: nothing in the file says when or where it was made
            with gzip.GzipFile("", "wb", _LEVEL, raw, mtime=0) as packed, io.BufferedWriter(packed, _BLOCK) as file:
                yield file.write
        else:
            yield raw.write
