"""The entities of a snippet: its own links, other names of the page, dates and numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ..evidence import Entity, unique_entities
from ..literals import find_literals
from .document import Snippet

_MIN_NAME = 3  # characters of an anchor that is looked for outside its link


class Annotated(NamedTuple):
    """A snippet's mentions (surface form, id) in reading order, and its entities without repetition."""

    disambiguations: list[list[str]]
    entities: list[Entity]


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
                if entity is not None and len(anchor) >= _MIN_NAME and anchor[:1].isupper():
                    names.setdefault(anchor, entity)
        for name in short_forms(title):
            names[name] = page
        self._names = names
        longest_first = sorted(names, key=lambda name: (-len(name), name))
        pattern = "|".join(map(re.escape, longest_first))
        self._pattern = re.compile(rf"(?<!\w)(?:{pattern})(?!\w)") if pattern else None

    def annotate(self, snippet: Snippet, lead: int) -> Annotated:
        """The entities of a snippet whose first `lead` characters are the page title (not looked into)."""
        spans: list[tuple[int, int, Entity]] = []
        for link in snippet.links:
            entity = self._items.get(link.target)
            if entity is not None:
                spans.append((link.start, link.end, entity))
        taken = [(start, end) for start, end, _ in spans] + [(link.start, link.end) for link in snippet.links]

        def free(start: int, end: int) -> bool:
            return start >= lead and all(end <= left or right <= start for left, right in taken)

        if self._pattern is not None:
            for match in self._pattern.finditer(snippet.text):
                if free(*match.span()):
                    spans.append((*match.span(), self._names[match[0]]))
                    taken.append(match.span())
        # a linked year ("1997 in film") still is a year
        linked = [(start, end) for start, end, _ in spans]
        for start, end, entity in find_literals(snippet.text):
            if start >= lead and all(end <= left or right <= start for left, right in linked):
                spans.append((start, end, entity))
        spans.sort(key=lambda span: span[:2])
        mentions = [[snippet.text[start:end], entity["id"]] for start, end, entity in spans]
        if lead:
            mentions.insert(0, [snippet.text[:lead], self._page["id"]])
        entities = [self._page] if lead else []
        return Annotated(mentions, unique_entities([*entities, *(entity for *_, entity in spans)]))


def short_forms(title: str) -> list[str]:
    """The title, the title without its bracket or comma part, and the surname of what looks like a person's name."""
    plain = re.sub(r"\s*\([^)]*\)$", "", title)
    forms = {title, plain}
    words = plain.split()
    if (
        2 <= len(words) <= 4
        and all(re.fullmatch(r"[A-Z][\w.'’-]*", word) for word in words)
        and re.fullmatch(r"[A-Z][\w'’-]{3,}", words[-1])
    ):
        forms.add(words[-1])
    return sorted(forms)
