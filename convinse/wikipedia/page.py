"""A page's HTML into evidences. Pure functions: no network, no cache."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..evidence import Entity, Evidence, merge_duplicates
from .document import Link, Snippet, blocks, parse_html
from .entities import PageNames
from .infobox import attributes
from .sentences import sentences
from .tables import rows

FORMAT = 1  # raised when the same page gives other evidences; part of every build id


class Page(NamedTuple):
    """A parsed page: snippets without entities, which need the ids of `targets` first."""

    title: str
    snippets: tuple[Snippet, ...]

    @property
    def targets(self) -> set[str]:
        """The titles that the page links to."""
        return {link.target for snippet in self.snippets for link in snippet.links}


def parse_page(title: str, html: str) -> Page:
    """The sentences, table rows and infobox entries of a page (MediaWiki's rendering, legacy or Parsoid)."""
    snippets: list[Snippet] = []
    name = title.split(" (")[0] if title.endswith(")") else title
    for block in blocks(parse_html(html)):
        if block.kind == "infobox":
            snippets += attributes(block, name)
        elif block.kind == "table":
            snippets += rows(block, name)
        else:
            snippets += [_prefixed(snippet, name) for snippet in sentences(block)]
    return Page(title, tuple(snippets))


def _prefixed(snippet: Snippet, name: str) -> Snippet:
    lead = f"{name}, "
    links = tuple(Link(link.start + len(lead), link.end + len(lead), link.target) for link in snippet.links)
    return Snippet(lead + snippet.text, links, snippet.source)


def page_evidences(page: Page, item: Entity, items: Mapping[str, Entity]) -> list[Evidence]:
    """The evidences of a page, without `retrieved_for_entity`.

    Args:
        page: the parsed page.
        item: the page's own item.
        items: title -> item, for the titles of `page.targets` that have one.
    """
    name = page.title.split(" (")[0] if page.title.endswith(")") else page.title
    names = PageNames(item, page.title, page.snippets, items)
    evidences: list[Evidence] = []
    for snippet in page.snippets:
        mentions, entities = names.annotate(snippet, len(name))
        evidences.append(
            {
                "evidence_text": snippet.text,
                "source": snippet.source,
                "disambiguations": mentions,
                "wikidata_entities": entities,
            }
        )
    return merge_duplicates(evidences)
