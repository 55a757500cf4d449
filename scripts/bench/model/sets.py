"""What the embedded model is measured on: the dev parts of the data sets, which no row of its training comes from."""

from __future__ import annotations

import html
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TypeVar

from convinse.records.ranked_rows import RowForm
from convinse.support.errors import DataError
from recipes.embedded.examples import Example, reported
from recipes.embedded.negatives import holds
from recipes.embedded.reading_files import held_out, mismatched, squad2_unanswerable
from recipes.embedded.sets import TEXT_SETS
from recipes.embedded.tables import Rows, TableTexts, tables
from recipes.sources import json_lines, needed

SEED = 9
PARAGRAPHS = ("qed", "fairytaleqa")
RANKED = ("squad_sentences", "selqa", "boolq")
DISTRACTORS = 3  # passages of BoolQ beside each paragraph
SENTENCES = 1000  # that a question of SQuAD is asked against
NEW_WIKIPEDIA, UNANSWERABLE = "wikipedia, new articles", "no answer"
_NEW_ARTICLES = "squadshifts-new-wiki"

_T = TypeVar("_T")


@dataclass(frozen=True)
class Question:
    query: str  # the question
    text: str  # holds the answer
    answers: tuple[str, ...]  # any one of them is right; none: the text has no answer
    distractors: tuple[str, ...] = ()  # other texts, none of which holds an answer


@dataclass(frozen=True)
class Asked:
    """A question with the texts to rank; `right` are the places of those that answer it."""

    query: str
    texts: Sequence[str]
    right: frozenset[int]
    ranked: Sequence[str] = ()  # rows of a table, as models read them that were shown their ranks

    def read(self, form: RowForm) -> Sequence[str]:
        """The texts as a model reads them."""
        return self.ranked if form == "ranked" and self.ranked else self.texts

    @classmethod
    def of(cls, query: str, texts: Iterable[tuple[str, bool]]) -> Asked:
        texts = tuple(texts)
        return cls(query, [text for text, _ in texts], frozenset(n for n, (_, right) in enumerate(texts) if right))


@dataclass(frozen=True)
class DevSets:
    sentences: tuple[Question, ...]  # QAMR: each text is one sentence
    paragraphs: dict[str, tuple[Question, ...]]  # with distractors
    ranked: dict[str, tuple[Asked, ...]]  # questions with all texts of their section, table or corpus


def dev_sets(data: Path, most: int, seed: int = SEED) -> DevSets:
    names = ("qamr", *PARAGRAPHS, *RANKED)
    prepared = {name: list(reported(TEXT_SETS[name](data, seed))) for name in names}
    passages = texts_of(prepared["boolq"])
    paragraphs = {name: sample(questions(prepared[name]), most, seed) for name in PARAGRAPHS}
    fill = [candidate.text for example in prepared["selqa"] for candidate in example.candidates]
    ranked = {
        "squad_sentences": against_one_pool(prepared["squad_sentences"], fill, SENTENCES, most, seed),
        "selqa": own_candidates(prepared["selqa"], most, seed),
        "boolq": against_one_pool(prepared["boolq"], (), 0, most, seed),
        "tables": whole_tables(data, sample(list(reported(tables(data, seed))), most, seed)),
    }
    return DevSets(
        sample(single_sentences(prepared["qamr"]), most, seed),
        {name: with_distractors(asked, passages, seed) for name, asked in paragraphs.items()},
        ranked,
    )


def article_sets(data: Path, most: int, seed: int = SEED) -> dict[str, tuple[Question, ...]]:
    """Questions on the held-out articles of the reading files, by kind, each with its paragraph; no text is a distractor.

    `NEW_WIKIPEDIA` has the articles that no other data set asks about; the questions of `UNANSWERABLE` have no answer.
    """
    kinds: dict[str, list[Example]] = {}
    for kind, examples in held_out(data, seed).items():
        for example in reported(examples):
            kinds.setdefault(NEW_WIKIPEDIA if example.source == _NEW_ARTICLES else kind, []).append(example)
    made = {kind: sample(questions(examples), most, seed) for kind, examples in sorted(kinds.items())}
    nothing = [*reported(squad2_unanswerable(data, seed)), *reported(mismatched(data, seed))]
    asked = [Question(example.query, example.candidates[0].text, ()) for example in nothing]
    return {**made, UNANSWERABLE: sample(asked, most, seed)}


def sample(items: Sequence[_T], most: int, seed: int) -> tuple[_T, ...]:
    """At most so many, in their order; the same for the same seed."""
    places = sorted(random.Random(f"sample {seed}").sample(range(len(items)), min(most, len(items))))
    return tuple(items[place] for place in places)


def texts_of(examples: Iterable[Example]) -> list[str]:
    candidates = (candidate for example in examples for candidate in example.candidates)
    return list(dict.fromkeys(candidate.text for candidate in candidates if candidate.relevant))


def questions(examples: Iterable[Example]) -> list[Question]:
    """The questions whose relevant text has its answer marked; asked again on the same text, they are one."""
    prepared: dict[tuple[str, str], dict[str, None]] = {}
    for example in examples:
        first = example.candidates[0]
        if first.spans:
            own = prepared.setdefault((example.query, first.text), {})
            own |= dict.fromkeys(first.text[start:end] for start, end in first.spans)
    return [Question(query, text, tuple(answers)) for (query, text), answers in prepared.items()]


def single_sentences(examples: Iterable[Example]) -> list[Question]:
    """The questions on one sentence, which is its example's key; the others are on paragraphs made of several."""
    return questions(example for example in examples if example.candidates[0].text == example.key)


def with_distractors(asked: Iterable[Question], passages: Sequence[str], seed: int) -> tuple[Question, ...]:
    """The questions with random passages that hold none of their answers."""
    chance = random.Random(f"distractors {seed}")
    made = []
    for question in asked:
        others = (text for text in chance.sample(passages, len(passages)) if text != question.text)
        free = (text for text in others if not holds(text, question.answers))
        made.append(replace(question, distractors=tuple(islice(free, DISTRACTORS))))
    return tuple(made)


def own_candidates(examples: Sequence[Example], most: int, seed: int) -> tuple[Asked, ...]:
    return tuple(
        Asked.of(example.query, ((candidate.text, candidate.relevant) for candidate in example.candidates))
        for example in sample(examples, most, seed)
    )


def against_one_pool(
    examples: Sequence[Example], fill: Iterable[str], size: int, most: int, seed: int
) -> tuple[Asked, ...]:
    """Each question with the relevant texts of all questions, and further ones until they are `size`."""
    pool = texts_of(examples)
    others = [text for text in dict.fromkeys(fill) if text not in set(pool)]
    pool += sample(others, max(0, size - len(pool)), seed)
    place_of = {text: place for place, text in enumerate(pool)}
    right: dict[str, set[int]] = {}
    for example in examples:
        own = right.setdefault(example.query, set())
        own |= {place_of[candidate.text] for candidate in example.candidates if candidate.relevant}
    return tuple(Asked(query, pool, frozenset(right[query])) for query in sample(list(right), most, seed))


def whole_tables(data: Path, examples: Sequence[Example]) -> tuple[Asked, ...]:
    """Each question with all rows of its table, of which an example has a few."""
    wanted = {example.group for example in examples}
    rows: dict[str, dict[str, str]] = {}  # of a table: a row's text -> the same with ranks
    for table in json_lines(needed(data, "wikitablequestions", "tables.jsonl.gz")):
        group = f"tables:{table['context']}"
        if group in wanted:
            form = Rows("ranked")
            plain, ranked = TableTexts.of(form, html.unescape(table["title"]), table["header"], table["rows"])
            text_of = {row.number: row.text for row in ranked}
            rows[group] = {row.text: text_of[row.number] for row in reversed(plain)}
    made = []
    for example in examples:
        if example.group not in rows:
            raise DataError(f"{example.group}: no such table among wikitablequestions/tables.jsonl.gz")
        right = {candidate.text for candidate in example.candidates if candidate.relevant}
        texts = rows[example.group]
        asked = Asked.of(example.query, ((text, text in right) for text in texts))
        made.append(replace(asked, ranked=list(texts.values())))
    return tuple(made)
