"""MultiQA contexts as the neutral records that all formats share; `from_neutral` is the way back.

Neutral answers are strings with places. What they cannot say (types, lists, choices, aliases) is kept as the question's
`multiqa_answers`: the `answers` of MultiQA without instances, which other formats carry beside their keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..neutral import NeutralAnswer, NeutralDocument, NeutralPart, NeutralQuestion, NeutralRecord, NeutralSpan
from ..tokens import Token
from .checks import letters
from .records import (
    Entry,
    Extractive,
    Instance,
    MultiqaAnswer,
    MultiqaAnswers,
    MultiqaCandidate,
    MultiqaDocument,
    MultiqaQuestion,
    plain,
)

SHAPE = "multiqa_answers"
TYPE = "type"  # an answer that is no span says so in its extras: `{"type": "yesno"}`
_TEXT_PARTS = ("title", "snippet", "text")
_OWN_DOCUMENT_KEYS = ("url", "table", "image", "metadata")
_OWN_QUESTION_KEYS = ("metadata", "supporting_context")


class EntryRecord(NeutralRecord, frozen=True):
    """A neutral record that remembers where it comes from, so that MultiQA to MultiQA changes the dialect only."""

    entry: Entry | None = None


def to_neutral(entry: Entry) -> EntryRecord:
    """A context as a neutral record. Tokens that do not agree with their text are left out."""
    documents = [_neutral_document(document) for document in entry.context.documents]
    questions = [_neutral_question(question, entry.context.documents) for question in entry.qas]
    return EntryRecord(documents, questions, str(entry.id), entry.extra, entry)


def _neutral_document(document: MultiqaDocument) -> NeutralDocument:
    tokens = document.tokens or {}
    parts = [
        NeutralPart(name, text, _agreeing(tokens.get(name), text))
        for name in _TEXT_PARTS
        if (text := document.part(name)) is not None
    ]
    extras = {name: value for name in _OWN_DOCUMENT_KEYS if (value := getattr(document, name)) is not None}
    return NeutralDocument(parts, {**extras, **document.extra})


def _agreeing(tokens: list[Any] | None, text: str) -> list[Token] | None:
    """Tokens whose offsets are right and rise."""
    if tokens is None:
        return None
    end = 0
    for token in tokens:
        if isinstance(token, str) or token[1] < end or not text.startswith(token[0], token[1]):
            return None
        end = token[1] + len(token[0])
    return tokens


def _neutral_question(question: MultiqaQuestion, documents: list[MultiqaDocument]) -> NeutralQuestion:
    answers: list[NeutralAnswer] = []
    accepted: list[str] = []
    for candidate in question.candidates():
        for answer in candidate.answers():
            answers += _neutral_answers(answer, documents)
            accepted += answer.texts()
    extras = {key: value for key in _OWN_QUESTION_KEYS if (value := plain(getattr(question, key))) is not None}
    if question.answers is not None and not _is_simple(question.answers):
        extras[SHAPE] = _without_instances(plain(question.answers))
    known = {answer.text for answer in answers}
    return NeutralQuestion(
        question.qid,
        question.question,
        _agreeing(question.question_tokens, question.question),
        answers,
        [text for text in dict.fromkeys(accepted) if text not in known],
        question.cannot_answer(),
        {**extras, **question.extra},
    )


def _neutral_answers(answer: MultiqaAnswer, documents: list[MultiqaDocument]) -> Iterator[NeutralAnswer]:
    """The answers of all types; an extractive one with those of its aliases that have instances."""
    if answer.extractive is not None:
        places: dict[str, list[NeutralSpan]] = {}
        for instance in answer.extractive.instances or []:
            if (span := _span(instance, documents)) is not None:
                places.setdefault(letters(span.text), []).append(span)
        spellings = answer.extractive.spellings()
        if spellings:
            yield NeutralAnswer(spellings[0], places.pop(letters(spellings[0]), []), answer.extra)
        alias = {letters(spelling): spelling for spelling in reversed(spellings)}
        for form, form_spans in places.items():
            yield NeutralAnswer(alias.get(form, form_spans[0].text), form_spans)
    for kind in ("yesno", "generated_text", "date", "number"):
        value = getattr(answer, kind)
        if value is not None and str(value):
            yield NeutralAnswer(str(value), [], {TYPE: kind})


def _span(instance: Instance, documents: list[MultiqaDocument]) -> NeutralSpan | None:
    """The place of an instance with the document's own words, None where its text is not there in any spelling."""
    number, start, text = instance.doc_id, instance.start_byte, instance.text
    if number is None or start is None or not text or start < 0 or not 0 <= number < len(documents):
        return None
    whole = documents[number].part(instance.part)
    if whole is None or instance.part not in _TEXT_PARTS:
        return None
    there = whole[start : start + len(text)]
    if there != text and there.casefold() != text.casefold():
        there = _covered(documents[number], whole, instance)
        if not letters(text) or letters(there) != letters(text):
            return None
    return NeutralSpan(start, there, number, instance.part or "text")


def _covered(document: MultiqaDocument, whole: str, instance: Instance) -> str:
    """From the start of the instance to the end of its last token."""
    tokens = (document.tokens or {}).get(instance.part or "") or []
    last = instance.token_inds[1] if instance.token_inds else -1
    token = tokens[last] if 0 <= last < len(tokens) else ""
    return "" if isinstance(token, str) else whole[instance.start_byte : token[1] + len(token[0])]


def _is_simple(answers: MultiqaAnswers) -> bool:
    """Whether neutral records say all: different single spans, one place each, of the same spelling as the answer."""
    if answers.multi_choice is not None or answers.extra or answers.open_ended is None or answers.open_ended.extra:
        return False
    candidates = answers.open_ended.annotators_answer_candidates or []
    if answers.open_ended.cannot_answer is not None:
        return answers.open_ended.cannot_answer == "yes" and not candidates
    if not all(map(_is_simple_candidate, candidates)):
        return False
    texts = [answer.texts()[0] for candidate in candidates for answer in candidate.answers()]
    return len(set(texts)) == len(texts)  # formats may join the equal answers of several annotators


def _is_simple_candidate(candidate: MultiqaCandidate) -> bool:
    answer = candidate.single_answer
    if answer is None or answer.extractive is None or not answer.extractive.answer:
        return False
    bare = MultiqaAnswer(extractive=Extractive(answer=answer.extractive.answer, instances=answer.extractive.instances))
    instances = answer.extractive.instances or []
    return (
        candidate == MultiqaCandidate(single_answer=bare)
        and len(instances) < 2
        and all(not instance.extra and instance.text == answer.extractive.answer for instance in instances)
    )


def _without_instances(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_instances(part) for key, part in value.items() if key != "instances"}
    return [_without_instances(part) for part in value] if isinstance(value, list) else value
