"""Mentions of a text and the items that they may mean.

Names are found by their labels and aliases, the longest first; where there is none, parts of names and misspelt ones by
edit distance. A mention is certain, or it takes a conversation that speaks of what it names. The candidates of a mention are ranked by CLOCQ's four signals (Christmann et al., WSDM 2022, arXiv 2108.08597): match with the mention,
relevance to the text, connectivity and coherence with the candidates of the other mentions.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence, Set
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

from ..config import ClocqParams
from ..language.language import Language, english
from ..language.text import fold
from ..records.evidence import Entity
from ..records.representation import QuestionEntity
from .index import Candidate, KnowledgeBase
from .names import other_forms
from .national_teams import NationalTeams

_TOKEN = re.compile(r"\w+(?:['’]\w+)*\.?")
_SEGMENT = re.compile(r"[^|?!;\n]+")
_MAX_TOKENS = 9  # of a name
_MAX_PARTIAL = 5  # words of a part of a name
_MISSPELT = 6  # characters of a name to one wrong letter; shorter names are not looked for
_MOST_EDITS = 2  # what the index of names looks for
_FUZZY_NAMES = 50  # names with words like those of a misspelt one whose spelling is compared
_NEAR_BEST = 0.8  # AUTO keeps candidates of at least this share of the best score
_AUTO_LIMIT = 5  # items that AUTO keeps for a mention at most
_NEIGHBOR_LIMIT = 300
_SURNAME_LENGTH = 4
_ACRONYM = 3  # letters: up to so many, an alias is an abbreviation
_CLASS_PROPERTIES = frozenset({"P31", "P279"})
_WELL_KNOWN = 40  # facts of an item whose name of common words counts without capitals: "the godfather"
_KEPT_TEXTS = 2048  # whose mentions stay in memory: the questions of a run over several combinations of sources
_FAMOUS = 8  # facts of a person whose surname counts without a capital
_RIVALS = 16  # mentions on either side whose items say what a mention means: more than a question has
_BESIDE = 200  # characters on either side of a mention in which its neighbouring words are looked for
_LONGEST_MISSPELT = 100  # characters of a name that may be misspelt
_CLEARLY = 2  # times the facts of the next item whose name has the word: the one that the word alone means


class ScoredCandidate(NamedTuple):
    """An item for a mention, with CLOCQ's combined score."""

    id: str
    label: str
    score: float

    @property
    def entity(self) -> Entity:
        """Id and label."""
        return {"id": self.id, "label": self.label}


class LinkedMention(NamedTuple):
    """A name, or a common noun, in a text: `text[start:end]` is `surface`; candidates are sorted, best first.

    `is_certain` is false of a word that may as well mean something else: a part of a name, a common word written small, a
    misspelt word, an alias of one word that other names have, too; unless the text asks for a property of the item.
    """

    start: int
    end: int
    surface: str
    candidates: tuple[ScoredCandidate, ...]
    is_name: bool = True
    is_certain: bool = True

    @property
    def meanings(self) -> list[QuestionEntity]:
        """The candidates as CLOCQ lists them."""
        return [
            QuestionEntity(item=candidate.entity, question_word=self.surface, score=candidate.score, rank=rank)
            for rank, candidate in enumerate(self.candidates)
        ]


class _Token(NamedTuple):
    start: int
    end: int
    form: str
    capital: bool
    first: bool
    possessive: bool
    joined: bool  # only blanks stand between it and the word before


# what words are: a name that is meant; a name that is written as common words are; a part of a name, or an alias that is one
# of other names, too; one misspelt word
_Sort = Literal["name", "common", "part", "misspelt"]


class _Span(NamedTuple):
    start: int
    end: int
    scored: list[tuple[Candidate, float]]
    sort: _Sort = "name"

    @property
    def places(self) -> range:
        return range(self.start, self.end)


class _Spotted(NamedTuple):
    start: int
    end: int
    surface: str
    scored: list[tuple[Candidate, float]]
    sort: _Sort = "name"


class EntityLinker:
    """Finds the items of a knowledge base in a text.

    Args:
        kb: the knowledge base.
        params: see `ClocqParams`.
        language: of the texts and the knowledge base; English by default.
    """

    def __init__(self, kb: KnowledgeBase, params: ClocqParams, language: Language | None = None) -> None:
        self._kb = kb
        self._params = params
        self._language = language or english()
        self._not_names = self._language.words.not_names
        self._is_written_small = self._language.common.has
        self._national_teams = NationalTeams(kb, self._language.teams)
        self._linked = lru_cache(maxsize=_KEPT_TEXTS)(self._link)

    def link(self, text: str, classes: bool = False) -> list[LinkedMention]:
        """The mentions of a question or representation from left to right, without overlap; may be empty.

        Common nouns ("country") are linked only with `classes`, and only in a text that names nothing. Surface forms are those of the text after `repair`.
        """
        return list(self._linked(repair(text), classes))

    def _link(self, text: str, classes: bool) -> tuple[LinkedMention, ...]:
        spotted: list[_Spotted] = []
        for segment in _SEGMENT.finditer(text):
            tokens = _tokens(text, segment.start(), segment.end())
            for span in self._spans(text, tokens):
                first, stop = tokens[span.start].start, tokens[span.end - 1].end
                spotted.append(_Spotted(first, stop, text[first:stop].rstrip("."), *span[2:]))
        spotted = self._supported(text, spotted)
        is_named = bool(spotted)
        if not is_named and classes:
            spotted = list(self._classes(text))
        spotted.sort(key=lambda mention: mention[:2])
        return tuple(mention._replace(is_name=is_named) for mention in self._disambiguate(text, spotted))

    def _spans(self, text: str, tokens: list[_Token]) -> list[_Span]:
        """The names of a segment without overlap: national teams, names in full, parts and misspelt ones, common words."""
        spans = list(self._teams(text, tokens))
        taken = {place for span in spans for place in span.places}
        exact = [span for span in self._exact(text, tokens) if taken.isdisjoint(span.places)]
        spans += [span for span in exact if span.sort != "common"]
        taken = {place for span in spans for place in span.places}
        close = list(self._partial(text, tokens, taken, bool(spans)))
        taken.update(place for span in close for place in span.places)
        return spans + close + [span for span in exact if span.sort == "common" and taken.isdisjoint(span.places)]

    def _supported(self, text: str, spotted: list[_Spotted]) -> list[_Spotted]:
        """The mentions with what the text says for them; beside a name, common words that it does not ask about are none."""
        keywords = self._language.properties.keywords
        wanted = keywords(text)
        checked = []
        for mention in spotted:
            asked = mention.sort in ("common", "misspelt") and self._is_asked(
                wanted - keywords(mention.surface), mention.scored
            )
            checked.append(mention._replace(sort="name") if asked else mention)
        is_named = any(mention.sort != "common" for mention in checked)
        return [mention for mention in checked if not (is_named and mention.sort == "common")]

    def _is_asked(self, words: Set[str], scored: Sequence[tuple[Candidate, float]]) -> bool:
        """Whether some keywords are in the name of a property of the best known item: "directed" of a film."""
        best = max((candidate for candidate, _ in scored), key=lambda candidate: candidate.frequency)
        names = (self._property_keywords.get(name, frozenset()) for name in self._kb.properties_of(best.id))
        return any(not words.isdisjoint(own) for own in names)

    def _teams(self, text: str, tokens: list[_Token]) -> Iterator[_Span]:
        if not tokens:
            return
        first, stop = tokens[0].start, tokens[-1].end
        for team in self._national_teams.mentions(text[first:stop]):
            start, end = first + team.start, first + team.end
            inside = [place for place, token in enumerate(tokens) if start <= token.start and token.end <= end]
            if inside:
                yield _Span(inside[0], inside[-1] + 1, [(candidate, 1.0) for candidate in team.candidates])

    def _exact(self, text: str, tokens: list[_Token]) -> Iterator[_Span]:
        cased = self._is_cased(tokens)
        start = 0
        while start < len(tokens):
            for end in range(min(len(tokens), start + _MAX_TOKENS), start, -1):
                surface = text[tokens[start].start : tokens[end - 1].end]
                form = fold(surface)
                named = [c for c in self._kb.candidates(form) if self._is_name(c)] if form else []
                year = [] if named or end - start > 1 else self._titles_of_years(tokens, start)
                if year:
                    yield _Span(start, end, [(candidate, 1.0) for candidate in year], "common")
                    break
                fits = self._alias_fits(surface, form, cased, named)
                candidates = [c for c in named if c.is_label or fits]
                if not candidates:
                    continue
                best, several = candidates[0], end - start > 1
                known = not cased and several and best.is_label and best.frequency >= _WELL_KNOWN
                spelt = any(
                    c.label == surface and surface[:1].islower() for c in candidates
                )  # "a-ha", as it is written
                if known or spelt or self._plausible(tokens, start, end, cased, any(c.is_label for c in candidates)):
                    scored = [(candidate, 1.0 if candidate.is_label else 0.8) for candidate in candidates]
                    sort: _Sort = "name"
                    if not (known or spelt) and self._is_common(tokens[start:end], best.is_label, cased):
                        sort = "common"
                    elif not several and not best.is_label and not surface.isupper():
                        sharing = self._sharing(form, tokens[start].capital)
                        # far better known than all others whose names have the same word
                        is_clear = all(_CLEARLY * c.frequency <= best.frequency for c in sharing if c.id != best.id)
                        sort = "name" if is_clear else "part"
                        own = {candidate.id for candidate in candidates}
                        scored += [(c, 0.8) for c in sharing if c.id not in own and self._is_surname(form, c, True)]
                    yield _Span(start, end, scored + self._shorter(text, tokens[start:end]), sort)
                    start = end - 1
                    break
            start += 1

    def _titles_of_years(self, tokens: list[_Token], place: int) -> list[Candidate]:
        """The items whose name is a year in words, of a year that nothing says to be a time: "who wrote 1984"."""
        names = self._language.names
        before = tokens[place - 1].form if place else ""
        form = "" if before in names.before_years else names.spoken(tokens[place].form)
        return [c for c in self._kb.candidates(form) if self._is_name(c)] if form else []

    def _alias_fits(self, surface: str, form: str, cased: bool, named: Sequence[Candidate]) -> bool:
        """Whether an alias may be meant by what is written: short ones are abbreviations.

        "LA" is Los Angeles, "La" and "Dr." are not; "mls" is a league where nothing has capitals.
        """
        letters = surface.rstrip(".")
        if len(letters) > _ACRONYM or letters.isupper() or not letters.isalpha():
            return True
        if cased or not letters.islower() or self._is_written_small(form):
            return False
        return any(letters.upper() in (*self._kb.aliases(c.id), *other_forms(c.label)) for c in named)

    def _is_common(self, window: Sequence[_Token], is_label: bool, cased: bool) -> bool:
        """Whether words that are a name as a whole are written as common words are: in a text without capitals."""
        content = [token for token in window if token.form not in self._not_names]
        if cased or any(token.capital and not token.first for token in window) or (is_label and len(content) > 1):
            return False
        return all(self._is_written_small(token.form) or self._asks(token) for token in content)

    def _sharing(self, word: str, capital: bool) -> list[Candidate]:
        return self._kb.search_names([word], self._params.d) if capital or not self._is_written_small(word) else []

    def _shorter(self, text: str, tokens: list[_Token]) -> list[tuple[Candidate, float]]:
        """What the name without its last word names, when that is a class: "the ... Trilogy", "the ... series"."""
        names_class = self._language.answer_types.names_class
        if len(tokens) < 3 or not names_class(tokens[-1].form) or tokens[-2].form in self._not_names:
            return []
        shorter = self._kb.candidates(fold(text[tokens[0].start : tokens[-2].end]))
        return [(candidate, 0.7) for candidate in shorter if candidate.is_label and self._is_name(candidate)]

    def _classes(self, text: str) -> Iterator[_Spotted]:
        for segment in _SEGMENT.finditer(text):
            tokens = _tokens(text, segment.start(), segment.end())
            start = 0
            while start < len(tokens):
                for end in range(min(len(tokens), start + _MAX_PARTIAL), start, -1):
                    window = tokens[start:end]
                    form = fold(text[window[0].start : window[-1].end])
                    if window[0].form in self._not_names or window[-1].form in self._not_names:
                        continue
                    candidates = [c for c in self._kb.candidates(form) if c.is_label and not self._is_name(c)]
                    if candidates:
                        surface = text[window[0].start : window[-1].end]
                        scored = [(candidate, 1.0) for candidate in candidates]
                        yield _Spotted(window[0].start, window[-1].end, surface, scored)
                        start = end - 1
                        break
                start += 1

    def _plausible(self, segment: list[_Token], start: int, end: int, cased: bool, is_label: bool) -> bool:
        tokens = segment[start:end]
        single = cased and len(tokens) == 1
        if single and (self._is_part_of_name(segment, start, end) or self._is_adjective(segment, start)):
            return False
        content = [token for token in tokens if token.form not in self._not_names]
        if not content:  # "It", "The Who": only where capitals say so
            return tokens[-1].capital and not tokens[-1].first
        common = all(map(self._asks, content))
        if any(token.capital and not (token.first and common) for token in content):
            return True
        if cased:
            return len(content) > 1 and is_label
        return len(content) > 1 or not common

    def _is_name(self, candidate: Candidate) -> bool:
        """Wikidata writes names with a capital; a lower-case one shows by its spelling ("a-ha", "deadmau5", "iPod")."""
        label = candidate.label
        first = next(filter(str.isalnum, label), "")
        if first.isupper() or first.isdigit():
            return True
        if label.isalpha() or " " in label or self._kind(candidate) not in ("person", "group", "thing"):
            return False
        return not self._kb.is_class(candidate.id)

    def _is_part_of_name(self, tokens: list[_Token], start: int, end: int) -> bool:
        """Whether capitalised words beside `tokens[start:end]` make it a part of a longer name, as in "European Cup"."""
        before = tokens[start - 1] if start and tokens[start].joined else None
        after = tokens[end] if end < len(tokens) and tokens[end].joined else None
        if before is not None and before.capital and not (before.possessive or before.first) and self._may_name(before):
            return True
        return after is not None and after.capital and not tokens[end - 1].possessive and self._may_name(after)

    def _may_name(self, token: _Token) -> bool:
        """Whether a capitalised word may belong to a name: "Date" and "Director" of a terse question do not."""
        return not (token.form in self._not_names or token.form.isdigit() or self._asks(token))

    def _is_adjective(self, tokens: list[_Token], place: int) -> bool:
        """Whether a word says what something is like ("British actor") and names no item by itself."""
        after = tokens[place + 1] if place + 1 < len(tokens) else None
        if after is None or not after.joined or after.capital or after.form in self._not_names:
            return False
        candidates = self._kb.candidates(tokens[place].form)
        if any(c.is_label and "country" in self._kb.types(c.id) for c in candidates):
            return False  # "the England job"
        kinds = {kind for c in candidates for name in self._kb.types(c.id) for kind in name.split()}
        is_demonym = bool(candidates) and all(not c.is_label and self._kind(c) == "place" for c in candidates)
        return is_demonym or bool(kinds & self._language.answer_types.people_types)

    def _kind(self, candidate: Candidate) -> str:
        return self._language.answer_types.entity_kind(candidate.id, self._kb.types(candidate.id))

    def _asks(self, token: _Token) -> bool:
        return self._language.words.stem(token.form) in self._property_words

    @cached_property
    def _property_keywords(self) -> dict[str, frozenset[str]]:
        keywords = self._language.properties.keywords
        return {
            name: keywords(" ".join((label, *aliases)))
            for name, label, aliases in self._kb.properties()
            if name not in _CLASS_PROPERTIES
        }

    @cached_property
    def _property_labels(self) -> dict[str, frozenset[str]]:
        """Property -> the keywords of its label; its aliases are too many things to too many items ("written by": a composer)."""
        keywords = self._language.properties.keywords
        return {name: keywords(label) for name, label, _ in self._kb.properties() if name not in _CLASS_PROPERTIES}

    @cached_property
    def _property_words(self) -> frozenset[str]:
        """Stems of the names of properties: "director", "cast", "episode" ask for something, they name nothing."""
        stems = self._language.words.stems
        return frozenset(
            word for _, label, aliases in self._kb.properties() for name in (label, *aliases) for word in stems(name)
        )

    def _partial(self, text: str, tokens: list[_Token], covered: set[int], linked: bool) -> Iterator[_Span]:
        """Parts of names ("Yankovic") and misspelt ones: capitalised words that no name covers; in text without capitals,
        any words if nothing else is linked."""
        cased = self._is_cased(tokens)
        taken = set(covered)
        for size in range(min(_MAX_PARTIAL, len(tokens)), 0, -1):
            for start in range(len(tokens) - size + 1):
                window, free = tokens[start : start + size], taken.isdisjoint(range(start, start + size))
                if not free or not self._usable(tokens, start, size, cased, linked):
                    continue
                form = fold(text[window[0].start : window[-1].end])
                scored, sort = self._close_names(form, any(token.capital for token in window))
                if scored:
                    taken.update(range(start, start + size))
                    yield _Span(start, start + size, scored, sort)

    def _usable(self, tokens: list[_Token], start: int, size: int, cased: bool, linked: bool) -> bool:
        window = tokens[start : start + size]
        content = [token for token in window if token.form not in self._not_names]
        if not content or window[-1].form in self._not_names or window[0].form in self._not_names - {"the"}:
            return False
        if all(map(self._asks, content)):
            return False
        if cased and self._is_part_of_name(tokens, start, start + size):
            return False
        if len(content) == 1 and not content[0].capital and self._is_common_or_part(tokens, start + size - 1):
            return False
        if size == 1 and window[0].capital and self._is_adjective(tokens, start):  # "German businessman"
            return False
        if (cased or linked) and size == 1 and window[0].first:
            return False
        particles = self._language.names.particles
        return not (cased or linked) or all(token.capital or token.form in particles for token in content)

    def _is_common_or_part(self, tokens: list[_Token], place: int) -> bool:
        """Whether a small word is a common one, or stands beside one that is not: of "dan smith", smith is no name by itself."""
        before = tokens[place - 1] if place and tokens[place].joined else None
        after = tokens[place + 1] if place + 1 < len(tokens) and tokens[place + 1].joined else None
        beside = [token for token in (before, after) if token is not None and token.form.isalpha()]
        return self._is_small(tokens[place]) or not all(map(self._is_small, beside))

    def _is_small(self, token: _Token) -> bool:
        return (
            self._is_written_small(token.form) or token.form in self._not_names or self._asks(token) or token.possessive
        )

    def _close_names(self, form: str, capital: bool) -> tuple[list[tuple[Candidate, float]], _Sort]:
        words = form.split()
        if len(words) == 2 and words[0] == "the":
            words = words[1:]
        if len(words) == 1:
            return self._close_word(words[0], capital)
        names = [c for c in self._kb.search_names(words, self._params.d) if self._is_name(c)]
        whole = [candidate for candidate in names if self._edits(form, candidate) == 0]
        if whole:  # but for an article
            return [(candidate, 0.8) for candidate in whole], "name"
        if not names:
            return self._misspelt(form, words), "name"
        is_said = capital or not all(map(self._is_written_small, words))
        return ([(candidate, 0.6) for candidate in names] if is_said else []), "part"

    def _close_word(self, word: str, capital: bool) -> tuple[list[tuple[Candidate, float]], _Sort]:
        sharing = self._sharing(word, capital) if len(word) >= _SURNAME_LENGTH else []
        people = [candidate for candidate in sharing if self._is_surname(word, candidate, capital)]
        if people:
            return [(candidate, 0.6) for candidate in people], "part"
        if sharing or (not capital and self._is_written_small(word)):  # it is spelt well
            return [], "part"
        return self._misspelt(word, [word]), "misspelt"

    def _is_surname(self, word: str, candidate: Candidate, capital: bool) -> bool:
        words = [part for part in fold(candidate.label).split() if part not in self._language.names.suffixes]
        if words[-1:] != [word] or not (capital or candidate.frequency >= _FAMOUS):
            return False
        return self._kind(candidate) == "person" and self._is_name(candidate)

    def _misspelt(self, form: str, words: list[str]) -> list[tuple[Candidate, float]]:
        if not _MISSPELT <= len(form) <= _LONGEST_MISSPELT:
            return []
        near: dict[str, tuple[Candidate, int]] = {}
        for variant in (words, *_respaced(words)):
            edits = _MOST_EDITS if variant is words else 0
            for candidate in self._kb.search_names(variant, _FUZZY_NAMES, edits=edits):
                distance = None if candidate.id in near else self._edits(form, candidate)
                if distance is not None and self._is_name(candidate):
                    near[candidate.id] = (candidate, distance)
        least = min((distance for _, distance in near.values()), default=0)
        match = 0.9 * (1 - least / len(form))
        return [(candidate, match) for candidate, distance in near.values() if distance == least]

    def _edits(self, form: str, candidate: Candidate) -> int | None:
        from rapidfuzz.distance import OSA

        own = self._bare(form)
        least: int | None = None
        for name in (candidate.label, *self._kb.aliases(candidate.id)):
            folded = self._bare(fold(name))
            most = min(_MOST_EDITS, max(len(own), len(folded)) // _MISSPELT)
            if folded[:1] == own[:1] and abs(len(folded) - len(own)) <= most:  # people seldom miss the first letter
                distance = OSA.distance(own, folded, score_cutoff=most)
                if distance <= most and (least is None or distance < least):
                    least = distance
        return least

    def _bare(self, form: str) -> str:
        first, _, rest = form.partition(" ")
        return rest if rest and first in self._language.words.articles else form

    def _disambiguate(self, text: str, spotted: Sequence[_Spotted]) -> list[LinkedMention]:
        params, stems = self._params, self._language.words.stems
        context = set(stems(text))
        ranked = (
            sorted(own, key=lambda pair: (-pair[1], -pair[0].frequency, pair[0].id)) for _, _, _, own, _ in spotted
        )
        pools = [own[: params.d] for own in ranked]
        items = dict.fromkeys(c.id for pool in pools for c, _ in pool)
        neighbors = {item: self._kb.neighbors(item, _NEIGHBOR_LIMIT) for item in items} if len(pools) > 1 else {}
        profiles = {item: set(stems(" ".join((self._kb.description(item), *self._kb.types(item))))) for item in items}
        mentions = []
        for number, (start, end, surface, _, sort) in enumerate(spotted):
            own = set(stems(surface))
            beside = [*pools[max(0, number - _RIVALS) : number], *pools[number + 1 : number + 1 + _RIVALS]]
            rivals = dict.fromkeys(c.id for pool in beside for c, _ in pool)
            scored = []
            for candidate, match in pools[number]:
                prior = math.log2(2 + candidate.frequency) / 12
                asked = self._asked_of(text, start, end, candidate.id) if len(pools[number]) > 1 else set[str]()
                relevance = _overlap(context - own, profiles[candidate.id] | asked)
                connectivity = max((_hops(candidate.id, rival, neighbors) for rival in rivals), default=0.0)
                coherence = max((_overlap(profiles[rival], profiles[candidate.id]) for rival in rivals), default=0.0)
                score = (
                    params.h_match * match * (0.5 + 0.5 * min(1.0, prior))
                    + params.h_rel * relevance
                    + params.h_conn * connectivity
                    + params.h_coh * coherence
                )
                scored.append(ScoredCandidate(candidate.id, candidate.label, round(score, 6)))
            scored.sort(key=lambda c: (-c.score, int(c.id[1:])))
            k = _auto_k([candidate.frequency for candidate, _ in pools[number]]) if params.k == "AUTO" else params.k
            kept = scored[:k]
            if params.k == "AUTO":  # namesakes that are nearly as good may be meant, too
                kept += [c for c in scored[k:_AUTO_LIMIT] if c.score >= _NEAR_BEST * scored[0].score]
            mentions.append(LinkedMention(start, end, surface, tuple(kept), is_certain=sort == "name"))
        return mentions

    def _is_cased(self, tokens: list[_Token]) -> bool:
        """Whether the writer uses capitals, so that a word without one is no name."""
        return any(
            token.capital and not token.first and not token.form.isdigit() and token.form not in self._not_names
            for token in tokens
        )

    def _asked_of(self, text: str, start: int, end: int, item: str) -> set[str]:
        """The stems of the words that ask something of a mention and are in the label of a property that an item has.

        Of a club it is the "coach" of "which coach of Chelsea", "Chelsea's coach".
        """
        before, after = fold(text[max(0, start - _BESIDE) : start]).split(), fold(text[end : end + _BESIDE]).split()
        while before and before[-1] in self._language.words.articles:
            before.pop()
        asking = after[:1]
        if before and before[-1] in self._language.answer_types.relating:
            asking += before[-2:-1]
        stem, keyword = self._language.words.stem, self._language.properties.keyword
        words = {keyword(word): stem(word) for word in asking}
        labels = (self._property_labels.get(name, frozenset()) for name in self._kb.properties_of(item))
        return {words[word] for own in labels for word in own & words.keys()}


def repair(text: str) -> str:
    """Text that was read as Windows-1252 where it was UTF-8 ("PelÃ©"), as it was meant; other text as it is."""
    if not re.search(r"[ÃÂâ][\x80-\xbf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]", text):
        return text
    try:
        return text.encode("cp1252").decode("utf-8")
    except UnicodeError:
        return text


def _tokens(text: str, start: int, end: int) -> list[_Token]:
    tokens: list[_Token] = []
    last = start
    for match in _TOKEN.finditer(text, start, end):
        word = match[0]
        capital, possessive = word[0].isupper() or word[0].isdigit(), word[-2:] in ("'s", "’s")
        joined = not text[last : match.start()].strip()
        tokens.append(_Token(*match.span(), fold(word), capital, not tokens, possessive, joined))
        last = match.end()
    return tokens


def _respaced(words: list[str]) -> Iterator[list[str]]:
    """The words with one blank left out or put in: "di caprio", "de niro"."""
    for place in range(len(words) - 1):
        yield [*words[:place], words[place] + words[place + 1], *words[place + 2 :]]
    for place, word in enumerate(words):
        for cut in range(2, len(word) - 1):
            yield [*words[:place], word[:cut], word[cut:], *words[place + 1 :]]


def _auto_k(frequencies: Sequence[int]) -> int:
    """CLOCQ's AUTO: items to keep for a mention, by the entropy (bits) of how often its candidates occur.

    One candidate that is far more frequent than the others is meant; several equally frequent ones all may be.
    """
    total = sum(frequencies) + len(frequencies)
    shares = [(frequency + 1) / total for frequency in frequencies]
    return min(_AUTO_LIMIT, int(-sum(share * math.log2(share) for share in shares)) + 1)


def _overlap(wanted: set[str], present: set[str]) -> float:
    return len(wanted & present) / len(wanted) if wanted else 0.0


def _hops(first: str, second: str, neighbors: dict[str, set[str]]) -> float:
    """CLOCQ's connectivity: 1 in one fact, 0.5 through one item between, else 0."""
    if first == second:
        return 0.0
    if second in neighbors[first] or first in neighbors[second]:
        return 1.0
    return 0.5 if neighbors[first] & neighbors[second] else 0.0
