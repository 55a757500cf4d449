"""The data sets of structured evidences: facts, rows of tables, retrieved evidences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from recipes.embedded.examples import Example
from recipes.embedded.facts import facts
from recipes.embedded.tables import tables
from recipes.embedded.turns import conversations, lcquad, timequestions, tiq

Builder = Callable[[Path, Path, int], Iterator[Example]]  # shared data, folder to keep what is built in, seed

STRUCTURED_SETS: Mapping[str, Builder] = MappingProxyType(
    {
        "facts": facts,
        "tables": tables,
        "timequestions": timequestions,
        "tiq": tiq,
        "lcquad": lcquad,
        "conversations": conversations,
    }
)
