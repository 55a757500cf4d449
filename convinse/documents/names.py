"""The names of documents as a knowledge base without facts: what questions name is looked up in them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property

from ..knowledge_base.index import Candidate, KnowledgeBase, Text
from ..knowledge_base.names import other_forms
from ..language.text import fold
from .evidences import NamedThing

_SHORTEST_MISSPELT = 4  # letters of a word that one edit is looked for in; two from two more


class DocumentNames(KnowledgeBase):
    """Titles, headings and what rows of tables are about, each an item; there are no facts, classes or properties.

    Args:
        named: things, in any order.
        build_id: of the index that they are from.
    """

    has_facts = False

    def __init__(self, named: Iterable[NamedThing] = (), build_id: str = "none") -> None:
        self.build_id = build_id
        self._texts: dict[str, Text] = {}
        # folded name -> items, and whether it is their label
        self._forms: defaultdict[str, dict[str, bool]] = defaultdict(dict)
        for entity, names in named:
            label, aliases = entity["label"], tuple(dict.fromkeys(name for name in names if name != entity["label"]))
            self._texts[entity["id"]] = Text(label, "", "", aliases)
            for name in (*aliases, *other_forms(label), label):
                self._forms[fold(name)][entity["id"]] = name == label
        self.label = self._read_label  # type: ignore[assignment]
        self.types = self._read_types  # type: ignore[assignment]

    @property
    def has_changed(self) -> bool:
        """See the base class; the names go with the index that they are from."""
        return False

    @cached_property
    def _items_by_word(self) -> dict[str, set[str]]:
        items: defaultdict[str, set[str]] = defaultdict(set)
        for form, owners in self._forms.items():
            for word in form.split():
                items[word].update(owners)
        return items

    def text(self, entity_id: str) -> Text:
        """See the base class."""
        return self._texts.get(entity_id) or Text(entity_id, "", "", ())

    def has(self, entity_id: str) -> bool:
        """Whether something has that id."""
        return entity_id in self._texts

    def properties(self) -> Iterable[tuple[str, str, list[str]]]:
        """None."""
        return ()

    def _read_label(self, entity_id: str) -> str:
        return self.text(entity_id).label

    def _read_types(self, entity_id: str) -> tuple[str, ...]:
        return ()

    def _place_of(self, number: int | None) -> int | None:
        return None  # in the arrays of facts, which there are not

    def frequencies(self, entity_id: str) -> tuple[int, int]:
        """One of what is known, as if it were the subject of one fact."""
        return int(entity_id in self._texts), 0

    def candidates(self, form: str, limit: int = 50) -> list[Candidate]:
        """The items whose folded name is `form`, those of labels before those of other names."""
        owners = sorted(self._forms.get(form, {}).items(), key=lambda own: (not own[1], int(own[0][1:])))
        return [Candidate(item, self.label(item), is_label, 1) for item, is_label in owners[:limit]]

    def search_names(self, words: Sequence[str], limit: int, edits: int = 0) -> list[Candidate]:
        """See the base class."""
        holding = [set().union(*(self._items_by_word[own] for own in self._like(word, edits))) for word in words]
        items = set.intersection(*holding) if holding else set()
        return [
            Candidate(item, self.label(item), False, 1)
            for item in sorted(items, key=lambda item: int(item[1:]))[:limit]
        ]

    def _like(self, word: str, edits: int) -> list[str]:
        most = min(edits, 0 if len(word) < _SHORTEST_MISSPELT else 1 if len(word) < _SHORTEST_MISSPELT + 2 else 2)
        if not most:
            return [word] if word in self._items_by_word else []
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        close = process.extract(word, list(self._items_by_word), scorer=OSA.distance, score_cutoff=most, limit=None)
        return [own for own, _, _ in close]

    def close(self) -> None:
        """Nothing is open."""
