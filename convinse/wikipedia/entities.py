"""Finds the entities of a snippet: its links, other names of the page, dates and numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ..language.language import english
from ..records.evidence import Entity, Mention
from ..records.written_values import find_literals
from .snippets import Snippet

_MIN_NAME = 3  # characters of an anchor that is searched outside its link
_WORD = re.compile(r"\w+")
_BRACKET = re.compile(r"\s*\([^)]*\)$")  # "Jaws (film)"
_CAPITALS_BEFORE = re.compile(r"(?:[A-Z][\w.'’-]* )+$")  # words of a longer name: "Harold " before "Morrison"
_DIGIT = re.compile("[0-9]")
_DEGREES = ("°", "′", "″")


class PageNames:
    """The names that a page uses for items: anchors of its links, its title and short forms of the title."""

    def __init__(self, page: Entity, title: str, snippets: Iterable[Snippet], items: Mapping[str, Entity]) -> None:
        self._items = items
        self._page = page
        names: dict[str, Entity] = {}
        for snippet in snippets:
            for link in snippet.links:
                anchor = snippet.text[link.start : link.end]
                entity = items.get(link.target)
                is_name = len(anchor) >= _MIN_NAME and any(map(str.isalpha, anchor))
                if entity is not None and is_name and anchor.lower() not in english().words.common:
                    names.setdefault(anchor, entity)
        for name in short_forms(title):
            names[name] = page
        self._title_words = _WORD.findall(_BRACKET.sub("", title))
        by_word: dict[str, list[tuple[str, int, Entity]]] = {}
        for name in sorted(names, key=lambda name: (-len(name), name)):
            word = _WORD.search(name)
            if word is not None:
                by_word.setdefault(word[0], []).append((name, word.start(), names[name]))
        self._by_word = by_word  # first word -> names, longest first, and the place of the word in them

    def annotate(self, snippet: Snippet, lead: int) -> tuple[list[Mention], list[Entity]]:
        """Return the mentions of a snippet, in reading order, and its entities; the first `lead` characters are the title."""
        spans = [
            (link.start, link.end, entity)
            for link in snippet.links
            if (entity := self._items.get(link.target)) is not None
        ]
        taken = [(link.start, link.end) for link in snippet.links]
        text, place, by_word = snippet.text, lead, self._by_word
        for word in _WORD.finditer(text, lead):
            for name, offset, entity in by_word.get(word[0], ()):
                start = word.start() - offset
                end = start + len(name)
                around = text[max(start - 1, 0) : start] + text[end : end + 1]
                is_whole = text.startswith(name, start) and _WORD.search(around) is None
                is_other = entity is self._page and self._is_in_longer_name(text, start, name)
                if start >= place and is_whole and not is_other and _free(start, end, taken):
                    spans.append((start, end, entity))
                    place = end
                    break
        # a linked year ("1997 in film") still is a year
        linked = [(start, end) for start, end, _ in spans]
        for start, end, entity in find_literals(snippet.text) if _DIGIT.search(snippet.text) else ():
            if snippet.text[end : end + 1] in _DEGREES:
                continue  # of a coordinate or an angle
            if start >= lead and _free(start, end, linked):
                spans.append((start, end, entity))
        spans.sort(key=lambda span: span[:2])
        if lead:
            spans.insert(0, (0, lead, self._page))
        mentions: list[Mention] = []
        entities: dict[str, Entity] = {}
        for start, end, entity in spans:
            mentions.append({"start": start, "end": end, "id": entity["id"]})
            entities.setdefault(entity["id"], entity)
        return mentions, list(entities.values())

    def _is_in_longer_name(self, text: str, start: int, name: str) -> bool:
        """Return True if a surname is part of the name of a relative: "Harold Morrison" on the page of Toni Morrison."""
        *first_names, surname = self._title_words or [""]
        if name != surname or not first_names:
            return False
        before = _CAPITALS_BEFORE.search(text, 0, start)
        words = _WORD.findall(before[0]) if before else []
        is_common = all(word.lower() in english().words.common for word in words)
        return not is_common and set(first_names).isdisjoint(words)


def _free(start: int, end: int, taken: Iterable[tuple[int, int]]) -> bool:
    return all(end <= left or right <= start for left, right in taken)


def short_forms(title: str) -> list[str]:
    """Return the title, the title without its bracket or comma part, and the surname if it looks like a person's name."""
    plain = _BRACKET.sub("", title)
    forms = {title, plain}
    place = plain.split(", ")[0]  # "Springfield, Illinois"
    if place != plain and len(place) > _MIN_NAME and not _DIGIT.search(place):
        forms.add(place)
    words = plain.split()
    if (
        2 <= len(words) <= 4
        and all(re.fullmatch(r"[A-Z][\w.'’-]*", word) for word in words)
        and re.fullmatch(r"[A-Z][\w'’-]{3,}", words[-1])
    ):
        forms.add(words[-1])
    return sorted(forms)
