"""MultiQA contexts as the neutral records that all formats share; `from_neutral` is the way back.

Neutral answers are strings with places; a type goes into the extras of its answer. Lists and sets become single answers,
of several choices the right ones are kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..neutral import NeutralAnswer, NeutralDocument, NeutralPart, NeutralQuestion, NeutralRecord, NeutralSpan
from ..records import without
from ..tokens import Token
from .answers import answers_of, candidates, cannot_answer, spellings, text_of, texts
from .checks import covered, letters
from .spelling import TYPES, Json, is_placed

TYPE = "type"  # in the extras of an answer that is not a span: `{"type": "yesno"}`
_TEXT_PARTS = ("title", "snippet", "text")


class EntryRecord(NeutralRecord, frozen=True):
    """A neutral record with its context of MultiQA, so that MultiQA to MultiQA keeps all that it holds."""

    entry: Json | None = None


def to_neutral(entry: Json) -> EntryRecord:
    """Return a context as a neutral record. Tokens that do not agree with their text are left out."""
    raw = entry["context"]["documents"]
    documents = []
    for document in raw:
        tokens = document.get("tokens") or {}
        parts = [
            NeutralPart(name, text, _agreeing(tokens.get(name), text))
            for name in _TEXT_PARTS
            if (text := document.get(name)) is not None
        ]
        documents.append(NeutralDocument(parts, without(document, *_TEXT_PARTS, "tokens")))
    questions = [_question(question, raw) for question in entry["qas"]]
    return EntryRecord(documents, questions, str(entry["id"]), without(entry, "id", "context", "qas"), entry)


def _agreeing(tokens: list[Any] | None, text: str) -> list[Token] | None:
    # None unless all offsets are right and rise
    end = 0
    for token in tokens or []:
        if not is_placed(token) or token[1] < end or not text.startswith(token[0], token[1]):
            return None
        end = token[1] + len(token[0])
    return tokens


def _question(question: Json, documents: list[Json]) -> NeutralQuestion:
    answers: list[NeutralAnswer] = []
    accepted: list[str] = []
    for candidate in candidates(question):
        for answer in answers_of(candidate):
            answers += _neutral_answers(answer, documents)
            accepted += texts(answer)
    extras = without(question, "qid", "question", "question_tokens", "answers")
    answer_texts = {answer.text for answer in answers}
    return NeutralQuestion(
        question["qid"],
        question["question"],
        _agreeing(question.get("question_tokens"), question["question"]),
        answers,
        [text for text in dict.fromkeys(accepted) if text not in answer_texts],
        cannot_answer(question),
        extras,
    )


def _neutral_answers(answer: Json, documents: list[Json]) -> Iterator[NeutralAnswer]:
    # of all types; an extractive answer with its aliases that have instances
    extractive = answer.get("extractive") or {}
    places: dict[str, list[NeutralSpan]] = {}
    for instance in extractive.get("instances") or []:
        if (span := _span(instance, documents)) is not None:
            places.setdefault(letters(span.text), []).append(span)
    forms = {letters(spelling): spelling for spelling in reversed(spellings(extractive))}
    for main in spellings(extractive)[:1]:
        yield NeutralAnswer(main, places.pop(letters(main), []), without(answer, *TYPES))
    for form, spans in places.items():
        yield NeutralAnswer(forms.get(form, spans[0].text), spans)
    for kind in TYPES[1:]:
        if answer.get(kind) is not None and (text := text_of(answer[kind])):
            yield NeutralAnswer(text, [], {TYPE: kind})


def _span(instance: Json, documents: list[Json]) -> NeutralSpan | None:
    # in the spelling of the document; None if the text is not there in any spelling
    number, part, start, text = (instance.get(key) for key in ("doc_id", "part", "start_byte", "text"))
    if type(number) is not int or type(start) is not int or not text or number >= len(documents):
        return None
    whole = documents[number].get(part or "") if part in _TEXT_PARTS else None
    if not isinstance(whole, str):
        return None
    there = whole[start : start + len(text)]
    if there.casefold() != text.casefold():
        there = covered(documents[number], instance)
        if not letters(text) or letters(there) != letters(text):
            return None
    return NeutralSpan(start, there, number, str(part))
