"""Answers to questions for a way, a reason or a consequence: the whole sentence of a document, not a name in it."""

from __future__ import annotations

from collections.abc import Sequence

from ..records.evidence import passage_start
from ..wikipedia.page import sentence_places
from .question import Question
from .ranked_answers import AnswerCandidate


def with_sentence(question: Question, ranked: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    """Return ranked answers; if the question asks how, why or what if, the first one is the sentence of the passage that has it."""
    if not ranked or not ranked[0].places or not question.language.operations.explaining.search(question.in_full):
        return [*ranked]
    first, *others = ranked
    read = question.evidences[first.places[0]]
    if not read.is_of_document or read.evidence["source"] != "text":
        return [*ranked]
    begin = passage_start(read.evidence, read.entities[0]["label"] if read.entities else "")
    place = read.text.find(first.entity["label"], begin)
    keywords, sentences = question.language.properties.keywords, [*sentence_places(read.text[begin:])]
    # "what does it say about dogs?": a sentence without a word of the question yields to one with most of them
    said = [
        len(keywords(read.text[begin + start : begin + end]) & keywords(question.in_full)) for start, end in sentences
    ]
    for number, (_, end) in enumerate(sentences):
        if place < begin + end:
            start, end = sentences[number if said[number] else said.index(max(said))]
            sentence = read.text[begin + start : begin + end]
            return [first._replace(entity={"id": sentence, "label": sentence}), *others]
    return [*ranked]
