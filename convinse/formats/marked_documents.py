"""The documents of an MRQA context, parted by the marks in its text: `flatten` backwards."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from .neutral import NeutralDocument, NeutralPart, NeutralQuestion, NeutralRecord, NeutralSpan
from .tokens import Token

_BEGIN = re.compile(r"(?:\[(?:DOC|PAR)\]\s*)?(?P<title>\[TLE\])|\[DOC\]")  # HotpotQA has [PAR] before its titles
_TITLE_END = re.compile(r"\[(?:SEP|PAR)\]")
_DOCUMENTS = "documents"  # the key of each document's extras in MRQA files written here


def several_documents(record: NeutralRecord) -> NeutralRecord:
    """Split a record whose only text begins with a mark and has several documents; return any other record as it is.

    Places across a mark belong to no document and are left out.
    """
    part = record.documents[0].part("text") if len(record.documents) == 1 else None
    if part is None or len(record.documents[0].parts) > 1:
        return record
    pieces = list(_pieces(part.text))
    count = pieces[-1].document + 1 if pieces else 0
    if count < 2:
        return record
    extras = dict(record.extras)
    about = extras.get(_DOCUMENTS)
    if isinstance(about, list) and len(about) == count and all(isinstance(value, dict) for value in about):
        del extras[_DOCUMENTS]
    else:
        about = [{}] * count
    about[0] = {**record.documents[0].extras, **about[0]}
    documents = [
        NeutralDocument([_part(piece, part) for piece in pieces if piece.document == number], about[number])
        for number in range(count)
    ]
    questions = [_moved(question, pieces) for question in record.questions]
    return NeutralRecord(documents, questions, record.id, extras)


def _pieces(text: str) -> Iterator[NeutralSpan]:
    # the parts of the documents, with their places in the text
    begins = list(_BEGIN.finditer(text))
    if not begins or text[: begins[0].start()].strip():
        return  # text before the first mark: not a context of several documents
    ends = [*(match.start() for match in begins[1:]), len(text)]
    for number, (match, end) in enumerate(zip(begins, ends, strict=True)):
        start = match.end()
        if match["title"]:
            border = _TITLE_END.search(text, start, end)
            yield _stripped(number, "title", text, start, border.start() if border else end)
            start = border.end() if border else end
        yield _stripped(number, "text", text, start, end)


def _stripped(document: int, part: str, text: str, start: int, end: int) -> NeutralSpan:
    inside = text[start:end]
    return NeutralSpan(start + len(inside) - len(inside.lstrip()), inside.strip(), document, part)


def _part(piece: NeutralSpan, whole: NeutralPart) -> NeutralPart:
    tokens: list[Token] | None = None
    if whole.tokens is not None:
        tokens = [
            (token, offset - piece.start)
            for token, offset in whole.tokens
            if piece.start <= offset and offset + len(token) <= piece.start + len(piece.text)
        ]
    return NeutralPart(piece.part, piece.text, tokens)


def _moved(question: NeutralQuestion, pieces: list[NeutralSpan]) -> NeutralQuestion:
    answers = []
    for answer in question.answers:
        spans: list[NeutralSpan] = []
        for span in answer.spans:
            end = span.start + len(span.text)
            for piece in pieces:
                if piece.start <= span.start and end <= piece.start + len(piece.text):
                    spans.append(NeutralSpan(span.start - piece.start, span.text, piece.document, piece.part))
        answers.append(msgspec.structs.replace(answer, spans=spans))
    return msgspec.structs.replace(question, answers=answers)
