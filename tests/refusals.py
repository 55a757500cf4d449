"""Errors as users see them: one line with what, where and what to do."""

import os
from contextlib import contextmanager

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


@contextmanager
def another_user(folder):
    """A user whom the rights of files bind: not the owner of the machine."""
    if os.getuid():
        yield
        return
    folder.chmod(0o755)
    os.setresuid(65534, 65534, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)
