"""What an answer type head tells apart, as its file says it; read without PyTorch."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import msgspec
import numpy as np

from ..support.errors import ModelError, one_line
from .checkpoint import ANSWER_TYPE

DATE, NUMBER, YES_NO, TEXT, OTHER = "date", "number", "yes or no", "text", "other item"
FORMAT = "convinse answer type head 1"
_LONGEST_HEADER = 1_000_000


class _Header(msgspec.Struct):
    metadata: dict[str, str] = msgspec.field(name="__metadata__", default_factory=dict)


@dataclass(frozen=True)
class AnswerClasses:
    """Classes, in the order of the head's outputs.

    Attributes:
        names: of each class, by its id: that of a class of Wikidata's items, or DATE, NUMBER, YES_NO, TEXT, OTHER.
        joined: classes of items that count as one of these; any other class as the nearest one above it, or as OTHER.
        settings: what else the head's file says; `verb_first`, if there, is of each class the share of its questions that begin
            with the verb, as questions for yes or no do.
    """

    names: dict[str, str]
    joined: dict[str, str]
    settings: Mapping[str, str]

    @cached_property
    def place(self) -> dict[str, int]:
        """The place of each class."""
        return {name: place for place, name in enumerate(self.names)}

    @cached_property
    def verb_first(self) -> np.ndarray | None:
        """[classes] share of the questions of each class that begin with the verb; None where nothing is known of it."""
        shares = self.settings.get("verb_first")
        return None if shares is None else np.array([float(share) for share in shares.split()])

    def with_grammar(self, chances: np.ndarray, verb_first: Sequence[bool]) -> np.ndarray:
        """Probabilities of questions, as the words of the head and the place of the verb tell them together.

        Args:
            chances: [n, classes] by the head.
            verb_first: of each question whether it begins with the verb; other questions stay as they are.
        """
        if self.verb_first is None:
            return chances
        weighed = np.where(np.array(verb_first, dtype=bool)[:, None], chances * self.verb_first, chances)
        together: np.ndarray = weighed / weighed.sum(axis=1, keepdims=True)
        return together

    @classmethod
    def of_metadata(cls, metadata: Mapping[str, str]) -> AnswerClasses:
        """The classes that a file tells (`metadata`). Raises `KeyError` or `ValueError`: it tells none."""
        rows = msgspec.json.decode(metadata["classes"], type=list[tuple[str, str, str]])
        joined = {member: root for root, _, members in rows for member in (root, *members.split())}
        settings = {key: value for key, value in metadata.items() if key not in ("format", "classes")}
        classes = cls({root: name for root, name, _ in rows}, joined, settings)
        try:
            if classes.verb_first is not None and len(classes.verb_first) != len(classes.names):
                raise ValueError(f"{len(classes.verb_first)} shares for {len(classes.names)} classes")
        except ValueError as error:
            raise ValueError(f"verb_first: {error}") from None
        return classes

    def metadata(self) -> dict[str, str]:
        """As a safetensors file keeps it."""
        members: dict[str, list[str]] = {name: [] for name in self.names}
        for name, root in sorted(self.joined.items()):
            if name != root:
                members[root].append(name)
        rows = [[root, self.names[root], " ".join(own)] for root, own in members.items()]
        return {**self.settings, "format": FORMAT, "classes": msgspec.json.encode(rows).decode()}


def read_answer_classes(folder: Path) -> AnswerClasses:
    """The classes of the answer type head of a model folder.

    Raises:
        ModelError: it has none, or its file is damaged.
    """
    path = folder / ANSWER_TYPE
    try:
        with path.open("rb") as file:
            (size,) = struct.unpack("<Q", file.read(8))
            if size > _LONGEST_HEADER:
                raise ValueError(f"a header of {size} bytes")
            metadata = msgspec.json.decode(file.read(size), type=_Header).metadata
        if metadata.get("format") != FORMAT:
            raise ModelError(f"{path}: is no '{FORMAT}'; train it anew with train embedded")
        return AnswerClasses.of_metadata(metadata)
    except (OSError, ValueError, KeyError, RecursionError, struct.error) as error:
        raise ModelError(
            f"{path}: cannot be read ({type(error).__name__}: {one_line(error)}); copy it from the model's folder anew"
        ) from error


def typed_text(question: str, in_full: str) -> str:
    """What the head reads: a question in full, and behind it as asked, where its own words are not in that.

    The full form of "When?" may be the question before, with another name in it.
    """
    own, full = (" ".join(re.findall(r"\w+", text.casefold())) for text in (question, in_full))
    return in_full if f" {own} " in f" {full} " else f"{in_full} {question}"


def has_answer_type(folder: Path | None) -> bool:
    """Whether a model folder has an answer type head."""
    return folder is not None and (folder / ANSWER_TYPE).is_file()
