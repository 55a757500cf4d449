"""Titles and the items of links to them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..records.evidence import Entity, Evidence
from .page import Page, page_evidences


class Titles:
    """Titles -> items. Titles of pages come before titles of a file, and the label of an item is from its page."""

    def __init__(self) -> None:
        self._pages: dict[str, str] = {}
        self._page_labels: dict[str, str] = {}
        self._file: dict[str, str] = {}
        self._file_labels: dict[str, str] = {}

    def add_page(self, title: str, item_id: str) -> None:
        """Add the title of an item's page. Of several items with the same title the smallest number counts."""
        name = normal(title)
        self._pages[name] = min(self._pages.get(name, item_id), item_id, key=lambda item: int(item[1:]))
        self.name_page(title, item_id)

    def name_page(self, title: str, item_id: str) -> None:
        """Add the title of an item's page for its label only."""
        self._page_labels[item_id] = label_of(title)

    def add(self, title: str, item_id: str, label: str | None = None) -> None:
        """Add another title; the first item of a title and the first label of an item stay."""
        self._file.setdefault(normal(title), item_id)
        self._file_labels.setdefault(item_id, label or label_of(title))

    def has_page(self, item_id: str) -> bool:
        """Return True if the title of an item's page is known."""
        return item_id in self._page_labels

    def item_id(self, title: str) -> str | None:
        """Return the item of a linked title."""
        name = normal(title)
        return self._pages.get(name) or self._file.get(name)

    def entity(self, title: str) -> Entity | None:
        """Return the item of a title with its label."""
        item_id = self.item_id(title)
        if item_id is None:
            return None
        return {"id": item_id, "label": self._page_labels.get(item_id) or self._file_labels[item_id]}

    def page_titles(self) -> Iterator[tuple[str, str]]:
        """Yield the titles of pages, and their items."""
        yield from self._pages.items()

    def file_titles(self) -> Iterator[tuple[str, str, str]]:
        """Yield the titles of a file, their items and the items' labels."""
        for name, item_id in self._file.items():
            yield name, item_id, self._file_labels[item_id]


def normal(title: str) -> str:
    """Return the form of a title by which links are compared."""
    title = title.replace("_", " ").strip()
    return title[:1].upper() + title[1:]


def label_of(title: str) -> str:
    """Return a title without its bracket: `Titanic (1997 film)` -> `Titanic`."""
    title = title.replace("_", " ").strip()
    return re.sub(r"(?<=\S)\s*\([^()]*\)$", "", title)


def linked_evidences(page: Page, item_id: str, titles: Titles) -> list[Evidence]:
    """Return the evidences of an item's page, with the items of its links."""
    items = {target: entity for target in sorted(page.targets) if (entity := titles.entity(target)) is not None}
    return page_evidences(page, {"id": item_id, "label": label_of(page.title)}, items)
