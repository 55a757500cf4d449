"""Conversations in the ConvMix structure, read from JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from ..records.conversation import Conversation, check_conversations, check_measurable
from ..support.errors import DataError, one_line
from ..support.jsonlines import JSON_ERRORS, read_bytes


def read_conversations(path: Path) -> list[Conversation]:
    """Read the conversations of a file: a JSON list, or one conversation a line (`.jsonl`), plain or packed.

    Raises `DataError`.
    """
    return check_conversations(read_records(path), str(path))


def read_measurable(path: Path) -> list[Conversation]:
    """Read conversations with answers and evidences, see `read_conversations` and `check_measurable`."""
    return check_measurable(read_records(path), str(path))


def read_records(path: Path) -> Any:
    """Read a JSON file, or the lines of a `.jsonl` file as a list, plain or packed. Raises `DataError`."""
    data = read_bytes(path)
    try:
        return msgspec.json.Decoder().decode_lines(data) if ".jsonl" in path.suffixes else msgspec.json.decode(data)
    except JSON_ERRORS as error:
        raise DataError(f"{path}: not valid JSON: {one_line(error)}; correct it, or name another file") from None
