"""Questions with the classes of their answers: what a head that tells the type of an answer can learn from."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import NamedTuple

import msgspec

from convinse.config import project_root
from convinse.formats.conversations.benchmark import read_benchmark
from convinse.knowledge_base.index import KnowledgeBase
from convinse.records.conversation import Conversation
from convinse.records.evidence import Entity
from convinse.records.literals import is_date, is_number
from convinse.support.jsonlines import read_lines
from recipes.embedded.examples import Part
from recipes.embedded.negatives import part_of
from recipes.embedded.wikidata import Facts, is_item
from recipes.sources import needed, tab_lines

DATE, NUMBER, YES_NO, TEXT, OTHER = "date", "number", "yes or no", "text", "other item"
_INSTANCE_OF, _SUBCLASS_OF = 31, 279
LEAST_QUESTIONS = 100  # of a class that stands alone
_ABOVE = 3  # superclasses that a rare class may be counted with
_LEAST_FACTS = 20  # of a property whose values tell what an unknown item is
_COMMON = 0.0005  # share of the questions that a word of a template is in
_SLOT = "_"
_ASKED_VALUE = re.compile(r"wdt:(P[0-9]+) \?answer\b")
_DOMAINS = ("books", "movies", "music", "soccer", "tv_series")
_FILES = (("tiq", "tiq", "dev.json.gz"), ("timequestions", "timequestions", "dev.json.gz"), ("lcquad2", "lcquad2-cq", "LC_QuAD20_CQ.dev.json.gz"))  # fmt: skip

Classes = Mapping[str, float]  # ids of classes of items, or DATE, NUMBER, YES_NO, TEXT, OTHER -> share; all together 1


class TypedQuestion(NamedTuple):
    """A question and what its answers are.

    Attributes:
        history: questions and answers before it, in turns; empty for a question that stands alone.
        key: its template (`template`), or its conversation, of which nothing is in another part.
    """

    question: str
    history: tuple[str, ...]
    classes: Classes
    source: str
    key: str

    @property
    def part(self) -> Part:
        """Where the question belongs, by its key alone."""
        return part_of(self.source, self.key)


class TypedQuestions(NamedTuple):
    """All questions, and the names of the classes that they have."""

    questions: list[TypedQuestion]
    names: dict[str, str]


class _Asked(NamedTuple):
    """A question with its answers; `prop` is what an unknown answer is a value of (`P57`, or `R57` of the inverse)."""

    question: str
    history: tuple[str, ...]
    answers: tuple[str, ...]
    source: str
    conversation: str = ""
    prop: str = ""


def typed_questions(data: Path, work: Path, least: float = LEAST_QUESTIONS) -> TypedQuestions:
    """SimpleQuestions, RuBQ, TIQ, TimeQuestions, LC-QuAD, ConvQuestions (val) and the embedded train conversations.

    A class is that of an answer in wikidata-27k or the embedded knowledge base. An item that neither knows has the
    classes of the values of the property that is asked for, where that is told. A class of fewer questions than
    `least` counts with the next class above it that has so many together with those below it, of three at most, else as
    `OTHER`. Questions of whose answers nothing is known are left out; the versions of a conversation differ in wording,
    and what was asked before is that of the first version that has a question.

    Args:
        data: the shared data.
        work: the folder that the knowledge base of wikidata-27k is built and kept in.
        least: questions of a class that stands alone.
    """
    first: dict[tuple[object, ...], _Asked] = {}
    for row in _all_asked(data):
        first.setdefault((row.question, row.answers, row.prop, row.source, row.conversation), row)
    asked = list(first.values())
    known = Facts(data, work)
    with ExitStack() as stack:
        kbs = [stack.enter_context(closing(known.kb))]
        kbs.append(stack.enter_context(closing(KnowledgeBase(project_root() / "convinse" / "snapshot" / "kb"))))
        classes = ItemClasses(kbs)
        of_property = property_classes(known, classes)
        direct = [_classes_of(row, classes, of_property) for row in asked]
        coarse = classes.coarse(direct, least)
        names = {name: classes.label(name) for name in sorted(set(coarse.values()))}
    common = common_words(row.question for row in asked)
    questions = []
    for row, shares in zip(asked, direct, strict=True):
        if shares:
            merged: Counter[str] = Counter()
            for name, share in shares.items():
                merged[coarse.get(name, name)] += share  # type: ignore[assignment]
            key = row.conversation or template(row.question, common)
            questions.append(TypedQuestion(row.question, row.history, dict(merged), row.source, key))
    return TypedQuestions(questions, names | {name: name for name in (DATE, NUMBER, YES_NO, TEXT, OTHER)})


def counts(typed: TypedQuestions) -> str:
    """Two tables: questions of each source by part, and questions of each class, most frequent first."""
    rows = ["| source | questions | train | dev | templates or conversations |", "|---|---:|---:|---:|---:|"]
    by_source: dict[str, list[TypedQuestion]] = defaultdict(list)
    mass: Counter[str] = Counter()
    for question in typed.questions:
        by_source[question.source].append(question)
        mass.update(question.classes)
    for source, own in by_source.items():
        train = sum(question.part == "train" for question in own)
        keys = len({question.key for question in own})
        rows.append(f"| {source} | {len(own):,} | {train:,} | {len(own) - train:,} | {keys:,} |")
    rows += ["", "| class | questions |", "|---|---:|"]
    rows += [f"| {typed.names[name]} | {share:,.0f} |" for name, share in mass.most_common()]
    return "\n".join(rows)


# -- classes -----------------------------------------------------------------------------------------------------------


class ItemClasses:
    """The classes of items, of the first knowledge base that knows any."""

    def __init__(self, kbs: Sequence[KnowledgeBase]) -> None:
        self._kbs = kbs

    def of(self, entity_id: str) -> list[str]:
        """The ids of the classes of an item; DATE, NUMBER, YES_NO or TEXT of anything else; empty where unknown."""
        if is_item(entity_id):
            return next(filter(None, (kb.objects(entity_id, _INSTANCE_OF) for kb in self._kbs)), [])
        if is_date(entity_id):
            return [DATE]
        if is_number(entity_id):
            return [NUMBER]
        return [YES_NO if entity_id in ("Yes", "No") else TEXT]

    def shares(self, entity_ids: Iterable[str]) -> Classes:
        """The mean over what is known of some entities, of which each counts once; empty where nothing is."""
        known = [names for names in map(self.of, entity_ids) if names]
        shares: Counter[str] = Counter()
        for names in known:
            for name in names:
                shares[name] += 1 / len(names) / len(known)  # type: ignore[assignment]
        return dict(shares)

    def above(self, name: str) -> list[str]:
        """The class and up to three above it, the nearest first; of several, the one in most facts."""
        chain = [name]
        while len(chain) <= _ABOVE:
            parents = next(filter(None, (kb.objects(chain[-1], _SUBCLASS_OF) for kb in self._kbs)), [])
            parents = [parent for parent in parents if parent not in chain]
            if not parents:
                break
            chain.append(max(parents, key=lambda parent: (max(kb.frequency(parent) for kb in self._kbs), parent)))
        return chain

    def label(self, name: str) -> str:
        """The label of a class; the id where no knowledge base has one, or the name of what is no item."""
        return next((label for kb in self._kbs if is_item(name) and (label := kb.label(name)) != name), name)

    def coarse(self, shares: Iterable[Classes], least: float) -> dict[str, str]:
        """The class that each class counts with: itself where at least so many questions have it; see `typed_questions`."""
        mass: Counter[str] = Counter()
        for own in shares:
            mass.update({name: share for name, share in own.items() if is_item(name)})
        chains = {name: self.above(name) for name in mass}
        together = Counter(mass)
        for name, chain in chains.items():
            if mass[name] < least:
                for higher in chain[1:]:
                    together[higher] += mass[name]
        return {
            name: next((higher for higher in chain if together[higher] >= least), OTHER)
            for name, chain in chains.items()
        }


def property_classes(known: Facts, classes: ItemClasses) -> dict[str, Classes]:
    """What the values of a property are (`P57`), and what has a value of it (`R57`), where 20 facts or more tell it."""
    ids: dict[str, list[str]] = defaultdict(list)
    for subject, told in known.by_subject.items():
        for fact in told:
            ids[fact.prop].append(fact.value)
            ids[f"R{fact.prop[1:]}"].append(subject)
    return {name: classes.shares(values) for name, values in ids.items() if len(values) >= _LEAST_FACTS}


def _classes_of(row: _Asked, classes: ItemClasses, of_property: Mapping[str, Classes]) -> Classes:
    return classes.shares(row.answers) or of_property.get(row.prop, {})


# -- templates ---------------------------------------------------------------------------------------------------------


def common_words(questions: Iterable[str], share: float = _COMMON) -> frozenset[str]:
    """The words that at least such a share of the questions has."""
    having: Counter[str] = Counter()
    number = 0
    for question in questions:
        number += 1
        having.update(set(_words(question)))
    return frozenset(word for word, count in having.items() if count >= share * number)


def template(question: str, common: frozenset[str]) -> str:
    """A question with `_` for what is no common word: `who directed _`; questions that differ in names have the same."""
    words: list[str] = []
    for word in _words(question):
        word = word if word in common else _SLOT
        if word != _SLOT or words[-1:] != [_SLOT]:
            words.append(word)
    return " ".join(words)


def _words(question: str) -> list[str]:
    return re.findall(r"\w+", question.casefold())


# -- questions ---------------------------------------------------------------------------------------------------------


class _WikidataAnswer(msgspec.Struct):
    id: str | None = None
    value: str | None = None


class _WikidataQuestion(msgspec.Struct):
    set: str
    question: str
    answers: list[_WikidataAnswer]
    sparql: str = ""


def _all_asked(data: Path) -> Iterator[_Asked]:
    for part in ("train", "valid"):
        path = needed(data, "simplequestions-wikidata", f"annotated_wd_data_{part}.txt.gz")
        for _, prop, value, question in tab_lines(path, 4):
            yield _Asked(question, (), (value,), "simplequestions", prop=prop)
    for _, line in read_lines(needed(data, "hybrid", "wikidata-questions.jsonl.gz"), _WikidataQuestion):
        answers = tuple(answer.id for answer in line.answers if answer.id)
        asked_value = _ASKED_VALUE.search(line.sparql)
        if answers:
            yield _Asked(line.question, (), answers, line.set, prop=asked_value[1] if asked_value else "")
    for benchmark, folder, name in _FILES:
        for conversation in read_benchmark(needed(data, folder, name), benchmark):
            yield from _turns(conversation, benchmark, lambda conversation: "")
    for domain in _DOMAINS:
        for conversation in read_benchmark(needed(data, "convquestions", f"val_{domain}.json.gz"), "convquestions"):
            yield from _turns(conversation, "convquestions", _version_of)
    path = project_root() / "convinse" / "snapshot" / "conversations" / "train.json"
    for conversation in read_benchmark(path, "convmix"):
        yield from _turns(conversation, "embedded", lambda conversation: str(conversation["conv_id"]))


def _turns(conversation: Conversation, source: str, key: Callable[[Conversation], str]) -> Iterator[_Asked]:
    history: list[str] = []
    for turn in conversation["questions"]:
        answers: Sequence[Entity] = turn.get("answers") or ()
        if answers and "{" not in turn["question"]:  # else a template that nobody has put into words
            ids = tuple(answer["id"] for answer in answers)
            yield _Asked(turn["question"], tuple(history), ids, source, key(conversation))
        history += [turn["question"], ", ".join(answer["label"] for answer in answers)]


def _version_of(conversation: Conversation) -> str:
    """What the versions of a conversation of ConvQuestions have in common: what it is about, and its answers."""
    answers = (answer["id"] for turn in conversation["questions"] for answer in turn.get("answers") or ())
    return " ".join((str(conversation.get("seed_entity", "")), *answers))
