"""Conversations in the ConvMix structure, read from JSON."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ..errors import DataError, one_line
from ..evidence import Conversation, check_conversations


def read_conversations(path: Path) -> list[Conversation]:
    """The conversations of a file: a JSON list, or one conversation a line (`.jsonl`).

    Raises:
        DataError: the file is missing, is no JSON, or a conversation lacks a key; the message names file, conversation
            and turn.
    """
    try:
        data = path.read_bytes()
        if path.suffix == ".jsonl":
            return check_conversations(msgspec.json.Decoder().decode_lines(data), str(path))
        return check_conversations(msgspec.json.decode(data), str(path))
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {one_line(error)}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: not valid JSON: {one_line(error)}") from None
