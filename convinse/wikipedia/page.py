"""A page's HTML into evidences. Pure functions: no network, no cache."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..records.evidence import Entity, Evidence, merge_duplicates
from .document import Snippet, blocks, parse_html
from .entities import PageNames
from .infobox import attributes
from .sentences import sentences
from .tables import rows

FORMAT = 2  # raised when the same page gives other evidences; part of every build id
MAX_LENGTH = 400  # the default of evr_max_evidence_length: longer table rows are cut


class Page(NamedTuple):
    """A parsed page: snippets without entities, which need the ids of `targets` first."""

    title: str
    snippets: tuple[Snippet, ...]

    @property
    def targets(self) -> set[str]:
        """The titles that the page links to."""
        return {link.target for snippet in self.snippets for link in snippet.links}


def parse_page(title: str, html: str, max_length: int | None = MAX_LENGTH) -> Page:
    """The sentences, table rows and infobox entries of a page (MediaWiki's rendering, legacy or Parsoid).

    Table rows longer than `max_length` characters are cut at cell borders; None leaves them whole.
    """
    snippets: list[Snippet] = []
    name = _name(title)
    for element in blocks(parse_html(html)):
        if element.kind == "infobox":
            snippets += attributes(element, name)
        elif element.kind == "table":
            snippets += rows(element, name, max_length)
        else:
            snippets += [snippet.after(f"{name}, ") for snippet in sentences(element)]
    return Page(title, tuple(snippets))


def _name(title: str) -> str:
    """The title without its bracket."""
    return title.split(" (")[0] if title.endswith(")") and " (" in title.strip("(") else title


def page_evidences(page: Page, item: Entity, items: Mapping[str, Entity]) -> list[Evidence]:
    """The evidences of a page, without `retrieved_for_entity`.

    Args:
        page: the parsed page.
        item: the page's own item.
        items: title -> item, for the titles of `page.targets` that have one.
    """
    name = _name(page.title)
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
