"""Finds the names of a text: full names, the longest first; without any, parts of names and misspelt names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Literal, NamedTuple

from ..language.language import Language
from ..language.text import fold
from .index import Candidate, KnowledgeBase
from .names import other_forms
from .national_teams import NationalTeams
from .question_words import Word, WordRules, segments

_MAX_TOKENS = 9  # of a name
_MAX_PARTIAL = 5  # words of a part of a name
_ACRONYM = 3  # letters: up to so many, an alias is an abbreviation
_CLASS_PROPERTIES = frozenset({"P31", "P279"})
_MISSPELT = 6  # characters of a name for one wrong letter; shorter names are not searched
_MOST_EDITS = 2  # of a word, as the index of names searches it
_FUZZY_NAMES = 50  # names with similar words whose spelling is compared
_SURNAME_LENGTH = 4
_LONGEST_MISSPELT = 100  # characters of a name that may be misspelt

# a full name; a name that may as well be common words; a part of a name; a misspelt word
Sort = Literal["name", "common", "part", "misspelt"]


class _Span(NamedTuple):
    start: int
    end: int
    scored: list[tuple[Candidate, float]]
    sort: Sort = "name"

    @property
    def places(self) -> range:
        return range(self.start, self.end)


class SpottedName(NamedTuple):
    """A name in a text, `text[start:end]`, and the items that it may name with how well they match."""

    start: int
    end: int
    surface: str
    scored: list[tuple[Candidate, float]]
    sort: Sort = "name"


class NameSpotter:
    """Finds the names of a text; at most `most` items for a name that is not written in full."""

    def __init__(self, kb: KnowledgeBase, language: Language, most: int) -> None:
        self._kb, self._language = kb, language
        self._not_names = language.words.not_names
        self._rules = WordRules(kb, language)
        self._close = _CloseNames(kb, language, self._rules, most)
        self._national_teams = NationalTeams(kb, language.teams)

    def names(self, text: str) -> list[SpottedName]:
        """Return the names of a text without overlap, segment by segment.

        A common or misspelt word counts as a name if the text asks for a property of its item: "directed" of a film. Other common
        words are left out beside a name.
        """
        keywords = self._language.properties.keywords
        words = keywords(text)
        spotted: list[SpottedName] = []
        for tokens in segments(text):
            for span in self._spans(text, tokens):
                first, stop = tokens[span.start].start, tokens[span.end - 1].end
                name = SpottedName(first, stop, text[first:stop].rstrip("."), *span[2:])
                if name.sort in ("common", "misspelt"):
                    best = max((candidate for candidate, _ in name.scored), key=lambda candidate: candidate.frequency)
                    properties = (self._property_keywords.get(prop, ()) for prop in self._kb.properties_of(best.id))
                    rest = words - keywords(name.surface)
                    if not all(map(rest.isdisjoint, properties)):
                        name = name._replace(sort="name")
                spotted.append(name)
        is_named = any(name.sort != "common" for name in spotted)
        return [name for name in spotted if not (is_named and name.sort == "common")]

    def _spans(self, text: str, tokens: list[Word]) -> list[_Span]:
        """The names of a segment without overlap: national teams, full names, parts and misspelt names, common words."""
        spans = list(self._teams(text, tokens))
        taken = {place for span in spans for place in span.places}
        exact = [span for span in self._exact(text, tokens) if taken.isdisjoint(span.places)]
        spans += [span for span in exact if span.sort != "common"]
        taken = {place for span in spans for place in span.places}
        close = list(self._partial(text, tokens, taken, bool(spans)))
        taken.update(place for span in close for place in span.places)
        return spans + close + [span for span in exact if span.sort == "common" and taken.isdisjoint(span.places)]

    @cached_property
    def _property_keywords(self) -> dict[str, frozenset[str]]:
        keywords = self._language.properties.keywords
        return {
            name: keywords(" ".join((label, *aliases)))
            for name, label, aliases in self._kb.properties()
            if name not in _CLASS_PROPERTIES
        }

    def _teams(self, text: str, tokens: list[Word]) -> Iterator[_Span]:
        if not tokens:
            return
        first, stop = tokens[0].start, tokens[-1].end
        for team in self._national_teams.mentions(text[first:stop]):
            start, end = first + team.start, first + team.end
            inside = [place for place, token in enumerate(tokens) if start <= token.start and token.end <= end]
            if inside:
                yield _Span(inside[0], inside[-1] + 1, [(candidate, 1.0) for candidate in team.candidates])

    def _exact(self, text: str, tokens: list[Word]) -> Iterator[_Span]:
        cased = self._rules.is_cased(tokens)
        start = 0
        while start < len(tokens):
            for end in range(min(len(tokens), start + _MAX_TOKENS), start, -1):
                surface = text[tokens[start].start : tokens[end - 1].end]
                form = fold(surface)
                named = [c for c in self._kb.candidates(form) if self._rules.is_name(c)] if form else []
                if year := [] if named or end - start > 1 else self._titles_of_years(tokens, start):
                    yield _Span(start, end, [(candidate, 1.0) for candidate in year], "common")
                    break
                fits = self._alias_fits(surface, form, cased, named)
                candidates = [c for c in named if c.is_label or fits]
                if not candidates:
                    continue
                best = candidates[0]
                # "a-ha" is a name as it is spelt
                spelt = surface[:1].islower() and any(candidate.label == surface for candidate in candidates)
                if spelt or self._plausible(tokens, start, end, cased, any(c.is_label for c in candidates)):
                    scored = [(candidate, 1.0 if candidate.is_label else 0.8) for candidate in candidates]
                    sort: Sort = "name"
                    if not spelt and self._rules.is_common(tokens[start:end], best.is_label, cased):
                        sort = "common"
                    elif end - start == 1 and not best.is_label and not surface.isupper():
                        sharing = self._close.sharing(form, tokens[start].capital)
                        ids = {candidate.id for candidate in candidates}
                        scored += [(c, 0.8) for c in sharing if c.id not in ids and self._close.is_surname(form, c)]
                    yield _Span(start, end, scored, sort)
                    start = end - 1
                    break
            start += 1

    def _titles_of_years(self, tokens: list[Word], place: int) -> list[Candidate]:
        """The items named by a year in words, unless a word before it marks a time: "who wrote 1984"."""
        names = self._language.names
        before = tokens[place - 1].form if place else ""
        form = "" if before in names.before_years else names.spoken(tokens[place].form)
        return [c for c in self._kb.candidates(form) if self._rules.is_name(c)] if form else []

    def _alias_fits(self, surface: str, form: str, cased: bool, named: Sequence[Candidate]) -> bool:
        """Whether a text may be an alias; short aliases are abbreviations.

        "LA" is Los Angeles, "La" and "Dr." are not; "mls" is a league in a text without capitals.
        """
        letters = surface.rstrip(".")
        if len(letters) > _ACRONYM or letters.isupper() or not letters.isalpha():
            return True
        if cased or not letters.islower() or self._rules.is_written_small(form):
            return False
        return any(letters.upper() in (*self._kb.aliases(c.id), *other_forms(c.label)) for c in named)

    def classes(self, text: str) -> Iterator[SpottedName]:
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
                        yield SpottedName(window[0].start, window[-1].end, surface, scored)
                        start = end - 1
                        break
                start += 1

    def _plausible(self, segment: list[Word], start: int, end: int, cased: bool, is_label: bool) -> bool:
        tokens = segment[start:end]
        single = cased and len(tokens) == 1
        if single and (self._rules.is_part_of_name(segment, start, end) or self._rules.is_adjective(segment, start)):
            return False
        content = [token for token in tokens if token.form not in self._not_names]
        if not content:  # "It", "The Who": names only with a capital
            return tokens[-1].capital and not tokens[-1].first
        common = all(map(self._rules.asks, content))
        if any(token.capital and not (token.first and common) for token in content):
            return True
        if cased:
            return len(content) > 1 and is_label
        return len(content) > 1 or not common

    def _partial(self, text: str, tokens: list[Word], covered: set[int], linked: bool) -> Iterator[_Span]:
        """Parts of names ("Yankovic") and misspelt names among capitalised words; in a text without capitals and linked names,
        among all words."""
        cased = self._rules.is_cased(tokens)
        taken = set(covered)
        for size in range(min(_MAX_PARTIAL, len(tokens)), 0, -1):
            for start in range(len(tokens) - size + 1):
                window, free = tokens[start : start + size], taken.isdisjoint(range(start, start + size))
                if not free or not self._usable(tokens, start, size, cased, linked):
                    continue
                form = fold(text[window[0].start : window[-1].end])
                scored, sort = self._close.find(form, any(token.capital for token in window))
                if scored:
                    taken.update(range(start, start + size))
                    yield _Span(start, start + size, scored, sort)

    def _usable(self, tokens: list[Word], start: int, size: int, cased: bool, linked: bool) -> bool:
        window = tokens[start : start + size]
        content = [token for token in window if token.form not in self._not_names]
        if not content or window[-1].form in self._not_names or window[0].form in self._not_names - {"the"}:
            return False
        if all(map(self._rules.asks, content)):
            return False
        if cased and self._rules.is_part_of_name(tokens, start, start + size):
            return False
        word = content[0]
        if len(content) == 1 and not word.capital and (word.possessive or self._rules.is_written_small(word.form)):
            return False
        if size == 1 and window[0].capital and self._rules.is_adjective(tokens, start):  # "German businessman"
            return False
        if (cased or linked) and size == 1 and window[0].first:
            return False
        particles = self._language.names.particles
        return not (cased or linked) or all(token.capital or token.form in particles for token in content)


class _CloseNames:
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
