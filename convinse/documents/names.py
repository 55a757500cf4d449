"""The names of documents as a knowledge base without facts: what questions name is looked up in them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property

from ..knowledge_base.index import Candidate, KnowledgeBase, Text
from ..knowledge_base.names import NamesInMemory, other_forms
from ..language.text import fold
from .evidences import NamedThing


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
    def _words(self) -> NamesInMemory:
        words = NamesInMemory()
        for form, owners in self._forms.items():
            for item in owners:
                words.add(item, (form,))
        return words

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
        items = self._words.search(words, edits)
        return [
            Candidate(item, self.label(item), False, 1)
            for item in sorted(items, key=lambda item: int(item[1:]))[:limit]
        ]

    def close(self) -> None:
        """Nothing is open."""
