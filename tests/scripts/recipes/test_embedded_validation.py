"""Measures of the embedded model on held-out examples, and its calibration by them."""

import random

import numpy as np
import pytest

from embedded_examples import FixedOutputs, examples, unanswerable
from recipes.embedded import batches, validation
from recipes.embedded.examples import Candidate, Example
from tiny_models import WORDS, torch


@pytest.mark.parametrize(("first", "stop"), [(0, 1), (3, 9), (0, 60), (25, 80)])
def test_the_best_spans_are_those_of_all(first, stop):
    for seed in range(9):
        start, end = np.random.default_rng(seed).normal(size=(2, 80)).astype(np.float32)
        spans = [(a, b) for a in range(first, stop) for b in range(a, min(stop, a + 30))]
        spans.sort(key=lambda span: -(start[span[0]] + end[span[1]]))
        assert [span[:2] for span in validation.best_spans(start, end, first, stop, 7)] == spans[:7]


def in_batches(dev, tokenizer):
    return {name: batches.batch(rows, tokenizer, None) for name, rows in dev.items()}


def test_measures_are_shares_of_first_texts_and_f1_of_spans(tokenizer):
    dev = {"sure": examples(50, 10), "small": examples(3, 10, seed=6, wrong=0)}
    made = batches.batch([*dev["sure"], *dev["small"]], tokenizer, None)
    model = FixedOutputs(made)
    with torch.no_grad():
        for row, spans in enumerate(made.spans):
            model.odds[row] = 9.0 if made.relevant[row] else -9.0
            model.starts[row, spans[0][0]] = model.ends[row, spans[0][1]] = 50.0
        model.odds[0] = -20.0  # the first of 50 examples is wrong
    measures = validation.validate(model, in_batches(dev, tokenizer), 4096)
    assert measures == pytest.approx(
        {"sure first": 0.98, "sure F1": 1, "small F1": 1, "F1": 1, "mean": 0.99}
    )  # small sets do not count


def test_no_answer_is_right_if_no_text_answers(tokenizer):
    dev = {"nothing": [unanswerable(number) for number in range(60)]}
    model = FixedOutputs(batches.batch(dev["nothing"], tokenizer, None))
    for value, share in ((50.0, 1.0), (-50.0, 0.0)):
        with torch.no_grad():
            model.starts[:, 0] = model.ends[:, 0] = value
        assert validation.validate(model, in_batches(dev, tokenizer), 4096) == {
            "nothing F1": share,
            "F1": share,
            "mean": share,
        }


def judged(model, tokenizer, wrong):
    """Examples that agree with the model's odds but for each `wrong`th."""
    texts = [" ".join(random.Random(seed).choices(WORDS, k=8)) for seed in range(80)]
    ranked = batches.batch([Example("who", tuple(Candidate(text, True) for text in texts), "s", "k")], tokenizer, None)
    odds = [pair.odds for pair in validation.scored(model, ranked, 4096)]
    order = [texts[place] for place in np.argsort(-np.array(odds))]
    made = []
    for number in range(40):
        right, other = order[number], order[-1 - number]
        right, other = (other, right) if number % wrong == 0 else (right, other)
        made.append(Example("who", (Candidate(right, True, ((0, len(right.split()[0])),)), Candidate(other)), "s", "k"))
    return made


@pytest.mark.parametrize("wrong", [5, 1])
def test_calibration_keeps_orders_and_lowers_the_loss(model, checkpoint, tokenizer, wrong):
    """One answer of five is wrong; a model all of whose answers are wrong is made unsure, not turned around."""
    made = batches.batch(judged(model, tokenizer, wrong), tokenizer, None)

    def outputs():
        pairs = validation.scored(model, made, 4096)
        odds = np.array([pair.odds for pair in pairs])
        return (
            odds,
            [int(pair.start.argmax()) for pair in pairs],
            np.logaddexp(0, np.where(made.relevant, -odds, odds)).mean(),
        )

    before, starts_before, loss_before = outputs()
    factors = validation.calibrate(model, checkpoint.tokenizer.decode, [made])
    after, starts_after, loss_after = outputs()
    np.testing.assert_allclose(after, before * factors["scale"] + factors["bias"], atol=0.02)
    assert (
        starts_after == starts_before and loss_after < loss_before and min(factors["scale"], factors["sharpness"]) > 0
    )
    if wrong == 1:
        assert factors["scale"] < 0.5
    else:
        again = validation.calibrate(model, checkpoint.tokenizer.decode, [made])
        assert (again["scale"], again["bias"]) == pytest.approx((1, 0), abs=0.05)  # there is no more to gain
