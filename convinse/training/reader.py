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
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..encoder.batches import token_batches
from ..encoder.checkpoint import Checkpoint
from ..encoder.extractive_reader import ExtractiveReader
from ..encoder.tokens import token_spans
from .objective import Measures, Objective
from .trainer import Run

if TYPE_CHECKING:
    import torch

    from ..encoder.tokens import Sequences, TextTokenizer

_NEGATIVES = 0.1  # share of the windows without the answer, of texts that have it further on, that are learned from
_CPU_BUDGET, _GPU_BUDGET = 4096, 16384  # tokens computed at a time; what is kept for the gradient fits into 16 GB


class ReadExample(NamedTuple):
    """A question and a text; `spans` are all places of answers in it (end exclusive), empty without an answer."""

    question: str
    context: str
    spans: tuple[tuple[int, int], ...] = ()


class MarkedWindows(NamedTuple):
    """Windows to learn from.

    `starts` and `lasts` are the places in the sequence of each chosen window at which an answer begins and ends (inclusive);
    0, the place of [CLS], without an answer.
    """

    sequences: Sequences  # of all windows, whose texts begin at `sequences.firsts`
    ends: np.ndarray  # [w] the ends (exclusive) of the texts in the sequences
    chosen: np.ndarray  # [k] the windows that are learned from
    starts: list[np.ndarray]
    lasts: list[np.ndarray]


def reader_objective(
    run: Run,
    examples: Callable[[int], Sequence[Sequence[ReadExample]]],
    build_reader: Callable[[Checkpoint], ExtractiveReader],
    measure: Callable[[ExtractiveReader], Measures],
    criterion: Callable[[Measures], float],
    *,
    max_length: int,
    stride: int,
    token_budget: int | None = None,
) -> Objective[MarkedWindows]:
    """Return the objective of a question-answering model on the examples of each step, whose answers are marked.

    Args:
        run: the training.
        examples: of each step of an epoch.
        build_reader: makes the reader to validate, and may change its checkpoint.
        measure: measures it.
        criterion: of the measures; the higher, the better.
        max_length: most tokens of a window, those of the question included.
        stride: see `marked_windows`.
        token_budget: most tokens computed at a time, padding counted; None: the device's default.
    """
    from ..encoder.devices import find_device
    from ..encoder.tokens import TextTokenizer

    tokenizer = TextTokenizer.of(run.checkpoint, max_length)
    budget = token_budget or (_GPU_BUDGET if find_device(run.device).type == "cuda" else _CPU_BUDGET)

    def made(epoch: int, steps: Sequence[Sequence[ReadExample]]) -> Iterator[MarkedWindows]:
        for number, step in enumerate(steps):
            chance = random.Random(f"{run.seed} {epoch} {number}")
            yield marked_windows(step, tokenizer, stride, _NEGATIVES, chance)

    return Objective(
        steps=examples,
        loss=lambda model, step: losses(model, step, budget),
        validate=lambda model: measure(reader_of(run.checkpoint, build_reader)),
        criterion=criterion,
        made=made,
    )


def reader_of(checkpoint: Checkpoint, build_reader: Callable[[Checkpoint], ExtractiveReader]) -> ExtractiveReader:
    """Build a reader with a copy of the model, which the reader changes in place."""
    return build_reader(dataclasses.replace(checkpoint, model=copy.deepcopy(checkpoint.model)))


def marked_windows(
    examples: Sequence[ReadExample], tokenizer: TextTokenizer, stride: int, negatives: float, chance: random.Random
) -> MarkedWindows:
    """Cut examples into windows, neighbours of which share `stride` tokens, and choose those to learn from.

    Of a text with answers all windows with a whole answer are chosen, and a share (`negatives`) of the windows without any
    part of an answer; of a text without answers, all windows.
    """
    windows = tokenizer.windows([(example.question, example.context) for example in examples], stride)
    marked = [token_spans(example.spans, offsets) for example, offsets in zip(examples, windows.offsets, strict=True)]
    firsts = windows.sequences.firsts
    ends = windows.sequences.lengths - windows.trailing
    chosen, starts, lasts = [], [], []
    for place, (pair, begin) in enumerate(zip(windows.pair_of, windows.begins, strict=True)):
        spans, stop = marked[pair], begin + ends[place] - firsts[place]
        inside = spans[(spans[:, 0] >= begin) & (spans[:, 1] < stop)]
        if len(inside):
            shift = firsts[place] - begin
            window_starts, window_lasts = np.unique(inside[:, 0]) + shift, np.unique(inside[:, 1]) + shift
        else:
            if examples[pair].spans:
                touched = len(spans) == 0 or bool(np.any((spans[:, 0] < stop) & (spans[:, 1] >= begin)))
                if chance.random() >= negatives or touched:
                    continue
            window_starts = window_lasts = np.zeros(1, dtype=np.int64)
        chosen.append(place)
        starts.append(window_starts)
        lasts.append(window_lasts)
    return MarkedWindows(windows.sequences, ends, np.array(chosen, dtype=np.int64), starts, lasts)


def losses(model: Any, step: MarkedWindows, token_budget: int) -> Iterator[torch.Tensor]:
    """Yield the summands of the loss of a step, the mean over its windows.

    The loss of a window is the mean of the losses of start and end, each over the window's text and [CLS].
    """
    import torch

    from ..encoder.torch_backend import model_inputs

    for batch in token_batches(step.sequences.lengths[step.chosen], token_budget):
        places = step.chosen[batch]
        inputs = model_inputs(model, step.sequences, places, model.device)
        output = model(**inputs)
        shape = inputs["input_ids"].shape
        columns = np.arange(shape[1])[None, :]
        allowed = (columns >= step.sequences.firsts[places][:, None]) & (columns < step.ends[places][:, None])
        allowed[:, 0] = True
        both = []
        for logits, gold in ((output.start_logits, step.starts), (output.end_logits, step.lasts)):
            right = np.zeros(shape, dtype=bool)
            for row, place in enumerate(batch):
                right[row, gold[place]] = True
            scores = logits.float()
            both.append(_log_sum(scores, allowed) - _log_sum(scores, right))
        yield torch.stack(both).sum() / (2 * len(step.starts))


def _log_sum(logits: torch.Tensor, mask: np.ndarray) -> torch.Tensor:
    import torch

    return torch.logsumexp(logits.masked_fill(~torch.from_numpy(mask).to(logits.device), -torch.inf), dim=1)
