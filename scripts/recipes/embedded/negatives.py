"""Texts that look like an answer and are none, and keys that keep equal texts in one part."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from convinse.passages.build import build_index
from convinse.passages.index import PassageIndex
from convinse.passages.layout import Parameters
from convinse.support.jsonlines import writing
from recipes.embedded.examples import Candidate, Example, Part

T = TypeVar("T")
Finder = Callable[[str, int, Container[str], Sequence[str]], list[Candidate]]
_DEPTH = 30  # hits that are looked through before random texts are taken
_WORD = re.compile(r"\w+")


def part_of(source: str, key: str) -> Part:
    """The part of the examples of a data set that have a key."""
    return Example("", (Candidate("", relevant=True),), source, key).part


def joined_keys(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The key that stands for each key, from pairs (key, text): keys that share a text have the same one.

    Without it a text under two titles could be learned in one part and measured in the other.
    """
    above: dict[str, str] = {}
    first: dict[str, str] = {}  # the key of a text

    def top(key: str) -> str:
        while (found := above.setdefault(key, key)) != key:
            key = found
        return key

    for key, text in pairs:
        one, other = sorted((top(key), top(first.setdefault(text, key))))
        above[other] = one
    return {key: top(key) for key in above}


@lru_cache(maxsize=50_000)
def _words(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def holds(text: str, answers: Iterable[str]) -> bool:
    """Whether one of the answers stands in a text, in any case and with any punctuation."""
    return any(_words(answer) in _words(text) if _words(answer).strip() else answer in text for answer in answers)


def negatives(texts: Iterable[str]) -> list[Candidate]:
    """Texts as irrelevant candidates, each once."""
    return [Candidate(text) for text in dict.fromkeys(texts)]


@contextmanager
def hard_texts(texts: Iterable[str], seed: int) -> Iterator[Finder]:
    """A function (query, number, not_of, answers) that finds the texts that BM25 takes for the best.

    Texts of `not_of` and those that hold one of `answers` are passed over. Where too few of the best are left, random
    ones follow; where these are too few, fewer come.

    Args:
        texts: of one data set and part; equal ones count once, and there must be one.
        seed: of the random ones.
    """
    pool = list(dict.fromkeys(texts))
    chance = random.Random(seed)
    with TemporaryDirectory(prefix="convinse-") as name:
        passages, index_folder = Path(name, "texts.jsonl"), Path(name, "index")
        with writing(passages) as write:
            for number, text in enumerate(pool):
                write({"id": str(number), "text": text})
        build_index(passages, index_folder, Parameters(language="en"), processes=1)
        index = PassageIndex(index_folder)

        def find(query: str, number: int, not_of: Container[str], answers: Sequence[str] = ()) -> list[Candidate]:
            places, _ = index.search_terms(index.analyzer.terms([query]), _DEPTH)
            found: list[str] = []
            for text in _best_then_random(pool, places.tolist(), chance):
                if len(found) == number:
                    break
                if text not in found and text not in not_of and not holds(text, answers):
                    found.append(text)
            return negatives(found)

        yield find


def parts_with_texts(
    source: str, rows: Iterable[T], key: Callable[[T], str], texts: Callable[[T], Iterable[str]], seed: int
) -> Iterator[tuple[list[T], Finder]]:
    """Of each part of a data set that has any: its rows, and what finds hard ones among their texts (`hard_texts`)."""
    rows = list(rows)
    for part in ("train", "dev"):
        own = [row for row in rows if part_of(source, key(row)) == part]
        if own:
            with hard_texts((text for row in own for text in texts(row)), seed) as find:
                yield own, find


def _best_then_random(pool: Sequence[str], best: Sequence[int], chance: random.Random) -> Iterator[str]:
    yield from (pool[place] for place in best)
    yield from chance.sample(pool, min(len(pool), _DEPTH))
