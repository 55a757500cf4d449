"""All data sets of the recipe by name."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType

from recipes.embedded import measured, reading, tables
from recipes.embedded.data_sets import DATA_SETS
from recipes.embedded.examples import Example
from recipes.embedded.lists import conversations, pipeline_lists

Build = Callable[[], Iterable[Example]]

# Each reader gives the same examples for equal arguments; one whose files are missing raises `DataError`. No text is a candidate in
# both parts of a set.
# over plain text, rows of tables: from (name, shared data, seed)
_TEXTS = {
    "mrqa": reading.mrqa, "lines": reading.lines, "sentences": reading.sentences, "supporting": reading.supporting,
    "passages": reading.passages, "unanswerable": reading.unanswerable, "mismatched": reading.mismatched,
    "articles": reading.articles,
}  # fmt: skip
_ROWS = {"cells": tables.cells, "nodes": tables.nodes}
# retrieved evidences: from (name, shared data, folder to keep what is built in, seed)
_LISTS = dict.fromkeys(("linked", "written", "templates"), pipeline_lists) | {"conversations": conversations}
_MEASURED = {"squad_sentences": measured.squad_sentences, "selqa": measured.selqa}
# sets over text, whose dev parts are held out of one another
TEXT_SETS = frozenset(name for name, declared in DATA_SETS.items() if declared.format in _TEXTS) | _MEASURED.keys()


def examples_of_set(name: str, data: Path, seed: int) -> Iterable[Example]:
    """The examples of a set over text or rows."""
    return (_TEXTS | _ROWS)[DATA_SETS[name].format](name, data, seed)


def builders(data: Path, work: Path, seed: int, files: Mapping[str, str] = MappingProxyType({})) -> dict[str, Build]:
    """Functions that build each set from the data, and those of `files`; the knowledge base is built and kept in the folder `work`."""
    made: dict[str, Build] = {name: partial(reading.own_file, name, file, data, seed) for name, file in files.items()}
    made |= {name: partial(build, data, seed) for name, build in _MEASURED.items()}
    for name, declared in DATA_SETS.items():
        if declared.format in _LISTS:
            made[name] = partial(_LISTS[declared.format], name, data, work, seed)
        else:
            made[name] = partial(examples_of_set, name, data, seed)
    return made
