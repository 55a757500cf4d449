"""BM25 scoring of evidences, with the names of properties as a bridge between question and evidence words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from ..language.language import Language, english
from ..language.text import fold
from ..records.evidence import Evidence, question_items, with_score
from .scorer import Scorer

_EXPANSION_WEIGHT = 0.5  # of a related word; a word of the query has 1
_NAME_WEIGHT = 0.4  # of a word of an item's name, which all evidences of the item have
_MAX_EXPANSIONS = 12  # related words of a word, the most certain first


class QueryExpansion:
    """Expands a query by the names of the properties that its words name ("directed" -> director, film director).

    Args:
        properties: (id, label, aliases) of the knowledge base's properties.
        language: of the queries and the properties; English by default.
    """

    def __init__(self, properties: Iterable[tuple[str, str, list[str]]], language: Language | None = None) -> None:
        language = language or english()
        self._words, forms = language.words, language.properties
        stems = self._words.stems
        related: dict[str, dict[str, float]] = defaultdict(dict)
        for _, label, aliases in properties:
            label_stems = stems(label)
            for name in (label, *aliases):
                name_stems = stems(name)
                # a name of a single content word stands for the property, except "is a", "of which" and the like
                if len(name_stems) == 1 and not forms.not_bridges.intersection(fold(name).split()):
                    weights = related[name_stems[0]]
                    for word in label_stems:
                        if word != name_stems[0]:
                            weights[word] = max(weights.get(word, 0.0), 1 / len(label_stems))
        for word, names in forms.expansions.items():
            related[word] |= dict.fromkeys(names, 1.0)
        self._related = {
            word: sorted(names, key=lambda name: (-names[name], name))[:_MAX_EXPANSIONS]
            for word, names in related.items()
        }

    def weights(self, query: str) -> dict[str, float]:
        """Return the stems of a query with weight 1, and related stems with less."""
        weights = dict.fromkeys(self._words.stems(query), 1.0)
        for word in list(weights):
            for name in self._related.get(word, ()):
                weights.setdefault(name, _EXPANSION_WEIGHT)
        return weights


class BM25Scorer(Scorer):
    """Ranks evidences for a query by BM25; the rank of equal scores depends on their texts only.

    Args:
        expansion: of queries; None for the query's words alone.
        language: of queries and evidences; English by default.
    """

    def __init__(self, expansion: QueryExpansion | None = None, language: Language | None = None) -> None:
        self._language = language or english()
        self._expansion = expansion

    def scores(self, query: str, evidences: Sequence[Evidence]) -> list[float]:
        """Return the scores of evidences, in their order."""
        if self._expansion is None:
            weights: str | dict[str, float] = query
        else:
            weights = self._expansion.weights(query)
            stems = self._language.words.stems
            names = {item["label"] for item in question_items(evidences)}
            for word in {word for name in names for word in stems(name)} & weights.keys():
                weights[word] *= _NAME_WEIGHT  # all evidences of an item have its name
        return self._language.bm25.scores(weights, [evidence["evidence_text"] for evidence in evidences])

    def rank(self, query: str, evidences: Sequence[Evidence], top_k: int) -> list[Evidence]:
        """Return copies of the best `top_k` evidences with `score`, best first."""
        scores = self.scores(query, evidences)
        last = sorted(scores, reverse=True)[:top_k][-1:]  # only texts that may be in the top k are compared
        order = sorted(
            (place for place, score in enumerate(scores) if [score] >= last),
            key=lambda place: (-scores[place], evidences[place]["evidence_text"], evidences[place]["source"], place),
        )
        return [with_score(evidences[place], scores[place]) for place in order[:top_k]]
