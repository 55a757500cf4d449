"""Training of the extractive reader: the loss over windows with marked answers, and the loop around it.

All places of an answer in a window count together: the loss is the negative logarithm of the summed probability of
their starts, and of their ends (marginal likelihood; Clark and Gardner, ACL 2018). A window without an answer points at
[CLS], as in SQuAD 2.0 (Devlin et al., NAACL 2019).
"""

from __future__ import annotations

import copy
import dataclasses
import random
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ..encoder.batches import token_batches
from ..encoder.checkpoint import Checkpoint, quiet
from ..encoder.extractive_reader import ExtractiveReader
from .output import state_of
from .reader_examples import Features, ReadExample, features

if TYPE_CHECKING:
    import torch

    from .loop import FitResult, FitSettings

_CPU_BUDGET, _GPU_BUDGET = 4096, 16384  # tokens computed at a time; what is kept for the gradient fits into 16 GB
_AHEAD = 2  # steps whose features are made while one is computed

Measures = dict[str, float]


@dataclass(frozen=True)
class ReaderSettings:
    """How examples become steps.

    Attributes:
        fit: of the training loop.
        max_length: most tokens of a question and a window.
        stride: tokens that neighbouring windows share.
        negative_windows: share of the windows without an answer that are learned from, of texts that have one elsewhere.
        token_budget: most tokens computed at a time, padding counted; None for the device's default.
    """

    fit: FitSettings
    max_length: int = 512
    stride: int = 128
    negative_windows: float = 0.1
    token_budget: int | None = None


def train_reader(
    checkpoint: Checkpoint,
    steps_of: Callable[[int], Sequence[Sequence[ReadExample]]],
    validate: Callable[[ExtractiveReader], Measures],
    criterion: Callable[[Measures], float],
    settings: ReaderSettings,
    output: Path,
    run_id: str,
    *,
    reader: Callable[[Checkpoint], ExtractiveReader] | None = None,
    title: str,
    quiet: bool = False,
) -> FitResult:
    """Train a checkpoint in place; it ends with the weights of the best epoch. The model is not written.

    Args:
        checkpoint: a question-answering model.
        steps_of: the examples of each step of an epoch (1, 2, ...); the same for the same number, and as many in each.
        validate: measures of a reader made of the model as it stands.
        criterion: from these measures to the number that the best epoch maximises.
        settings: see there.
        output: the folder that the model is to be written to; the state of a stopped run is kept beside it.
        run_id: changes with data and settings; the state of another run is not used.
        reader: makes the reader to validate; it may change the checkpoint that it is given.
        title: of the progress bar.
        quiet: no progress.

    Raises:
        ModelError: the loss is not a number, or the state is damaged.
    """
    from ..encoder.precision import find_device
    from ..encoder.tokens import TextTokenizer
    from .loop import fit

    tokenizer = TextTokenizer.of(checkpoint, settings.max_length)
    budget = settings.token_budget
    if budget is None:
        budget = _GPU_BUDGET if find_device(settings.fit.device).type == "cuda" else _CPU_BUDGET

    def own_reader(copied: Checkpoint) -> ExtractiveReader:
        return ExtractiveReader(copied, settings.fit.device, max_length=settings.max_length, stride=settings.stride)

    def measure(model: Any) -> Measures:
        # the reader changes its model in place, and training goes on with this one
        copied = dataclasses.replace(checkpoint, model=copy.deepcopy(model))
        return validate((reader or own_reader)(copied))

    def features_of(epoch: int, number: int, examples: Sequence[ReadExample]) -> Features:
        chance = random.Random(f"{settings.fit.seed} {epoch} {number}")
        return features(examples, tokenizer, settings.stride, settings.negative_windows, chance)

    return fit(
        checkpoint.model,
        lambda epoch: _Steps(steps_of(epoch), lambda number, examples: features_of(epoch, number, examples)),
        lambda model, step: losses(model, step, budget),
        measure,
        criterion,
        settings.fit,
        state_of(output),
        run_id,
        title=title,
        quiet=quiet,
        keep_untrained=not checkpoint.missing,
    )


def losses(model: Any, step: Features, token_budget: int) -> Iterator[torch.Tensor]:
    """The loss of a step, as summands that are computed one after the other: the mean over its windows.

    Of a window it is the mean of the losses of start and end, each over the window's text and [CLS].
    """
    import torch

    from ..encoder.engine import model_inputs

    for places in token_batches(step.sequences.lengths, token_budget):
        inputs = model_inputs(model, step.sequences, places, model.device)
        output = model(**inputs)
        shape = inputs["input_ids"].shape
        columns = np.arange(shape[1])[None, :]
        allowed = (columns >= step.firsts[places][:, None]) & (columns < step.ends[places][:, None])
        allowed[:, 0] = True
        both = []
        for logits, gold in ((output.start_logits, step.starts), (output.end_logits, step.lasts)):
            right = np.zeros(shape, dtype=bool)
            for row, place in enumerate(places):
                right[row, gold[place]] = True
            both.append(_marginal(logits.float(), allowed, right))
        yield torch.stack(both).sum() / (2 * len(step.starts))


def _marginal(logits: torch.Tensor, allowed: np.ndarray, right: np.ndarray) -> torch.Tensor:
    """[b] minus the logarithm of the right places' summed probability among the allowed ones."""
    import torch

    def over(mask: np.ndarray) -> torch.Tensor:
        chosen = torch.from_numpy(mask).to(logits.device)
        return torch.logsumexp(logits.masked_fill(~chosen, -torch.inf), dim=1)

    return over(allowed) - over(right)


def add_tokens(checkpoint: Checkpoint, tokens: Sequence[str], seed: int) -> Checkpoint:
    """A checkpoint whose tokenizer keeps each of `tokens` as one; where it did not, its model gets new embeddings.

    The model and the tokenizer are changed in place.
    """
    import tokenizers
    import torch

    tokenizer, model = checkpoint.tokenizer, checkpoint.model
    backend = tokenizer.backend_tokenizer
    new = [token for token in tokens if backend.encode(token, add_special_tokens=False).tokens != [token]]
    if new:
        tokenizer.add_tokens(
            [tokenizers.AddedToken(token, special=True, normalized=False) for token in new], special_tokens=True
        )
        if len(tokenizer) > model.get_input_embeddings().num_embeddings:
            with quiet(), torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed)
                model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    return checkpoint


class _Steps(Sequence[Features]):
    """Steps whose features are made when they are needed, a few ahead, in a thread (tokenizers release the lock)."""

    def __init__(
        self, steps: Sequence[Sequence[ReadExample]], make: Callable[[int, Sequence[ReadExample]], Features]
    ) -> None:
        self._steps, self._make = steps, make

    def __len__(self) -> int:
        return len(self._steps)

    @overload
    def __getitem__(self, number: int) -> Features: ...
    @overload
    def __getitem__(self, number: slice) -> list[Features]: ...
    def __getitem__(self, number: int | slice) -> Features | list[Features]:
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
        return self._make(number, self._steps[number])

    def __iter__(self) -> Iterator[Features]:
        pool = ThreadPoolExecutor(1)
        try:
            waiting = [pool.submit(self.__getitem__, number) for number in range(min(_AHEAD, len(self)))]
            for number in range(len(self)):
                if number + _AHEAD < len(self):
                    waiting.append(pool.submit(self.__getitem__, number + _AHEAD))
                yield waiting.pop(0).result()
        finally:
            pool.shutdown(cancel_futures=True)
