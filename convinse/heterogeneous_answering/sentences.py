"""The sentences of documents that answers are taken from: whole ones for a way or a reason, and those that decide on yes or no."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from ..language.read_evidence import ReadEvidence
from ..records.conversation import RankedAnswer
from ..records.evidence import passage_start
from ..wikipedia.page import sentence_places
from .question import Question
from .ranked_answers import AnswerCandidate

# probability of an answer of no kind that is asked for, below which the sentence with it is given: none of 11 such was right over the files of
# `choose` and `lists` (at .4 one of 16), and on 642 messages of doc2dial that had no say F1 is .221 with and .213 without it
_UNSURE = 0.2


def with_sentence(question: Question, ranked: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    """Return ranked answers; the first one becomes the sentence of the passage that has it, if the question asks how, why or what if.

    Likewise if it asks for no kind of thing and the answer is improbable.
    """
    if not ranked or not ranked[0].places:
        return [*ranked]
    first, *others = ranked
    is_open = bool(question.language.operations.explaining.search(question.in_full)) or (
        question.expected.kind == "any" and first.score < _UNSURE and not first.is_listed
    )
    read = question.evidences[first.places[0]]
    if not is_open or not _is_prose(read):
        return [*ranked]
    sentences, keywords = _sentences(read), question.language.properties.keywords
    place = read.text.find(first.entity["label"], sentences[0][0] if sentences else 0)
    for start, end in sentences:
        if place < end:
            # "what does it say about dogs?": a sentence without a word of the question yields to one with most of them
            words = keywords(question.in_full)
            is_said = not words.isdisjoint(keywords(read.text[start:end]))
            start, end = (start, end) if is_said else best_sentence(question, read, words)
            sentence = read.text[start:end]
            return [first._replace(entity={"id": sentence, "label": sentence}), *others]
    return [*ranked]


def mark_verdict(question: Question, answers: Sequence[RankedAnswer]) -> None:
    """Give yes or no the sentence of a document that decides: that of the first evidence with most words of the question."""
    for answer in answers:
        for place in answer.get("evidences", ())[:1]:
            read, words = question.evidences[place], question.language.properties.keywords(question.in_full)
            start, end = best_sentence(question, read, words) if _is_prose(read) else (0, 0)
            if start < end:
                answer["spans"] = [{"evidence": place, "start": start, "end": end}]


def best_sentence(question: Question, read: ReadEvidence, words: AbstractSet[str]) -> tuple[int, int]:
    """Return start and end of the sentence of a passage of a file that has most of some keywords, the first of several; 0 and 0 without one."""
    keywords = question.language.properties.keywords
    return max(_sentences(read), key=lambda span: len(words & keywords(read.text[slice(*span)])), default=(0, 0))


def _is_prose(read: ReadEvidence) -> bool:
    return read.is_of_document and read.evidence["source"] == "text"


def _sentences(read: ReadEvidence) -> list[tuple[int, int]]:
    begin = passage_start(read.evidence, read.entities[0]["label"] if read.entities else "")
    return [(begin + start, begin + end) for start, end in sentence_places(read.text[begin:])]
