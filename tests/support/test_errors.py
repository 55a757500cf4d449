import inspect

import pytest

from convinse.support import errors
from convinse.support.errors import ConvinseError, nearest, one_line


def test_every_error_of_the_module_is_a_convinse_error_and_in_the_tree_at_its_top():
    found = [cls for _, cls in inspect.getmembers(errors, inspect.isclass) if cls.__module__ == errors.__name__]
    assert len(found) >= 7
    assert all(issubclass(cls, ConvinseError) and cls.__name__ in errors.__doc__ for cls in found)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("a\n  b\tc"), "a b c"),
        (KeyError("id"), "KeyError: 'id'"),  # the text of a KeyError alone is only the key
        (ValueError(), "ValueError: "),
        (FileNotFoundError(2, "No such file or directory", "x.json"), "No such file or directory: x.json"),
        (OSError(28, "No space left on device"), "No space left on device"),
        (OSError("plain"), "plain"),
    ],
)
def test_one_line(error, text):
    assert one_line(error) == text


def test_nearest_suggests_a_near_word_and_lists_all_when_none_is_near():
    assert nearest("ers_cach_path", ["ers_cache_path", "seed"]) == "did you mean 'ers_cache_path'?"
    assert nearest("zzz", ["text", "kb"]) == "valid: kb, text"
