"""Links a question to the properties that it asks for."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from threading import Lock

import numpy as np

from ..language.language import english
from ..language.property_names import PropertyLabel, PropertyNames
from ..records.evidence import Entity
from .items import Items
from .linking import EntityLinker

_WORD = re.compile(r"[\w’'-]+")
_SIMILAR = 10  # properties that the model finds for words outside of the names of properties
Embedding = Callable[[Sequence[str]], np.ndarray]


class RelationLinker:
    """Finds the properties that questions ask for.

    A property is linked if all content words of a name of it are in the question, outside of the names of items. A model (`embed`:
    texts -> [n, d] vectors of length 1) ranks several properties; for words that name no property it finds the properties with
    the most similar labels.
    """

    def __init__(self, kb: Items, linker: EntityLinker, embed: Embedding | None = None) -> None:
        self._kb, self._linker, self._embed = kb, linker, embed
        self._language = english()
        self._labels = [PropertyLabel(label, property_id) for property_id, label, _ in kb.properties()]
        self._names = PropertyNames(kb.properties(), self._language.properties)
        self._vectors: np.ndarray | None = None
        self._lock = Lock()  # a model computes for one thread at a time

    def link(self, question: str, best_only: bool = True) -> list[tuple[Entity, str]]:
        """Return properties with the words that ask for them, by the order of their words in the question, for the same words the best first or it alone."""
        text = question  # without the names of items
        for item_mention in reversed(self._linker.link(question)):
            text = f"{text[: item_mention.start]} {text[item_mention.end :]}"
        words = [(word, self._language.properties.keywords(word)) for word in _WORD.findall(text)]
        keywords = frozenset().union(*(keys for _, keys in words))
        if not keywords:
            return []
        shared = {label: self._names.asking(label, keywords) for label in self._labels}
        linked = {
            label: keys for label, keys in shared.items() if keys and not any(keys < more for more in shared.values())
        }
        cosines = self._cosines(text)
        rest = keywords - frozenset().union(*linked.values())
        if cosines and rest:
            near = [label for label in sorted(cosines, key=lambda label: -cosines[label]) if label not in linked]
            linked |= dict.fromkeys(near[:_SIMILAR], rest)
        order = sorted(linked, key=lambda label: (-cosines.get(label, 0.0), int(label.id[1:])))
        mentions: dict[str, list[tuple[Entity, str]]] = {}
        for label in order:
            mention = " ".join(word for word, keys in words if keys & linked[label])
            item: Entity = {"id": label.id, "label": label.text or label.id}
            mentions.setdefault(mention, []).append((item, mention))
        place = {word: -at for at, (word, _) in reversed(list(enumerate(words)))}
        in_order = sorted(mentions, key=lambda mention: -place[mention.split()[0]])
        return [relation for mention in in_order for relation in mentions[mention][: 1 if best_only else None]]

    def _cosines(self, text: str) -> dict[PropertyLabel, float]:
        """The cosines of a text and the labels of properties; empty without a model."""
        if self._embed is None or not self._labels:
            return {}
        with self._lock:
            if self._vectors is None:
                self._vectors = self._embed([label.text or label.id for label in self._labels])
            cosines: list[float] = (self._vectors @ self._embed([text])[0]).round(4).tolist()
        return dict(zip(self._labels, cosines, strict=True))
