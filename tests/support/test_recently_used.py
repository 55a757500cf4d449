import threading

from convinse.support.recently_used import RecentlyUsed


def test_the_value_that_was_used_longest_ago_leaves():
    values, computed = RecentlyUsed[str, str](6, len), []

    def compute(new):
        computed.append(list(new))
        return map(str.upper, new)

    for keys in (["aa", "bb", "aa", "cc"], ["aa"], ["dd"], ["aa", "cc", "dd"], ["bb"], ["larger than all"]):
        assert values.of(keys, compute) == [key.upper() for key in keys]
    assert computed == [["aa", "bb", "cc"], ["dd"], ["bb"], ["larger than all"]] and len(values) == 3


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
    assert wrong == [] and len(values) == 20
