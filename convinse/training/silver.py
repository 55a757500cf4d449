"""Silver representations: mentions that lead to a gold answer, in the slots of CONVINSE's structured representation.

Keys and shapes are those of CONVINSE's annotated files (Christmann et al., SIGIR 2022): models can be trained on its files
here and the other way round.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict

import msgspec

from ..config import Config
from ..language.answer_types import NAMED_KINDS, AnswerType, AnswerTypes
from ..language.text import Words, fold, words
from ..records.conversation import Turn
from ..records.evidence import Entity
from ..records.literals import is_item
from ..support.errors import DataError

SilverSR = tuple[list[str], list[str], list[str], str]  # context, question entities, predicate, answer type
_ReadSR = tuple[list[str], list[str], list[str], str | None]
_SURE = 0.5  # least fit of a gold answer to the type of the question that makes this type the silver one


class SilverMention(TypedDict):
    """Words of the conversation whose item leads to the gold answer, and how many of its evidences hold the answer."""

    turn: int
    part: Literal["question", "answer"]
    text: str
    item: Entity
    evidences: int


class AnnotatedTurn(Turn, total=False):
    """A turn after annotation."""

    silver_SR: list[SilverSR]  # noqa: N815 - CONVINSE's name; at most one, none if nothing leads to an answer
    silver_relevant_turns: list[int] | None  # the numbers of the earlier turns that the representation needs
    silver_mentions: list[SilverMention]  # those of the question and the history that lead to the answer


# the mentions that lead to the answer of a turn: those of its question, and of earlier turns
LeadingMentions = tuple[list[SilverMention], list[SilverMention]]


def silver_representation(
    leading: LeadingMentions, predicate: Sequence[str], answer_type: AnswerType, spoken: Iterable[str]
) -> SilverSR:
    """Return the slots: question entities are the question's mentions with the history's as context, else the history's.

    A mention stands under its item's label if all words of that were `spoken` in the conversation so far ("Cameron" after
    "James Cameron"), else as it was spoken: a model can only repeat.
    """
    spoken_words = {word for text in spoken for word in fold(text).split()}

    def names(mentions: Iterable[SilverMention]) -> list[str]:
        labels = ((mention["item"]["label"], mention["text"]) for mention in mentions)
        return list(
            dict.fromkeys(label if set(fold(label).split()) <= spoken_words else text for label, text in labels)
        )

    mentioned, history = map(names, leading)
    context, entities = (history, mentioned) if mentioned else ([], history)
    return context, entities, [" ".join(predicate)] if predicate else [], answer_type.label


def predicate_words(question: str, language: Words, mentioned: Iterable[str], names: Iterable[str] = ()) -> list[str]:
    """Return the content words of a question outside of its mentions and without parts of names ("Aretha")."""
    rest = question
    for surface in sorted(mentioned, key=len, reverse=True):
        rest = re.sub(rf"(?<!\w){re.escape(surface)}(?!\w)", " ", rest, count=1, flags=re.IGNORECASE)
    left_out = language.stop_words | language.fillers
    in_names = {word for name in names for word in fold(name).split()}
    return [
        word
        for word in words(rest)
        if fold(word) and fold(word) not in left_out and not (word[0].isupper() and fold(word) in in_names)
    ]


def silver_type(
    question: str, answers: Sequence[Entity], language: AnswerTypes, types_of: Callable[[str], Sequence[str]]
) -> AnswerType:
    """Return the type of the first gold answer: the question's if it fits or the answer has no class, else the answer's.

    `types_of` returns the labels of an item's classes, the nearest first.
    """
    answer, expected = answers[0], language.expected_type(question)
    has_classes = is_item(answer["id"])
    types = types_of(answer["id"]) if has_classes else ()
    if has_classes and not types:
        return expected
    if expected.kind not in ("any", "yesno") and language.fit(expected, answer["id"], types) >= _SURE:
        return expected
    kind = language.entity_kind(answer["id"], types)
    if kind in NAMED_KINDS or not types:
        return AnswerType(kind) if kind in NAMED_KINDS else expected
    return AnswerType("item", tuple(language.head(types[0]).split()))


def representation_text(silver: Any, delimiter: str, where: str) -> str | None:
    """Return the first of a turn's silver representations as the text that a model writes; None if the turn has none.

    Raises `DataError` if it is not of the format; the message begins with `where`.
    """
    if not silver:
        return None
    try:
        (context, entities, predicate, answer_type), *_ = msgspec.convert(silver, list[_ReadSR])
    except msgspec.ValidationError:
        raise DataError(
            f"{where}: silver_SR is not a list of [context, entities, predicate, type], the first three lists"
        ) from None
    slots = [", ".join(context), ", ".join(entities), " ".join(predicate), answer_type or ""]
    return delimiter.join(" ".join(slot.split()) for slot in slots).strip()


def annotated_path(config: Config, part: str) -> Path:
    """Return the annotated file of a part, in the output folder of the configuration."""
    return Path(config.output_path) / config.name / f"annotated_{part}.json"


def annotated_parts(config: Config) -> list[Path]:
    """Return the annotated train and dev part, for `train qu`. Raises `DataError` if a file is missing."""
    paths = [annotated_path(config, part) for part in ("train", "dev")]
    for path in paths:
        if not path.is_file():
            raise DataError(f"{path}: no such file; run bash run.sh annotate with the same output_path and name")
    return paths
