"""Conversations in the ConvMix structure from a benchmark's published file, chosen by the configuration's key `benchmark`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...records.conversation import Conversation, check_conversations
from ...records.evidence import unique_entities
from ...support.errors import DataError, one_line
from ..convmix import read_records
from . import convquestions, single_questions
from .answers import contract_answer

# a record and its number in the file, from 0 -> a conversation whose answers are as published; a missing key is a KeyError
READERS: dict[str, Callable[[dict[str, Any], int], Conversation]] = {
    "convmix": lambda record, _: record,  # type: ignore[dict-item,return-value]  # the pipeline's own structure
    "convquestions": convquestions.conversation,
    "compmix": single_questions.compmix,
    "timequestions": single_questions.timequestions,
    "tiq": single_questions.timequestions,
    "lcquad2": single_questions.lcquad2,
    "tasks": single_questions.clocq_task,
}


def shapes(record: dict[str, Any]) -> list[str]:
    """Return the names of the benchmarks whose records have the shape of `record`."""
    if "task" in record:
        return ["tasks"]
    names = []
    if isinstance(record.get("questions"), list):
        names.append("convquestions" if convquestions.recognizes(record) else "convmix")
    if {"question", "answers"} <= record.keys():
        names.append("compmix" if "question_id" in record else "lcquad2")
    if {"Question", "Answer"} <= record.keys():
        names += ["timequestions", "tiq"]
    return names


def read_benchmark(path: Path, benchmark: str, part: str = "test") -> list[Conversation]:
    """Read the conversations of a file: a JSON list of records, or one record a line (`.jsonl`), plain or packed.

    CLOCQ's benchmark files are an object of lists, `dev` and `test`. The ids of gold answers become those of the contract;
    equal answers of a turn become one. Raises `DataError`.

    Args:
        path: the file as published.
        benchmark: one of `READERS`; any other name: the shape of the first record decides.
        part: of a file with several.
    """
    records = read_records(path)
    if isinstance(records, dict) and records and all(isinstance(part, list) for part in records.values()):
        if part not in records:
            raise DataError(f"{path}: has no part {part!r}; its parts are {', '.join(sorted(records))[:200]}")
        records = records[part]
    if not isinstance(records, list):
        raise DataError(f"{path}: expected a list of conversations or questions, found {type(records).__name__}")
    for number, record in enumerate(records):
        if not isinstance(record, dict):
            raise DataError(f"{path}: conversation {number} is {type(record).__name__}, not an object")
    names = shapes(records[0]) if records else []
    if benchmark not in READERS:
        benchmark = names[0] if names else "convmix"
    elif names and benchmark not in names:
        raise DataError(f"{path}: has the shape of {names[0]}, not of {benchmark}; set benchmark: {names[0]}")
    reader = READERS[benchmark]
    conversations = []
    for number, record in enumerate(records):
        if reader is single_questions.clocq_task and "question" not in record:
            continue  # other tasks ask for labels, facts and so on
        try:
            conversations.append(reader(record, number))
        except KeyError as error:
            raise DataError(f"{path}: conversation {number}: the key {error} is missing") from None
        except (TypeError, AttributeError) as error:
            raise DataError(f"{path}: conversation {number}: has another form: {one_line(error)}") from None
    for conversation in check_conversations(conversations, str(path)):
        for turn in conversation["questions"]:
            if turn.get("answers"):
                turn["answers"] = unique_entities(
                    contract_answer(answer["id"], answer["label"], turn["question"]) for answer in turn["answers"]
                )
    return conversations
