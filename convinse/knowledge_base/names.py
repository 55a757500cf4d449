"""Names of items: the hash of a folded name, and the full-text index (tantivy) for parts of names and misspelt names."""

from __future__ import annotations

import hashlib
import math
import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..language.text import END, folded_words
from ..support.full_text import FullText, FullTextWriter
from ..support.manifest import map_array
from ..support.progress import progress
from .layout import NAMES, REMEDY, SEPARATOR

_INITIALS = 3  # words of a name that is called by its initials
_MAX_FORMS = 40  # names of an item that are indexed
_TOGETHER = 1 << 13  # items whose names are folded together
_SHORTEST_MISSPELT = 4  # letters of a word with one edit; a word with two edits has two letters more
_MIN_HEAP, _MAX_HEAP = 64 << 20, 512 << 20  # bytes of the index writer


def form_hash(form: str) -> int:
    """Return 64 bits of a folded name."""
    return int.from_bytes(hashlib.blake2b(form.encode(), digest_size=8).digest(), "little")


def other_forms(label: str) -> list[str]:
    """Return the names that follow from a label: without its bracket, and its initials ("MLS" for Major League Soccer)."""
    forms = []
    plain = re.sub(r"\s*\([^()]*\)$", "", label)
    if plain and plain != label:
        forms.append(plain)
    words = plain.split()
    if len(words) >= _INITIALS and all(word[0].isupper() for word in words):
        forms.append("".join(word[0] for word in words))
    return forms


def write_names(folder: Path, items: np.ndarray, frequency: np.ndarray, memory: int, quiet: bool) -> None:
    """Index the words of all labels and aliases in one segment."""
    import tantivy

    schema = tantivy.SchemaBuilder()
    # names are folded before: blanks are all that separates their words
    schema.add_text_field("name", tokenizer_name="whitespace", index_option="basic")
    schema.add_unsigned_field("item", fast=True)
    schema.add_float_field("weight", fast=True)
    heap = max(_MIN_HEAP, min(_MAX_HEAP, memory // 8))
    starts = np.fromfile(folder / "text_start", "<u8")
    ends = starts + np.fromfile(folder / "text_size", "<u4")
    text = map_array(folder / "text", "u1", REMEDY).data
    with (
        progress("indexing names", len(items), "items", quiet) as advance,
        FullTextWriter(folder / NAMES, schema.build(), heap) as writer,
    ):
        for first in range(0, len(items), _TOGETHER):
            part = slice(first, first + _TOGETHER)
            names: list[list[str]] = []
            for start, end in zip(starts[part].tolist(), ends[part].tolist(), strict=True):
                label, _, _, *aliases = str(text[start:end], "utf-8").split(SEPARATOR)
                names.append([label, *aliases[:_MAX_FORMS]])
            words = iter(folded_words([name for of_item in names for name in of_item]))  # all together: faster
            numbers, times = items[part].tolist(), frequency[part].tolist()
            for item, often, of_item in zip(numbers, times, names, strict=True):
                document = tantivy.Document()
                for form in dict.fromkeys([" ".join(iter(words.__next__, END)) for _ in of_item]):
                    if form:
                        document.add_text("name", form)
                document.add_unsigned("item", item)
                document.add_float("weight", math.log2(2 + often))
                writer.add(document)
            advance(len(names))


def search_names(names: FullText, words: Sequence[str], limit: int, edits: int) -> list[int]:
    """Return the items with a name that has all folded `words`, the most frequent first.

    A word may differ by up to `edits` edits (Levenshtein, a transposition counts as one edit).
    """
    import tantivy

    parts = []
    for word in words:
        distance = min(edits, _edits_of(word))
        if distance:
            query = tantivy.Query.fuzzy_term_query(names.schema, "name", word, distance=distance)
        else:
            query = tantivy.Query.term_query(names.schema, "name", word, index_option="basic")
        parts.append((tantivy.Occur.Must, query))
    query = tantivy.Query.boolean_query(parts)
    with names.reading():
        result = names.searcher.search(query, limit, count=False, weight_by_field="weight")
        addresses = [address for _, address in result.hits]
        items: list[Any] = names.searcher.fast_field_values("item", addresses) if addresses else []
    return [int(item) for item in items]


class NamesInMemory:
    """The words of the names of few items, with the search of `search_names`."""

    def __init__(self) -> None:
        self._items: defaultdict[str, set[str]] = defaultdict(set)

    def add(self, item: str, form: str) -> None:
        """Add a folded name of an item."""
        for word in form.split():
            self._items[word].add(item)

    def search(self, words: Sequence[str], edits: int) -> set[str]:
        """Return the items with a name that has all folded `words`, up to `edits` edits a word."""
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        items = []
        for word in words:
            most = min(edits, _edits_of(word))
            similar = [word]
            if most:
                close = process.extract(word, list(self._items), scorer=OSA.distance, score_cutoff=most, limit=None)
                similar = [name for name, _, _ in close]
            items.append(set().union(*(self._items.get(name, ()) for name in similar)))
        return set.intersection(*items) if items else set()


def _edits_of(word: str) -> int:
    return 0 if len(word) < _SHORTEST_MISSPELT else 1 if len(word) < _SHORTEST_MISSPELT + 2 else 2
