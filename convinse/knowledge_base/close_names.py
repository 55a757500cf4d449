"""Finds the names that a question misspells or has a part of."""

from __future__ import annotations

from typing import Literal

from ..language.language import Language
from ..language.text import fold
from .index import Candidate, KnowledgeBase
from .question_words import WordRules

_MISSPELT = 6  # characters of a name for one wrong letter; shorter names are not searched
_MOST_EDITS = 2  # of a word, as the index of names searches it
_FUZZY_NAMES = 50  # names with similar words whose spelling is compared
_SURNAME_LENGTH = 4
_LONGEST_MISSPELT = 100  # characters of a name that may be misspelt

# a full name; a name that may as well be common words; a part of a name; a misspelt word
Sort = Literal["name", "common", "part", "misspelt"]


class CloseNames:
    """Finds the items with a name that a question misspells or has a part of; at most `most` items for a name."""

    def __init__(self, kb: KnowledgeBase, language: Language, rules: WordRules, most: int) -> None:
        self._kb, self._language, self._rules, self._most = kb, language, rules, most

    def find(self, form: str, capital: bool) -> tuple[list[tuple[Candidate, float]], Sort]:
        """Return the items that a form may name, with the scores of their match, and the sort of the form."""
        words = form.split()
        if len(words) == 2 and words[0] == "the":
            words = words[1:]
        if len(words) == 1:
            word = words[0]
            sharing = self.sharing(word, capital) if len(word) >= _SURNAME_LENGTH else []
            people = [candidate for candidate in sharing if self.is_surname(word, candidate)]
            if people:
                return [(candidate, 0.6) for candidate in people], "part"
            if sharing or (not capital and self._rules.is_written_small(word)):  # it is spelt well
                return [], "part"
            return self._misspelt(word, words), "misspelt"
        names = [c for c in self._kb.search_names(words, self._most) if self._rules.is_name(c)]
        whole = [candidate for candidate in names if self._edits(form, candidate) == 0]
        if whole:  # but for an article
            return [(candidate, 0.8) for candidate in whole], "name"
        if not names:
            return self._misspelt(form, words), "name"
        is_said = capital or not all(map(self._rules.is_written_small, words))
        return ([(candidate, 0.6) for candidate in names] if is_said else []), "part"

    def sharing(self, word: str, capital: bool) -> list[Candidate]:
        """Return the items whose names have a word; none for a common word without a capital."""
        return self._kb.search_names([word], self._most) if capital or not self._rules.is_written_small(word) else []

    def is_surname(self, word: str, candidate: Candidate) -> bool:
        """Return True if a word is the surname of a person."""
        words = [part for part in fold(candidate.label).split() if part not in self._language.names.suffixes]
        return words[-1:] == [word] and self._rules.kind(candidate) == "person" and self._rules.is_name(candidate)

    def _misspelt(self, form: str, words: list[str]) -> list[tuple[Candidate, float]]:
        if not _MISSPELT <= len(form) <= _LONGEST_MISSPELT:
            return []
        near: list[tuple[Candidate, int]] = []
        for candidate in self._kb.search_names(words, _FUZZY_NAMES, edits=_MOST_EDITS):
            distance = self._edits(form, candidate)
            if distance is not None and self._rules.is_name(candidate):
                near.append((candidate, distance))
        least = min((distance for _, distance in near), default=0)
        match = 0.9 * (1 - least / len(form))
        return [(candidate, match) for candidate, distance in near if distance == least]

    def _edits(self, form: str, candidate: Candidate) -> int | None:
        from rapidfuzz.distance import OSA

        without_article = self._language.words.without_article
        form = without_article(form)
        least: int | None = None
        for name in (candidate.label, *self._kb.aliases(candidate.id)):
            folded = without_article(fold(name))
            most = min(_MOST_EDITS, max(len(form), len(folded)) // _MISSPELT)
            if folded[:1] == form[:1] and abs(len(folded) - len(form)) <= most:  # people seldom miss the first letter
                distance = OSA.distance(form, folded, score_cutoff=most)
                if distance <= most and (least is None or distance < least):
                    least = distance
        return least
