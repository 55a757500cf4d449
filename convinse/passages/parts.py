"""An index in several parts, searched as one: folders of this machine, or servers that have a part each."""

from __future__ import annotations

import functools
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Protocol, TypeVar

from ..support.errors import NetworkError
from .blocks import Passage
from .index import Hit, PassageIndex, RankedPassages
from .layout import Parameters, PartOfIndex

T = TypeVar("T")

MOST_PASSAGES = 10_000  # of an answer of a part
_BATCH = 16  # questions of a request
_BATCHES = 4  # of them under way
_AT_ONCE = 32  # requests to servers that are under way
_ATTEMPTS = 8  # searches of the same questions while servers come and go


class PassagePart(Protocol):
    """A part, wherever it is; numbers are those of its own passages."""

    part: PartOfIndex

    def search_all(self, questions: Sequence[str], top: int) -> list[list[Hit]]:
        """The best passages of the part for each question. Raises `NetworkError` where it cannot be asked."""

    def passages(self, numbers: Sequence[int]) -> list[Passage]:
        """Some passages. Raises `NetworkError` where it cannot be asked."""


class PassageParts:
    """Parts that are searched as one: the same passages, scores and order as in the same index in one piece.

    Each part scores its passages with what is known of the whole, so that their best ones need only be merged.

    Args:
        parts: all of one index, in their order.
        parameters: of that index.
        at_once: whether each part is asked by a thread of its own, as servers are.
        closing: called by `close`.
    """

    def __init__(
        self,
        parts: Sequence[PassagePart],
        parameters: Parameters,
        at_once: bool = False,
        closing: Callable[[], None] | None = None,
    ) -> None:
        self.parameters = parameters
        self._parts = parts
        self._starts = parts[0].part.starts
        self._threads = ThreadPoolExecutor(_AT_ONCE, "part") if at_once else None
        self._askers = ThreadPoolExecutor(_BATCHES, "batch") if at_once else None
        self._closing = closing
        self.build_id = parts[0].part.whole
        self.part = PartOfIndex(self.build_id, 1, (0, self._starts[-1]))  # as a part it is the only one

    def __len__(self) -> int:
        return self._starts[-1]

    def search(self, question: str, top: int = 10) -> list[Hit]:
        """The best `top` passages, best first, with their numbers in the whole.

        Raises:
            NetworkError: a part cannot be asked.
        """
        return self.search_all([question], top)[0]

    def search_all(self, questions: Sequence[str], top: int) -> list[list[Hit]]:
        """As `search`, for each question."""
        rankings = self._batched(functools.partial(self._search, top=top), questions, top)
        for ranked in rankings:
            for name, reason in ranked.missing.items():
                raise NetworkError(f"{name} of the passages: {reason}")
        return [ranked.hits for ranked in rankings]

    def find(self, question: str, top: int, texts: bool = True) -> RankedPassages:
        """The best `top` passages of the parts that can be asked, and which ones cannot.

        Raises:
            NetworkError: none can be asked.
        """
        return self.find_all([question], top, texts)[0]

    def find_all(self, questions: Sequence[str], top: int, texts: bool = True) -> list[RankedPassages]:
        """As `find`, for each question; one may lack a part that another has."""
        return self._batched(functools.partial(self._find, top=top, texts=texts), questions, top)

    def _batched(
        self, function: Callable[[Sequence[str]], list[RankedPassages]], questions: Sequence[str], top: int
    ) -> list[RankedPassages]:
        """What a function finds for batches of questions, of which servers are asked several at once."""
        size = max(1, min(_BATCH, MOST_PASSAGES // max(1, top)))
        batches = [questions[start : start + size] for start in range(0, len(questions), size)]
        return [*chain.from_iterable((self._askers.map if self._askers else map)(function, batches))]

    def _find(self, questions: Sequence[str], top: int, texts: bool) -> list[RankedPassages]:
        for _ in range(_ATTEMPTS):
            rankings = self._search(questions, top)
            missing = rankings[0].missing
            if len(missing) == len(self._parts):
                raise NetworkError(f"no part of the passages can be asked; {next(iter(missing.values()))}")
            if not texts:
                return rankings
            numbers = sorted({hit.number for ranked in rankings for hit in ranked.hits})
            try:
                known = dict(zip(numbers, self.passages(numbers), strict=True))
            except NetworkError as error:  # it has gone since; the next search knows
                last = error
            else:
                return [ranked._replace(passages=[known[hit.number] for hit in ranked.hits]) for ranked in rankings]
        raise last

    def _search(self, questions: Sequence[str], top: int) -> list[RankedPassages]:
        """The best passages for each question, without their texts."""

        def ask(part: PassagePart) -> list[list[Hit]] | NetworkError:
            try:
                answers = part.search_all(questions, top)
            except NetworkError as error:
                return error
            return [[hit._replace(number=hit.number + part.part.first) for hit in hits] for hits in answers]

        answers: list[list[list[Hit]]] = []
        missing: dict[str, str] = {}
        for part, answer in zip(self._parts, self._map(ask, self._parts), strict=True):
            if isinstance(answer, NetworkError):
                missing[f"part-{part.part.number}"] = str(answer)
            else:
                answers.append(answer)
        return [
            RankedPassages(
                sorted(chain.from_iterable(hits[place] for hits in answers), key=_best_first)[:top], [], missing
            )
            for place in range(len(questions))
        ]

    def passages(self, numbers: Sequence[int]) -> list[Passage]:
        """Passages by their numbers in the whole. Raises `NetworkError` where their part cannot be asked."""
        wanted: dict[int, list[int]] = {}
        for number in numbers:
            wanted.setdefault(bisect_right(self._starts, number) - 1, []).append(number)

        def ask(place: int) -> list[Passage]:
            first = self._starts[place]
            return self._parts[place].passages([number - first for number in wanted[place]])

        known: dict[int, Passage] = {}
        for own, passages in zip(wanted.values(), self._map(ask, [*wanted]), strict=True):
            known.update(zip(own, passages, strict=True))
        return [known[number] for number in numbers]

    def _map(self, function: Callable[..., T], values: Iterable[object]) -> list[T]:
        return [*(self._threads.map if self._threads else map)(function, values)]

    def close(self) -> None:
        """End the threads and the connections."""
        for threads in filter(None, (self._askers, self._threads)):
            threads.shutdown(cancel_futures=True)
        if self._closing is not None:
            self._closing()


def _best_first(hit: Hit) -> tuple[float, int]:
    return -hit.score, hit.number


AnyIndex = PassageIndex | PassageParts
