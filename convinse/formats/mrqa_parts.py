"""MRQA contexts that are longer than the format allows, cut into parts without losing a question."""

from __future__ import annotations

import msgspec

from .mrqa import MAX_TOKENS, MrqaExample, MrqaQuestion
from .tokens import Token


def limit_context(example: MrqaExample, tokens: int = MAX_TOKENS) -> list[MrqaExample]:
    """An example whose context is too long as several that are not; one that fits stays as it is.

    The first has the first `tokens` tokens of the context, and all questions with an answer there. The others have
    parts further behind that begin at a multiple of half of `tokens` (the last one ends with the context), each with
    the questions whose first answer is there: the task itself dropped those. Spans that do not fit into their
    question's part are dropped, and so are detected answers without a span; a question without any span is in the
    first part. So every question and every accepted answer is in exactly one of the examples.
    """
    size = len(example.context_tokens)
    if size <= tokens:
        return [example]
    parts: dict[int, list[MrqaQuestion]] = {0: []}
    for question in example.qas:
        begin = _part_of(question, tokens, size)
        parts.setdefault(begin, []).append(_within(question, example.context_tokens, begin, tokens))
    return [_cut(example, begin, tokens, questions) for begin, questions in sorted(parts.items()) if questions]


def _part_of(question: MrqaQuestion, tokens: int, size: int) -> int:
    """The first token of the part that a question goes to."""
    spans = [span for answer in question.detected_answers for span in answer.token_spans]
    if any(last < tokens for _, last in spans):
        return 0
    for first, last in sorted(spans):
        half = max(1, tokens // 2)
        for begin in (first // half * half, first):
            begin = min(begin, size - tokens)
            if last < begin + tokens:
                return begin
    return 0


def _within(question: MrqaQuestion, context_tokens: list[Token], begin: int, tokens: int) -> MrqaQuestion:
    """A question with those spans that lie inside of a part, counted from its beginning."""
    offset = context_tokens[begin][1] if begin else 0
    token, last_start = context_tokens[min(begin + tokens, len(context_tokens)) - 1]
    stop = last_start + len(token)
    answers = []
    for answer in question.detected_answers:
        pairs = [
            ((start - offset, end - offset), (first - begin, last - begin))
            for (start, end), (first, last) in zip(answer.char_spans, answer.token_spans, strict=False)
            if begin <= first and last < begin + tokens and offset <= start and end < stop
        ]
        if pairs:
            char_spans, token_spans = zip(*pairs, strict=True)
            answers.append(msgspec.structs.replace(answer, char_spans=list(char_spans), token_spans=list(token_spans)))
    return msgspec.structs.replace(question, detected_answers=answers)


def _cut(example: MrqaExample, begin: int, tokens: int, questions: list[MrqaQuestion]) -> MrqaExample:
    kept = example.context_tokens[begin : begin + tokens]
    start = kept[0][1] if begin else 0
    context = example.context[start : kept[-1][1] + len(kept[-1][0])]
    moved = [(token, offset - start) for token, offset in kept]
    return msgspec.structs.replace(example, context=context, context_tokens=moved, qas=questions)
