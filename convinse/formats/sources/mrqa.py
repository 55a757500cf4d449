"""MRQA files from and into neutral records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from .. import mrqa
from ..converters import Answer, Dataset, Format, Question, Record, Span, register
from ..neutral import FlatText, flatten, locate, question_id, titled
from ..records import Extras, taken
from ..tokens import Token, spacy_tokenizer, tokenize

Tokenizer = Callable[[str], list[Token]]

_IMPOSSIBLE = "is_impossible"  # SQuAD's key, beside those of MRQA, which does not know such questions
_UNANSWERABLE = f"unanswerable questions (no answers and {_IMPOSSIBLE}; MRQA itself has none)"
# 1,431 of the 1,474 tokens of the task's sample of NewsQA
_OWN_TOKENS = "contexts with tokens of our own (97.1 % are those of spaCy; the extra spacy makes it all)"
_NOT_FOUND = "questions without an answer in the context"
_PARTS = f"contexts of more than {mrqa.MAX_TOKENS} tokens (cut into parts)"


@register("mrqa")
class Mrqa(Format):
    """The MRQA 2019 format: one text a context, spans in it, and all accepted strings.

    A title that is not in the context, the id of the context and the extras of documents are written as `title`, `id` and
    `documents` beside the keys of the format, and read back. MRQA has no unanswerable questions: they are written without
    answers and with `is_impossible`, as in its sample of NewsQA, and counted.
    """

    def read(self, path: Path) -> Dataset:
        """Read the contexts of a file as documents with a single part."""
        header = mrqa.read_header(path) or mrqa.MrqaHeader()
        return Dataset(header.dataset, header.split, map(_record, mrqa.read_examples(path)), header.extras)

    def write(self, path: Path, dataset: Dataset, counts: Counter[str]) -> None:
        """Write a header and the contexts that have a question."""
        header = mrqa.MrqaHeader(dataset.name, dataset.split, dataset.extras)
        tokenizer = spacy_tokenizer() or tokenize
        with mrqa.writing_examples(path, header) as write:
            for record in dataset.records:
                if tokenizer is tokenize and any(part.tokens is None for doc in record.documents for part in doc.parts):
                    counts[_OWN_TOKENS] += 1
                for example in _examples(record, counts, tokenizer):
                    write(example)
                    counts["contexts"] += 1
                    counts["questions"] += len(example.qas)


def _record(example: mrqa.MrqaExample) -> Record:
    extras = dict(example.extras)
    title, context_id = taken(extras, "title", "id")
    about: Extras = {}
    match extras:
        case {"documents": [dict(keys)]}:
            del extras["documents"]
            about = keys
    document = titled(title, example.context, example.context_tokens or None, about)
    questions = [_neutral_question(question, example.context) for question in example.qas]
    return Record([document], questions, context_id, extras)


def _neutral_question(question: mrqa.MrqaQuestion, context: str) -> Question:
    answers = [
        Answer(answer.text, [Span(start, context[start : end + 1]) for start, end in answer.char_spans], answer.extras)
        for answer in question.detected_answers
    ]
    extras = dict(question.extras)
    unanswerable = not answers and not question.answers and extras.get(_IMPOSSIBLE) is True
    if unanswerable:
        del extras[_IMPOSSIBLE]
    tokens = question.question_tokens or None
    return Question(question.qid, question.question, tokens, answers, question.answers, unanswerable, extras)


def _examples(record: Record, counts: Counter[str], tokenizer: Tokenizer) -> Iterator[mrqa.MrqaExample]:
    flat = flatten(record, tokenizer)
    questions = []
    for question in record.questions:
        if question.unanswerable:
            counts[_UNANSWERABLE] += 1
            extras = {**question.extras, _IMPOSSIBLE: True}
            question = msgspec.structs.replace(question, answers=[], accepted=[], extras=extras)
        written = _question(question, flat, tokenizer)
        if not written.detected_answers and not question.unanswerable:
            counts[_NOT_FOUND] += 1
        questions.append(written)
    if not questions:
        return
    extras = dict(record.extras)
    if record.id:
        extras["id"] = record.id
    title = record.documents[0].part("title") if len(record.documents) == 1 else None
    if title is not None:
        extras["title"] = title.text
    if any(document.extras for document in record.documents):
        extras["documents"] = [document.extras for document in record.documents]
    if len(flat.tokens) > mrqa.MAX_TOKENS:
        counts[_PARTS] += 1
    yield from mrqa.limit_context(mrqa.MrqaExample(flat.text, questions, flat.tokens, extras))


def _question(question: Question, flat: FlatText, tokenizer: Tokenizer) -> mrqa.MrqaQuestion:
    places: dict[str, dict[tuple[int, int], tuple[int, int]]] = {}  # equal answers of several annotators become one
    extras: dict[str, Extras] = {}
    for answer, spans in locate(question, flat):
        token_spans = {span: tokens for span in spans if (tokens := flat.token_span(*span)) is not None}
        if token_spans:
            places.setdefault(answer.text, {}).update(token_spans)
            extras.setdefault(answer.text, {}).update(answer.extras)
    return mrqa.MrqaQuestion(
        question.id or question_id(question.text, flat.text),
        question.text,
        tokenizer(question.text) if question.tokens is None else question.tokens,
        [mrqa.DetectedAnswer(answer, [*spans], [*spans.values()], extras[answer]) for answer, spans in places.items()],
        question.texts(),
        question.extras,
    )
