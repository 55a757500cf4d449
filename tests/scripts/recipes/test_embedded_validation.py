"""Measures of the embedded model on held-out examples, and its calibration by them."""

import random
from dataclasses import replace

import numpy as np
import pytest

from convinse.encoder.torch_backend import model_inputs
from embedded_examples import FixedOutputs, examples, joint_checkpoint, unanswerable
from recipes.embedded import batches, validation
from recipes.embedded.examples import Candidate, Example
from tiny_models import WORDS, torch

# -- held-out examples -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "stop"), [(0, 1), (3, 9), (0, 60), (25, 80)])
def test_the_best_span_is_that_of_all(first, stop):
    for seed in range(20):
        start, end = np.random.default_rng(seed).normal(size=(2, 80)).astype(np.float32)
        spans = [(a, b) for a in range(first, stop) for b in range(a, min(stop, a + 30))]
        best = max(spans, key=lambda span: start[span[0]] + end[span[1]])
        one, two, score = validation.best_spans(start, end, first, stop, 1)[0]
        assert (one, two) == best and score == pytest.approx(start[one] + end[two])
        several = validation.best_spans(start, end, first, stop, 7)
        spans.sort(key=lambda span: -(start[span[0]] + end[span[1]]))
        assert [span[:2] for span in several] == spans[:7]
    start, end = np.zeros((2, 80), dtype=np.float32)
    start[first], end[stop - 1] = 1, 1
    assert validation.best_spans(start, end, first, stop, 1)[0][2] == (
        2 if stop - first <= 30 else 1
    )  # too long an answer


def outputs(model, made):
    rows = np.arange(len(made.relevant))
    with torch.inference_mode():
        found = model(**model_inputs(model, made.sequences, rows, model.device))
    return tuple(array.float().numpy() for array in (found.logits[:, 0], found.start_logits, found.end_logits))


def test_measures_are_shares_of_first_texts_and_f1_of_spans(checkpoint, tokenizer):
    dev = {"one": examples(50, 10), "two": examples(60, 20, seed=5), "alone": examples(3, 10, seed=6, wrong=0)}
    dev["unmarked"] = [Example("who", (Candidate("the film", True, readable=False), Candidate("a song")), "made", "k")]
    expected = {}
    model = checkpoint.model.eval()
    for name, held_out in dev.items():
        made = batches.batch(held_out, tokenizer, None)
        odds, start, end = outputs(model, made)
        first, f1, row = [], [], 0
        for size in made.sizes:
            if size > 1:
                first.append(odds[row] == odds[row : row + size].max())
            if made.readable[row]:
                low, high = int(made.firsts[row]), int(made.ends[row])
                one, two, _ = validation.best_spans(start[row], end[row], low, high, 1)[0]
                found = set(range(one, two + 1))
                wanted = [set(range(a, b + 1)) for a, b in made.spans[row].tolist()]
                f1.append(max(2 * len(found & other) / (len(found) + len(other)) for other in wanted))
            row += size
        expected |= {f"{name} first": np.mean(first)} if first else {}
        expected |= {f"{name} F1": np.mean(f1)} if f1 else {}
    found = validation.validate(model, tokenizer, dev, 4096)
    assert found.keys() == {*expected, "mean"} and "alone first" not in found and "unmarked F1" not in found
    counted = [value for name, value in expected.items() if name.split()[0] in ("one", "two")]
    expected["mean"] = np.mean(counted)
    assert found == pytest.approx(expected, abs=0.05)  # half precision, where it is faster
    assert found == pytest.approx(validation.validate(model, tokenizer, dev, 64), abs=0.05)
    del dev["one"], dev["two"]  # small sets count where there are no others
    assert validation.validate(model, tokenizer, dev, 4096)["mean"] == pytest.approx(found["alone F1"], abs=0.05)


def test_no_answer_is_right_if_no_text_answers(tokenizer):
    dev = {"nothing": [unanswerable(number) for number in range(60)]}
    model = FixedOutputs(batches.batch(dev["nothing"], tokenizer, None))
    assert 0 < validation.validate(model, tokenizer, dev, 4096)["nothing F1"] < 0.5  # by chance: there are many spans
    for value, share in ((50.0, 1.0), (-50.0, 0.0)):
        with torch.no_grad():
            model.starts[:, 0] = model.ends[:, 0] = value
        assert validation.validate(model, tokenizer, dev, 4096) == {"nothing F1": share, "mean": share}


# -- calibration -------------------------------------------------------------------------------------------------------


def order(values):
    return np.argsort(-values, kind="stable").tolist()


def negative_log_likelihoods(model, made):
    odds, start, end = outputs(model, made)
    each = np.logaddexp(0, np.where(made.relevant, -odds, odds))
    read = []
    for row in np.cumsum([0, *made.sizes])[:-1]:
        best = validation.best_spans(start[row], end[row], int(made.firsts[row]), int(made.ends[row]), 5)
        scores = np.array([*(score for *_, score in best), start[row, 0] + end[row, 0]])
        share = np.exp(scores[0] - scores.max()) / np.exp(scores - scores.max()).sum()
        right = best[0][:2] in [tuple(span) for span in made.spans[row].tolist()]
        read.append(-np.log(share if right else 1 - share))
    return each.mean(), np.mean(read)


def judged(model, tokenizer, wrong):
    """Examples that agree with the model; those for whose number `wrong` holds say the opposite."""
    texts = [" ".join(random.Random(seed).choices(WORDS, k=8)) for seed in range(80)]
    candidates = tuple(Candidate(text, relevant=True) for text in texts)
    ranked = batches.batch([Example("who", candidates, "s", "k")], tokenizer, None)
    best_first = [texts[place] for place in order(outputs(model, ranked)[0])]
    made = []
    for number in range(40):
        right, other = best_first[number], best_first[-1 - number]
        if wrong(number):
            right, other = other, right
        alone = batches.batch([Example("who", (Candidate(right, relevant=True),), "s", "k")], tokenizer, None)
        _, start, end = outputs(model, alone)
        first, stop = int(alone.firsts[0]), int(alone.ends[0])
        begin, last, _ = validation.best_spans(start[0], end[0], first, stop, 1)[0]
        if wrong(number):
            begin = last = first + int(np.argmin(start[0, first:stop] + end[0, first:stop]))
        offsets = alone.offsets[0]
        span = int(offsets[begin - first, 0]), int(offsets[last - first, 1])
        made.append(Example("who", (Candidate(right, True, (span,)), Candidate(other)), "s", "k"))
    return made


@pytest.mark.parametrize("wrong", [5, 1])
def test_calibration_keeps_orders_and_lowers_the_losses(model, tokenizer, wrong):
    """One answer of five is wrong; a model all of whose answers are wrong is made unsure, not turned around."""
    dev = judged(model, tokenizer, lambda number: number % wrong == 0)
    made = batches.batch(dev, tokenizer, None)
    before, losses_before = outputs(model, made), negative_log_likelihoods(model, made)
    found = validation.calibrate(model, tokenizer, dev)
    after, losses_after = outputs(model, made), negative_log_likelihoods(model, made)
    assert order(after[0].round(4)) == order((before[0] * found["scale"]).round(4))
    for one, other in zip(after[1:], before[1:], strict=True):
        assert (one.argmax(axis=1) == other.argmax(axis=1)).all()
    if wrong == 1:
        assert 0 < found["scale"] < 0.5 and 0 < found["sharpness"] < 0.5
        return
    assert found.keys() == {"scale", "bias", "sharpness"} and min(found["scale"], found["sharpness"]) > 0.06
    np.testing.assert_allclose(after[0], before[0] * found["scale"] + found["bias"], atol=1e-4, rtol=1e-3)
    for one, other in zip(after[1:], before[1:], strict=True):
        np.testing.assert_allclose(one, other * found["sharpness"], atol=1e-4, rtol=1e-3)
    assert losses_after[0] < losses_before[0] - 0.1 and losses_after[1] < losses_before[1] - 0.1
    again = validation.calibrate(model, tokenizer, dev)
    assert again == pytest.approx({"scale": 1, "bias": 0, "sharpness": 1}, abs=0.05)  # there is no more to gain


def test_a_text_without_an_answer_makes_spans_less_sure(model, tokenizer):
    answered = judged(model, tokenizer, lambda number: False)
    nothing = [replace(one, candidates=(Candidate(one.candidates[0].text),)) for one in answered]
    unsure = joint_checkpoint().model.eval()
    sure = validation.calibrate(model, tokenizer, answered)["sharpness"]
    assert validation.calibrate(unsure, tokenizer, [*answered, *nothing])["sharpness"] < sure
