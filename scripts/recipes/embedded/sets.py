"""All data sets of the recipe by name."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType

from recipes.embedded import lists, reading, tables
from recipes.embedded.data_sets import DATA_SETS, DataSet, Source
from recipes.embedded.examples import Example

Reader = Callable[[Source], Iterable[Example]]
# over plain text; no text is a candidate in both parts of a set
_TEXTS: dict[str, Reader] = {
    **dict.fromkeys(("mrqa", "own", "lines"), reading.marked),
    "sentences": reading.sentences,
    "supporting": reading.supporting,
    "unanswerable": reading.unanswerable,
    "mismatched": reading.mismatched,
    "articles": reading.articles,
    "pairs": reading.pairs,
    "sections": reading.sections,
}
_READERS: dict[str, Reader] = {
    **_TEXTS,
    "cells": tables.cells,
    "nodes": tables.nodes,
    "conversations": lists.conversations,
    **dict.fromkeys(("linked", "written", "templates"), lists.pipeline_lists),
}
# sets whose dev parts are held out of one another
TEXT_SETS = frozenset(name for name, declared in DATA_SETS.items() if declared.format in _TEXTS)


def examples_of_set(name: str, data: Path, seed: int, work: Path = Path()) -> Iterable[Example]:
    declared = DATA_SETS[name]
    return _READERS[declared.format](Source(name, declared, data, seed, work))


def builders(
    data: Path, work: Path, seed: int, files: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Callable[[], Iterable[Example]]]:
    """Functions that build each set from the data, and those of `files`; the knowledge base is built and kept in the folder `work`."""
    made = {name: partial(examples_of_set, name, data, seed, work) for name in DATA_SETS}
    for name, file in files.items():
        declared = DataSet(content=file, licence="your own", format="own", files=[file])
        made[name] = partial(reading.marked, Source(name, declared, data, seed))
    return made
