"""Held-out examples: ranked and read during training; the calibration of both heads."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from convinse.encoder.batches import token_batches
from convinse.encoder.devices import autocast
from convinse.encoder.torch_backend import model_inputs
from convinse.scoring.extractive import normalize
from recipes.embedded.batches import Batch
from recipes.embedded.examples import Example

_MOST_CANDIDATES = 12
_LONGEST_ANSWER = 30
_SPANS = 5  # of a text, beside which the reader's probability stands
_NEVER = -1e4  # the score of a span that is not there
_FURTHEST = 3.0  # logarithm of the largest factor of a calibration
_COUNTED = 50  # examples of a set without which its measures do not count in the mean


class Scored(NamedTuple):
    """A pair of held-out examples as a model scores it: log odds, and [t] start and end."""

    odds: float
    start: np.ndarray
    end: np.ndarray


def scored(model: Any, made: Batch, budget: int) -> list[Scored]:
    """The pairs of a batch in evaluation mode; `budget` tokens are computed at once, padding counted."""
    model.eval()
    found: dict[int, Scored] = {}
    for places in token_batches(made.sequences.lengths, budget):
        with torch.inference_mode(), autocast(model.device):
            output = model(**model_inputs(model, made.sequences, places, model.device))
        arrays = (output.logits[:, 0], output.start_logits, output.end_logits)
        rows = zip(*(array.float().cpu().numpy() for array in arrays), strict=True)
        found |= {place: Scored(*row) for place, row in zip(places.tolist(), rows, strict=True)}
    return [found[place] for place in range(len(found))]


def best_spans(start: np.ndarray, end: np.ndarray, first: int, stop: int, most: int) -> list[tuple[int, int, float]]:
    """First and last token of the best spans in `first:stop` [t], and their scores, the best first."""
    scores = start[first:stop, None] + end[None, first:stop]
    scores = np.where(np.tril(np.triu(np.ones_like(scores)), _LONGEST_ANSWER - 1) > 0, scores, -np.inf)
    best = np.argsort(-scores, axis=None, kind="stable")[:most]
    rows, columns = np.unravel_index(best, scores.shape)
    places = zip(rows.tolist(), columns.tolist(), scores[rows, columns].tolist(), strict=True)
    return [(first + one, first + two, score) for one, two, score in places if score > -np.inf]


def shown(examples: Sequence[Example]) -> list[Example]:
    """The examples as they are validated on: with their first candidates."""
    return [replace(example, candidates=example.candidates[:_MOST_CANDIDATES]) for example in examples]


def validate(model: Any, dev: Mapping[str, Batch], budget: int) -> dict[str, float]:
    """Of each data set: the share of examples whose relevant text is first, and the token F1 of the spans read in it."""
    measures: dict[str, float] = {}
    least = min(_COUNTED, max((len(made.sizes) for made in dev.values()), default=0))
    counted: list[float] = []
    read: list[float] = []
    for name, made in dev.items():
        first, f1 = [], []
        pairs, ends = scored(model, made, budget), np.cumsum(made.sizes).tolist()
        for row, stop in zip([0, *ends], ends, strict=False):
            right = made.relevant[row:stop]
            if right.any() and not right.all():
                first.append(float(right[np.argmax([pair.odds for pair in pairs[row:stop]])]))
            if made.readable[row]:
                _, start, end = pairs[row]
                one, two, score = best_spans(start, end, int(made.firsts[row]), int(made.ends[row]), 1)[0]
                if right[0]:
                    f1.append(max(_overlap((one, two), tuple(span)) for span in made.spans[row].tolist()))
                else:
                    f1.append(float(start[0] + end[0] > score))
        if first:
            measures[f"{name} first"] = float(np.mean(first))
        if f1:
            measures[f"{name} F1"] = float(np.mean(f1))
        if len(made.sizes) >= least:
            counted += [float(np.mean(values)) for values in (first, f1) if values]
            read += [float(np.mean(f1))] if f1 else []
    measures["F1"] = float(np.mean(read)) if read else 0.0
    measures["mean"] = float(np.mean(counted)) if counted else 0.0
    return measures


def _overlap(found: tuple[int, int], gold: tuple[int, int]) -> float:
    common = max(0, min(found[1], gold[1]) - max(found[0], gold[0]) + 1)
    return 2 * common / (found[1] - found[0] + gold[1] - gold[0] + 2)


def calibrate(
    model: Any, decode: Callable[[list[int]], str], dev: Iterable[Batch], budget: int = 8192
) -> dict[str, float]:
    """Scale the last layers of both heads by the temperatures that fit held-out examples best (Guo et al., ICML 2017)."""
    odds_of: list[float] = []
    relevance: list[np.ndarray] = []
    scores: list[np.ndarray] = []  # of each text [spans + 1]: its best spans, the best first, and "no answer"
    correct: list[bool] = []
    for made in dev:
        pairs = scored(model, made, budget)
        odds_of += [pair.odds for pair in pairs]
        relevance.append(made.relevant)
        for row in np.cumsum([0, *made.sizes])[:-1].tolist():  # the first text of each example
            low, high, (_, start, end) = int(made.firsts[row]), int(made.ends[row]), pairs[row]
            if made.readable[row] and high > low:
                best = best_spans(start, end, low, high, _SPANS)
                scores.append(np.array([*(score for *_, score in best), start[0] + end[0]]))
                ids = made.sequences.ids[row]
                marked = [(first, last) for first, last in made.spans[row].tolist() if first]
                found, *answers = (normalize(decode(ids[a : b + 1].tolist())) for a, b in (best[0][:2], *marked))
                correct.append(found in answers)
    # in double precision: in single, the last digits of the sums, which differ from run to run, reach the fourth digit of the factors
    relevant, odds = torch.from_numpy(np.concatenate(relevance)).double(), torch.tensor(odds_of, dtype=torch.double)
    right = torch.tensor(correct, dtype=torch.double)
    padded = pad_sequence([torch.from_numpy(score).double() for score in scores] or [odds], True, _NEVER)

    def ranking(logarithm: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return functional.binary_cross_entropy_with_logits(odds * _factor(logarithm) + bias, relevant)

    def reading(logarithm: torch.Tensor) -> torch.Tensor:
        shares = functional.log_softmax(padded * _factor(logarithm), 1)[:, 0].exp().clamp(1e-6, 1 - 1e-6)
        return functional.binary_cross_entropy(shares, right)

    steepness, bias = _lowest(ranking, 2)
    scale, sharpness = _factor(steepness), _factor(_lowest(reading, 1)[0] if scores else torch.zeros(()))
    with torch.no_grad():
        model.relevance.weight.mul_(scale)
        model.relevance.bias.mul_(scale).add_(bias)
        model.span.weight.mul_(sharpness)
        model.span.bias.mul_(sharpness)
    return {"scale": scale.item(), "bias": bias.item(), "sharpness": sharpness.item()}


def _factor(logarithm: torch.Tensor) -> torch.Tensor:
    """What scores are multiplied by: above 0, or orders would be reversed; bounded, or rounding would blur them."""
    return logarithm.clamp(-_FURTHEST, _FURTHEST).exp()


def _lowest(loss_of: Callable[..., torch.Tensor], number: int) -> list[torch.Tensor]:
    """The parameters, from 0 on, that lower a loss most."""
    parameters = [torch.zeros((), dtype=torch.double, requires_grad=True) for _ in range(number)]
    optimizer = torch.optim.LBFGS(parameters, max_iter=40, line_search_fn="strong_wolfe")

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = loss_of(*parameters)
        loss.backward()
        return loss

    optimizer.step(closure)
    return [parameter.detach() for parameter in parameters]
