"""By which words a question asks for a property or an attribute."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from .text import stem, stems

# what names of quantities begin with: "number of episodes", "total sales"
_COUNTING = frozenset(map(stem, ("number", "total", "count", "amount")))
# stems of forms of the same word: "who wrote" asks for "written by"
_FORMS = {"wrote": "write", "written": "write", "won": "win", "sang": "sing", "sung": "sing", "dead": "die", "death": "die"}  # fmt: skip
_SHORTEST = 4  # a shorter word is no agent
_PHRASES = {"oscar": frozenset(map(stem, ("academy", "award")))}


class PropertyNames:
    """The names of properties and of what tables and infoboxes call the same thing.

    Args:
        properties: (id, label, aliases) of the knowledge base's properties.
    """

    def __init__(self, properties: Iterable[tuple[str, str, list[str]]]) -> None:
        self._labels: dict[frozenset[str], list[frozenset[str]]] = {}
        self._aliases: dict[frozenset[str], list[frozenset[str]]] = defaultdict(list)
        known = [(_name(label), [_name(alias) for alias in aliases]) for _, label, aliases in properties]
        labels = {label for label, _ in known}
        for label, aliases in known:
            # what is another property's label names that one: "member of" is no "instance of"
            names = [label, *(alias for alias in aliases if alias not in labels)] if label else []
            self._labels.setdefault(label, names)
            for name in names:
                self._aliases[name] += names

    def asked(self, label: str, words: AbstractSet[str]) -> float:
        """How much of a name of what `label` calls stands among some stems, from 0 to 1 (a whole name).

        Args:
            label: of a property, or the header or attribute of an evidence; where it is no property's label, the names
                of the properties that it is an alias of count, too.
            words: stems of a question, as `keywords` gives them.
        """
        return max((len(name & words) / len(name) for name in self._names(label)), default=0.0)

    def asking(self, label: str, words: AbstractSet[str]) -> frozenset[str]:
        """The words that ask for what `label` calls: those of its names that stand among `words` as a whole."""
        return frozenset().union(*(name for name in self._names(label) if name <= words))

    def _names(self, label: str) -> list[frozenset[str]]:
        own = _name(label)
        found = self._labels.get(own) or [own, *self._aliases.get(own, ())]
        return [name for name in found if name]


def keywords(text: str) -> frozenset[str]:
    """The stems of a text's content words; forms of a word, and who does it (director, directed), have the same."""
    return frozenset(map(_one_form, stems(text)))


def keyword(word: str) -> str:
    """The keyword of one folded word."""
    return _one_form(stem(word))


def _one_form(word: str) -> str:
    return _FORMS.get(word) or (word.removesuffix("or") if word.endswith("tor") and len(word) > _SHORTEST else word)


def holds(text: AbstractSet[str], word: str) -> bool:
    """Whether the keywords of a text have one, or all of the phrase that means the same (`oscar`: academy award)."""
    return word in text or (word in _PHRASES and _PHRASES[word] <= text)


def _name(label: str) -> frozenset[str]:
    words = keywords(label)
    return words - _COUNTING or words
