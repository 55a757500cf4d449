"""All data sets of the recipe by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from recipes.embedded.examples import Example
from recipes.embedded.facts import facts
from recipes.embedded.hybrid import HYBRID_SETS, ROWS
from recipes.embedded.lists import LISTS, sentence_lists
from recipes.embedded.ranking_sets import boolq, selqa, squad_sentences
from recipes.embedded.reading_files import READING_FILES, mismatched, reading, squad2_unanswerable
from recipes.embedded.reading_sets import fairytaleqa, policyqa, qamr, qed
from recipes.embedded.sample_sets import mrqa_sample, multiqa_samples
from recipes.embedded.tables import PLAIN, Rows, tables
from recipes.embedded.turns import conversations, lcquad, timequestions, tiq

Build = Callable[[], Iterator[Example]]

# over plain text: from (shared data, seed), the same examples for equal arguments; a builder whose files are missing raises
# `DataError`. No text is a candidate in both parts of a set.
TEXT_SETS: dict[str, Callable[[Path, int], Iterator[Example]]] = {
    **{
        build.__name__: build
        for build in (qamr, fairytaleqa, policyqa, qed, squad_sentences, selqa, boolq, multiqa_samples, mrqa_sample)
    },
    **{file.name: partial(reading, file) for file in READING_FILES},
    **{build.__name__: build for build in (squad2_unanswerable, mismatched, sentence_lists)},
    **{record.name: record.examples for record in HYBRID_SETS if record.kind != ROWS},
}
# rows of tables: from (shared data, seed, how they are learned from)
ROW_SETS: dict[str, Callable[[Path, int, Rows], Iterator[Example]]] = {
    "tables": tables,
    **{record.name: record.examples for record in HYBRID_SETS if record.kind == ROWS},
}
# facts, retrieved evidences: from (shared data, folder to keep what is built in, seed)
STRUCTURED_SETS: dict[str, Callable[[Path, Path, int], Iterator[Example]]] = {
    **{build.__name__: build for build in (facts, timequestions, tiq, lcquad, conversations)},
    **LISTS,
}


def builders(data: Path, work: Path, seed: int, rows: Rows = PLAIN) -> dict[str, Build]:
    """What builds each set from the shared data; the knowledge base is built and kept in the folder `work`."""
    return {
        **{name: partial(build, data, seed) for name, build in TEXT_SETS.items()},
        **{name: partial(build, data, seed, rows) for name, build in ROW_SETS.items()},
        **{name: partial(build, data, work, seed) for name, build in STRUCTURED_SETS.items()},
    }
