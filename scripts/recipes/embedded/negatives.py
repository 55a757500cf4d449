"""Texts that look like an answer and do not answer, and keys that keep equal texts in one part."""

import random
import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

from convinse.language.language import english
from convinse.passages.build import build_index
from convinse.passages.index import PassageIndex
from convinse.passages.layout import Parameters
from convinse.support.jsonlines import writing
from recipes.embedded.examples import Candidate, Example

Finder = Callable[[str, int, Container[str], Sequence[str]], list[Candidate]]
_DEPTH = 30  # hits that are looked through before random texts are taken
_WORD = re.compile(r"\w+")
_RUN = 8  # words in a row that a text must not share with a held-out one


def joined_keys(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The key that stands for each key, from pairs (key, text): keys that share a text have the same one."""
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


def by_bm25(question: str, texts: Sequence[str]) -> list[str]:
    """The texts in the order of BM25, the best first."""
    return [texts[place] for place, _ in english().bm25.order(question, texts)] if texts else []


@contextmanager
def hard_texts(texts: Iterable[str], seed: int) -> Iterator[Finder]:
    """A function (query, number, not_of, answers) that finds the texts that BM25 ranks first."""
    pool = list(dict.fromkeys(texts))
    chance = random.Random(seed)
    with TemporaryDirectory(prefix="convinse-") as name:
        passages, index_folder = Path(name, "texts.jsonl"), Path(name, "index")
        with writing(passages) as write:
            for number, text in enumerate(pool):
                write({"id": str(number), "text": text})
        build_index(passages, index_folder, Parameters(language="en"), processes=1)
        index = PassageIndex(index_folder)

        def best_then_random(best: Sequence[int]) -> Iterator[str]:
            yield from (pool[place] for place in best)
            yield from chance.sample(pool, min(len(pool), _DEPTH))  # drawn only if it is needed

        def find(query: str, number: int, not_of: Container[str], answers: Sequence[str] = ()) -> list[Candidate]:
            places, _ = index.search_terms(index.analyzer.terms([query]), _DEPTH)
            found: list[str] = []
            for text in best_then_random(places.tolist()):
                if len(found) == number:
                    break
                if text not in found and text not in not_of and not holds(text, answers):
                    found.append(text)
            return negatives(found)

        yield find


class HeldOut:
    """The runs of eight words of held-out texts, in any case and with any punctuation."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._held = {run for text in set(texts) for run in self._runs(text)}
        self._meets = lru_cache(maxsize=None)(lambda text: not self._held.isdisjoint(self._runs(text)))

    def without(self, example: Example) -> Example | None:
        """The example without the candidates that have one of the runs; None if it loses all its relevant ones."""
        candidates = tuple(candidate for candidate in example.candidates if not self._meets(candidate.text))
        if not candidates or candidates[0].relevant != example.answered:
            return None
        return example if len(candidates) == len(example.candidates) else replace(example, candidates=candidates)

    def _runs(self, text: str) -> Iterator[int]:
        words = _WORD.findall(text.casefold())
        return (hash(tuple(words[place : place + _RUN])) for place in range(len(words) - _RUN + 1))
