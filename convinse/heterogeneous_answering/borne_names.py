"""Who bears a name: "Who was Ziggy Stardust in real life?" asks for nothing but the item that is called so."""

from __future__ import annotations

from .question import AskedQuestion
from .ranking import AnswerCandidate, in_shares


def bearers(asked: AskedQuestion) -> list[AnswerCandidate]:
    """The items that a question names by another name than their label, where it asks for nothing else of them."""
    keywords = asked.language.properties.keywords
    wanted = keywords(asked.question) - asked.language.operations.naming_keywords
    given = []
    for entity in asked.about:
        words = asked.renamed.get(entity["id"])
        if words and not wanted - keywords(words):
            places = (
                place
                for place, evidence in enumerate(asked.evidences)
                if words.casefold() in evidence["evidence_text"].casefold()
            )
            given.append(AnswerCandidate(entity, 1.0, tuple(places), ("name",)))
    return in_shares(given)
