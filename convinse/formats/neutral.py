"""Neutral records of question answering data, between every source and every target format.

A record is a context: documents of named parts and the questions about them. `flatten` makes one text of its documents,
and `locate` finds the places of answers in it. All offsets are characters (code points) of the part they are in. Unknown
keys of a source go into `extras`; writers put them beside the keys of their format.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from .records import Extras
from .tokens import DOCUMENT_MARK, PARAGRAPH_MARK, TITLE_MARK, Token, TokenizedText, normalize, tokenize

NO_SPANS = ("yesno", "generated_text", "date", "number")


class NeutralPart(msgspec.Struct, frozen=True):
    """A text of a document: its `title`, its `text`, a search engine's `snippet`, ...; tokens may be unknown (None)."""

    name: str
    text: str
    tokens: list[Token] | None = None


class NeutralDocument(msgspec.Struct, frozen=True):
    """A document: its parts in order, each name once."""

    parts: list[NeutralPart]
    extras: Extras = {}

    def part(self, name: str) -> NeutralPart | None:
        """Return the part of a name, None if the document lacks it."""
        return next((part for part in self.parts if part.name == name), None)


def titled(title: str, text: str, tokens: list[Token] | None = None, extras: Extras | None = None) -> NeutralDocument:
    """Return a document of a text, with its title unless that is empty; `tokens` are those of the text."""
    title_part = [NeutralPart("title", title)] if title else []
    return NeutralDocument([*title_part, NeutralPart("text", text, tokens)], extras or {})


class NeutralSpan(msgspec.Struct, frozen=True):
    """A place: `text` begins at character `start` of a part of a document (its number in the record)."""

    start: int
    text: str
    document: int = 0
    part: str = "text"


class NeutralAnswer(msgspec.Struct, frozen=True):
    """An answer and the places that the source gives for it, if any."""

    text: str
    spans: list[NeutralSpan] = []
    extras: Extras = {}

    def is_span(self) -> bool:
        """Return True if the answer stands in a text: its `type` in `extras` is not one of MultiQA's `NO_SPANS`."""
        return self.extras.get("type") not in NO_SPANS


class NeutralQuestion(msgspec.Struct, frozen=True):
    """A question.

    Attributes:
        id: of the source; if empty, writers make it of question and context by `question_id`.
        text: the question.
        tokens: of the source, None if unknown.
        answers: as annotated, in order, with equal answers of several annotators.
        accepted: strings that count as right, in any order; `answers` count, too.
        unanswerable: the documents do not answer the question.
        extras: further keys of the source.
    """

    id: str
    text: str
    tokens: list[Token] | None = None
    answers: list[NeutralAnswer] = []
    accepted: list[str] = []
    unanswerable: bool = False
    extras: Extras = {}

    def texts(self) -> list[str]:
        """Return all strings that count as right, without duplicates, `accepted` first."""
        return list(dict.fromkeys([*self.accepted, *(answer.text for answer in self.answers)]))


class NeutralRecord(msgspec.Struct, frozen=True):
    """A context: documents and the questions about them."""

    documents: list[NeutralDocument]
    questions: list[NeutralQuestion]
    id: str = ""
    extras: Extras = {}


class Dataset(NamedTuple):
    """The header of a source and its records, which are read while they are used.

    Attributes:
        name: of the data set; may be empty.
        split: such as `train`; may be empty.
        records: an iterator over the contexts.
        extras: further keys of the header.
    """

    name: str
    split: str
    records: Iterator[NeutralRecord]
    extras: Extras = {}


def question_id(question: str, context: str) -> str:
    """Return an id for a question without one: the same for equal question and context, in any file and order."""
    return hashlib.sha256(f"{question}\0{context}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


class FlatText(TokenizedText):
    """The documents of a record as one text; `offsets` are the beginnings of its parts, by number of the document and name of the part."""

    def __init__(self, text: str, tokens: list[Token], offsets: dict[tuple[int, str], int]) -> None:
        super().__init__(text, tokens)
        self.offsets = offsets

    def locate(self, span: NeutralSpan) -> tuple[int, int] | None:
        """Return the first and the last character of a span; None if its text is not there.

        Spellings that are equal after normalisation count, as some data sets give the answer's main spelling with a span.
        """
        offset = self.offsets.get((span.document, span.part))
        if offset is None or span.start < 0 or not span.text:
            return None
        start = offset + span.start
        there = self.text[start : start + len(span.text)]
        if there == span.text or (there and normalize(there) == normalize(span.text)):
            return start, start + len(there) - 1
        return None


def flatten(record: NeutralRecord, tokenizer: Callable[[str], list[Token]] = tokenize) -> FlatText:
    """Join the documents of a record to one text, as MRQA does.

    A single document becomes its texts, joined by `[PAR]`; its title is left out unless an answer stands in it. Of several
    documents each becomes `[DOC] [TLE] title [PAR] text`. `tokenizer` makes unknown tokens.
    """
    pieces = list(_pieces(record))
    tokens: list[Token] = []
    offsets: dict[tuple[int, str], int] = {}
    begin = 0
    for number, part in pieces:
        if part.name:
            offsets[number, part.name] = begin
        part_tokens = tokenizer(part.text) if part.tokens is None else part.tokens
        tokens += [(token, offset + begin) for token, offset in part_tokens]
        begin += len(part.text) + 1
    return FlatText(" ".join(part.text for _, part in pieces), tokens, offsets)


def _pieces(record: NeutralRecord) -> Iterator[tuple[int, NeutralPart]]:
    # parts with the number of their document; marks are parts without a name
    several = len(record.documents) > 1
    spans = [span for question in record.questions for answer in question.answers for span in answer.spans]
    titled = several or any(span.part == "title" for span in spans)
    for number, document in enumerate(record.documents):
        if several:
            yield number, NeutralPart("", DOCUMENT_MARK)
        title = document.part("title") if titled else None
        if title is not None:
            yield number, NeutralPart("", TITLE_MARK)
            yield number, title
        texts = [part for part in document.parts if part.name != "title"]
        for index, part in enumerate(texts):
            if index or title is not None:
                yield number, NeutralPart("", PARAGRAPH_MARK)
            yield number, part


Located = tuple[NeutralAnswer, list[tuple[int, int]]]


def locate(question: NeutralQuestion, flat: FlatText) -> list[Located]:
    """Find the places of the answers of a question in the flattened documents; answers without a place are left out.

    Places of the source are used. Answers without a place are searched for on token borders, and so are the `accepted`
    strings if no answer has a place.

    Args:
        question: the question of a record.
        flat: `flatten` of the record.

    Returns:
        The answers with their inclusive spans of characters, in order.
    """
    located: list[Located] = []
    for answer in question.answers:
        spans = [place for span in answer.spans if (place := flat.locate(span)) is not None]
        if not spans and answer.is_span():
            spans = flat.find(answer.text)
        if spans:
            located.append((answer, list(dict.fromkeys(spans))))
    if not located:
        texts = {answer.text for answer in question.answers}
        places = ((accepted, flat.find(accepted)) for accepted in question.accepted if accepted not in texts)
        located = [(NeutralAnswer(accepted), spans) for accepted, spans in places if spans]
    return located
