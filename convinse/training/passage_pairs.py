"""Judged passages to train on: `pairs.tsv` with its questions, negatives mined by BM25, questions held out."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ..formats.poleval.questions import numbered_questions
from ..passages.index import PassageIndex
from ..support.errors import DataError
from ..support.jsonlines import raw_lines
from ..support.progress import progress

_HEADER = ["question-id", "passage-id", "score"]


class JudgedQuestion(NamedTuple):
    """A question to train on or to validate with; passages are numbers of the index."""

    query: str
    right: tuple[int, ...]  # relevant passages, the highest scores first
    ranked: tuple[int, ...]  # the best passages by BM25, best first, relevant ones among them
    wrong: tuple[int, ...]  # passages judged as not relevant, then the rest of `ranked`


def read_pairs(path: Path) -> list[tuple[int, str, str, float]]:
    """Read the lines of `pairs.tsv`: number, question-id, passage-id, score; its header may be left out. Raises `DataError`."""
    pairs: list[tuple[int, str, str, float]] = []
    scores: dict[tuple[str, str], float] = {}
    for number, line in raw_lines(path):
        try:
            row = line.decode().split()
        except UnicodeDecodeError:
            raise DataError(f"{path}:{number}: is not UTF-8") from None
        if number == 1 and row == _HEADER:
            continue
        if len(row) != 3:
            raise DataError(f"{path}:{number}: expected question id, passage id and score, separated by tabs")
        question, passage, text = row
        try:
            score = float(text)
        except ValueError:
            raise DataError(f"{path}:{number}: the score '{text}' is not a number") from None
        if scores.setdefault((question, passage), score) != score:
            raise DataError(f"{path}:{number}: passage '{passage}' of question '{question}' has two scores")
        pairs.append((number, question, passage, score))
    if not pairs:
        raise DataError(f"{path}: no pairs; give lines of question id, passage id and score, separated by tabs")
    return pairs


def read_examples(
    pairs: Path, questions: Path, index: PassageIndex, candidates: int, quiet: bool = True
) -> list[JudgedQuestion]:
    """Read the questions of a file with their judged passages and the best `candidates` by BM25, in the order of the file.

    Raises `DataError` if a pair names a missing question or passage, or a question has no pair or no relevant passage.
    """
    numbered = numbered_questions(questions)
    judged: dict[str, list[tuple[float, int]]] = {question.id: [] for _, question in numbered}  # scores of passages
    lines = read_pairs(pairs)
    numbers = index.numbers(passage for _, _, passage, _ in lines)
    for line, name, passage, score in lines:
        if name not in judged:
            raise DataError(f"{pairs}:{line}: question '{name}' is not in {questions}")
        if passage not in numbers:
            raise DataError(f"{pairs}:{line}: passage '{passage}' is not in the index {index.folder}")
        judged[name].append((score, numbers[passage]))
    for line, question in numbered:
        if not any(score > 0 for score, _ in judged[question.id]):
            raise DataError(f"{questions}:{line}: question '{question.id}' has no pair with a score above 0 in {pairs}")
    examples = []
    with progress("mining negatives", len(numbered), "questions", quiet) as advance:
        for _, question in numbered:
            judgements = sorted(judged[question.id], key=lambda judgement: -judgement[0])
            ranked = [hit.number for hit in index.search(question.text, candidates)]
            right = dict.fromkeys(number for score, number in judgements if score > 0)
            wrong = [number for score, number in judgements if score <= 0] + ranked
            wrong = [number for number in dict.fromkeys(wrong) if number not in right]
            examples.append(JudgedQuestion(question.text, tuple(right), tuple(ranked), tuple(wrong)))
            advance()
    return examples


def hold_out(
    examples: Sequence[JudgedQuestion], share: float, seed: int
) -> tuple[list[JudgedQuestion], list[JudgedQuestion]]:
    """Split examples into a part to train on and a share to validate with (at least one each), both in order.

    Questions that share a relevant passage are in the same part. Raises `DataError` if all share passages.
    """
    parts = _connected(examples)
    if len(parts) < 2:
        raise DataError("no question can be held out to validate: give questions that do not share their passages")
    random.Random(seed).shuffle(parts)
    held: set[int] = set()
    for part in parts:
        if len(held) + len(part) <= share * len(examples):
            held.update(part)
    if not held:
        smallest = min(parts, key=len)
        held.update(smallest)
    train = [example for place, example in enumerate(examples) if place not in held]
    return train, [examples[place] for place in sorted(held)]


def _connected(examples: Sequence[JudgedQuestion]) -> list[list[int]]:
    first_with: dict[int, int] = {}
    pairs = [(first_with.setdefault(n, place), place) for place, example in enumerate(examples) for n in example.right]
    edges = coo_array((np.ones(len(pairs)), np.array(pairs).T), shape=(len(examples), len(examples)))
    parts: dict[int, list[int]] = {}
    for place, part in enumerate(connected_components(edges, directed=False)[1].tolist()):
        parts.setdefault(part, []).append(place)
    return list(parts.values())
