"""Decoding beside all spans by brute force; what texts look like to it is tested with the reader."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convinse.encoder.span_decoding import SpanDecoder, WindowLogits, of_texts


def words(number):
    """A text of so many words of two letters, and where they are."""
    return " ".join(["ab"] * number), np.array([(3 * n, 3 * n + 2) for n in range(number)]).reshape(-1, 2)


def brute(offsets, null, logits, longest, best):
    spans = sorted(
        (-float(logits[i, 0] + logits[j, 1]), int(offsets[i, 0]), int(offsets[j, 1]))
        for i in range(len(offsets)) for j in range(i, min(i + longest, len(offsets)))
    )[:best]  # fmt: skip
    values = np.exp([*(-score for score, _, _ in spans), null])
    shares = values / values.sum()
    return [(start, end, -score, share) for (score, start, end), share in zip(spans, shares, strict=False)]


@given(st.lists(st.integers(0, 12), max_size=6), st.integers(1, 13), st.integers(1, 9), st.integers(0, 99))
def test_the_best_spans_of_texts_read_whole(sizes, longest, best, seed):
    chance = np.random.default_rng(seed)
    texts = [words(size) for size in sizes]
    logits = [chance.normal(size=(size + 1, 2)).astype(np.float32) for size in sizes]
    decoder = SpanDecoder(*zip(*texts, strict=True), longest, best) if texts else SpanDecoder([], [], longest, best)
    order = chance.permutation(len(sizes))
    for part in np.array_split(order, 2):
        if len(part):
            assert decoder.add(of_texts(part, [logits[place] for place in part])) is None
    found = decoder.spans()
    assert len(found) == len(sizes)
    for (_, offsets), own, spans in zip(texts, logits, found, strict=True):
        null = float(own[0].sum())
        expected = brute(offsets, null, own[1:], longest, best)
        assert [span[:2] for span in spans] == [span[:2] for span in expected]
        np.testing.assert_allclose([s[2:4] for s in spans], [s[2:4] for s in expected], rtol=1e-5)
        for span in spans:
            assert span[4] == pytest.approx(1 / (1 + np.exp(spans[0][2] - null)), rel=1e-5)


def test_windows_of_one_text():
    text, offsets = words(5)
    decoder = SpanDecoder([text], [offsets], 2, 3)
    first, second = np.zeros((3, 2), np.float32), np.zeros((3, 2), np.float32)
    first[2], second[0], second[2, 0] = (4, 5), (1, 5), 3  # the third word is in both windows, better in the first
    windows = WindowLogits(
        np.array([0, 0]), np.array([0, 2]), np.array([2.0, 1.0], np.float32), np.stack((first, second))
    )
    assert decoder.add(windows) is None
    (spans,) = decoder.spans()
    assert [span[:3] for span in spans] == [(6, 8, 9.0), (3, 8, 5.0), (12, 14, 3.0)]
    assert spans[0][4] == pytest.approx(1 / (1 + np.exp(9 - 1)))  # the lower of the windows' scores for no answer


@pytest.mark.parametrize("place", [0, 1, 2])
def test_the_text_whose_scores_are_not_numbers(place):
    texts = [words(size) for size in (3, 5, 4)]
    logits = [np.zeros((size + 1, 2), np.float32) for size in (3, 5, 4)]
    logits[place][-1, 1] = np.nan
    decoder = SpanDecoder(*zip(*texts, strict=True), 3, 3)
    assert decoder.add(of_texts(np.arange(3), logits)) == place
    logits[place][-1, 1], logits[place][0, 0] = 0, np.nan
    assert decoder.add(of_texts(np.arange(3), logits)) == place
