"""Samples of large reading data sets, in the formats MultiQA and MRQA, as examples."""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from convinse.formats.converters import Question, Record, find_converter
from convinse.language.language import english
from recipes.embedded.examples import Candidate, Example
from recipes.embedded.negatives import holds, joined_keys, negatives, parts_with_texts
from recipes.embedded.reading_sets import MOST_ANSWER_WORDS
from recipes.sources import needed

MOST_CHARACTERS = 3000
_MOST_RELEVANT, _NEGATIVES = 2, 3
# not naturalquestions: its texts are HTML, in which the spans are some characters off; not wikihop: the documents in
# which its answers stand seldom say that they are the answers
_MULTIQA = ("hotpotqa", "searchqa", "squad", "triviaqa_unfilt")


def multiqa_samples(data: Path, seed: int) -> Iterator[Example]:
    """The samples of MultiQA: questions with an answer that stands in the text of a document.

    Where answers were found by string match in many documents, the two that are most like the question are the
    relevant ones; documents of the same context without an answer are the negatives.
    """
    read = find_converter("multiqa").read
    records = [
        record
        for name in _MULTIQA
        for record in read(needed(data, "multiqa-samples", f"{name}_sample.jsonl.gz")).records
    ]
    return _on_documents("multiqa", records, seed)


def mrqa_sample(data: Path, seed: int) -> Iterator[Example]:
    """The sample of MRQA: three stories of NewsQA."""
    path = needed(data, "mrqa-sample", "NewsQA_sample.jsonl.gz")
    return _on_documents("mrqa", list(find_converter("mrqa").read(path).records), seed)


def _on_documents(source: str, records: list[Record], seed: int) -> Iterator[Example]:
    keys = joined_keys((_name(record), text) for record in records for _, text in _texts(record))
    chance = random.Random(f"{source} {seed}")
    having = [record for record in records if _texts(record)]
    for own, find in parts_with_texts(source, having, lambda record: keys[_name(record)], _heads, seed):
        for record in own:
            key = keys[_name(record)]
            for question in record.questions:
                right = _relevant(question, record, chance)
                if not right:
                    continue
                answers = [*question.texts(), *(text.text[slice(*span)] for text in right for span in text.spans)]
                others = [text for _, text in _texts(record) if not holds(text, answers)]
                others = [_head(others[place]) for place, _ in english().bm25.order(question.text, others)]
                wrong = negatives(others[:_NEGATIVES])
                wrong += find(question.text, _NEGATIVES - len(wrong), set(_heads(record)), answers)
                yield Example(question.text, (*right, *wrong), source, key, f"{source}:{key}")


def _heads(record: Record) -> list[str]:
    return [_head(text) for _, text in _texts(record)]


def _name(record: Record) -> str:
    return record.id or record.documents[0].parts[0].text


def _texts(record: Record) -> list[tuple[int, str]]:
    """The documents that have a text, with their numbers."""
    parts = ((number, document.part("text")) for number, document in enumerate(record.documents))
    return [(number, part.text) for number, part in parts if part is not None and part.text.strip()]


def _relevant(question: Question, record: Record, chance: random.Random) -> list[Candidate]:
    """The documents that hold an answer, cut around the first place; those most like the question only."""
    spans: dict[int, dict[tuple[int, int], None]] = {}
    for answer in question.answers:
        for span in answer.spans:
            if span.part == "text" and len(span.text.split()) <= MOST_ANSWER_WORDS:
                spans.setdefault(span.document, {})[span.start, span.start + len(span.text)] = None
    texts = [(number, text) for number, text in _texts(record) if number in spans]
    found = []
    for place, _ in english().bm25.order(question.text, [text for _, text in texts])[:_MOST_RELEVANT]:
        number, whole = texts[place]
        first = next(iter(spans[number]))
        text, begin = cut(whole, *first, chance)
        moved = ((start - begin, end - begin) for start, end in spans[number])
        found.append(Candidate(text, True, tuple((a, b) for a, b in moved if a >= 0 and b <= len(text))))
    return found


@lru_cache(maxsize=1000)
def _head(text: str) -> str:
    """The beginning of a text, of which a negative is made."""
    return cut(text, 0, 1, random.Random(0))[0]


def cut(text: str, start: int, end: int, chance: random.Random, most: int = MOST_CHARACTERS) -> tuple[str, int]:
    """Whole sentences around a span, of at most so many characters, and where they begin in the text.

    The span is at a random place among them. A text that is short enough stays whole.
    """
    if len(text) <= most:
        return text, 0
    borders = list(sentence_borders(text))
    first, last = max(0, bisect_right(borders, start) - 1), bisect_left(borders, end)
    if borders[last] - borders[first] > most:  # sentences too long: they are cut, too
        begin = max(borders[first], start - chance.randint(0, max(0, most - (end - start))))
        stop = max(end, min(borders[last], begin + most))
    else:
        share = chance.random()
        while True:
            before = first > 0 and borders[last] - borders[first - 1] <= most
            behind = last + 1 < len(borders) and borders[last + 1] - borders[first] <= most
            if before and (not behind or chance.random() < share):
                first -= 1
            elif behind:
                last += 1
            else:
                break
        begin, stop = borders[first], borders[last]
    found = text[begin:stop].rstrip()
    return found.lstrip(), begin + len(found) - len(found.lstrip())


def sentence_borders(text: str) -> Iterator[int]:
    """Where sentences begin, and the end of the text."""
    import sentencex

    place = 0
    for sentence in sentencex.segment("en", text):
        yield place + len(sentence) - len(sentence.lstrip())
        place += len(sentence)
    yield len(text)
