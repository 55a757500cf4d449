"""The pairs of a pickled dictionary, read without running it.

A pickle is a program. Here its operations are read one by one, and only those that make dictionaries, lists, tuples,
strings, numbers, booleans and None are carried out; nothing is imported or called. Items leave memory as they are
complete: what is kept is what the pickle refers to again, which a first reading finds out.
"""

from __future__ import annotations

import gzip
import pickletools
import struct
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from ..support.errors import DataError, one_line
from ..support.limits import MOST_ITEM_TEXT, MOST_TIMES_PICKLE
from ..support.progress import Advance

_CHUNK = 1 << 20
_LONGEST_LINE = 1 << 26

_VALUES = {
    "BININT", "BININT1", "BININT2", "INT", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT",
    "UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8",
}  # fmt: skip
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "EMPTY_TUPLE": ()}
_GETS, _PUTS = {"GET", "BINGET", "LONG_BINGET"}, {"PUT", "BINPUT", "LONG_BINPUT"}
_NOTHING = {"PROTO", "FRAME"}
_CALLS = {"REDUCE", "BUILD", "OBJ", "NEWOBJ", "NEWOBJ_EX"}


def read_items(path: Path, advance: Advance = lambda units=1: None) -> Iterator[tuple[Any, Any]]:
    """The pairs of a pickled dictionary (protocols 0 to 5, plain or gzip), in order, each as it is complete.

    Raises:
        DataError: the file is no pickle of a dictionary, is cut off, or refers to anything but plain data.
    """
    with _Source(path, advance) as source:
        references = Counter(arg for name, arg in _operations(source) if name in _GETS)
    with _Source(path, advance) as source:
        total = 0
        for name, value in _Machine(path, references).run(_operations(source)):
            try:
                size = _size(name, {}) + _size(value, {})
            except RecursionError:
                raise DataError(f"{path}: an item is nested too deep") from None
            total += size
            if size > MOST_ITEM_TEXT:
                where = f"item {name[:40]}" if isinstance(name, str) else "an item"
                raise DataError(f"{path}: {where} stands for more than {MOST_ITEM_TEXT >> 20} MB")
            if total > MOST_ITEM_TEXT + MOST_TIMES_PICKLE * source.taken:
                raise DataError(f"{path}: its items stand for more than {MOST_TIMES_PICKLE} times what it holds")
            yield name, value


def _size(value: Any, known: dict[int, int]) -> int:
    """About how many bytes a value has in JSON; what holds itself has more than it may."""
    if isinstance(value, str):
        return len(value) + 2
    if not isinstance(value, dict | list | tuple):
        return 8
    if id(value) not in known:
        known[id(value)] = MOST_ITEM_TEXT + 1  # while it is looked at
        parts = chain.from_iterable(value.items()) if isinstance(value, dict) else value
        known[id(value)] = 2 + sum(_size(part, known) for part in parts)
    return known[id(value)]


class _Source:
    """The bytes of a file for `pickletools`: reads what is there, whatever length the pickle claims."""

    def __init__(self, path: Path, advance: Advance) -> None:
        self.path = path
        self._advance, self._shown = advance, 0
        self.taken = 0  # bytes of the pickle

    def __enter__(self) -> _Source:
        try:
            self._raw = self.path.open("rb")
            packed = self._raw.read(2) == b"\x1f\x8b"
            self._raw.seek(0)
        except OSError as error:
            raise DataError(f"{self.path}: cannot be read: {one_line(error)}") from None
        self._file: BinaryIO = gzip.open(self._raw) if packed else self._raw  # type: ignore[assignment]
        self._left = _CHUNK
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._raw.close()

    def read(self, size: int) -> bytes:
        self._left -= size
        self.taken += size
        if self._left <= 0:
            self._left = _CHUNK
            position = self._raw.tell() >> 20
            self._advance(position - self._shown)
            self._shown = position
        if size <= _CHUNK:
            return self._file.read(size)
        parts = []
        while size > 0 and (part := self._file.read(min(size, _CHUNK))):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def readline(self) -> bytes:
        return self._file.readline(_LONGEST_LINE)


def _operations(source: _Source) -> Iterator[tuple[str, Any]]:
    operations = pickletools.genops(source)  # type: ignore[arg-type]
    while True:
        try:
            operation, argument, _ = next(operations)
        except StopIteration:
            return
        except (ValueError, OverflowError, struct.error, EOFError, OSError, zlib.error, MemoryError) as error:
            raise DataError(f"{source.path}: no pickle, or cut off ({one_line(error)})") from None
        yield operation.name, argument


class _Machine:
    """The part of the pickle machine that makes data; the root dictionary is handed out instead of filled."""

    def __init__(self, path: Path, references: Counter[int]) -> None:
        self._path = path
        self._references = references  # how often each noted object is still asked for
        self._memo: dict[int, Any] = {}
        self._noted = 0
        self._stack: list[Any] = []
        self._below: list[list[Any]] = []  # the stacks under open marks
        self._root: dict[Any, Any] | None = None
        self._ready: list[tuple[Any, Any]] = []
        self._makers: dict[str, Callable[[], None]] = {
            "MARK": self._mark, "MEMOIZE": lambda: self._note(self._noted),
            "EMPTY_LIST": lambda: self._push([]), "EMPTY_DICT": lambda: self._push({}),
            "LIST": lambda: self._push(self._marked()), "TUPLE": lambda: self._push(tuple(self._marked())),
            "DICT": self._dict, "TUPLE1": lambda: self._stack.append(tuple(self._popped(1))),
            "TUPLE2": lambda: self._stack.append(tuple(self._popped(2))),
            "TUPLE3": lambda: self._stack.append(tuple(self._popped(3))),
            "APPEND": lambda: self._extend(self._popped(1)), "APPENDS": lambda: self._extend(self._marked()),
            "SETITEM": lambda: self._update(self._popped(2)), "SETITEMS": lambda: self._update(self._above_mark()),
        }  # fmt: skip

    def run(self, operations: Iterator[tuple[str, Any]]) -> Iterator[tuple[Any, Any]]:
        """Carry the operations out; yields the pairs of the root dictionary."""
        for name, argument in operations:
            try:
                self._step(name, argument)
            except (IndexError, KeyError, TypeError, ValueError, RecursionError):
                raise self._fault(f"{name} does not fit what is before it; the file is damaged") from None
            if self._ready:
                yield from self._ready
                self._ready = []
            if name == "STOP":
                return

    def _step(self, name: str, argument: Any) -> None:
        if name in _VALUES:
            self._push(argument)
        elif name in _GETS:
            self._push(self._memo[argument])
            self._references[argument] -= 1
            if not self._references[argument]:
                del self._memo[argument], self._references[argument]
        elif name in _PUTS:
            self._note(argument)
        elif name in self._makers:
            self._makers[name]()
        elif name in _CONSTANTS:
            self._push(_CONSTANTS[name])
        elif name == "STOP":
            if self._below or len(self._stack) != 1 or self._stack[0] is not self._root:
                raise self._fault("the pickle is not a dictionary of items")
        elif name not in _NOTHING:
            raise self._refusal(name, argument)

    def _push(self, value: Any) -> None:
        if not self._below and not self._stack and self._root is None:
            if isinstance(value, dict):
                self._root = value
                self._ready += value.items()
                value.clear()
            elif not isinstance(value, str):  # a string may name what the pickle wants to import: refused then
                raise self._fault(f"the pickle is {type(value).__name__}, not a dictionary of items")
        elif isinstance(value, str) and self._at_root() and self._is_complete():
            self._ready += zip(self._stack[::2], self._stack[1::2], strict=True)
            self._stack.clear()
        self._stack.append(value)

    def _at_root(self) -> bool:
        """Whether the stack holds keys and values for the root dictionary."""
        return len(self._below) == 1 and len(self._below[0]) == 1 and self._below[0][0] is self._root

    def _is_complete(self) -> bool:
        """Whether a string on top is the next key: only evidences are added to a list of evidences."""
        last = self._stack[-1] if self._stack and len(self._stack) % 2 == 0 else None
        return isinstance(last, list) and bool(last) and isinstance(last[-1], dict)

    def _note(self, place: int) -> None:
        self._noted += 1
        if place in self._references:
            if self._stack[-1] is self._root:
                raise self._fault("refused: a dictionary that holds itself")
            self._memo[place] = self._stack[-1]

    def _mark(self) -> None:
        self._below.append(self._stack)
        self._stack = []

    def _above_mark(self) -> list[Any]:
        values, self._stack = self._stack, self._below.pop()
        return values

    def _marked(self) -> list[Any]:
        if self._at_root():
            raise self._fault("an item's key is no string")
        return self._above_mark()

    def _popped(self, size: int) -> list[Any]:
        values = self._stack[-size:]
        if len(values) != size:
            raise IndexError
        del self._stack[-size:]
        return values

    def _dict(self) -> None:
        values = self._marked()
        self._check_keys(values)
        self._push(dict(zip(values[::2], values[1::2], strict=True)))

    def _check_keys(self, values: list[Any]) -> None:
        """Raise `DataError` where a key is no string: to compare others may take for ever."""
        if not all(isinstance(key, str) for key in values[::2]):
            raise self._fault("a key is no string")

    def _extend(self, values: list[Any]) -> None:
        if not isinstance(self._stack[-1], list):
            raise TypeError
        self._stack[-1].extend(values)

    def _update(self, values: list[Any]) -> None:
        target = self._stack[-1]
        if not isinstance(target, dict) or len(values) % 2:
            raise TypeError
        pairs = zip(values[::2], values[1::2], strict=True)
        if target is self._root:
            self._ready += pairs
        else:
            self._check_keys(values)
            target.update(pairs)

    def _refusal(self, name: str, argument: Any) -> DataError:
        """What the pickle wanted besides data, by name."""
        what = name
        if name in ("GLOBAL", "INST"):
            what = str(argument).replace(" ", ".")
        elif name == "STACK_GLOBAL" and len(self._stack) >= 2:
            what = f"{self._stack[-2]}.{self._stack[-1]}"
        elif name.startswith("EXT"):
            what = f"extension {argument} ({name})"
        elif "PERSID" in name:
            what = f"persistent id ({name})"
        elif "BYTE" in name or "STRING" in name or "BUFFER" in name:
            what = f"bytes ({name})"
        elif "SET" in name:
            what = f"a set ({name})"
        elif name in _CALLS:
            what = f"a call ({name})"
        return self._fault(f"refused: {what:.200}; a dump holds only dictionaries, lists, strings and numbers")

    def _fault(self, text: str) -> DataError:
        return DataError(f"{self._path}: {text}")
