"""The output folder of a run: `turns.jsonl`, written conversation by conversation, and `metrics.json`."""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
from contextlib import ExitStack
from io import RawIOBase
from pathlib import Path
from typing import Any

import msgspec

from ..records.conversation import Conversation
from ..support.errors import OutputError, one_line
from ..support.files import replacing

LOGGER = logging.getLogger(__name__)
TURNS, METRICS, RUN = "turns.jsonl", "metrics.json", "run.json"


def fingerprint(*parts: Any) -> str:
    """A short id of what the results depend on."""
    return hashlib.sha256(msgspec.json.encode(parts, order="sorted")).hexdigest()[:12]


class RunFolder:
    """The results of one configuration and one combination of sources.

    Opening it takes a lock (one run writes at a time) and reads the conversations that are finished. Results of other
    settings that are found there are moved to `earlier-ID/`, never overwritten.

    Args:
        path: the folder.
        run_id: `fingerprint` of the settings and of the input.
        restart: begin anew: finished conversations are moved away, too.

    Raises:
        OutputError: the folder cannot be written, or another run is writing there.
    """

    def __init__(self, path: Path, run_id: str, restart: bool = False) -> None:
        self.path = path
        self._run_id = run_id
        self.finished: dict[str, Conversation] = {}
        with ExitStack() as opened:
            try:
                path.mkdir(parents=True, exist_ok=True)
                # no buffers: what a full disk refuses must not be tried again when the file is closed
                self._lock = opened.enter_context((path / RUN).open("a+b", buffering=0))
                self._take_lock()
                self._settle(restart)
                self._file = opened.enter_context((path / TURNS).open("ab", buffering=0))
            except OSError as error:
                raise OutputError(
                    f"{path}: results cannot be written: {one_line(error)}; choose another output_path"
                ) from error
            self._opened = opened.pop_all()

    def _take_lock(self) -> None:
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OutputError(
                f"{self.path}: another run is writing here; wait for it, or choose another name or output_path"
            ) from None

    def _settle(self, restart: bool) -> None:
        self._lock.seek(0)
        recorded = self._lock.read()
        try:
            before = msgspec.json.decode(recorded)["run"] if recorded else None
        except (msgspec.DecodeError, KeyError, TypeError):
            before = "unknown"
        turns = self.path / TURNS
        if turns.exists() and (restart or before != self._run_id):
            self._move_away(str(before or "unknown"))
        if turns.exists():
            self._read_finished(turns)
        if before != self._run_id:
            self._lock.truncate(0)
            _write(self._lock, msgspec.json.encode({"run": self._run_id}) + b"\n")

    def _move_away(self, name: str) -> None:
        target = self.path / f"earlier-{name}"
        number = 1
        while target.exists():
            number += 1
            target = self.path / f"earlier-{name}-{number}"
        target.mkdir()
        for file in (TURNS, METRICS):
            if (self.path / file).exists():
                (self.path / file).rename(target / file)
        LOGGER.info("earlier results moved to %s", target)

    def _read_finished(self, turns: Path) -> None:
        """Finished conversations; half a line, left by a run that was killed, is cut off."""
        data = turns.read_bytes()
        whole = data.rfind(b"\n") + 1
        for number, line in enumerate(data[:whole].splitlines(), 1):
            try:
                conversation = msgspec.json.decode(line)
                self.finished[str(conversation["conv_id"])] = conversation
            except (ValueError, KeyError, TypeError):
                raise OutputError(
                    f"{turns}: line {number} is no conversation; move the file away, or use --restart"
                ) from None
        if whole != len(data):
            os.truncate(turns, whole)

    def add(self, conversation: Conversation) -> None:
        """Append a finished conversation; it is on disk when the call returns.

        Raises:
            OutputError: it cannot be written; the line is taken back, so that the file stays readable.
        """
        size = os.fstat(self._file.fileno()).st_size
        try:
            _write(self._file, msgspec.json.encode(conversation) + b"\n")
            os.fsync(self._file.fileno())
        except (OSError, ValueError) as error:
            self._take_back(size)
            raise OutputError(
                f"{self.path / TURNS}: cannot be written: {one_line(error)}; {len(self.finished)} finished conversations are kept: "
                "free the disk and run the command again to go on"
            ) from error
        self.finished[str(conversation["conv_id"])] = conversation

    def _take_back(self, size: int) -> None:
        try:
            os.truncate(self.path / TURNS, size)
        except OSError as error:  # reading cuts half a line off anyway
            LOGGER.debug("half a line is left in %s: %s", self.path / TURNS, error)

    def metrics(self) -> dict[str, Any]:
        """What `metrics.json` holds, or an empty dictionary."""
        try:
            return msgspec.json.decode((self.path / METRICS).read_bytes(), type=dict[str, Any])
        except (FileNotFoundError, ValueError):
            return {}

    def write_metrics(self, metrics: dict[str, Any]) -> None:
        """Write `metrics.json`, whole or not at all."""
        with replacing(self.path / METRICS) as temporary:
            temporary.write_bytes(msgspec.json.format(msgspec.json.encode(metrics), indent=2) + b"\n")

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()


def _write(file: RawIOBase, data: bytes) -> None:
    """All of `data`; an unbuffered write may take a part."""
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]
