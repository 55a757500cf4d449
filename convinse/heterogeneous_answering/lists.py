"""Answers to questions that ask for several: the values of one property, the rows of one table, the names of one sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .candidates import EntityCandidate
from .question import Question
from .ranked_answers import AnswerCandidate

_CUT = 0.05  # of the best answer's probability: a less probable value of the same property is not listed


def with_list(
    question: Question, candidates: Sequence[EntityCandidate], ranked: Sequence[AnswerCandidate]
) -> list[AnswerCandidate]:
    """Return ranked answers; if the question asks for several, the listed answers are marked and come first.

    Listed answers have the same role as the best answer: values of the same property of the same item, cells of the same column.
    Earlier answers are left out if the question excludes them ("Who else?").
    """
    words = question.language.operations
    if words.excluding.search(question.text):
        said = {entity["id"] for entity in question.said}
        ranked = [answer for answer in ranked if answer.entity["id"] not in said]
    if not ranked or not words.several.search(question.in_full):
        return list(ranked)
    groups = {candidate.entity["id"]: set(_groups(question, candidate)) for candidate in candidates}
    shared = groups[ranked[0].entity["id"]]
    least = _CUT * ranked[0].score
    members = [answer for answer in ranked if answer.score >= least and groups[answer.entity["id"]] & shared]
    if len(members) < 2:
        return list(ranked)
    rest = [answer for answer in ranked if answer not in members]
    return [answer._replace(is_listed=True) for answer in members] + rest


def _groups(question: Question, candidate: EntityCandidate) -> Iterator[tuple[str, ...]]:
    for role in candidate.roles:
        read = question.evidences[role.place]
        evidence, page = read.evidence, "" if read.subject is None else read.subject["id"]
        label = role.labels[0].text if role.labels else ""
        if fact := read.fact:
            partner = fact.object if role.kind == "subject" else fact.subject
            yield "fact", role.kind, partner["id"], label
        elif "row" in evidence and label:
            row = evidence["row"]
            yield "row", row.get("page", page), row["caption"], row["section"], label
        elif "attribute" in evidence:
            yield "box", page, *evidence["attribute"]["path"]
        else:
            yield "text", str(role.place)
