"""The files that a reader is trained on and validated with: found by name, read without what is not needed, sampled."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from ..formats.mrqa import read_plain
from ..formats.mrqa_baseline import file_names
from ..support.errors import ConfigError, DataError, nearest, one_line
from .reader import ReadExample

T = TypeVar("T")


class DevQuestion(NamedTuple):
    """A question to validate on."""

    qid: str
    question: str
    context: str
    answers: list[str]


def find_sets(folders: Sequence[Path], key: str, wanted: Sequence[str] | None = None) -> dict[str, Path]:
    """The files NAME.jsonl and NAME.jsonl.gz of some folders, by NAME; or those of the wanted names, in their order.

    Raises:
        ConfigError: a folder cannot be listed or has none, a name is there twice, or a wanted one is not.
    """
    sets: dict[str, Path] = {}
    for folder in folders:
        try:
            paths = sorted(folder.iterdir())
        except OSError as error:
            raise ConfigError(f"{key}: {one_line(error)}; download MRQA data or name another folder (--data)") from None
        paths = [path for path in paths if path.name.endswith((".jsonl", ".jsonl.gz"))]
        if not paths:
            raise ConfigError(f"{key}: {folder}: no NAME.jsonl or NAME.jsonl.gz there; download MRQA data")
        for path in paths:
            name = path.name.removesuffix(".gz").removesuffix(".jsonl")
            if sets.setdefault(name, path) != path:
                raise ConfigError(f"{key}: {path}: the data set is there twice, the other file is {sets[name]}")
    if wanted is None:
        return sets
    chosen = {}
    for name in wanted:
        known = next((known for known in (name, *file_names(name)) if known in sets), None)
        if known is None:
            raise ConfigError(
                f"train_sets: no {name}.jsonl or {name}.jsonl.gz in {folders[0]}; {nearest(name, list(sets))}"
            )
        chosen[known] = sets[known]
    return chosen


def train_examples(path: Path, number: int | None, seed: int) -> list[ReadExample]:
    """Questions of a file, `number` of them drawn at random, as examples; the others are not kept in memory.

    A question whose answers are nowhere in its context is left out, unless it is marked as `is_impossible`.

    Raises:
        DataError: the file cannot be read, a span is outside of the context, or no question is left.
    """

    def read() -> Iterator[ReadExample]:
        for context, question, line in read_plain(path):
            spans = sorted({span for answer in question.detected_answers for span in answer.char_spans})
            for start, end in spans:
                if not 0 <= start <= end < len(context):
                    raise DataError(
                        f"{path}:{line}: qid '{question.qid}': the character span [{start}, {end}] is outside of the "
                        f"context ({len(context)} characters)"
                    )
            if spans or question.is_impossible:
                yield ReadExample(question.question, context, tuple((start, end + 1) for start, end in spans))

    return _drawn(path, read(), number, seed, "no question with an answer in its context")


def dev_questions(path: Path, number: int | None, seed: int) -> list[DevQuestion]:
    """Questions of a file that have accepted answers, `number` of them drawn at random. Raises `DataError`."""
    answered = (
        DevQuestion(question.qid, question.question, context, question.answers)
        for context, question, _ in read_plain(path)
        if question.answers
    )
    return _drawn(path, answered, number, seed, "no question with accepted answers")


def _drawn(path: Path, items: Iterable[T], number: int | None, seed: int, none: str) -> list[T]:
    """All items, or a random sample of them in which each is as likely (Vitter's algorithm R)."""
    chance = random.Random(f"{seed} {path.name}")
    kept: list[T] = []
    for place, item in enumerate(items):
        if number is None or place < number:
            kept.append(item)
        elif (instead := chance.randrange(place + 1)) < number:
            kept[instead] = item
    if not kept:
        raise DataError(f"{path}: {none}")
    return kept


def mixed_steps(
    sets: Sequence[Sequence[ReadExample]], batch_size: int, parts: int, number: int, seed: int
) -> list[list[ReadExample]]:
    """The steps of a part of an epoch, each drawn over all sets by their sizes; the order is another in each epoch.

    All parts of an epoch have as many steps; `number` (1, 2, ...) goes on through all epochs. Sizes of steps, `batch_size`
    at most, differ by one at most.
    """
    epoch, part = divmod(number - 1, parts)
    chance = random.Random(f"{seed} {epoch}")
    order = []
    for which, examples in enumerate(sets):
        places = list(range(len(examples)))
        chance.shuffle(places)
        # equally far from one another, so that any stretch of the order holds each set's share
        order += [((rank + chance.random()) / len(places), which, place) for rank, place in enumerate(places)]
    order.sort()
    per_part = max(1, -(-len(order) // (batch_size * parts)))
    steps, total = per_part * parts, len(order)
    bounds = [total * step // steps for step in range(part * per_part, (part + 1) * per_part + 1)]
    return [
        [sets[which][place] for _, which, place in order[start:end]]
        for start, end in zip(bounds, bounds[1:], strict=False)
    ]
