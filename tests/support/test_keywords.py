"""Parameters by a second name."""

import inspect

import pytest

from convinse.support.keywords import also_named


@also_named(further="own", wider="own")
def given(own, more=1):
    """What it does."""
    return own, more


def test_an_argument_by_any_of_its_names():
    assert given(5) == given(own=5) == given(further=5) == given(wider=5) == (5, 1)
    assert given(further=5, more=2) == given(5, 2) == (5, 2)
    assert given.__doc__ == "What it does." and list(inspect.signature(given).parameters) == ["own", "more"]


def test_an_argument_twice_is_refused():
    for twice in ({"own": 1, "further": 2}, {"further": 1, "wider": 2}):
        with pytest.raises(TypeError, match="which are one argument"):
            given(**twice)
    with pytest.raises(TypeError):
        given(5, further=6)
