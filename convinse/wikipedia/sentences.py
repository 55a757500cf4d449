"""Prose into sentences (sentencex, the splitter of the Wikimedia Foundation)."""

from __future__ import annotations

from collections.abc import Iterator

from .document import PageElement, Snippet, flatten


def sentences(element: PageElement, language: str = "en") -> Iterator[Snippet]:
    """The sentences of a paragraph; a list item is one snippet."""
    snippet = flatten(element.node, "text", skip_nested=True).cleaned()
    if element.kind == "li":
        if snippet.text:
            yield snippet
        return
    import sentencex

    start = 0
    for sentence in sentencex.segment(language, snippet.text):
        end = start + len(sentence)
        left = start + len(sentence) - len(sentence.lstrip())
        right = start + len(sentence.rstrip())
        if right > left:
            yield snippet.part(left, right)
        start = end
