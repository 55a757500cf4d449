"""Data sets that say which text answers a question, but not where: sentences of sections and articles, passages."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from convinse.formats.converters import find_converter
from convinse.language.language import english
from convinse.support.errors import DataError
from convinse.support.jsonlines import read_documents, read_lines
from recipes.embedded.examples import Candidate, Example
from recipes.embedded.negatives import joined_keys, negatives, parts_with_texts
from recipes.sources import needed

_BLOCK = 40  # sentences that follow each other
_LEAST_WORDS = 3  # of a sentence: shorter ones are headings and marks

# -- sentences of SQuAD ------------------------------------------------------------------------------------------------


class _Pair(msgspec.Struct, frozen=True):
    question: str
    sentence: str


class _Sentences(NamedTuple):
    """SQuAD's sentences."""

    pairs: list[_Pair]  # each question with a sentence that answers it, each pair once
    blocks: list[list[str]]  # the different sentences in their order
    block_of: dict[str, int]  # the number of a sentence's block
    right: dict[str, set[str]]  # all sentences that answer a question

    def block(self, pair: _Pair) -> list[str]:
        return self.blocks[self.block_of[pair.sentence]]

    def key(self, pair: _Pair) -> str:
        return f"block {self.block_of[pair.sentence]}"


@lru_cache(maxsize=1)
def _sentences(path: Path) -> _Sentences:
    pairs = list(dict.fromkeys(pair for _, pair in read_lines(path, _Pair)))
    different = list(dict.fromkeys(pair.sentence for pair in pairs))
    blocks = [different[start : start + _BLOCK] for start in range(0, len(different), _BLOCK)]
    right: dict[str, set[str]] = defaultdict(set)
    for pair in pairs:
        right[pair.question].add(pair.sentence)
    return _Sentences(pairs, blocks, {text: number for number, one in enumerate(blocks) for text in one}, right)


def squad_sentences(data: Path, seed: int) -> Iterator[Example]:
    """Sentences of SQuAD: the two nearest that do not answer, then the hardest of other blocks.

    Articles follow each other in the file, so that a block of sentences is the key and the group.
    """
    read = _sentences(needed(data, "squad-sentences", "pairs.jsonl.gz"))
    for own, find in parts_with_texts("squad", read.pairs, read.key, lambda pair: [pair.sentence], seed):
        for pair in own:
            block, key = read.block(pair), read.key(pair)
            place, right = block.index(pair.sentence), read.right[pair.question]
            others = [at for at, text in enumerate(block) if text not in right]
            near = sorted(others, key=lambda at, place=place: (abs(at - place), at))[:2]
            wrong = [*negatives(block[at] for at in near), *find(pair.question, 1, [*block, *right])]
            candidates = (Candidate(pair.sentence, True, readable=False), *wrong)
            yield Example(pair.question, candidates, "squad", key, f"squad:{key}")


def squad_contexts(data: Path, seed: int) -> Iterator[tuple[Example, tuple[int, int]]]:
    """Paragraphs of three to six of SQuAD's sentences that follow each other, with the place of the right one.

    Keys and groups are those of `squad_sentences`. A negative is made of sentences of the same block.

    Returns:
        Examples whose relevant text has no span, each with the characters (start, end) of the sentence that answers.
    """
    read = _sentences(needed(data, "squad-sentences", "pairs.jsonl.gz"))
    chance = random.Random(f"squad contexts {seed}")
    for pair in read.pairs:
        block, key = read.block(pair), read.key(pair)
        text, start, first, last = _window(block, block.index(pair.sentence), chance)
        right = read.right[pair.question]
        left = [at for at, other in enumerate(block) if not first <= at < last and other not in right]
        wrong = negatives(_wrong_window(block, set(left), chance))
        example = Example(pair.question, (Candidate(text, True, readable=False), *wrong), "squad", key, f"squad:{key}")
        yield example, (start, start + len(pair.sentence))


def _window(block: Sequence[str], place: int, chance: random.Random) -> tuple[str, int, int, int]:
    """Three to six sentences around one: the text, where the one begins, and the places of the first and the end."""
    size = min(len(block), chance.randint(3, 6))
    first = min(max(0, place - chance.randrange(size)), len(block) - size)
    before = "".join(f"{text} " for text in block[first:place])
    return " ".join(block[first : first + size]), len(before), first, first + size


def _wrong_window(block: Sequence[str], left: set[int], chance: random.Random) -> Iterator[str]:
    """Sentences at places of `left` that follow each other, as many as a window has where there are so many."""
    for size in range(chance.randint(3, 6), 0, -1):
        starts = [at for at in range(len(block) - size + 1) if left.issuperset(range(at, at + size))]
        if starts:
            at = chance.choice(starts)
            yield " ".join(block[at : at + size])
            return


# -- sections and passages ---------------------------------------------------------------------------------------------


class _Section(msgspec.Struct):
    article: str
    question: str
    candidates: list[str]
    answers: list[int]


def selqa(data: Path, seed: int) -> Iterator[Example]:
    """SelQA: which sentences of a section of Wikipedia answer a question; the others are the negatives."""
    path = needed(data, "selqa", "selqa-ass-dev.json.gz")
    rows = [(line, row) for line, row in read_documents(path, _Section, unwrap=True)]
    keys = joined_keys((row.article, text.strip()) for _, row in rows for text in row.candidates if _is_sentence(text))
    for line, row in rows:
        if any(not 0 <= place < len(row.candidates) for place in row.answers):
            raise DataError(f"{path}:{line}: answers {row.answers} of {len(row.candidates)} candidates")
        texts = [text.strip() for text in row.candidates]
        right = list(dict.fromkeys(text for place in sorted(row.answers) if _is_sentence(text := texts[place])))
        others = list(dict.fromkeys(text for text in texts if text not in right and _is_sentence(text)))
        if not right:
            continue
        wrong = negatives(others[place] for place, _ in english().bm25.order(row.question, others))
        key = keys[row.article]
        relevant = (Candidate(text, True, readable=False) for text in right)
        yield Example(row.question, (*relevant, *wrong), "selqa", key, f"selqa:{key}")


def _is_sentence(text: str) -> bool:
    return len(text.split()) >= _LEAST_WORDS


class Decided(NamedTuple):
    """A yes/no question of BoolQ, the passage that decides it, the answer, and the key that its parts go by."""

    question: str
    passage: str
    yes: bool
    key: str


def boolq_questions(data: Path) -> list[Decided]:
    """All questions of BoolQ, each once."""
    read = find_converter("boolq").read
    rows: dict[tuple[str, str], tuple[str, bool]] = {}  # question and passage -> title, answer
    for name in ("train", "dev"):
        for record in read(needed(data, "boolq", f"{name}.jsonl.gz")).records:
            parts = {part.name: part.text for part in record.documents[0].parts}
            for question in record.questions:
                answer = bool(question.answers) and question.answers[0].text == "yes"
                rows.setdefault((question.text, parts["text"]), (parts.get("title", ""), answer))
    keys = joined_keys((title, text) for (_, text), (title, _) in rows.items())
    return [Decided(question, text, yes, keys[title]) for (question, text), (title, yes) in rows.items()]


def boolq(data: Path, seed: int) -> Iterator[Example]:
    """BoolQ: yes/no questions with a passage that decides them; negatives are passages under other titles."""
    rows = boolq_questions(data)
    passages: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        passages[row.key].add(row.passage)
    for own, find in parts_with_texts("boolq", rows, lambda row: row.key, lambda row: [row.passage], seed):
        for question, text, _, key in own:
            candidates = (Candidate(text, True, readable=False), *find(question, 2, passages[key]))
            yield Example(question, candidates, "boolq", key, f"boolq:{key}")
