"""What the embedded model learns from: a query with candidate texts, the answers marked in those that hold them."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

Part = Literal["train", "dev"]
Spans = tuple[tuple[int, int], ...]  # character offsets (start, end)
_DEV_SHARE = 10  # one key of ten is held out
_CHOOSING_SHARE = 5  # one of five of these


@dataclass(frozen=True)
class Candidate:
    """A text that may answer the query."""

    text: str
    relevant: bool = False
    spans: Spans = ()  # where its answers stand; any one of them is right
    readable: bool = True  # False for a relevant text whose answer is not marked: it is ranked, its span is not learned

    def __post_init__(self) -> None:
        assert all(0 <= start < end <= len(self.text) for start, end in self.spans), self
        assert self.relevant or not self.spans, self


@dataclass(frozen=True)
class Example:
    """A query and its candidates."""

    query: str  # a question, or the representation of a turn
    candidates: tuple[Candidate, ...]  # relevant ones first, then negatives, the hardest first
    source: str  # the data set, such as `qamr`
    key: str  # the sentence, document, table or item that the example is about; it is in one part only
    group: str = ""  # texts of one example are negatives of others in a batch unless their groups are equal

    def __post_init__(self) -> None:
        relevant = [candidate.relevant for candidate in self.candidates]
        assert relevant and relevant == sorted(relevant, reverse=True), self

    @property
    def answered(self) -> bool:
        return self.candidates[0].relevant

    @property
    def part(self) -> Part:
        return part_of_key(self.key)

    @property
    def chooses(self) -> bool:
        return chooses(self.key)


def part_of_key(key: str) -> Part:
    """The part of examples with a key: the same page is in the same part of all data sets."""
    return "dev" if digest(key, 0) % _DEV_SHARE == 0 else "train"


def chooses(key: str) -> bool:
    """Whether held-out examples with a key may choose epochs and calibrate; figures are reported on the others alone."""
    return digest(key, 4) % _CHOOSING_SHARE == 0


def digest(key: str, place: int = 0) -> int:
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[place : place + 4], "big")


def reported(examples: Iterable[Example]) -> Iterator[Example]:
    """The examples that figures are reported on: held out, and nothing was chosen by them."""
    return (example for example in examples if example.part == "dev" and not example.chooses)
