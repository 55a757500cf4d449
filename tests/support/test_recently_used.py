from convinse.support.recently_used import RecentlyUsed


def test_the_value_that_was_used_longest_ago_leaves():
    values, computed = RecentlyUsed[str, str](6, len), []

    def compute(new):
        computed.append(list(new))
        return map(str.upper, new)

    for keys in (["aa", "bb", "aa", "cc"], ["aa"], ["dd"], ["aa", "cc", "dd"], ["bb"], ["larger than all"]):
        assert values.of(keys, compute) == [key.upper() for key in keys]
    assert computed == [["aa", "bb", "cc"], ["dd"], ["bb"], ["larger than all"]] and len(values) == 3
