import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convinse.support.recently_used import RecentlyUsed


@given(st.lists(st.lists(st.text("abc", max_size=3), max_size=6), max_size=30), st.integers(0, 12))
def test_what_was_used_longest_ago_makes_place(calls, most):
    values, expected = RecentlyUsed[str, str](most, len), {}
    for keys in calls:
        computed = []

        def compute(new, computed=computed):
            computed.extend(new)
            return map(str.upper, new)

        assert values.of(keys, compute) == [key.upper() for key in keys]
        assert computed == [key for key in dict.fromkeys(keys) if key not in expected]
        used = {key: expected.pop(key) for key in dict.fromkeys(keys) if key in expected}
        expected.update(used)
        for key in (key for key in computed if len(key) <= most):
            while sum(map(len, expected)) + len(key) > most:
                del expected[next(iter(expected))]
            expected[key] = None
        assert len(values) == len(expected)


def test_a_failure_keeps_nothing():
    values = RecentlyUsed[str, int](10)
    with pytest.raises(ZeroDivisionError):
        values.of(["a"], lambda new: (1 // 0 for _ in new))
    assert values.of(["a"], lambda new: [1]) == [1]


def test_threads_share_it():
    values, wrong = RecentlyUsed[int, int](20), []

    def ask(first):
        for start in range(first, first + 2000):
            keys = [*range(start, start + 15)]
            if values.of(keys, lambda new: [2 * key for key in new]) != [2 * key for key in keys]:
                wrong.append(start)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(values) == 20
