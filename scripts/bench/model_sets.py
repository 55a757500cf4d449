"""The dev parts of the data sets that the embedded model is measured on; no row of its training comes from them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TypeVar

from convinse.records.ranked_rows import RowForm
from recipes.embedded.data_sets import READING_FILES
from recipes.embedded.examples import Example, reported
from recipes.embedded.negatives import holds
from recipes.embedded.sets import examples_of_set
from recipes.embedded.tables import read_tables, verbalised

SEED = 9
PARAGRAPHS = ("qed", "fairytaleqa")
DISTRACTORS = 3  # passages of BoolQ beside each paragraph
SENTENCES = 1000  # that a question of SQuAD is asked against
NEW_WIKIPEDIA, UNANSWERABLE = "wikipedia, new articles", "no answer"
_NEW_ARTICLES = "squadshifts-new-wiki"
T = TypeVar("T")


@dataclass(frozen=True)
class Question:
    query: str
    text: str  # holds the answer
    answers: tuple[str, ...]  # any one of them is right; none: the text has no answer
    distractors: tuple[str, ...] = ()  # other texts, none of which holds an answer


@dataclass(frozen=True)
class RankingQuestion:
    """A question with the texts to rank; `right` are the places of those that answer it."""

    query: str
    texts: Sequence[str]
    right: frozenset[int]
    ranked: Sequence[str] = ()  # rows of a table, as models read them that were shown their ranks

    def read(self, form: RowForm) -> Sequence[str]:
        return self.ranked if form == "ranked" and self.ranked else self.texts

    @classmethod
    def of(cls, query: str, texts: Iterable[tuple[str, bool]]) -> RankingQuestion:
        texts = tuple(texts)
        return cls(query, [text for text, _ in texts], frozenset(n for n, (_, right) in enumerate(texts) if right))


def reading_sets(data: Path, most: int) -> dict[str, tuple[Question, ...]]:
    """Questions on sentences (QAMR) and on paragraphs, which have distractors."""
    passages = texts_of(reported(examples_of_set("boolq", data, SEED)))
    qamr = reported(examples_of_set("qamr", data, SEED))
    single = (example for example in qamr if example.candidates[0].text == example.key)  # not a paragraph of several
    sets = {"qamr": sample(questions(single), most)}
    for name in PARAGRAPHS:
        chance = random.Random(f"distractors {SEED}")
        drawn = sample(questions(reported(examples_of_set(name, data, SEED))), most)
        sets[name] = tuple(with_distractors(question, passages, chance) for question in drawn)
    return sets


def ranking_sets(data: Path, most: int) -> dict[str, tuple[RankingQuestion, ...]]:
    """Questions with all texts of their section, table or corpus."""
    names = ("squad_sentences", "selqa", "boolq", "tables")
    squad, sections, boolq, tables = (list(reported(examples_of_set(name, data, SEED))) for name in names)
    fill = [candidate.text for example in sections for candidate in example.candidates]
    return {
        "squad_sentences": against_one_pool(squad, fill, SENTENCES, most),
        "selqa": tuple(
            RankingQuestion.of(row.query, ((candidate.text, candidate.relevant) for candidate in row.candidates))
            for row in sample(sections, most)
        ),
        "boolq": against_one_pool(boolq, (), 0, most),
        "tables": whole_tables(data, sample(tables, most)),
    }


def article_sets(data: Path, most: int) -> dict[str, tuple[Question, ...]]:
    """Questions on the held-out articles of the reading files, by kind, each with its paragraph; no text is a distractor."""
    kinds: dict[str, list[Example]] = {}
    for name, declared in READING_FILES.items():
        kind = NEW_WIKIPEDIA if name == _NEW_ARTICLES else declared.kind
        kinds.setdefault(kind, []).extend(reported(examples_of_set(name, data, SEED)))
    made = {kind: sample(questions(examples), most) for kind, examples in sorted(kinds.items())}
    sets = ("squad2_unanswerable", "mismatched")
    nothing = [example for name in sets for example in reported(examples_of_set(name, data, SEED))]
    unanswerable = [Question(example.query, example.candidates[0].text, ()) for example in nothing]
    return {**made, UNANSWERABLE: sample(unanswerable, most)}


def sample(items: Sequence[T], most: int) -> tuple[T, ...]:
    places = sorted(random.Random(f"sample {SEED}").sample(range(len(items)), min(most, len(items))))
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
            texts = prepared.setdefault((example.query, first.text), {})
            texts |= dict.fromkeys(first.text[start:end] for start, end in first.spans)
    return [Question(query, text, tuple(answers)) for (query, text), answers in prepared.items()]


def with_distractors(question: Question, passages: Sequence[str], chance: random.Random) -> Question:
    """The question with random passages that hold none of its answers."""
    others = (text for text in chance.sample(passages, len(passages)) if text != question.text)
    free = (text for text in others if not holds(text, question.answers))
    return replace(question, distractors=tuple(islice(free, DISTRACTORS)))


def against_one_pool(
    examples: Sequence[Example], fill: Iterable[str], size: int, most: int
) -> tuple[RankingQuestion, ...]:
    """Each question with the relevant texts of all questions, and further ones until they are `size`."""
    pool = texts_of(examples)
    others = [text for text in dict.fromkeys(fill) if text not in set(pool)]
    pool += sample(others, max(0, size - len(pool)))
    place_of = {text: place for place, text in enumerate(pool)}
    right: dict[str, set[int]] = {}
    for example in examples:
        places = right.setdefault(example.query, set())
        places |= {place_of[candidate.text] for candidate in example.candidates if candidate.relevant}
    return tuple(RankingQuestion(query, pool, frozenset(right[query])) for query in sample(list(right), most))


def whole_tables(data: Path, examples: Sequence[Example]) -> tuple[RankingQuestion, ...]:
    """Each question with all rows of its table, of which an example has a few."""
    groups = {example.group for example in examples}
    rows: dict[str, dict[str, str]] = {}  # of a table: a row's text -> the same with ranks
    for title, table in read_tables(data):
        group = f"tables:{table['context']}"
        if group in groups:
            plain, ranked = verbalised(title, table["header"], table["rows"])
            text_of = {row.number: row.text for row in ranked}
            rows[group] = {row.text: text_of[row.number] for row in reversed(plain)}
    made = []
    for example in examples:
        right = {candidate.text for candidate in example.candidates if candidate.relevant}
        texts = rows[example.group]
        question = RankingQuestion.of(example.query, ((text, ranked in right) for text, ranked in texts.items()))
        made.append(replace(question, ranked=list(texts.values())))
    return tuple(made)
