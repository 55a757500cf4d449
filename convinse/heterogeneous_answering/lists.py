"""Answers to questions that ask for several: the values of one property, the rows of one table, the names of one sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..records.facts import fact_of
from .candidates import EntityCandidate
from .question import Question
from .ranked_answers import AnswerCandidate

_CUT = 0.05  # of the best answer's probability: a less probable value of the same property is not listed
_Group = tuple[str, ...]


def with_list(
    question: Question, candidates: Sequence[EntityCandidate], ranked: Sequence[AnswerCandidate]
) -> list[AnswerCandidate]:
    """Ranked answers, of which the listed ones are marked and come first if the question asks for several.

    They stand in the same role as the best answer: values of the same property of the same item, cells of the same column. If the
    question asks for others than were said before, these are left out.
    """
    words = question.language.operations
    if words.excluding.search(question.text):
        said = {entity["id"] for entity in question.said}
        ranked = [own for own in ranked if own.entity["id"] not in said]
    if not ranked or not words.several.search(question.in_full):
        return list(ranked)
    groups = {own.entity["id"]: set(_groups(question, own)) for own in candidates}
    best = ranked[0]
    shared = groups[best.entity["id"]]
    least = _CUT * best.score
    members = [own for own in ranked if own.score >= least and groups[own.entity["id"]] & shared]
    if len(members) < 2:
        return list(ranked)
    return [own._replace(is_listed=True) for own in members] + [own for own in ranked if own not in members]


def _groups(question: Question, candidate: EntityCandidate) -> Iterator[_Group]:
    """The groups of values that a candidate belongs to."""
    for role in candidate.roles:
        evidence = question.evidences[role.place]
        page = evidence.get("retrieved_for_entity", {}).get("id", "")
        label = role.labels[0].text if role.labels else ""
        if fact := fact_of(evidence):
            partner = fact.object if role.kind == "subject" else fact.subject
            yield "fact", role.kind, partner["id"], label
        elif "row" in evidence and label:
            row = evidence["row"]
            yield "row", row.get("page", page), row["caption"], row["section"], label
        elif "attribute" in evidence:
            yield "box", page, *evidence["attribute"]["path"]
        else:
            yield "text", str(role.place)
