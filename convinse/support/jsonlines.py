"""JSON documents one after the other in a file: streamed reading and writing in flat memory.

Two kinds of files are read, plain or packed (gzip, bzip2, Zstandard; recognised by their first bytes, not by their name):
JSON lines (`read_lines`), and documents of any layout that follow each other, pretty-printed or not (`read_documents`).
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import json
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import msgspec

from .errors import DataError, OutputError, one_line, unreadable
from .files import replacing
from .limits import LARGEST_PACKED, LONGEST_LINE, MOST_UNPACKED

T = TypeVar("T")

_BLOCK = 1 << 17  # bytes that are read or written at once
_LONGEST_TOKEN = 16  # characters of what the end of a block may cut in two: `false`, an escape
_LEVEL = 6  # of gzip: the smallest files for a reasonable time
BOM = b"\xef\xbb\xbf"
_MAGIC = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zst"}
# keys of ids, outside of texts: there, a quotation mark has a backslash before it
_NUMBER_ID = re.compile(rb'"((?:_|q|gu|p|doc_?|conv_|question_)?id|docno)"(\s*:\s*)(-?\d+)(?=\s*[,}])')
_BLANKS = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder(parse_int=len, parse_float=len)  # only the end of a document counts here, no number
JSON_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_ENCODER = msgspec.json.Encoder()


@contextmanager
def open_packed(path: Path, whole: bool = False) -> Iterator[BinaryIO]:
    """Open a file, plain or packed, and give its unpacked bytes; reading needs `reading` around it. Raises `DataError`.

    With `whole` it is one value, not a stream: what is packed must not unpack to very much more.
    """
    with unpacked(path) as (raw, file):
        yield io.BufferedReader(_Limited(path, file), _BLOCK) if whole and file is not raw else file


class _Limited(io.RawIOBase):
    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path, self._file = path, file
        self._most = self._left = max(LARGEST_PACKED, MOST_UNPACKED * path.stat().st_size)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size = self._file.readinto(buffer)  # type: ignore[attr-defined]  # it is a BufferedReader
        self._left -= size
        if self._left < 0:
            text = f"more than {self._most >> 20} MB unpacked, {MOST_UNPACKED} times its size; unpack it first"
            raise DataError(f"{self._path}: {text}")
        return int(size)


@contextmanager
def unpacked(path: Path) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """A file as it is, whose `tell` says how much of it is read, and its unpacked bytes; see `open_packed`."""
    try:
        raw = path.open("rb")
    except OSError as error:
        raise unreadable(path, error) from None
    with raw:
        with reading(path, lambda: 1):
            start = raw.read(4)
            raw.seek(0)
        kind = next((name for magic, name in _MAGIC.items() if start.startswith(magic)), None)
        if kind is not None:
            with _unpacking(kind, raw) as packed, io.BufferedReader(packed, _BLOCK) as file:
                yield raw, file
        else:
            yield raw, raw


def _unpacking(kind: str, raw: BinaryIO) -> Any:
    if kind == "zst":
        from .zstd import zstd

        return zstd.ZstdFile(raw)
    return gzip.GzipFile(fileobj=raw) if kind == "gz" else bz2.BZ2File(raw)


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
    with open_packed(path, whole=True) as file, reading(path, lambda: 1):
        return file.read().removeprefix(BOM)


def too_long(path: Path, line: int) -> DataError:
    """The error of a line or document that would fill the memory."""
    return DataError(f"{path}:{line}: longer than {LONGEST_LINE >> 20} MB; is this a file of lines?")


def raw_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a file that hold more than blanks, as bytes with their numbers from 1. Raises `DataError`."""
    number = 0
    with open_packed(path) as file, reading(path, lambda: number + 1):
        while line := file.readline(LONGEST_LINE + 1):
            number += 1
            if len(line) > LONGEST_LINE:
                raise too_long(path, number)
            if number == 1:
                line = line.removeprefix(BOM)
            if not line.isspace() and line:
                yield number, line


def read_lines(path: Path, kind: Any = Any) -> Iterator[tuple[int, Any]]:
    """Read the documents of JSON lines, with the number of their line. Raises `DataError` with file and line."""
    decoder = msgspec.json.Decoder(kind)
    for number, line in raw_lines(path):
        yield number, decoded(decoder, path, number, line)


def decoded(decoder: msgspec.json.Decoder[T], path: Path, line: int, document: bytes) -> T:
    """A document of a file, which begins on a line. Raises `DataError`."""
    try:
        return with_text_ids(decoder.decode, document)
    except JSON_ERRORS as error:
        raise not_json(path, line, error) from None


def with_text_ids(decode: Callable[[bytes], T], document: bytes) -> T:
    """Decode a document; ids that are numbers become text if the type asks for text.

    Raises `msgspec.DecodeError` as `decode` does.
    """
    try:
        return decode(document)
    except msgspec.ValidationError:
        changed = _NUMBER_ID.sub(rb'"\1"\2"\3"', document)
        if changed == document:
            raise
    return decode(changed)


def read_documents(path: Path, kind: Any = Any, *, unwrap: bool = False) -> Iterator[tuple[int, Any]]:
    """Read the documents of a file of any layout, with the number of the line that each begins on. Raises `DataError` with the line.

    With `unwrap` a list stands for its elements, which are then streamed one by one.
    """
    decoder = msgspec.json.Decoder(kind)
    for number, document in raw_documents(path, unwrap=unwrap):
        yield number, decoded(decoder, path, number, document)


def raw_documents(path: Path, *, unwrap: bool = False) -> Iterator[tuple[int, bytes]]:
    """Yield the bytes of each document of a file and the line it begins on. Raises `DataError` as `read_documents`.

    A document that is not JSON is yielded up to the end of the line with the fault: decoding it says what is wrong.
    """
    text, at, line, inside = "", 0, 1, False
    with open_packed(path) as file, reading(path, lambda: line):
        blocks = codecs.iterdecode(
            iter(lambda: file.read(max(_BLOCK, len(text) - at)), b""), "utf-8-sig", "surrogateescape"
        )
        while True:
            start = _BLANKS.match(text, at).end()  # type: ignore[union-attr]  # it always matches
            line += text.count("\n", at, start)
            at = start
            letter = text[at : at + 1]
            if unwrap and letter and letter in ("]," if inside else "["):
                inside = letter == "," or not inside
                at += 1
                continue
            if letter and letter not in "{[":
                shown = text[at : at + 40]
                raise DataError(f"{path}:{line}: not valid JSON: text outside of an object or a list: {shown!r}")
            end = _end_of_document(path, line, text, at) if letter else 0
            if not end:
                if len(text) - at > LONGEST_LINE:
                    raise too_long(path, line)
                if block := next(blocks, ""):
                    text, at = text[at:] + block, 0
                    continue
                if inside:
                    raise DataError(f"{path}:{line}: not valid JSON: the list does not end")
                end = len(text)
            if not letter:
                return
            yield line, text[at:end].encode("utf-8", "surrogateescape")
            line += text.count("\n", at, end)
            at = end


def _end_of_document(path: Path, line: int, text: str, at: int) -> int:
    """The end of the document at a place, or of the line with its fault; 0 if more text is needed to tell."""
    try:
        return _DECODER.raw_decode(text, at)[1]
    except RecursionError as error:
        raise not_json(path, line, error) from None
    except json.JSONDecodeError as error:
        if error.pos + _LONGEST_TOKEN > len(text) or error.msg.startswith("Unterminated string"):
            return 0
        return text.find("\n", error.pos) + 1 or 0


def not_json(path: Path, line: int, error: BaseException) -> DataError:
    """Return the error of a document that `msgspec` refuses: invalid JSON, or JSON of another shape."""
    if isinstance(error, RecursionError):
        return DataError(f"{path}:{line}: not valid JSON: nested too deep")
    if isinstance(error, msgspec.ValidationError):
        return DataError(f"{path}:{line}: {one_line(error)}")
    return DataError(f"{path}:{line}: not valid JSON: {one_line(error)}; correct it, or name another file")


def decode_whole(path: Path, data: bytes, kind: type[T]) -> T:
    """Decode a file that is one JSON value. Raises `DataError`, which names the line or the JSON path."""
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError as error:
        raise DataError(f"{path}: {one_line(error)}") from None
    except JSON_ERRORS as error:
        # msgspec ends its message with `(byte N)`, or the data ended early
        place = re.search(r"\(byte (\d+)\)", str(error))
        raise not_json(path, data.count(b"\n", 0, int(place[1]) if place else len(data)) + 1, error) from None


def decode_part(path: Path, where: str, data: msgspec.Raw, kind: type[T]) -> T:
    """Decode the value at a JSON path of a file. Raises `DataError`, which names the file and the path."""
    try:
        return with_text_ids(msgspec.json.Decoder(kind).decode, bytes(data))
    except JSON_ERRORS as error:
        reason, _, inner = one_line(error).partition(" - at `$")
        raise DataError(f"{path}: {reason} - at `{where}{inner or '`'}") from None


@contextmanager
def writing(path: Path) -> Iterator[Callable[[Any], object]]:
    """A function that writes one document a line; the file takes its place when the block ends well. Raises `OutputError`."""
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
    """A function that writes bytes; the file takes its place when the block ends well. Raises `OutputError`.

    A name that ends in `.gz` is packed; equal bytes give equal files (no time stamp, no file name inside).
    """
    with replacing(path) as temporary, temporary.open("wb") as raw:
        if path.suffix == ".gz":
            # mtime and an empty name: nothing in the file says when or where it was made
            with gzip.GzipFile("", "wb", _LEVEL, raw, mtime=0) as packed, io.BufferedWriter(packed, _BLOCK) as file:
                yield file.write
        else:
            yield raw.write
