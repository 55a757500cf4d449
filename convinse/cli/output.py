"""Standard output and messages without control characters, whatever a page, a server or an argument holds."""

from __future__ import annotations

import codecs
import logging
import os
import sys
from typing import Any, TextIO, cast

_CONTROLS = {code: "\ufffd" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"}


def printable(text: str) -> str:
    """Return a text without control characters, which could move the cursor or change the terminal."""
    return text.translate(_CONTROLS)


class PrintableFormatter(logging.Formatter):
    """Formats log lines without control characters."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        return printable(super().format(record))


class _PrintableStream:
    """A stream that drops control characters; `stream` is the original."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        return self.stream.write(printable(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def printable_output(stream: TextIO | None) -> TextIO:
    """Return a standard output that takes any text: characters that its encoding lacks are written as in JSON.

    A closed output fails on the first write.
    """
    if stream is None:
        stream = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")
    codecs.register_error("convinse.json", _json_escapes)
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="convinse.json")
    return cast("TextIO", _PrintableStream(stream))


def print_json(value: Any) -> None:
    """Print a value as JSON in one line."""
    import msgspec

    print(msgspec.json.encode(value).decode())


def program() -> str:
    """Return what the user types before a command; run.sh sets the variable."""
    return "bash run.sh" if "CONVINSE_ROOT" in os.environ else "convinse"


def say_next(arguments: str, remark: str = "") -> None:
    """Log the next command for the output of this one: its arguments as they are typed."""
    sys.stdout.flush()  # what was made is said first
    logging.getLogger(__name__).info("next: %s %s%s", program(), arguments, f"  ({remark})" if remark else "")


def _json_escapes(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2)), error.end
