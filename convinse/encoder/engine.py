"""The engine: sequences of any lengths through a model, in batches by token budget, on a backend."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal, TypeVar

import numpy as np

from ..config import Precision
from ..support.errors import ModelError
from .batches import shared_batches, token_batches
from .tokens import Sequences

LOGGER = logging.getLogger(__name__)
Output = Literal["relevance", "spans", "embedding", "yes_no", "answer_type", "rewrite"]
PER_TOKEN: tuple[Output, ...] = ("spans", "rewrite")  # with numbers of each token
POINTER = 64  # numbers of a query and of a key of the rewrite head
Arrays = tuple[np.ndarray, ...]
BLOCK = 4096  # texts, or pairs, that are tokenised while those before are computed

T = TypeVar("T")
U = TypeVar("U")


class DeviceMemoryError(Exception):
    """The memory of a device does not hold a batch."""


class ModelBackend(ABC):
    """A model that is loaded, on a device, in a precision."""

    device: str
    precision: Precision  # never `auto`
    identity: str  # changes with the precision, and with what else changes scores beyond rounding
    outputs: frozenset[Output]
    dimension: int  # of an embedding
    budget: int  # tokens of a batch that suit the device
    ahead: int = 1  # most batches in flight: on a GPU the next is put together while one is computed
    workers: int = 1  # batches that are computed at the same time, by cores of their own
    overhead: int | None = None  # of a batch, as the tokens that take the same time; None: only full batches are fast

    @abstractmethod
    def start(self, sequences: Sequences, places: np.ndarray, outputs: Sequence[Output]) -> Callable[[], Arrays]:
        """Begin to compute the sequences at [b] places; return a function that returns a float32 array for every output.

        These are `relevance` [b] log odds, `spans` [b, longest, 2] start and end logits, `embedding` [b, dimension], not yet of
        length 1, `yes_no` [b] log odds of "yes", `answer_type` [b, classes] logits, `rewrite` [b, longest, 4 * 64] (see `heads`).

        Raises:
            DeviceMemoryError: a smaller batch may do.
        """

    def free(self) -> None:
        """Free memory that is held for later batches."""


class Engine:
    """A runner of batches of at most `token_budget` tokens, padding counted (None: what suits the backend).

    When a batch does not fit into the device's memory, the budget is reduced for the rest of the engine's life.
    """

    def __init__(self, backend: ModelBackend, token_budget: int | None = None) -> None:
        self.backend = backend
        self.token_budget = token_budget or backend.budget

    @property
    def precision(self) -> Precision:
        """Return the precision of the backend."""
        return self.backend.precision

    def run(
        self, sequences: Sequences, outputs: Sequence[Output], padded: bool = True
    ) -> Iterator[tuple[np.ndarray, Arrays]]:
        """Yield the places [b] and the arrays of `ModelBackend.start` of every batch, in any order.

        `padded=False` keeps sequences of different lengths apart: padding changes the last digits.

        Raises:
            ModelError: a single sequence does not fit into the device's memory.
        """
        waiting = deque(self._batches(sequences.lengths, padded))
        flying: deque[tuple[np.ndarray, Callable[[], Arrays]]] = deque()
        while waiting or flying:
            if waiting and len(flying) < self.backend.ahead:
                places = waiting.popleft()
                try:
                    flying.append((places, self.backend.start(sequences, places, outputs)))
                except DeviceMemoryError as error:
                    longest, device = int(sequences.lengths[places].max()), self.backend.device
                    if len(places) == 1:
                        raise ModelError(
                            f"{device}: the memory does not hold one sequence of {longest} tokens; lower evs_max_length or "
                            "use device: cpu"
                        ) from error
                    self.token_budget = max(1, min(self.token_budget, longest * len(places)) // 2)
                    LOGGER.warning(
                        "%s: out of memory; batches of at most %d tokens from now on", device, self.token_budget
                    )
                    self.backend.free()
                    rest = np.concatenate([places, *waiting])
                    waiting = deque(rest[batch] for batch in self._batches(sequences.lengths[rest], padded))
                continue
            places, result = flying.popleft()
            yield places, result()

    def _batches(self, lengths: np.ndarray, padded: bool) -> Iterable[np.ndarray]:
        overhead = self.backend.overhead
        if overhead is None or not padded:
            return token_batches(lengths, self.token_budget, padded)
        return shared_batches(lengths, self.token_budget, self.backend.workers, overhead)


def prepared(items: Sequence[T], prepare: Callable[[Sequence[T]], U]) -> Iterator[tuple[int, U]]:
    """Yield the place of each block's first item and the prepared block, the next prepared while the caller computes."""
    starts = range(0, len(items), BLOCK)
    if len(starts) < 2:
        yield from ((start, prepare(items)) for start in starts)
        return
    with ThreadPoolExecutor(1, "tokenising") as pool:
        blocks = deque([pool.submit(prepare, items[:BLOCK])])
        for start in starts:
            block = blocks.popleft().result()
            if start + BLOCK < len(items):
                blocks.append(pool.submit(prepare, items[start + BLOCK : start + 2 * BLOCK]))
            yield start, block
