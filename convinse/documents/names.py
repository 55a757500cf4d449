"""The names in documents as items, in which questions are linked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from ..knowledge_base.items import Candidate, Items, Text
from ..knowledge_base.names import NamesInMemory, other_forms
from ..language.text import fold
from .evidences import NamedThing


class DocumentNames(Items):
    """The documents, sections and subjects of rows as items, without facts, classes or properties."""

    def __init__(self, named: Iterable[NamedThing] = (), build_id: str = "none") -> None:
        self.build_id = build_id
        self._texts: dict[str, Text] = {}
        # folded name -> items, and whether it is their label
        self._forms: defaultdict[str, dict[str, bool]] = defaultdict(dict)
        self._words = NamesInMemory()
        for entity, names in named:
            label, aliases = entity["label"], tuple(dict.fromkeys(name for name in names if name != entity["label"]))
            self._texts[entity["id"]] = Text(label, "", "", aliases)
            for name in (*aliases, *other_forms(label), label):
                self._forms[fold(name)][entity["id"]] = name == label
                self._words.add(entity["id"], fold(name))

    def text(self, entity_id: str) -> Text:
        """See the base class."""
        return self._texts.get(entity_id) or Text(entity_id, "", "", ())

    def has(self, entity_id: str) -> bool:
        """See the base class."""
        return entity_id in self._texts

    def candidates(self, form: str, limit: int = 50) -> list[Candidate]:
        """See the base class."""
        owners = sorted(self._forms.get(form, {}).items(), key=lambda owner: (not owner[1], int(owner[0][1:])))
        return [Candidate(item, self.label(item), is_label, 1) for item, is_label in owners[:limit]]

    def search_names(self, words: Sequence[str], limit: int, edits: int = 0) -> list[Candidate]:
        """See the base class."""
        items = sorted(self._words.search(words, edits), key=lambda item: int(item[1:]))
        return [Candidate(item, self.label(item), False, 1) for item in items[:limit]]

    def close(self) -> None:
        """Do nothing: no file is open."""
