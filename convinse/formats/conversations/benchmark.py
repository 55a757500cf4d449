"""Conversations in the ConvMix structure from a benchmark's published file, chosen by the configuration's key `benchmark`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ...records.conversation import Conversation, check_conversations
from ...records.evidence import unique_entities
from ...support.errors import DataError, one_line
from ..convmix import read_records
from . import compmix, convmix, convquestions, lcquad2, timequestions
from .answers import contract_answer


class BenchmarkReader(NamedTuple):
    """How a benchmark is read.

    Attributes:
        recognizes: whether a record of a file is one of this benchmark and of no other.
        conversation: a record and its number in the file, from 0 -> a conversation whose answers are as published;
            raises `msgspec.ValidationError`, which names the key.
    """

    recognizes: Callable[[dict[str, Any]], bool]
    conversation: Callable[[dict[str, Any], int], Conversation]


READERS = {
    "convmix": BenchmarkReader(convmix.recognizes, convmix.conversation),
    "convquestions": BenchmarkReader(convquestions.recognizes, convquestions.conversation),
    "compmix": BenchmarkReader(compmix.recognizes, compmix.conversation),
    "timequestions": BenchmarkReader(timequestions.recognizes, timequestions.conversation),
    "tiq": BenchmarkReader(timequestions.recognizes, timequestions.conversation),
    "lcquad2": BenchmarkReader(lcquad2.recognizes, lcquad2.conversation),
}


def read_benchmark(path: Path, benchmark: str) -> list[Conversation]:
    """The conversations of a file: a JSON list of records, or one record a line (`.jsonl`), plain or packed.

    The ids of gold answers become those of the contract; equal ones of a turn become one.

    Args:
        path: the file as published.
        benchmark: one of `READERS`; any other name: the shape of the first record decides.

    Raises:
        DataError: the file cannot be read, a record has the shape of another benchmark, or lacks a key; the message
            names the file and the place.
    """
    records = read_records(path)
    if not isinstance(records, list):
        raise DataError(f"{path}: expected a list of conversations or questions, found {type(records).__name__}")
    for number, record in enumerate(records):
        if not isinstance(record, dict):
            raise DataError(f"{path}: conversation {number} is {type(record).__name__}, not an object")
    reader = _reader(path, benchmark, records[0]) if records else READERS["convmix"]
    conversations = []
    for number, record in enumerate(records):
        try:
            conversations.append(reader.conversation(record, number))
        except msgspec.ValidationError as error:
            raise DataError(f"{path}: conversation {number}: {one_line(error)}") from None
    for conversation in check_conversations(conversations, str(path)):
        for turn in conversation["questions"]:
            if turn.get("answers"):
                turn["answers"] = unique_entities(
                    contract_answer(answer["id"], answer["label"], turn["question"]) for answer in turn["answers"]
                )
    return conversations


def _reader(path: Path, benchmark: str, first: dict[str, Any]) -> BenchmarkReader:
    """The reader that is named, if the first record does not belong to another one."""
    shapes = [name for name, reader in READERS.items() if reader.recognizes(first)]
    if benchmark not in READERS:
        return READERS[shapes[0] if shapes else "convmix"]
    if shapes and benchmark not in shapes:
        raise DataError(f"{path}: has the shape of {shapes[0]}, not of {benchmark}; set benchmark: {shapes[0]}")
    return READERS[benchmark]
