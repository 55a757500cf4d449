"""An index in several parts, searched as one: folders of this machine, or servers that have a part each."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

from ..support.errors import NetworkError
from .blocks import Passage
from .index import Hit, PassageIndex, RankedPassages
from .layout import Parameters, PartOfIndex

T = TypeVar("T")

_AT_ONCE = 32  # requests to servers that are under way
_ATTEMPTS = 8  # searches of one question while servers come and go


class PassagePart(Protocol):
    """A part, wherever it is; numbers are those of its own passages."""

    part: PartOfIndex

    def search(self, question: str, top: int) -> list[Hit]:
        """The best passages of the part. Raises `NetworkError` where it cannot be asked."""

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
        hits, missing = self._search(question, top)
        for name, reason in missing.items():
            raise NetworkError(f"{name} of the passages: {reason}")
        return hits

    def find(self, question: str, top: int, texts: bool = True) -> RankedPassages:
        """The best `top` passages of the parts that can be asked, and which ones cannot.

        Raises:
            NetworkError: none can be asked.
        """
        for _ in range(_ATTEMPTS):
            hits, missing = self._search(question, top)
            if len(missing) == len(self._parts):
                raise NetworkError(f"no part of the passages can be asked; {next(iter(missing.values()))}")
            try:
                return RankedPassages(hits, self.passages([hit.number for hit in hits]) if texts else [], missing)
            except NetworkError as error:  # it has gone since; the next search knows
                last = error
        raise last

    def _search(self, question: str, top: int) -> tuple[list[Hit], dict[str, str]]:
        def ask(part: PassagePart) -> list[Hit] | NetworkError:
            try:
                return [hit._replace(number=hit.number + part.part.first) for hit in part.search(question, top)]
            except NetworkError as error:
                return error

        hits: list[Hit] = []
        missing: dict[str, str] = {}
        for part, answer in zip(self._parts, self._map(ask, self._parts), strict=True):
            if isinstance(answer, NetworkError):
                missing[f"part-{part.part.number}"] = str(answer)
            else:
                hits += answer
        return sorted(hits, key=lambda hit: (-hit.score, hit.number))[:top], missing

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
        if self._threads is not None:
            self._threads.shutdown(cancel_futures=True)
        if self._closing is not None:
            self._closing()


AnyIndex = PassageIndex | PassageParts
