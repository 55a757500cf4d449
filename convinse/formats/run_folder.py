"""The output folder of a run: `turns.jsonl`, written conversation by conversation, and `metrics.json`."""

from __future__ import annotations

import hashlib
import logging
import os
import shlex
import sys
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from datetime import datetime, timezone
from fcntl import LOCK_EX, LOCK_NB, flock
from io import RawIOBase
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

import msgspec

from ..records.conversation import Conversation, check_finished
from ..support.errors import DataError, OutputError, one_line
from ..support.files import replacing
from ..support.jsonlines import JSON_ERRORS
from ..support.manifest import BY_HAND, MANIFEST, check_folder, seal

LOGGER = logging.getLogger(__name__)
TURNS, METRICS, RUN = "turns.jsonl", "metrics.json", "run.json"
_MOVED = (MANIFEST, METRICS, TURNS)  # the turns last: while they are there, they are moved with what is left
_REMEDY = f"use --restart, {BY_HAND}"


class RunRecord(msgspec.Struct, frozen=True):
    """The content of `run.json`: an id of each origin of the results, the configuration, the command, its time in UTC."""

    run: str
    made_from: dict[str, str] = {}
    settings: dict[str, Any] = {}
    command: str = ""
    begun: str = ""

    @classmethod
    def of(cls, made_from: Mapping[str, str], settings: Mapping[str, Any] = MappingProxyType({})) -> RunRecord:
        """Return the record of a run that begins now."""
        content = msgspec.json.encode(dict(made_from), order="sorted")
        program, *arguments = sys.argv
        name = "convinse" if program.endswith("__main__.py") else Path(program).name
        begun = datetime.now(timezone.utc).isoformat(" ", "seconds")[:-6]
        run = hashlib.sha256(content).hexdigest()[:12]
        return cls(run, dict(made_from), dict(settings), shlex.join([name, *arguments]), begun)


def with_line(conversation: Conversation) -> tuple[Conversation, bytes]:
    """Return a conversation without its evidences, which stays in memory, and the whole as a line of `turns.jsonl`.

    Raises `DataError` if it cannot be written as JSON.
    """
    try:
        return _without_evidences(conversation), msgspec.json.encode(conversation) + b"\n"
    except (TypeError, ValueError) as error:
        raise DataError(
            f"conversation '{conversation['conv_id']}': cannot be written as JSON ({one_line(error)}); a module may add "
            "texts, numbers, lists and mappings to a turn"
        ) from error


class RunFolder:
    """The results of one configuration and one combination of sources. Raises `OutputError`.

    Opening the folder takes a lock (one run writes at a time) and reads the finished conversations. Results of other origins are
    moved to `earlier-ID/`, never overwritten; the log names the changes. `finished` has the written conversations by their
    ids, without their evidences, which would fill the memory. A finished run has a manifest.
    """

    def __init__(
        self,
        path: Path,
        made_from: Mapping[str, str],
        restart: bool = False,
        settings: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self.path = path
        self._record = RunRecord.of(made_from, settings)
        self.finished: dict[str, Conversation] = {}
        with ExitStack() as opened:
            try:
                path.mkdir(parents=True, exist_ok=True)
                # no buffers: a write that a full disk refuses must not be repeated when the file is closed
                self._lock = opened.enter_context((path / RUN).open("a+b", buffering=0))
                flock(self._lock, LOCK_EX | LOCK_NB)
                self._settle(restart)
                self._file = opened.enter_context((path / TURNS).open("ab", buffering=0))
            except BlockingIOError:
                raise OutputError(
                    f"{path}: another run is writing here; wait for it, or choose another name or output_path"
                ) from None
            except OSError as error:
                raise OutputError(
                    f"{path}: results cannot be written: {one_line(error)}; choose another output_path"
                ) from error
            self._opened = opened.pop_all()

    def _settle(self, restart: bool) -> None:
        if not restart:
            check_folder(self.path, OutputError, remedy=_REMEDY, reads_files=True)
        self._lock.seek(0)
        try:
            before = msgspec.json.decode(self._lock.read(), type=RunRecord)
        except JSON_ERRORS:
            before = RunRecord("unknown")
        turns = self.path / TURNS
        if turns.exists() and (restart or before.run != self._record.run):
            self._move_away(before)
        if turns.exists():
            self._read_finished(turns)
        if restart or before.run != self._record.run:
            (self.path / MANIFEST).unlink(missing_ok=True)
            self._lock.truncate(0)
            _write(self._lock, msgspec.json.encode(self._record) + b"\n")

    def _move_away(self, before: RunRecord) -> None:
        name = f"earlier-{Path(before.run).name or 'unknown'}"  # a damaged id must not lead out of this folder
        names = (name if number == 1 else f"{name}-{number}" for number in count(1))
        target = next(self.path / name for name in names if not (self.path / name).exists())
        target.mkdir()
        for file in _MOVED:
            with suppress(FileNotFoundError):
                (self.path / file).rename(target / file)
        old, new = before.made_from, self._record.made_from
        changed = [name for name in {**old, **new} if old.get(name) != new.get(name)]
        reason = f" (changed since: {', '.join(changed)})" if old and changed else ""
        LOGGER.info("earlier results moved to %s%s", target, reason)

    def _read_finished(self, turns: Path) -> None:
        data = turns.read_bytes()
        # a run that was killed may leave half a line, which is cut off
        whole = data.rfind(b"\n") + 1
        for number, line in enumerate(data[:whole].splitlines(), 1):
            try:
                (conversation,) = check_finished([msgspec.json.decode(line)], f"line {number}")
            except (*JSON_ERRORS, DataError) as error:
                raise OutputError(
                    f"{turns}: line {number} is not a finished conversation ({one_line(error)}); use --restart"
                ) from None
            self.finished[str(conversation["conv_id"])] = _without_evidences(conversation)
        if whole != len(data):
            os.truncate(turns, whole)

    def add(self, shortened: Conversation, line: bytes) -> None:
        """Append a finished conversation, see `with_line`; it is on disk when the call returns. Raises `OutputError`."""
        size = os.fstat(self._file.fileno()).st_size
        try:
            (self.path / MANIFEST).unlink(missing_ok=True)  # until the run is whole again
            _write(self._file, line)
            os.fsync(self._file.fileno())
        except OSError as error:
            with suppress(OSError):  # reading cuts half a line off anyway
                os.truncate(self.path / TURNS, size)
            raise OutputError(
                f"{self.path / TURNS}: cannot be written: {one_line(error)}; {len(self.finished)} finished conversations are kept: "
                "free the disk and run the command again to go on"
            ) from error
        self.finished[str(shortened["conv_id"])] = shortened

    def seconds(self) -> dict[str, float]:
        """Return the `seconds` of each stage in `metrics.json`; empty if the file is missing or unreadable."""
        try:
            return read_seconds((self.path / METRICS).read_bytes())
        except (FileNotFoundError, *JSON_ERRORS):
            return {}

    def write_metrics(self, metrics: dict[str, Any]) -> None:
        """Write `metrics.json`, whole or not at all, and the manifest."""
        content = msgspec.json.format(msgspec.json.encode(metrics), indent=2) + b"\n"
        (self.path / MANIFEST).unlink(missing_ok=True)  # that of the figures before
        with replacing(self.path / METRICS) as temporary:
            temporary.write_bytes(content)
        seal(self.path, "results", (TURNS, METRICS, RUN))

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()


def read_seconds(metrics: bytes) -> dict[str, float]:
    """Return the `seconds` of each stage in the content of `metrics.json`; raise an error of `JSON_ERRORS` for other content."""
    content = msgspec.json.decode(metrics, type=dict[str, Any])
    return msgspec.convert(content.get("seconds", {}), dict[str, float])


def _without_evidences(conversation: Conversation) -> Conversation:
    shortened = conversation.copy()
    shortened["questions"] = [turn.copy() for turn in conversation["questions"]]
    for turn in shortened["questions"]:
        cast("dict[str, Any]", turn).pop("top_evidences", None)
    return shortened


def _write(file: RawIOBase, data: bytes) -> None:
    view = memoryview(data)  # an unbuffered write may take a part
    while view:
        view = view[file.write(view) :]
