"""Neutral records as MultiQA contexts, with tokens and instances.

An answer becomes an extractive candidate, unless its extras have a `type` (`yesno`, `generated_text`, `date`, `number`).
Places of the record are used; spans without a place are searched for on token borders. Keys that MultiQA does not have are
left out.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from ..marked_documents import several_documents
from ..neutral import NeutralAnswer, NeutralQuestion, NeutralRecord, NeutralSpan, question_id
from ..records import merged
from ..tokens import TokenizedText
from .checks import letters
from .schema import fits
from .spelling import CANDIDATES, Json
from .to_neutral import TYPE, EntryRecord

NOT_THERE = "places without their text (left out)"
NOT_FOUND = "questions without an answer in the documents"


def from_neutral(record: NeutralRecord, counts: Counter[str]) -> Json:
    """Return a neutral record as a context, with tokens and instances; answers without a place are searched for.

    A text that the marks of MRQA part into documents becomes these documents. `counts` gets the numbers of places that
    were left out and of questions without an answer.
    """
    if isinstance(record, EntryRecord) and record.entry is not None:
        return record.entry
    record = several_documents(record)
    parts = _Parts(record)
    questions = [_question(question, parts, counts) for question in record.questions]
    documents = []
    for number, document in enumerate(record.documents):
        members: Json = {part.name: part.text for part in document.parts}
        members["tokens"] = {name: [list(token) for token in parts.texts[number, name].tokens] for name in members}
        documents.append(_with_extras("document", members, document.extras))
    entry_id = record.id or question_id("", parts.text())
    return {"id": entry_id, "context": {"documents": documents}, "qas": questions}


class _Parts:
    # the texts of a record with their tokens, by number of the document and name of the part
    def __init__(self, record: NeutralRecord) -> None:
        self.texts: dict[Any, TokenizedText] = {
            (number, part.name): TokenizedText(part.text, part.tokens)
            for number, document in enumerate(record.documents)
            for part in document.parts
        }
        self._instances: dict[str, list[Json]] = {}

    def text(self) -> str:
        return "\0".join(part.text for part in self.texts.values())

    def instance(self, number: int, name: str, start: int, end: int) -> Json:
        # `end` is inclusive
        part = self.texts[number, name]
        span = part.token_span(start, end)
        instance = {"doc_id": number, "part": name, "start_byte": start, "text": part.text[start : end + 1]}
        return {**instance, "token_inds": list(span)} if span is not None else instance

    def at(self, span: NeutralSpan) -> Json | None:
        # None if the text of the span is not there
        part = self.texts.get((span.document, span.part))
        if part is None or span.start < 0 or not span.text:
            return None
        there = part.text[span.start : span.start + len(span.text)]
        if there != span.text and (not letters(there) or letters(there) != letters(span.text)):
            return None
        start = span.start + len(there) - len(there.lstrip())  # blanks at the edges belong to no token
        end = span.start + len(there.rstrip()) - 1
        return self.instance(span.document, span.part, start, end) if start <= end else None

    def holds(self, instance: Json) -> bool:
        part = self.texts.get((instance.get("doc_id"), instance.get("part")))
        start, text = instance.get("start_byte"), instance.get("text")
        return part is not None and type(start) is int and text is not None and part.text.startswith(text, start)

    def find(self, answer: str) -> list[Json]:
        # on token borders, in all parts
        if answer not in self._instances:
            self._instances[answer] = [
                self.instance(number, name, start, end)
                for (number, name), part in self.texts.items()
                for start, end in part.find(answer)
            ]
        return self._instances[answer]


def _with_extras(kind: str, members: Json, extras: Json) -> Json:
    # the published schema refuses keys of other formats
    fitting = {key: value for key, value in extras.items() if key not in members and fits(kind, key, value)}
    return {**members, **fitting}


def _question(question: NeutralQuestion, parts: _Parts, counts: Counter[str]) -> Json:
    located: list[tuple[NeutralAnswer, list[Json]]] = []
    for answer in question.answers:
        places = [parts.at(span) for span in answer.spans]
        if None in places:
            counts[NOT_THERE] += places.count(None)
        instances = [place for place in places if place is not None]
        if not instances and answer.is_span():
            instances = parts.find(answer.text)
        located.append((answer, instances))
    if question.answers and not any(instances or not answer.is_span() for answer, instances in located):
        counts[NOT_FOUND] += 1
    tokens = question.tokens
    members: Json = {
        "qid": question.id or question_id(question.text, parts.text()),
        "question": question.text,
        "question_tokens": [
            list(token) for token in (TokenizedText(question.text).tokens if tokens is None else tokens)
        ],
        "answers": _answers(question, located, parts),
    }
    extras = question.extras
    supporting = extras.get("supporting_context")
    if supporting and fits("question", "supporting_context", supporting):  # another format may have moved the texts
        extras = {**extras, "supporting_context": [place for place in supporting if parts.holds(place)]}
    return _with_extras("question", members, extras)


def _answers(question: NeutralQuestion, located: list[tuple[NeutralAnswer, list[Json]]], parts: _Parts) -> Json:
    # accepted strings are aliases of the only answer, or further candidates
    if question.unanswerable:
        return {"open-ended": {"cannot_answer": "yes", CANDIDATES: []}}
    candidates: list[Json] = []
    for answer, instances in located:
        kind = "extractive" if answer.is_span() else answer.extras[TYPE]
        value = _value(kind, answer.text)
        rest = dict(answer.extras)
        if kind != "extractive" and value is not None:
            del rest[TYPE]
        else:
            kind, value = "extractive", {"answer": answer.text, "instances": instances}
        candidates.append({"single_answer": merged({kind: value}, rest)})
    texts = {answer.text for answer in question.answers}
    aliases = [text for text in question.accepted if text not in texts]
    first = candidates[0]["single_answer"] if len({letters(text) for text in texts}) == 1 else {}
    if aliases and "extractive" in first:
        main = first["extractive"]
        first["extractive"] = {"answer": main["answer"], "aliases": aliases, "instances": main["instances"]}
    else:
        candidates += [
            {"single_answer": {"extractive": {"answer": text, "instances": parts.find(text)}}} for text in aliases
        ]
    return {"open-ended": {CANDIDATES: candidates}}


def _value(kind: str, text: str) -> Any:
    # None if the text is not of the type
    if kind == "number":
        try:
            return msgspec.json.decode(text.encode(), type=int | float)
        except msgspec.DecodeError:
            return None
    return None if kind == "yesno" and text not in ("yes", "no") else text
