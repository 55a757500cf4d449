import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from convinse.encoder.batches import shared_batches, token_batches

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


@given(LENGTHS, st.integers(1, 2000), st.integers(0, 60))
def test_a_batch_ends_where_padding_exceeds_its_limit(lengths, budget, most):
    batches = [batch.tolist() for batch in token_batches(lengths, budget, most_padding=most)]
    assert sorted(sum(batches, [])) == list(range(len(lengths)))
    for batch, after in zip(batches, [*batches[1:], []], strict=False):
        padding = sum(lengths[batch[0]] - lengths[place] for place in batch)
        assert padding <= most
        if after:  # it could not take the next one
            too_wide = (len(batch) + 1) * max(1, lengths[batch[0]]) > budget
            assert too_wide or padding + lengths[batch[0]] - lengths[after[0]] > most


@given(LENGTHS, st.integers(1, 4))
def test_shared_batches_give_each_worker_work_the_most_first(lengths, workers):
    tokens = np.array(lengths, dtype=np.int64)
    batches = [batch.tolist() for batch in shared_batches(tokens, 512, workers, 20)]
    assert sorted(sum(batches, [])) == list(range(len(lengths)))
    work = [len(batch) * lengths[batch[0]] for batch in batches]
    assert work == sorted(work, reverse=True)
    share = -(-sum(lengths) // workers) if workers > 1 else 512
    assert all(len(batch) == 1 or own <= min(512, max(1, share)) for batch, own in zip(batches, work, strict=True))


def test_equal_sequences_are_shared_evenly():
    assert [len(batch) for batch in shared_batches(np.full(20, 10), 512, 2, 20)] == [10, 10]
