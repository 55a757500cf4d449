import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from convinse.encoder.batches import token_batches

LENGTHS = st.lists(st.integers(0, 300), max_size=80)


@given(LENGTHS, st.integers(1, 2000))
def test_each_place_once_within_the_budget_longest_first(lengths, budget):
    batches = [batch.tolist() for batch in token_batches(lengths, budget)]
    assert sorted(sum(batches, [])) == list(range(len(lengths)))
    for batch in batches:
        assert batch
        assert len(batch) == 1 or len(batch) * max(lengths[place] for place in batch) <= budget
    in_order = [lengths[place] for batch in batches for place in batch]
    assert in_order == sorted(lengths, reverse=True)
    for batch in batches[:-1]:  # none could take the next one
        assert (len(batch) + 1) * max(1, lengths[batch[0]]) > budget


def test_equal_lengths_stay_in_order():
    assert [batch.tolist() for batch in token_batches([5, 7, 5, 7, 5], 14)] == [[1, 3], [0, 2], [4]]


def test_nothing_gives_nothing():
    assert list(token_batches([], 10)) == []
    assert list(token_batches(np.array([], dtype=np.int64), 10)) == []


@given(LENGTHS, st.integers(1, 2000))
def test_not_padded_a_batch_is_of_one_length(lengths, budget):
    batches = [batch.tolist() for batch in token_batches(np.array(lengths, dtype=np.int64), budget, padded=False)]
    assert sorted(sum(batches, [])) == list(range(len(lengths)))
    for batch in batches:
        assert len({lengths[place] for place in batch}) == 1
        assert len(batch) == 1 or len(batch) * lengths[batch[0]] <= budget
    for batch, after in zip(batches, batches[1:], strict=False):
        if lengths[batch[0]] == lengths[after[0]]:  # it is full
            assert (len(batch) + 1) * max(1, lengths[batch[0]]) > budget
