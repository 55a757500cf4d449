"""The classes of an answer type head, from its file; read without PyTorch."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from ..support.errors import ModelError, one_line
from .checkpoint import ANSWER_TYPE

DATE, NUMBER, YES_NO, TEXT, OTHER = "date", "number", "yes or no", "text", "other item"
FORMAT = "convinse answer type head 1"
_LONGEST_HEADER = 1_000_000  # bytes: a damaged length is refused before so much memory is taken


@dataclass(frozen=True)
class AnswerClasses:
    """Classes, in the order of the head's outputs.

    Attributes:
        names: of classes by their ids: those of Wikidata's classes of items, or DATE, NUMBER, YES_NO, TEXT, OTHER.
        joined: classes of items that count as one of these; any other class counts as its nearest superclass, or as OTHER.
        settings: further keys of the head's file.
    """

    names: dict[str, str]
    joined: dict[str, str]
    settings: Mapping[str, str]

    @cached_property
    def place(self) -> dict[str, int]:
        """Return the place of every class."""
        return {name: place for place, name in enumerate(self.names)}

    @cached_property
    def verb_first(self) -> np.ndarray | None:
        """Return the [classes] shares of questions that begin with the verb, as those for yes or no do; None if unknown."""
        shares = self.settings.get("verb_first")
        return None if shares is None else np.array([float(share) for share in shares.split()])

    def with_grammar(self, probabilities: np.ndarray, verb_first: Sequence[bool]) -> np.ndarray:
        """Return the [n, classes] probabilities by the head (`probabilities`) and the place of the verb together.

        Questions that do not begin with the verb stay as they are.
        """
        if self.verb_first is None:
            return probabilities
        weighed = np.where(np.array(verb_first, dtype=bool)[:, None], probabilities * self.verb_first, probabilities)
        together: np.ndarray = weighed / weighed.sum(axis=1, keepdims=True)
        return together

    @classmethod
    def of_metadata(cls, metadata: Mapping[str, str]) -> AnswerClasses:
        """Read the classes in the metadata of a file. Raises `KeyError` or `ValueError` if they are missing or wrong."""
        rows = msgspec.json.decode(metadata["classes"], type=list[tuple[str, str, str]])
        joined = {member: root for root, _, members in rows for member in (root, *members.split())}
        settings = {key: value for key, value in metadata.items() if key not in ("format", "classes")}
        classes = cls({root: name for root, name, _ in rows}, joined, settings)
        if classes.verb_first is not None and len(classes.verb_first) != len(classes.names):
            raise ValueError(f"verb_first: {len(classes.verb_first)} shares for {len(classes.names)} classes")
        return classes

    def metadata(self) -> dict[str, str]:
        """Return the metadata of a safetensors file."""
        members: dict[str, list[str]] = {name: [] for name in self.names}
        for name, root in sorted(self.joined.items()):
            if name != root:
                members[root].append(name)
        rows = [[root, self.names[root], " ".join(names)] for root, names in members.items()]
        return {**self.settings, "format": FORMAT, "classes": msgspec.json.encode(rows).decode()}


def read_answer_classes(folder: Path) -> AnswerClasses:
    """Read the classes of the answer type head of a model folder. Raises `ModelError`."""
    path = folder / ANSWER_TYPE
    try:
        with path.open("rb") as file:
            (size,) = struct.unpack("<Q", file.read(8))
            if size > _LONGEST_HEADER:
                raise ValueError(f"a header of {size} bytes")
            header = msgspec.json.decode(file.read(size), type=dict[str, Any])
        metadata = msgspec.convert(header.get("__metadata__", {}), dict[str, str])
        if metadata.get("format") != FORMAT:
            raise ModelError(f"{path}: is not a '{FORMAT}'; train it anew with train embedded")
        return AnswerClasses.of_metadata(metadata)
    except (OSError, ValueError, KeyError, RecursionError, struct.error) as error:
        raise ModelError(
            f"{path}: cannot be read ({type(error).__name__}: {one_line(error)}); copy it from the model's folder anew"
        ) from error


def typed_text(question: str, in_full: str) -> str:
    """Return the input of the head: a question in full, followed by the original question unless its words are in that.

    The full form of "When?" may be the question before, with another name in it.
    """
    words, full = (" ".join(re.findall(r"\w+", text.casefold())) for text in (question, in_full))
    return in_full if f" {words} " in f" {full} " else f"{in_full} {question}"


def has_answer_type(folder: Path | None) -> bool:
    """Return True if a model folder has an answer type head."""
    return folder is not None and (folder / ANSWER_TYPE).is_file()
