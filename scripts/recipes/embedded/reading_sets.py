"""Reading data sets as examples: sentences and paragraphs with the places of the answers."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from convinse.formats.converters import find_converter
from convinse.language.language import english
from convinse.support.errors import DataError
from convinse.support.jsonlines import read_lines
from recipes.embedded.examples import Candidate, Example
from recipes.embedded.negatives import hard_texts, holds, joined_keys, negatives, part_of, parts_with_texts
from recipes.embedded.untokenise import untokenised
from recipes.sources import needed

MOST_ANSWER_WORDS = 40
_SENTENCES_TOGETHER = 12  # that paragraphs are made of

Spans = tuple[tuple[int, int], ...]


class Asked(NamedTuple):
    """A question, its text, the places of the answers there and the title of the text's document.

    Attributes:
        readable: False where no single one of the places is the answer.
    """

    question: str
    text: str
    spans: Spans
    title: str
    readable: bool = True

    @property
    def answers(self) -> list[str]:
        """The different answers."""
        return list(dict.fromkeys(self.text[start:end] for start, end in self.spans))


class _Line(msgspec.Struct):
    title: str
    context: str
    question: str
    answer: str
    answer_start: int


def _read(path: Path, tokenised: bool = False) -> Iterator[Asked]:
    for number, line in read_lines(path, _Line):
        start, text = line.answer_start, line.context
        if start < 0 or not line.answer or not text.startswith(line.answer, start):
            raise DataError(f"{path}:{number}: '{line.answer}' does not stand at character {start} of the context")
        span = (start, start + len(line.answer))
        if tokenised:
            text, move = untokenised(text)
            span = move(*span)
        yield Asked(line.question, text, (span,), line.title)


def merged(rows: Iterable[Asked]) -> list[Asked]:
    """Questions asked again on the same text become one with all spans; too long answers are left out."""
    found: dict[tuple[str, str], Asked] = {}
    for row in rows:
        spans = [span for span in row.spans if len(row.text[slice(*span)].split()) <= MOST_ANSWER_WORDS]
        if spans:
            before = found.setdefault((row.text, row.question), row._replace(spans=()))
            found[row.text, row.question] = before._replace(spans=tuple(dict.fromkeys([*before.spans, *spans])))
    return list(found.values())


# -- sentences ---------------------------------------------------------------------------------------------------------


def qamr(data: Path, seed: int) -> Iterator[Example]:
    """QAMR: questions on a sentence; a random half of them on a paragraph with the sentence and others around it.

    The spans are those of the writer and of the validators. Paragraphs are made of the sentences of one small set,
    which is the group: so no paragraph of a batch holds the answer of another example unseen.
    """
    read = find_converter("qamr").read
    rows = [
        Asked(
            question.text,
            text := record.documents[0].parts[0].text,
            tuple((span.start, span.start + len(span.text)) for answer in question.answers for span in answer.spans),
            text,
        )
        for name in ("dev", "test_part")
        for record in read(needed(data, "qamr", f"{name}.jsonl.gz")).records
        for question in record.questions
    ]
    asked: dict[str, list[Asked]] = defaultdict(list)
    for row in merged(rows):
        asked[row.text].append(row)
    chance = random.Random(f"qamr {seed}")
    for part in ("train", "dev"):
        sentences = [text for text in asked if part_of("qamr", text) == part]
        chance.shuffle(sentences)
        together = _sets(sentences)
        mates = {text: one for one in together for text in one}
        with hard_texts(sentences, seed) as find:
            for number, one in enumerate(together):
                for row in (row for text in one for row in asked[text]):
                    group = f"qamr:{part}:{number}"
                    wrong = find(row.question, 2, one, row.answers)
                    text, spans = row.text, row.spans
                    if chance.random() < 0.5:
                        text, begin = _paragraph(row.text, one, chance)
                        spans = tuple((start + begin, end + begin) for start, end in spans)
                        wrong = [Candidate(_wrong_paragraph(bad.text, mates, row.answers, chance)) for bad in wrong]
                    candidates = (Candidate(text, True, spans), *wrong)
                    yield Example(row.question, candidates, "qamr", row.text, group)


def _sets(sentences: Sequence[str]) -> list[Sequence[str]]:
    """The sentences in sets of about one size."""
    number = max(1, len(sentences) // _SENTENCES_TOGETHER)
    return [sentences[place::number] for place in range(number)] if sentences else []


def _wrong_paragraph(
    sentence: str, mates: Mapping[str, Sequence[str]], answers: list[str], chance: random.Random
) -> str:
    """A sentence among others of its set that hold no answer."""
    return _paragraph(sentence, [text for text in mates[sentence] if not holds(text, answers)], chance)[0]


def _paragraph(sentence: str, others: Sequence[str], chance: random.Random) -> tuple[str, int]:
    """A sentence among two to five others, and where it begins."""
    others = [text for text in others if text != sentence]
    drawn = chance.sample(others, min(len(others), chance.randint(2, 5)))
    place = chance.randint(0, len(drawn))
    before = "".join(f"{text} " for text in drawn[:place])
    return " ".join([*drawn[:place], sentence, *drawn[place:]]), len(before)


# -- paragraphs --------------------------------------------------------------------------------------------------------


def fairytaleqa(data: Path, seed: int) -> Iterator[Example]:
    """FairytaleQA: questions on sections of stories, the other sections as negatives."""
    rows = [row for name in ("train", "val") for row in _read(needed(data, "fairytaleqa", f"{name}.jsonl.gz"))]
    return on_paragraphs("fairytaleqa", rows, seed, near=2, hard=1)


def qed(data: Path, seed: int) -> Iterator[Example]:
    """QED: questions of users on paragraphs of Wikipedia, without the blanks of the tokenisation."""
    rows = _read(needed(data, "qed", "dev.jsonl.gz"), tokenised=True)
    return on_paragraphs("qed", rows, seed, near=1, hard=2)


def policyqa(data: Path, seed: int) -> Iterator[Example]:
    """PolicyQA, the dev file: questions on passages of privacy policies.

    The questions name no site and many passages of a site are alike: a passage of another site, or the one most like
    the question, may well answer it. So negatives are random passages of the same site that are not asked the question,
    and the whole set is one group. Passages that the test file has, too, are left out.
    """
    tested = {line.context for _, line in read_lines(needed(data, "policyqa", "test.jsonl.gz"), _Line)}
    rows = [row for row in _read(needed(data, "policyqa", "dev.jsonl.gz")) if row.text not in tested]
    return on_paragraphs("policyqa", rows, seed, near=2, hard=0, alike=False, group="policyqa")


def on_paragraphs(
    source: str, rows: Iterable[Asked], seed: int, *, near: int, hard: int, alike: bool = True, group: str | None = None
) -> Iterator[Example]:
    """Examples with negatives of the same document first, then of the part; a document is a group by default.

    Args:
        near: negatives of the same document that hold no answer and are not asked the same.
        alike: whether negatives are the best by BM25, or random ones.
        hard: further negatives, of other documents; at least `near + hard` altogether where there are any of these.
        group: of all examples.
    """
    rows = list(rows)
    asked = merged(rows)
    chance = random.Random(f"{source} {seed}")
    keys = joined_keys((row.title, row.text) for row in rows)
    texts: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))  # key -> text -> its questions
    for row in rows:  # those with a long answer, too: their text is no negative
        texts[keys[row.title]][row.text].add(row.question)
    for own, find in parts_with_texts(source, asked, lambda row: keys[row.title], lambda row: [row.text], seed):
        for row in own:
            key = keys[row.title]
            document = texts[key]
            free = (text for text, questions in document.items() if row.question not in questions)
            others = [text for text in free if not holds(text, row.answers)]
            if alike:
                others = [others[place] for place, _ in english().bm25.order(row.question, others)]
            else:
                chance.shuffle(others)
            wrong = negatives(others[:near])
            if hard:
                wrong += find(row.question if alike else "", near + hard - len(wrong), document, row.answers)
            right = Candidate(row.text, True, row.spans if row.readable else (), row.readable)
            yield Example(row.question, (right, *wrong), source, key, group or f"{source}:{key}")
