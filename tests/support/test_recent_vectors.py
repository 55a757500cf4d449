import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convinse.support.recent_vectors import RecentVectors

CALLS = st.lists(st.tuples(st.booleans(), st.lists(st.integers(0, 9), max_size=6)), max_size=30)


def keys(numbers):
    return np.array([[number, -number] for number in numbers], "<i8").view("<u8").reshape(-1, 2)


@given(CALLS, st.integers(1, 8))
def test_it_knows_the_last_ones_used(calls, most):
    vectors, expected = RecentVectors(2, np.dtype("<f4"), most), {}
    for step, (puts, numbers) in enumerate(calls):
        if puts:
            vectors.put(keys(numbers), np.full((len(numbers), 2), step))
        else:
            rows, found = vectors.get(keys(numbers))
            assert found.tolist() == [number in expected for number in numbers]
            assert rows.tolist() == [[expected.get(number, 0)] * 2 for number in numbers]
        for number in numbers:
            if puts or number in expected:
                expected[number] = expected.pop(number, step)
            if len(expected) > most:
                del expected[next(iter(expected))]
        assert len(vectors) == len(expected)


@pytest.mark.parametrize("numbers", [[], [1]])
def test_cleared_it_knows_nothing(numbers):
    vectors = RecentVectors(3, np.dtype("<f2"), 4)
    vectors.put(keys(numbers), np.ones((len(numbers), 3)))
    vectors.clear()
    rows, found = vectors.get(keys([1, 2]))
    assert (rows == 0).all() and rows.shape == (2, 3)
    assert not found.any()
    assert len(vectors) == 0
