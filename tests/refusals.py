"""Errors as users see them: one line with what, where and what to do."""

import pytest


def refused(error, action, *words):
    """The text of the error that an action ends with: one line that holds the words."""
    with pytest.raises(error) as caught:
        action()
    text = str(caught.value)
    assert "\n" not in text
    for word in words:
        assert word in text, text
    return text
