"""Data sets that say which text answers a question, but not where: sentences of sections and articles, passages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

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
    """A question for yes or no, or a statement, with a passage.

    Attributes:
        yes: whether the passage says yes (1) or no (0); 0.5 if it does not say.
        key: that its parts go by.
    """

    question: str
    passage: str
    yes: float
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
    return [Decided(question, text, float(yes), keys[title]) for (question, text), (title, yes) in rows.items()]


class _Statement(msgspec.Struct, frozen=True):
    title: str
    attributes: list[tuple[str, list[str]]]
    hypothesis: str
    label: Literal["entailed", "neutral", "contradicted"]


_SAID = {"entailed": 1.0, "neutral": 0.5, "contradicted": 0.0}
_ATTRIBUTES = 4  # of a box, that a statement is judged by: as many as the pipeline reads, or nearly


def infotabs_statements(data: Path, part: Literal["train", "dev"] = "train") -> list[Decided]:
    """Statements of InfoTabS, each with the attributes of its infobox that share most with it, in the form of evidences."""
    statements = []
    for _, line in read_lines(needed(data, "infotabs", f"{part}.jsonl.gz"), _Statement):
        box = [", ".join([line.title, name, *values]) for name, values in line.attributes]
        best = sorted(place for place, _ in english().bm25.order(line.hypothesis, box)[:_ATTRIBUTES])
        statements.append(
            Decided(line.hypothesis, ". ".join(box[place] for place in best), _SAID[line.label], line.title)
        )
    return statements


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
