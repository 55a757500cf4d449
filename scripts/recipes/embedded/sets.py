"""All data sets of the recipe by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from recipes.embedded.examples import Example
from recipes.embedded.structured import STRUCTURED_SETS
from recipes.embedded.texts import TEXT_SETS

Build = Callable[[], Iterator[Example]]


def builders(data: Path, work: Path, seed: int) -> dict[str, Build]:
    """What builds each set.

    Args:
        data: the folder of shared data.
        work: where the knowledge base is built and kept.
        seed: of all that is drawn.
    """
    texts = {name: partial(build, data, seed) for name, build in TEXT_SETS.items()}
    structured = {name: partial(build, data, work, seed) for name, build in STRUCTURED_SETS.items()}
    return {**texts, **structured}
