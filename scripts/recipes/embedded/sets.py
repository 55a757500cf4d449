"""All data sets of the recipe by name."""

import random
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from recipes.embedded.examples import Example
from recipes.embedded.facts import facts
from recipes.embedded.lists import compmix, search_questions, sentence_lists, template_lists
from recipes.embedded.ranking_sets import boolq, selqa, squad_sentences
from recipes.embedded.reading import (
    HYBRID_FILES,
    READING_FILES,
    fairytaleqa,
    mismatched,
    mrqa_file,
    policyqa,
    qamr,
    qed,
    reading,
    squad2_unanswerable,
)
from recipes.embedded.report_tables import aitqa, tatqa
from recipes.embedded.tables import fetaqa, hybrid_passages, hybrid_rows, tables
from recipes.embedded.texts import doqa, multihop_paragraphs, onestopqa, redocred
from recipes.embedded.turns import conversations, lcquad, timequestions

Build = Callable[..., Iterator[Example]]


def _named(*sets: Build) -> dict[str, Build]:
    """Each set by the name of its function; of a file of hybrid/ the share that `data_sets.yml` says."""
    return {build.__name__: partial(_share, build) if build.__name__ in HYBRID_FILES else build for build in sets}


def _share(build: Build, data: Path, seed: int) -> Iterator[Example]:
    name = build.__name__
    chance = random.Random(f"{name} share {seed}")
    return (example for example in build(data, seed) if chance.random() < HYBRID_FILES[name].share)


# Each gives the same examples for equal arguments; one whose files are missing raises `DataError`. No text is a candidate
# in both parts of a set.
# over plain text: from (shared data, seed)
TEXT_SETS = {
    **_named(qamr, fairytaleqa, policyqa, qed, squad_sentences, selqa, boolq),
    **_named(squad2_unanswerable, mismatched, sentence_lists),
    **_named(hybrid_passages, multihop_paragraphs, redocred, doqa, onestopqa),
    **{name: partial(reading, name) for name in READING_FILES},
}
# rows of tables: the same
ROW_SETS = _named(tables, hybrid_rows, fetaqa, tatqa, aitqa)
# facts, retrieved evidences: from (shared data, folder to keep what is built in, seed)
STRUCTURED_SETS = _named(facts, timequestions, lcquad, conversations, compmix, search_questions, template_lists)


def builders(
    data: Path, work: Path, seed: int, files: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Callable[[], Any]]:
    """Functions that build each set from the data, and those of `files`; the knowledge base is built and kept in the folder `work`."""
    return {
        **{name: partial(mrqa_file, name, file, data, seed) for name, file in files.items()},
        **{name: partial(build, data, seed) for name, build in (TEXT_SETS | ROW_SETS).items()},
        **{name: partial(build, data, work, seed) for name, build in STRUCTURED_SETS.items()},
    }
