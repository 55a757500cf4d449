"""Silver representations: what leads to a gold answer, put into the slots of CONVINSE's structured representation.

The keys and their shape are those of CONVINSE's annotated files (Christmann et al., SIGIR 2022), so that its files can
be trained on here and the other way round.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypedDict

import msgspec

from ..config import Config
from ..language.answer_types import NAMED_KINDS, AnswerType, AnswerTypes
from ..language.text import Words, fold, words
from ..records.conversation import Turn
from ..records.evidence import Entity
from ..support.errors import DataError

SilverSR = tuple[list[str], list[str], list[str], str]  # context, question entities, predicate, answer type
_GivenSR = tuple[list[str], list[str], list[str], str | None]
_SURE = 0.5  # fit of a gold answer from which the type that the question asks for is taken to be the right one


class SilverMention(TypedDict):
    """Words of the conversation whose item leads to the gold answer, and how many of its evidences hold the answer."""

    turn: int
    part: Literal["question", "answer"]
    text: str
    item: Entity
    evidences: int


class AnnotatedTurn(Turn, total=False):
    """A turn after annotation: at most one representation, where something leads to an answer; the numbers of the earlier
    turns that it needs; and what leads to the answer, of this question and of the history."""

    silver_SR: list[SilverSR]  # noqa: N815 - CONVINSE's name
    silver_relevant_turns: list[int] | None
    silver_mentions: list[SilverMention]


class Leading(NamedTuple):
    """What leads to the answer of a turn: mentions of its own question, and of earlier turns."""

    own: list[SilverMention]
    history: list[SilverMention]


def silver_representation(
    leading: Leading, predicate: Sequence[str], answer_type: AnswerType, spoken: Iterable[str]
) -> SilverSR:
    """The slots: question entities are the question's own mentions with the history's as context, else the history's.

    A mention stands under its item's label where all words of that have been `spoken` in the conversation so far ("Cameron"
    after "James Cameron"), else as it was spoken: a model can only repeat.
    """
    known = {word for text in spoken for word in fold(text).split()}

    def names(mentions: Iterable[SilverMention]) -> list[str]:
        labels = ((mention["item"]["label"], mention["text"]) for mention in mentions)
        return list(dict.fromkeys(label if set(fold(label).split()) <= known else text for label, text in labels))

    own, history = names(leading.own), names(leading.history)
    context, entities = (history, own) if own else ([], history)
    return context, entities, [" ".join(predicate)] if predicate else [], answer_type.label


def predicate_words(question: str, language: Words, mentioned: Iterable[str], names: Iterable[str] = ()) -> list[str]:
    """The content words of a question outside of the given mentions, parts of the given names ("Aretha") left out."""
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
    """The type of the first gold answer: the one that the question asks for where it fits or nothing is known of the
    answer, else the answer's kind or class; `types_of` gives the labels of an item's classes, the nearest first.
    """
    answer, asked = answers[0], language.expected_type(question)
    is_item = answer["id"].startswith("Q")
    types = types_of(answer["id"]) if is_item else ()
    if is_item and not types:
        return asked
    if asked.kind not in ("any", "yesno") and language.fit(asked, answer["id"], types) >= _SURE:
        return asked
    kind = language.entity_kind(answer["id"], types)
    if kind in NAMED_KINDS or not types:
        return AnswerType(kind) if kind in NAMED_KINDS else asked
    return AnswerType("item", tuple(language.head(types[0]).split()))


def representation_text(silver: Any, delimiter: str, where: str) -> str | None:
    """The first of a turn's silver representations as the text that a model writes; None where there is none.

    Raises `DataError` where it is not of the format; the message begins with `where`.
    """
    if not silver:
        return None
    try:
        (context, entities, predicate, answer_type), *_ = msgspec.convert(silver, list[_GivenSR])
    except msgspec.ValidationError:
        raise DataError(
            f"{where}: silver_SR is no list of [context, entities, predicate, type], the first three lists"
        ) from None
    slots = [", ".join(context), ", ".join(entities), " ".join(predicate), answer_type or ""]
    return delimiter.join(" ".join(slot.split()) for slot in slots).strip()


def annotated_path(config: Config, part: str, folder: str | None = None) -> Path:
    """The annotated file of a part: in `folder`, else in the output folder of the configuration."""
    base = Path(folder).expanduser() if folder else Path(config.output_path) / config.name
    return base / f"annotated_{part}.json"


def annotated_parts(config: Config) -> list[Path]:
    """The annotated train and dev part that `train qu` learns from and validates on. Raises `DataError` if one is missing."""
    paths = [annotated_path(config, part, config.qu_training.annotated) for part in ("train", "dev")]
    for path in paths:
        if not path.is_file():
            raise DataError(
                f"{path}: no such file; run bash run.sh annotate, or name the folder in qu_training: annotated"
            )
    return paths
