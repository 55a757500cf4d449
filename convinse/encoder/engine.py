"""The engine, which computes sequences of any lengths in batches by token budget, and its model backends."""

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
PER_TOKEN: tuple[Output, ...] = ("spans", "rewrite")  # with a row for each token, not each sequence
POINTER_SIZE = 64  # dimension of the queries and keys of the rewrite head
Arrays = tuple[np.ndarray, ...]
BLOCK = 4096  # texts, or pairs, that are tokenised together, while the block before is computed

T = TypeVar("T")
U = TypeVar("U")


class DeviceMemoryError(Exception):
    """A batch does not fit into the memory of a device."""


class ModelBackend(ABC):
    """A loaded model on a device, in a precision."""

    device: str
    precision: Precision  # never `auto`
    identity: str  # changes with the precision, and with all else that changes scores beyond rounding
    outputs: frozenset[Output]
    dimension: int  # of an embedding
    budget: int  # tokens of a batch that suit the device
    max_in_flight: int = 1  # batches started and not yet finished: on a GPU the next is prepared while one is computed
    workers: int = 1  # batches that are computed at the same time, each by its own cores
    overhead: int | None = None  # fixed time of a batch, in tokens that take as long; None: fill all batches

    @abstractmethod
    def start(self, sequences: Sequences, places: np.ndarray, outputs: Sequence[Output]) -> Callable[[], Arrays]:
        """Start to compute the sequences at `places` [b]; return a function that waits for a float32 array of each output.

        The arrays are `relevance` [b] log odds, `spans` [b, longest, 2] start and end logits, `embedding` [b, dimension], not yet of
        length 1, `yes_no` [b] log odds of "yes", `answer_type` [b, classes] logits, `rewrite` [b, longest, 4 * 64] (see `heads`).

        Raises:
            DeviceMemoryError: the batch does not fit; a smaller one may.
        """

    def free(self) -> None:
        """Free the memory cached for later batches."""


class Engine:
    """A runner of batches of at most `token_budget` tokens, padding counted (None: the backend's `budget`).

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
        """Compute all sequences; yield the places [b] and the arrays (see `ModelBackend.start`) of each batch, in any order.

        `padded=False` keeps sequences of different lengths apart: padding changes the last digits.

        Raises:
            ModelError: a single sequence does not fit into the device's memory.
        """
        waiting = deque(self._batches(sequences.lengths, padded))
        in_flight: deque[tuple[np.ndarray, Callable[[], Arrays]]] = deque()
        while waiting or in_flight:
            if waiting and len(in_flight) < self.backend.max_in_flight:
                places = waiting.popleft()
                try:
                    in_flight.append((places, self.backend.start(sequences, places, outputs)))
                except DeviceMemoryError as error:
                    longest, device = int(sequences.lengths[places].max()), self.backend.device
                    if len(places) == 1:
                        raise ModelError(
                            f"{device}: the memory does not hold one sequence of {longest} tokens; use device: cpu"
                        ) from error
                    self.token_budget = max(1, min(self.token_budget, longest * len(places)) // 2)
                    LOGGER.warning(
                        "%s: out of memory; batches of at most %d tokens from now on", device, self.token_budget
                    )
                    self.backend.free()
                    remaining = np.concatenate([places, *waiting])
                    waiting = deque(remaining[at] for at in self._batches(sequences.lengths[remaining], padded))
                continue
            places, result = in_flight.popleft()
            yield places, result()

    def _batches(self, lengths: np.ndarray, padded: bool) -> Iterable[np.ndarray]:
        overhead = self.backend.overhead
        if overhead is None or not padded:
            return token_batches(lengths, self.token_budget, padded)
        return shared_batches(lengths, self.token_budget, self.backend.workers, overhead)


def prepare_blocks(items: Sequence[T], prepare: Callable[[Sequence[T]], U]) -> Iterator[tuple[int, U]]:
    """Prepare items block by block; yield the place of a block's first item and the block, while a thread prepares the next."""
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
