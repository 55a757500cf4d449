"""What the stages of a configuration are handed: the language, and models by their names."""

from __future__ import annotations

from .config import SNAPSHOT, resolve
from .language.language import Language, english


def stage_language() -> Language:
    """The language of questions, of labels and of pages: English, the one that there are word lists of."""
    return english()


def model_path(name: str) -> str:
    """A model of the configuration: `snapshot:NAME` lies in the package, other names are folders or hub names."""
    return str(resolve(name)) if name.startswith(SNAPSHOT) else name
