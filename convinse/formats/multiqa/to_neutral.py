"""MultiQA contexts as the neutral records that all formats share; `from_neutral` is the way back.

Neutral answers are strings with places. Types, lists, choices and aliases go into the question's `multiqa_answers`: the
`answers` of MultiQA without instances, which other formats carry beside their keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..neutral import NeutralAnswer, NeutralDocument, NeutralPart, NeutralQuestion, NeutralRecord, NeutralSpan
from ..tokens import Token
from .answers import answers_of, candidates, cannot_answer, spellings, text_of, texts
from .checks import covered, letters
from .dialects import CANDIDATES, TYPES, Json, is_placed

SHAPE = "multiqa_answers"
TYPE = "type"  # in the extras of an answer that is not a span: `{"type": "yesno"}`
_TEXT_PARTS = ("title", "snippet", "text")
_INSTANCE = frozenset({"doc_id", "part", "start_byte", "text", "token_inds"})


class EntryRecord(NeutralRecord, frozen=True):
    """A neutral record with its context of MultiQA, so that MultiQA to MultiQA changes the dialect only."""

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
        documents.append(NeutralDocument(parts, _without(document, *_TEXT_PARTS, "tokens")))
    questions = [_question(question, raw) for question in entry["qas"]]
    return EntryRecord(documents, questions, str(entry["id"]), _without(entry, "id", "context", "qas"), entry)


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
    extras = _without(question, "qid", "question", "question_tokens", "answers")
    if question.get("answers") is not None and not _is_simple(question["answers"]):
        extras[SHAPE] = _without_instances(question["answers"])
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
        yield NeutralAnswer(main, places.pop(letters(main), []), _without(answer, *TYPES))
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


def _is_simple(answers: Json) -> bool:
    # neutral records hold everything: different single spans with a place each, in the spelling of the answer
    if answers == {"open-ended": {"cannot_answer": "yes", CANDIDATES: []}}:
        return True
    opened = answers.get("open-ended") or {}
    if answers.keys() != {"open-ended"} or opened.keys() != {CANDIDATES}:
        return False
    simple = [_simple_answer(candidate) for candidate in opened[CANDIDATES] or []]
    return None not in simple and len(set(simple)) == len(simple)  # formats may join the equal answers of annotators


def _simple_answer(candidate: Json) -> str | None:
    extractive = (candidate.get("single_answer") or {}).get("extractive") or {}
    answer, instances = extractive.get("answer"), extractive.get("instances") or []
    if candidate != {"single_answer": {"extractive": {"answer": answer, "instances": instances}}} or len(instances) > 1:
        return None
    is_simple = all(instance.keys() <= _INSTANCE and instance.get("text") == answer for instance in instances)
    return answer if answer and is_simple else None


def _without_instances(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_instances(part) for key, part in value.items() if key != "instances"}
    return [_without_instances(part) for part in value] if isinstance(value, list) else value


def _without(value: Json, *names: str) -> Json:
    return {key: part for key, part in value.items() if key not in names}
