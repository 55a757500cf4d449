"""Finished runs of the pipeline (`turns.jsonl`), question by question, to compare them.

A conversation is in memory at a time: a turn with 100 evidences is about 60 KB. A JSON list, as CONVINSE writes its
results, is read whole.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..formats.convmix import read_records
from ..formats.run_folder import TURNS
from ..records.conversation import Conversation, Turn, check_measurable
from ..support.errors import DataError, ScoringError
from ..support.jsonlines import read_lines
from ..support.manifest import BY_HAND, check_folder
from .convqa import measure_anew, normalize_id


def gold_ids(turn: Turn) -> frozenset[str]:
    """Return the ids of the gold answers of a turn, normalised for comparison."""
    return frozenset(normalize_id(answer["id"]) for answer in turn["answers"])


def measured_conversations(path: Path) -> Iterator[tuple[Conversation, str, dict[str, Turn]]]:
    """Yield the conversations of a `turns.jsonl` or of a JSON list (`.json`), their groups, and their turns with gold answers by id.

    Turns have their measures; the id is the `question_id`, else `conv_id` and `turn` joined by a hyphen. The turns of a group depend
    on each other: those of a conversation, or of the conversations with the same `group`, the benchmarks' key for other wordings
    of a conversation. The file is plain or packed. Raises `DataError`.
    """
    check_folder(path.parent, DataError, remedy=f"run it again, {BY_HAND}")
    seen: set[str] = set()
    measured = False
    for where, conversation in _placed(path):
        check_measurable([conversation], where)
        measure_anew([conversation])
        group = conversation.get("group")
        name = f"conversation {conversation['conv_id']}" if group is None else f"group {group}"
        turns: dict[str, Turn] = {}
        for index, turn in enumerate(conversation["questions"]):
            question_id = str(turn.get("question_id") or f"{conversation['conv_id']}-{turn.get('turn', index)}")
            if question_id in seen:
                raise DataError(f"{where}: question '{question_id}' is given twice; question_id must be unique")
            seen.add(question_id)
            if turn.get("answers"):
                turns[question_id] = turn
        measured = measured or bool(turns)
        yield conversation, name, turns
    if not measured:
        raise DataError(f"{path}: no question has gold answers; give the {TURNS} of a run over questions that have")


def _placed(path: Path) -> Iterator[tuple[str, Any]]:
    # records of the file with their places
    if ".json" not in path.suffixes:
        for number, record in read_lines(path):
            yield f"{path}:{number}", record
        return
    records = read_records(path)
    if not isinstance(records, list):
        raise DataError(f"{path}: holds no list of conversations; lines of JSON belong in a file named .jsonl")
    for number, record in enumerate(records, 1):
        yield f"{path}: number {number} of the list", record


def run_name(path: Path) -> str:
    """Return the name of a run: `NAME-SOURCES` of `results/NAME/SOURCES/turns.jsonl`, else the name of the file.; white space becomes `_`."""
    path = Path(os.path.realpath(path))
    name = path.name.removesuffix(".gz").removesuffix(".jsonl").removesuffix(".json")
    if path.name == TURNS:
        name = "-".join(path.parts[-3:-1])
    return "_".join(name.split())


def check_same_questions(
    first: Mapping[str, frozenset[str]], first_path: Path, second: Mapping[str, frozenset[str]], second_path: Path
) -> None:
    """Raise `ScoringError` unless two runs hold the same questions with the same gold answers (ids by question id)."""
    for here, here_path, there, there_path in (
        (first, first_path, second, second_path),
        (second, second_path, first, first_path),
    ):
        missing = [question_id for question_id in here if question_id not in there]
        if missing:
            raise ScoringError(
                f"{there_path}: {len(missing)} of the {len(here)} questions of {here_path} are missing, the first is "
                f"'{missing[0]}'; run both over the same conversations to the end (pipeline, --limit, --part)"
            )
    for question_id, gold in first.items():
        if second[question_id] != gold:
            raise ScoringError(
                f"{second_path}: question '{question_id}' has other gold answers than in {first_path}; run both over "
                "the same conversations"
            )
