"""The table of all data sets, `data_sets.yml`, whose head says what each key is."""

import random
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from recipes.sources import records

Format = Literal[
    "mrqa", "own", "lines", "sentences", "supporting", "unanswerable", "mismatched", "pairs", "sections", "cells", "nodes", "articles",
    "linked", "templates", "written", "conversations",
]  # fmt: skip


class DataSet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    content: str
    licence: str
    format: Format = "mrqa"
    files: list[str] = []
    apart: list[str] = []
    origin: str = ""
    kind: str = ""
    share: float = 1.0
    near: int = 2
    hard: int = 1
    random: bool = False
    titled: bool = True
    tokenised: bool = False


class YesNoSet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    content: str
    licence: str
    files: list[str]
    question: str
    passage: str
    key: str
    share: float = 1.0


class TalkSet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    file: str
    licence: str
    question: str | int = "question"
    once: bool = False
    escaped: bool = False
    skipped: int = 0


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    sets: dict[str, DataSet]
    yes_no: dict[str, YesNoSet]
    talk: list[TalkSet]


_TABLE = msgspec.yaml.decode(Path(__file__).with_suffix(".yml").read_bytes(), type=_Table)
DATA_SETS, YES_NO_SETS, TALK_SETS = _TABLE.sets, _TABLE.yes_no, _TABLE.talk
READING_FILES = {name: declared for name, declared in DATA_SETS.items() if declared.format == "mrqa"}
ARTICLES = [name for name, declared in READING_FILES.items() if declared.kind == "wikipedia" and declared.titled]


class Source(NamedTuple):
    """A set of the table with what its reader needs; equal sources give the same examples."""

    name: str
    declared: DataSet
    data: Path  # the folder of shared data
    seed: int
    work: Path = Path()  # where the knowledge base is built and kept

    def lines(self) -> Iterator[Any]:
        """The records of all files. Raises `DataError` if one is missing."""
        return chain.from_iterable(records(self.data, file) for file in self.declared.files)

    def chance(self) -> random.Random:
        return random.Random(f"{self.name} {self.seed}")
