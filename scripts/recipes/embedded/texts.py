"""All builders of examples over plain text, and sentences of Wikipedia pages."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from convinse.support.jsonlines import read_lines
from convinse.wikipedia.document import blocks, parse_html
from convinse.wikipedia.sentences import sentences
from recipes.embedded.examples import Example
from recipes.embedded.ranking_sets import boolq, selqa, squad_contexts, squad_sentences
from recipes.embedded.reading_sets import fairytaleqa, policyqa, qamr, qed
from recipes.embedded.sample_sets import mrqa_sample, multiqa_samples
from recipes.sources import needed

__all__ = ["TEXT_SETS", "squad_contexts", "wikipedia_sentences"]

TEXT_SETS: dict[str, Callable[[Path, int], Iterator[Example]]] = {
    one.__name__: one
    for one in (qamr, fairytaleqa, policyqa, qed, squad_sentences, selqa, boolq, multiqa_samples, mrqa_sample)
}
"""The builders by name: `build(data, seed)` yields the examples of both parts, the same for equal arguments.

`data` is the folder of shared data; a builder whose files are missing raises `DataError`. No text is a candidate in
both parts of a set.
"""
_SHORTEST, _LONGEST = 30, 300  # characters


class _Page(msgspec.Struct):
    html: str


def wikipedia_sentences(data: Path, seed: int) -> Iterator[str]:
    """The different sentences and list items of the saved Wikipedia pages, of 30 to 300 characters, in random order."""
    found: dict[str, None] = {}
    for name in ("pages_with_qid", "pages_sample"):
        for _, page in read_lines(needed(data, "wikipedia-pages", f"{name}.jsonl.gz"), _Page):
            for block in blocks(parse_html(page.html)):
                if block.kind not in ("table", "infobox"):
                    texts = (snippet.text for snippet in sentences(block))
                    found |= dict.fromkeys(text for text in texts if _SHORTEST <= len(text) <= _LONGEST)
    drawn = list(found)
    random.Random(f"wikipedia {seed}").shuffle(drawn)
    yield from drawn
