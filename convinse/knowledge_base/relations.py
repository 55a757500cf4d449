"""Relation linking: the properties that a question asks for."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from threading import Lock
from typing import NamedTuple

import numpy as np

from ..language.language import english
from ..language.property_names import PropertyLabel, PropertyNames
from ..records.evidence import Entity
from .index import KnowledgeBase
from .linking import EntityLinker

_WORD = re.compile(r"[\w’'-]+")
_MEANT = 10  # properties that the model names for words that no property is called by
Embedding = Callable[[Sequence[str]], np.ndarray]


class LinkedRelation(NamedTuple):
    """A property, and the words of the question that ask for it."""

    item: Entity
    mention: str


class RelationLinker:
    """Finds the properties that questions ask for.

    A property is meant where all content words of one of its names stand in the question, outside of the names of items. Of
    several the model chooses; words that are no name of a property mean those whose labels it holds to be the most alike.

    Args:
        kb: the knowledge base.
        linker: finds the items of the question.
        embed: texts -> [n, d] vectors of length 1; None for names alone.
    """

    def __init__(self, kb: KnowledgeBase, linker: EntityLinker, embed: Embedding | None = None) -> None:
        self._kb, self._linker, self._embed = kb, linker, embed
        self._language = english()
        self._labels = [PropertyLabel(label, property_id) for property_id, label, _ in kb.properties()]
        self._names = PropertyNames(kb.properties(), self._language.properties)
        self._vectors: np.ndarray | None = None
        self._lock = Lock()  # a model computes for one thread at a time

    def link(self, question: str, best_only: bool = True) -> list[LinkedRelation]:
        """The properties, those of the first words first, of equal words the best first.

        Args:
            question: the question.
            best_only: of each mention only the best.
        """
        told = question
        for item_mention in reversed(self._linker.link(question)):
            told = f"{told[: item_mention.start]} {told[item_mention.end :]}"
        words = [(word, self._language.properties.keywords(word)) for word in _WORD.findall(told)]
        asked = frozenset().union(*(keys for _, keys in words))
        if not asked:
            return []
        asking = {label: self._names.asking(label, asked) for label in self._labels}
        meant = {label: own for label, own in asking.items() if own and not any(own < more for more in asking.values())}
        alike = self._alike(told)
        rest = asked - frozenset().union(*meant.values())
        if alike and rest:
            near = [label for label in sorted(alike, key=lambda label: -alike[label]) if label not in meant]
            meant |= dict.fromkeys(near[:_MEANT], rest)
        order = sorted(meant, key=lambda label: (-alike.get(label, 0.0), int(label.id[1:])))
        mentions: dict[str, list[LinkedRelation]] = {}
        for label in order:
            mention = " ".join(word for word, keys in words if keys & meant[label])
            item: Entity = {"id": label.id, "label": label.text or label.id}
            mentions.setdefault(mention, []).append(LinkedRelation(item, mention))
        place = {word: -at for at, (word, _) in reversed(list(enumerate(words)))}
        in_order = sorted(mentions, key=lambda mention: -place[mention.split()[0]])
        return [relation for mention in in_order for relation in mentions[mention][: 1 if best_only else None]]

    def _alike(self, told: str) -> dict[PropertyLabel, float]:
        """The cosine of a question with each property's label; empty without a model."""
        if self._embed is None or not self._labels:
            return {}
        with self._lock:
            if self._vectors is None:
                self._vectors = self._embed([label.text or label.id for label in self._labels])
            cosines: list[float] = (self._vectors @ self._embed([told])[0]).round(4).tolist()
        return dict(zip(self._labels, cosines, strict=True))
