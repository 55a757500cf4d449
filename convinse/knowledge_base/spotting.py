"""The names of a text: full names, the longest first, and parts of names and misspelt names among the other words."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Literal, NamedTuple

from ..language.language import Language
from ..language.text import fold
from ..records.representation import QuestionEntity
from .items import Candidate, Items
from .names import other_forms
from .question_words import Word, WordRules, segments

_MAX_TOKENS = 9  # words of a full name
_MAX_PARTIAL = 5  # words of a part of a name
_MAX_ACRONYM = 3  # letters of an alias that is an abbreviation
_CLASS_PROPERTIES = frozenset({"P31", "P279"})
_LETTERS_PER_EDIT = 6  # characters of a name for each wrong letter; shorter names are not searched
_MAX_EDITS = 2  # wrong letters of a name, and of a word in the index of names
_FUZZY_NAMES = 50  # names with similar words whose spelling is compared
_MIN_SURNAME = 4  # letters
_MAX_MISSPELT = 100  # characters of a misspelt name

# a full name; a name that may as well be common words; a part of a name; one of these beside the name that it is compared with; a misspelt
# word; a common noun
NameKind = Literal["name", "common", "part", "compared", "misspelt", "class"]


class LinkedMention(NamedTuple):
    """A name or, unless `is_name`, a common noun in a text: `surface` is `text[start:end]`.

    `scored` are its possible items: as they are spotted with scores of the match, as they are linked with CLOCQ's combined
    scores, best first.
    """

    start: int
    end: int
    surface: str
    scored: Sequence[tuple[Candidate, float]]
    kind: NameKind

    @property
    def is_name(self) -> bool:
        """Return False for a common noun."""
        return self.kind != "class"

    @property
    def is_certain(self) -> bool:
        """Return False for a part of a name, a common word in lower case or a misspelt word, which may mean something else.

        A common or misspelt word is certain if the text asks for a property of the item.
        """
        return self.kind in ("name", "compared", "class")

    @property
    def candidates(self) -> list[Candidate]:
        """The possible items."""
        return [candidate for candidate, _ in self.scored]

    @property
    def meanings(self) -> list[QuestionEntity]:
        """The candidates as CLOCQ lists them."""
        return [
            QuestionEntity(item=candidate.entity, question_word=self.surface, score=score, rank=rank)
            for rank, (candidate, score) in enumerate(self.scored)
        ]


def _spotted(text: str, tokens: Sequence[Word], scored: list[tuple[Candidate, float]], kind: NameKind) -> LinkedMention:
    start, end = tokens[0].start, tokens[-1].end
    return LinkedMention(start, end, text[start:end].rstrip("."), scored, kind)


class NameSpotter:
    """Finds the names of a text; at most `limit` items for a name that is not written in full."""

    def __init__(self, kb: Items, language: Language, limit: int) -> None:
        self._kb, self._language = kb, language
        self._not_names = language.words.not_names
        self._rules = WordRules(kb, language)
        self._close = _CloseNames(kb, language, self._rules, limit)

    def names(self, text: str) -> list[LinkedMention]:
        """Return the names of a text without overlap, segment by segment.

        A common or misspelt word counts as a name if the text asks for a property of its item: "directed" of a film. Other common
        words are left out if the text has a name.
        """
        keywords = self._language.properties.keywords
        words = keywords(text)
        spotted: list[LinkedMention] = []
        for tokens in segments(text):
            for name in self._without_overlap(text, tokens):
                if name.kind in ("common", "misspelt"):
                    best = max((candidate for candidate, _ in name.scored), key=lambda candidate: candidate.frequency)
                    properties = (self._property_keywords.get(prop, ()) for prop in self._kb.properties_of(best.id))
                    other_words = words - keywords(name.surface)
                    if not all(map(other_words.isdisjoint, properties)):
                        name = name._replace(kind="name")
                spotted.append(name)
        spotted = self._with_compared(text, spotted)
        is_named = any(name.kind != "common" for name in spotted)
        return [name for name in spotted if not (is_named and name.kind == "common")]

    def _with_compared(self, text: str, spotted: list[LinkedMention]) -> list[LinkedMention]:
        """Return names from left to right, with those that a text compares as such: "alien" of "which is longer, alien or jaws?"."""
        spotted = sorted(spotted, key=lambda name: name.start)
        for place, (first, second) in enumerate(pairwise(spotted)):
            before = f"{text[: first.start]}{{}}{text[first.end : second.start]}"
            if self._language.operations.comparing.search(before):
                for at, name in ((place, first), (place + 1, second)):
                    # "half-blood prince" is a nickname, too
                    if name.kind == "part" or (name.kind == "common" and name.candidates[0].is_label):
                        spotted[at] = name._replace(kind="compared")
        return spotted

    def _without_overlap(self, text: str, tokens: list[Word]) -> list[LinkedMention]:
        # full names, parts and misspelt names, common words, in this order of preference
        exact = list(self._exact(text, tokens))
        names = [(places, name) for places, name in exact if name.kind != "common"]
        taken = {place for places, _ in names for place in places}
        close = list(self._partial(text, tokens, taken, bool(names)))
        taken.update(place for places, _ in close for place in places)
        common = [(places, name) for places, name in exact if name.kind == "common" and taken.isdisjoint(places)]
        return [name for _, name in names + close + common]

    @cached_property
    def _property_keywords(self) -> dict[str, frozenset[str]]:
        keywords = self._language.properties.keywords
        return {
            name: keywords(" ".join((label, *aliases)))
            for name, label, aliases in self._kb.properties()
            if name not in _CLASS_PROPERTIES
        }

    def _exact(self, text: str, tokens: list[Word]) -> Iterator[tuple[range, LinkedMention]]:
        # with the places of their tokens
        is_cased = self._rules.is_cased(tokens)
        start = 0
        while start < len(tokens):
            for end in range(min(len(tokens), start + _MAX_TOKENS), start, -1):
                surface = text[tokens[start].start : tokens[end - 1].end]
                form = fold(surface)
                owners = [c for c in self._kb.candidates(form) if self._rules.is_name(c)] if form else []
                may_be_alias = self._may_be_alias(surface, form, is_cased, owners)
                candidates = [c for c in owners if c.is_label or may_be_alias]
                if not candidates:
                    continue
                best = candidates[0]
                # "a-ha", a name in lower case, is spelt exactly as its label
                is_spelt_so = surface[:1].islower() and any(candidate.label == surface for candidate in candidates)
                if is_spelt_so or self._is_plausible(tokens, start, end, is_cased, any(c.is_label for c in candidates)):
                    scored = [(candidate, 1.0 if candidate.is_label else 0.8) for candidate in candidates]
                    kind: NameKind = "name"
                    if not is_spelt_so and self._rules.is_common(tokens[start:end], best.is_label, is_cased):
                        kind = "common"
                    elif end - start == 1 and not best.is_label and not surface.isupper():
                        with_word = self._close.with_word(form, tokens[start].capital)
                        ids = {candidate.id for candidate in candidates}
                        scored += [(c, 0.8) for c in with_word if c.id not in ids and self._close.is_surname(form, c)]
                    yield range(start, end), _spotted(text, tokens[start:end], scored, kind)
                    start = end - 1
                    break
            start += 1

    def _may_be_alias(self, surface: str, form: str, is_cased: bool, owners: Sequence[Candidate]) -> bool:
        # short aliases are abbreviations: "LA" is Los Angeles, "La" and "Dr." are not; "mls" is a league in a text without capitals
        letters = surface.rstrip(".")
        if len(letters) > _MAX_ACRONYM or letters.isupper() or not letters.isalpha():
            return True
        if is_cased or not letters.islower() or self._rules.is_written_small(form):
            return False
        return any(letters.upper() in (*self._kb.aliases(c.id), *other_forms(c.label)) for c in owners)

    def classes(self, text: str) -> Iterator[LinkedMention]:
        """Yield the common nouns of a text that name classes, the longest first."""
        for tokens in segments(text):
            start = 0
            while start < len(tokens):
                for end in range(min(len(tokens), start + _MAX_PARTIAL), start, -1):
                    window = tokens[start:end]
                    form = fold(text[window[0].start : window[-1].end])
                    if window[0].form in self._not_names or window[-1].form in self._not_names:
                        continue
                    candidates = [c for c in self._kb.candidates(form) if c.is_label and not self._rules.is_name(c)]
                    if candidates:
                        surface = text[window[0].start : window[-1].end]
                        scored = [(candidate, 1.0) for candidate in candidates]
                        yield LinkedMention(window[0].start, window[-1].end, surface, scored, "class")
                        start = end - 1
                        break
                start += 1

    def _is_plausible(self, segment: list[Word], start: int, end: int, is_cased: bool, is_label: bool) -> bool:
        tokens = segment[start:end]
        is_single = is_cased and len(tokens) == 1
        if is_single and (self._rules.is_part_of_name(segment, start, end) or self._rules.is_adjective(segment, start)):
            return False
        content = [token for token in tokens if token.form not in self._not_names]
        if not content:  # "It", "The Who": names only with a capital
            return tokens[-1].capital and not tokens[-1].first
        is_property = all(map(self._rules.asks, content))
        if any(token.capital and not (token.first and is_property) for token in content):
            return True
        if is_cased:
            return len(content) > 1 and is_label
        return len(content) > 1 or not is_property

    def _partial(
        self, text: str, tokens: list[Word], covered: set[int], has_names: bool
    ) -> Iterator[tuple[range, LinkedMention]]:
        # parts of names ("Yankovic") and misspelt names among capitalised words; among all words if the text has neither capitals
        # nor full names
        is_cased = self._rules.is_cased(tokens)
        taken = set(covered)
        for size in range(min(_MAX_PARTIAL, len(tokens)), 0, -1):
            for start in range(len(tokens) - size + 1):
                window, is_free = tokens[start : start + size], taken.isdisjoint(range(start, start + size))
                if not is_free or not self._is_usable(tokens, start, size, is_cased, has_names, taken):
                    continue
                form = fold(text[window[0].start : window[-1].end])
                is_capital = any(token.capital for token in window)
                scored, kind = self._close.find(form, is_capital)
                # beside a full name a word in lower case may be a surname, but is not taken for a misspelt name
                if scored and (kind == "part" or is_capital or not has_names):
                    taken.update(range(start, start + size))
                    yield range(start, start + size), _spotted(text, window, scored, kind)

    def _is_usable(
        self, tokens: list[Word], start: int, size: int, is_cased: bool, has_names: bool, taken: Container[int]
    ) -> bool:
        window = tokens[start : start + size]
        content = [token for token in window if token.form not in self._not_names]
        if not content or window[-1].form in self._not_names or window[0].form in self._not_names - {"the"}:
            return False
        if all(map(self._rules.asks, content)):
            return False
        if self._rules.is_part_of_name(tokens, start, start + size, taken, is_cased):
            return False
        word = content[0]
        if len(content) == 1 and not word.capital and (word.possessive or self._rules.is_written_small(word.form)):
            return False
        if size == 1 and window[0].capital and self._rules.is_adjective(tokens, start):  # "German businessman"
            return False
        if not is_cased and (not has_names or size == 1):
            return True
        if size == 1 and window[0].first:
            return False
        particles = self._language.names.particles
        return all(token.capital or token.form in particles for token in content)


class _CloseNames:
    """Finds the items of parts of names and of misspelt names; at most `limit` for a name."""

    def __init__(self, kb: Items, language: Language, rules: WordRules, limit: int) -> None:
        self._kb, self._language, self._rules, self._limit = kb, language, rules, limit

    def find(self, form: str, capital: bool) -> tuple[list[tuple[Candidate, float]], NameKind]:
        """Return the items that a folded form may name, each with a score of the match, and the kind of the name."""
        words = form.split()
        if len(words) == 2 and words[0] == "the":
            words = words[1:]
        if len(words) == 1:
            word = words[0]
            with_word = self.with_word(word, capital) if len(word) >= _MIN_SURNAME else []
            people = [candidate for candidate in with_word if self.is_surname(word, candidate)]
            if people:
                return [(candidate, 0.6) for candidate in people], "part"
            if with_word or (not capital and self._rules.is_written_small(word)):  # a known word is not misspelt
                return [], "part"
            return self._misspelt(word, words), "misspelt"
        names = [c for c in self._kb.search_names(words, self._limit) if self._rules.is_name(c)]
        whole = [candidate for candidate in names if self._edits(form, candidate) == 0]
        if whole:  # a full name, but for an article
            return [(candidate, 0.8) for candidate in whole], "name"
        if not names:
            return self._misspelt(form, words), "name"
        is_written = capital or not all(map(self._rules.is_written_small, words))
        return ([(candidate, 0.6) for candidate in names] if is_written else []), "part"

    def with_word(self, word: str, capital: bool) -> list[Candidate]:
        """Return the items whose names have a word; none for a common word without a capital."""
        return self._kb.search_names([word], self._limit) if capital or not self._rules.is_written_small(word) else []

    def is_surname(self, word: str, candidate: Candidate) -> bool:
        """Return True if a word is the surname of a person."""
        words = [part for part in fold(candidate.label).split() if part not in self._language.names.suffixes]
        return words[-1:] == [word] and self._rules.kind(candidate) == "person" and self._rules.is_name(candidate)

    def _misspelt(self, form: str, words: list[str]) -> list[tuple[Candidate, float]]:
        if not _LETTERS_PER_EDIT <= len(form) <= _MAX_MISSPELT:
            return []
        close: list[tuple[Candidate, int]] = []
        for candidate in self._kb.search_names(words, _FUZZY_NAMES, edits=_MAX_EDITS):
            distance = self._edits(form, candidate)
            if distance is not None and self._rules.is_name(candidate):
                close.append((candidate, distance))
        least = min((distance for _, distance in close), default=0)
        match = 0.9 * (1 - least / len(form))
        return [(candidate, match) for candidate, distance in close if distance == least]

    def _edits(self, form: str, candidate: Candidate) -> int | None:
        from rapidfuzz.distance import OSA

        without_article = self._language.words.without_article
        form = without_article(form)
        least: int | None = None
        for name in (candidate.label, *self._kb.aliases(candidate.id)):
            folded = without_article(fold(name))
            max_edits = min(_MAX_EDITS, max(len(form), len(folded)) // _LETTERS_PER_EDIT)
            # people seldom miss the first letter
            if folded[:1] == form[:1] and abs(len(folded) - len(form)) <= max_edits:
                distance = OSA.distance(form, folded, score_cutoff=max_edits)
                if distance <= max_edits and (least is None or distance < least):
                    least = distance
        return least
